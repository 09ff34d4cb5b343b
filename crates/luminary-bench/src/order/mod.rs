//! `order`: the same search in rows order and in completion order, per evaluation and per time.
//!
//! ```text
//! duration -> simulator -> trace -> study -> table, curves, csv
//! ```
//!
//! Time is virtual: nothing here reads a clock, so the outcome is the same on every machine of a type.

mod duration;
mod simulator;
mod trace;
mod study;
mod workers;
mod summary;
mod table;
mod curves;
mod csv;

use std::path::Path;

use study::{Size, Study, StudyError};

/// Runs the study, prints its tables and writes curves, trials and the figure into a folder.
pub(crate) fn run(n_iterations: u64, n_seeds: u64, n_workers: usize, out: &Path) -> Result<(), StudyError> {
    std::fs::create_dir_all(out)?;
    let study = Study::run(&Size { n_iterations, n_seeds, n_workers })?;
    std::fs::write(out.join("order-trials.csv"), csv::trials(&study))?;
    std::fs::write(out.join("order-curves.csv"), csv::curves(&study))?;
    std::fs::write(out.join("order.svg"), curves::figure(&study)?.svg())?;
    println!("{}", table::equal_evaluations(&study));
    println!("{}", table::equal_time(&study));
    println!("{}", table::own_utilisation(&study));
    println!("{}", table::utilisation(&workers::measure(n_seeds)?));
    Ok(())
}
