//! The paper's tables with our numbers beside the published ones: CSV for machines, Markdown for people.

mod csv;
mod markdown;

pub use csv::{COLUMNS, csv};
pub use markdown::{LEGEND, markdown};
