//! Cells and objectives of the result archive of a run that has ended, without the rest: what a picture needs.
//!
//! A checkpoint can only be read as a whole, and solutions are most of it. A Parquet table has its columns apart.

use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::disk::open_regular;
use crate::folder::{CHECKPOINTS, Checkpoints, SUMMARY};

/// The occupied cells of an archive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellObjectives {
    /// The cells, in ascending order.
    pub cells: Vec<u32>,
    /// The objectives of their elites, with the user's sign.
    pub objectives: Vec<f64>,
}

/// Reads the cells of the result archive from its table; nothing if the run goes on or has no such table.
///
/// The summary is written after the tables and removed before a run goes on, so the table is that of the newest checkpoint
/// while there is a summary. Without a checkpoint there is nothing either: what is shown could not be asked about.
///
/// # Errors
/// A table that does not read.
pub fn read_result_cells(folder: &Path) -> Result<Option<CellObjectives>, ParquetError> {
    if !folder.join(SUMMARY).exists() || Checkpoints::new(folder.join(CHECKPOINTS)).is_empty() {
        return Ok(None);
    }
    let Ok(file) = open_regular(&folder.join("result.parquet")) else { return Ok(None) };
    let reader = SerializedFileReader::new(file)?;
    let mut cells = Vec::new();
    let mut objectives = Vec::new();
    for i in 0..reader.num_row_groups() {
        let group = reader.get_row_group(i)?;
        let n_rows = group.metadata().num_rows() as usize;
        // The first two columns of every table that we write; another table is none of ours.
        match (group.get_column_reader(0)?, group.get_column_reader(1)?) {
            (ColumnReader::Int64ColumnReader(mut first), ColumnReader::DoubleColumnReader(mut second)) => {
                first.read_records(n_rows, None, None, &mut cells)?;
                second.read_records(n_rows, None, None, &mut objectives)?;
            }
            _ => return Ok(None),
        }
    }
    let cells: Option<Vec<u32>> = cells.into_iter().map(|cell: i64| cell.try_into().ok()).collect();
    Ok(cells.filter(|cells| cells.len() == objectives.len()).map(|cells| CellObjectives { cells, objectives }))
}
