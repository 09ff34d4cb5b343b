//! Columns of the tables of a run that has ended, without the rest: what a picture needs.
//!
//! A checkpoint can only be read as a whole, and solutions are most of it. A Parquet table has its columns apart.

use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::{Format, Which};
use crate::disk::open_regular;
use crate::folder::{CHECKPOINTS, Checkpoints, SUMMARY};

/// The occupied cells of an archive, with some numbers of each elite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableColumns {
    /// The cells, in ascending order.
    pub cells: Vec<u32>,
    /// A list for each column that was asked for; objectives and thresholds have the user's sign.
    pub columns: Vec<Vec<f64>>,
}

/// Reads columns of an archive from its table, by their names there; nothing if the run goes on, has no table with such
/// columns, or if they hold more than `max_numbers` in all.
///
/// The summary is written after the tables and removed before a run goes on, so the table is that of the newest checkpoint
/// while there is a summary. Without a checkpoint there is nothing either: what is shown could not be asked about.
///
/// # Errors
/// A table that does not read.
pub fn read_columns(
    folder: &Path,
    which: Which,
    names: &[String],
    max_numbers: usize,
) -> Result<Option<TableColumns>, ParquetError> {
    if !folder.join(SUMMARY).exists() || Checkpoints::new(folder.join(CHECKPOINTS)).is_empty() {
        return Ok(None);
    }
    let Ok(file) = open_regular(&folder.join(format!("{}.{}", which.stem(), Format::Parquet.extension()))) else {
        return Ok(None);
    };
    let reader = SerializedFileReader::new(file)?;
    let description = reader.metadata().file_metadata();
    let schema = description.schema_descr();
    let place_of = |name: &str| (0..schema.num_columns()).find(|&i| schema.column(i).path().string() == name);
    let cell_place = place_of("cell");
    let places: Option<Vec<usize>> = names.iter().map(|name| place_of(name)).collect();
    let (Some(cell_place), Some(places)) = (cell_place, places) else { return Ok(None) };
    let n_rows = usize::try_from(description.num_rows()).unwrap_or(usize::MAX);
    if n_rows.saturating_mul(names.len()) > max_numbers {
        return Ok(None);
    }
    let mut cells = Vec::new();
    let mut columns = vec![Vec::new(); places.len()];
    for i in 0..reader.num_row_groups() {
        let group = reader.get_row_group(i)?;
        append(&*group, cell_place, &mut cells)?;
        for (place, column) in places.iter().zip(&mut columns) {
            append(&*group, *place, column)?;
        }
    }
    let is_whole = columns.iter().all(|column| column.len() == cells.len());
    let cells: Option<Vec<u32>> = cells.into_iter().map(as_cell).collect();
    Ok(cells.filter(|_| is_whole).map(|cells| TableColumns { cells, columns }))
}

/// Appends the numbers that a part of a table has in a column.
fn append(group: &dyn RowGroupReader, place: usize, numbers: &mut Vec<f64>) -> Result<(), ParquetError> {
    let n_rows = group.metadata().num_rows() as usize;
    match group.get_column_reader(place)? {
        ColumnReader::DoubleColumnReader(mut column) => {
            column.read_records(n_rows, None, None, numbers)?;
        }
        ColumnReader::Int64ColumnReader(mut column) => {
            let mut integers = Vec::new();
            column.read_records(n_rows, None, None, &mut integers)?;
            numbers.extend(integers.into_iter().map(|integer: i64| integer as f64));
        }
        _ => return Err(ParquetError::General("expected a column of numbers".into())),
    }
    Ok(())
}

/// A cell, which is a small whole number in every table that we write.
fn as_cell(number: f64) -> Option<u32> {
    (number >= 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
}
