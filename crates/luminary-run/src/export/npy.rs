//! NumPy's array format, version 1.0: `numpy.load(file)["solution"]` is an (elites, n) array.

use std::io::{self, Write};

use super::table::Table;

pub(super) fn write(table: &Table<'_>, writer: &mut impl Write) -> io::Result<()> {
    let mut fields = String::from("('cell', '<u8'), ('objective', '<f8'), ('threshold', '<f8'), ('visits', '<u8')");
    for vector in &table.vectors {
        let shape =
            if vector.may_be_number && vector.width == 1 { String::new() } else { format!(", ({},)", vector.width) };
        fields += &format!(", ('{}', '<f8'{shape})", vector.name);
    }
    write_header(&format!("[{fields}]"), table.rows.len(), writer)?;
    let mut bytes = Vec::new();
    for row in &table.rows {
        bytes.clear();
        bytes.extend_from_slice(&row.cell.to_le_bytes());
        bytes.extend_from_slice(&row.objective.to_le_bytes());
        bytes.extend_from_slice(&row.threshold.to_le_bytes());
        bytes.extend_from_slice(&row.visits.to_le_bytes());
        let values = table.vectors.iter().flat_map(|vector| row.values(vector));
        values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        writer.write_all(&bytes)?;
    }
    Ok(())
}

/// Writes one list of numbers: `numpy.load(file)` is an (n,) array.
pub(super) fn write_vector(values: &[f64], writer: &mut impl Write) -> io::Result<()> {
    write_header("'<f8'", values.len(), writer)?;
    values.iter().try_for_each(|value| writer.write_all(&value.to_le_bytes()))
}

/// Everything before the numbers: what an item is, and how many there are.
fn write_header(descr: &str, n_items: usize, writer: &mut impl Write) -> io::Result<()> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({n_items},), }}");
    // Magic, version, length and header together fill a multiple of 64 bytes; the header ends with a newline.
    const BEFORE: usize = 6 + 2 + 2;
    let padding = (BEFORE + header.len() + 1).next_multiple_of(64) - (BEFORE + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a header with a hundred names is short enough");
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(header.as_bytes())
}
