//! NumPy's array format, version 1.0: `numpy.load(file)["solution"]` is an (elites, n) array.

use std::io::{self, Write};

use luminary::archive::Archive;

pub(super) fn write(archive: &Archive, writer: &mut impl Write) -> io::Result<()> {
    let (k, n) = (archive.measure_dim(), archive.config().solution_dim);
    let fields = format!(
        "[('cell', '<u8'), ('objective', '<f8'), ('threshold', '<f8'), ('visits', '<u8'), \
         ('measures', '<f8', ({k},)), ('solution', '<f8', ({n},))]"
    );
    let mut header = format!("{{'descr': {fields}, 'fortran_order': False, 'shape': ({},), }}", archive.len());
    // Magic, version, length and header together fill a multiple of 64 bytes; the header ends with a newline.
    const BEFORE: usize = 6 + 2 + 2;
    let padding = (BEFORE + header.len() + 1).next_multiple_of(64) - (BEFORE + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a header with six fields is short");
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    let mut row = Vec::with_capacity(8 * (4 + k + n));
    for elite in super::ordered(archive) {
        row.clear();
        row.extend_from_slice(&(elite.cell.index() as u64).to_le_bytes());
        row.extend_from_slice(&elite.objective.to_le_bytes());
        row.extend_from_slice(&elite.threshold.to_le_bytes());
        row.extend_from_slice(&elite.visits.to_le_bytes());
        let values = elite.measures.iter().chain(elite.solution);
        values.for_each(|value| row.extend_from_slice(&value.to_le_bytes()));
        writer.write_all(&row)?;
    }
    Ok(())
}
