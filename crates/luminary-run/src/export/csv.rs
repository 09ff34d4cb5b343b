//! Comma-separated values.

use std::io::{self, Write};

use super::table::Table;

pub(super) fn write(table: &Table<'_>, writer: &mut impl Write) -> io::Result<()> {
    write!(writer, "cell,objective,threshold,visits")?;
    let names = table.vectors.iter().flat_map(|vector| vector.columns());
    names.into_iter().try_for_each(|name| write!(writer, ",{name}"))?;
    writeln!(writer)?;
    for row in &table.rows {
        // `{:?}` writes the shortest digits that read back to the same bits.
        write!(writer, "{},{:?},{:?},{}", row.cell, row.objective, row.threshold, row.visits)?;
        let values = table.vectors.iter().flat_map(|vector| row.values(vector));
        values.into_iter().try_for_each(|value| write!(writer, ",{value:?}"))?;
        writeln!(writer)?;
    }
    Ok(())
}
