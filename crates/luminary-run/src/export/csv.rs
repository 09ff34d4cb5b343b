//! Comma-separated values.

use std::io::{self, Write};

use luminary::archive::Archive;

pub(super) fn write(archive: &Archive, writer: &mut impl Write) -> io::Result<()> {
    write!(writer, "cell,objective,threshold,visits")?;
    (0..archive.measure_dim()).try_for_each(|i| write!(writer, ",measures_{i}"))?;
    (0..archive.config().solution_dim).try_for_each(|i| write!(writer, ",solution_{i}"))?;
    writeln!(writer)?;
    for elite in super::ordered(archive) {
        // `{:?}` writes the shortest digits that read back to the same bits.
        write!(writer, "{},{:?},{:?},{}", elite.cell.index(), elite.objective, elite.threshold, elite.visits)?;
        elite.measures.iter().chain(elite.solution).try_for_each(|value| write!(writer, ",{value:?}"))?;
        writeln!(writer)?;
    }
    Ok(())
}
