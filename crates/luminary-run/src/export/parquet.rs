//! Apache Parquet through its column writers, without the arrow crates.
//!
//! Up to [`MAX_COLUMNS`] components a solution has a column for each; beyond that, files with so many columns become
//! slow to open, and `solution` is one column of lists.

use std::io::{self, Write};
use std::sync::Arc;

use luminary::archive::{Archive, Elite};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

/// Components of a solution that get a column each.
const MAX_COLUMNS: usize = 1000;

pub(super) fn write(archive: &Archive, writer: &mut (impl Write + Send)) -> io::Result<()> {
    write_table(archive, writer).map_err(|error| match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    })
}

fn write_table(archive: &Archive, writer: &mut (impl Write + Send)) -> Result<(), ParquetError> {
    let (k, n) = (archive.measure_dim(), archive.config().solution_dim);
    let elites = super::ordered(archive);
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        // Hardly any number occurs twice.
        .set_dictionary_enabled(false)
        .build();
    let mut file = SerializedFileWriter::new(writer, schema(k, n)?, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    write_integers(&mut group, elites.iter().map(|elite| elite.cell.index() as i64))?;
    write_floats(&mut group, elites.iter().map(|elite| elite.objective))?;
    write_floats(&mut group, elites.iter().map(|elite| elite.threshold))?;
    write_integers(&mut group, elites.iter().map(|elite| elite.visits as i64))?;
    for i in 0..k {
        write_floats(&mut group, elites.iter().map(|elite| elite.measures[i]))?;
    }
    if n <= MAX_COLUMNS {
        for i in 0..n {
            write_floats(&mut group, elites.iter().map(|elite| elite.solution[i]))?;
        }
    } else {
        write_lists(&mut group, &elites, n)?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn schema(measure_dim: usize, solution_dim: usize) -> Result<TypePtr, ParquetError> {
    let required = |name: &str, physical: PhysicalType| -> Result<TypePtr, ParquetError> {
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        Ok(Arc::new(column.build()?))
    };
    let mut fields: Vec<TypePtr> = vec![
        required("cell", PhysicalType::INT64)?,
        required("objective", PhysicalType::DOUBLE)?,
        required("threshold", PhysicalType::DOUBLE)?,
        required("visits", PhysicalType::INT64)?,
    ];
    for i in 0..measure_dim {
        fields.push(required(&format!("measures_{i}"), PhysicalType::DOUBLE)?);
    }
    if solution_dim <= MAX_COLUMNS {
        for i in 0..solution_dim {
            fields.push(required(&format!("solution_{i}"), PhysicalType::DOUBLE)?);
        }
    } else {
        // The three levels that the format prescribes for lists.
        let element = required("element", PhysicalType::DOUBLE)?;
        let items = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![element]);
        let list = Type::group_type_builder("solution").with_repetition(Repetition::REQUIRED);
        let list = list.with_fields(vec![Arc::new(items.build()?)]).with_logical_type(Some(LogicalType::List));
        fields.push(Arc::new(list.build()?));
    }
    Ok(Arc::new(Type::group_type_builder("elites").with_fields(fields).build()?))
}

fn write_integers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = i64>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<Int64Type>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    column.close()
}

fn write_floats<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = f64>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<DoubleType>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    column.close()
}

/// One list for each elite: repetition level 0 starts a list, 1 continues it; every value is defined.
fn write_lists<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    elites: &[Elite<'_>],
    n: usize,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    let definition = vec![1; n];
    let mut repetition = vec![1; n];
    repetition[0] = 0;
    for elite in elites {
        column.typed::<DoubleType>().write_batch(elite.solution, Some(&definition), Some(&repetition))?;
    }
    column.close()
}
