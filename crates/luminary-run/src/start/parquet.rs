//! Parquet tables, ours or those of other programs.

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::table::Columns;

/// Reads the columns of numbers and of lists of numbers.
pub(super) fn read(file: File) -> Result<Columns, String> {
    read_columns(file).map_err(|error| format!("expected a Parquet table: {error}"))
}

fn read_columns(file: File) -> Result<Columns, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let mut columns = Columns::default();
    for row in reader.get_row_iter(None)? {
        for (name, field) in row?.get_column_iter() {
            match field {
                Field::ListInternal(list) => {
                    let numbers = list.elements().iter().map(|element| number(element).unwrap_or(f64::NAN));
                    columns.push_list(name, numbers.collect());
                }
                field => columns.push(name, number(field)),
            }
        }
        columns.end_row();
    }
    Ok(columns)
}

fn number(field: &Field) -> Option<f64> {
    match *field {
        Field::Double(value) => Some(value),
        Field::Float(value) => Some(value.into()),
        Field::Int(value) => Some(value.into()),
        Field::Long(value) => Some(value as f64),
        _ => None,
    }
}
