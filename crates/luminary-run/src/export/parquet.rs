//! Apache Parquet through its column writers, without the arrow crates.
//!
//! Up to [`MAX_COLUMNS`] components a solution has a column for each; beyond that, files with so many columns become
//! slow to open, and `solution` is one column of lists. The same holds for extra columns of many numbers.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Row, Table, Vector};

/// Numbers of a list that get a column each.
const MAX_COLUMNS: usize = 1000;

pub(super) fn write(table: &Table<'_>, writer: &mut (impl Write + Send)) -> io::Result<()> {
    write_table(table, writer).map_err(|error| match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    })
}

fn write_table(table: &Table<'_>, writer: &mut (impl Write + Send)) -> Result<(), ParquetError> {
    let rows = &table.rows;
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        // Hardly any number occurs twice.
        .set_dictionary_enabled(false)
        .build();
    let mut file = SerializedFileWriter::new(writer, schema(&table.vectors)?, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    write_integers(&mut group, rows.iter().map(|row| row.cell as i64))?;
    write_floats(&mut group, rows.iter().map(|row| row.objective))?;
    write_floats(&mut group, rows.iter().map(|row| row.threshold))?;
    write_integers(&mut group, rows.iter().map(|row| row.visits as i64))?;
    for vector in &table.vectors {
        if vector.width <= MAX_COLUMNS {
            for i in 0..vector.width {
                write_floats(&mut group, rows.iter().map(|row| row.values(vector)[i]))?;
            }
        } else {
            write_lists(&mut group, rows, vector)?;
        }
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn schema(vectors: &[Vector]) -> Result<TypePtr, ParquetError> {
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
    for vector in vectors {
        if vector.width <= MAX_COLUMNS {
            for name in vector.columns() {
                fields.push(required(&name, PhysicalType::DOUBLE)?);
            }
            continue;
        }
        // The three levels that the format prescribes for lists.
        let element = required("element", PhysicalType::DOUBLE)?;
        let items = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![element]);
        let list = Type::group_type_builder(&vector.name).with_repetition(Repetition::REQUIRED);
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

/// One list for each row: repetition level 0 starts a list, 1 continues it; every value is defined.
fn write_lists<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Row<'_>],
    vector: &Vector,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    let definition = vec![1; vector.width];
    let mut repetition = vec![1; vector.width];
    repetition[0] = 0;
    for row in rows {
        column.typed::<DoubleType>().write_batch(row.values(vector), Some(&definition), Some(&repetition))?;
    }
    column.close()
}
