//! A frame: the archives of a run after an iteration, as bytes. The live file and the history are rows of frames.
//!
//! A frame is the length of its content (u32), the CRC-32 of it (u32) and the content: iteration (u64), evaluations (u64),
//! seconds (f64), then a section for the result archive, one for the archive that is searched, and the length (u32) and
//! text of the [`Vitals`] as JSON. A section is its kind (u32), its number of rows (u32), of thresholds (u32, as many or
//! none) and of measures (u32, as many for each row or none), then cells (u32), objectives (f64), thresholds (f64) and
//! measures (f64, row by row). All of it is little-endian.

use std::io::{self, Read};

use super::vitals::Vitals;

/// A longer frame cannot be one: archives have fewer cells.
const MAX_FRAME: u32 = 1 << 30;

/// What a section says of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SectionKind {
    /// Nothing: the archive is the same as the other, or too large to be told without cells.
    #[default]
    Absent,
    /// All occupied cells, or all elites.
    Whole,
    /// Cells that have changed since the frame before.
    Changes,
}

/// Elites of an archive by their cells, or by their numbers if it has no cells. Objectives and thresholds are the engine's: higher is better.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Which cells.
    pub kind: SectionKind,
    /// The cells.
    pub cells: Vec<u32>,
    /// The objectives of their elites.
    pub objectives: Vec<f64>,
    /// Their thresholds; none if the archive has only those that its objectives are.
    pub thresholds: Vec<f64>,
    /// Their measures, row by row, if there are no cells that say where they are.
    pub measures: Vec<f64>,
}

impl Section {
    /// Its rows: cell, objective and threshold.
    pub fn rows(&self) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        let thresholds = if self.thresholds.is_empty() { &self.objectives } else { &self.thresholds };
        let rows = self.cells.iter().zip(&self.objectives).zip(thresholds);
        rows.map(|((&cell, &objective), &threshold)| (cell, objective, threshold))
    }
}

/// A run after an iteration, its archives as far as they changed since the frame before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Iterations done.
    pub iteration: u64,
    /// Evaluations done.
    pub evaluations: u64,
    /// Time spent, of all processes that worked on the run.
    pub seconds: f64,
    /// The result archive.
    pub result: Section,
    /// The archive that is searched.
    pub search: Section,
    /// How emitters and evaluations do.
    pub vitals: Vitals,
}

/// A frame as it stands in a file.
pub(crate) fn encode(frame: &Frame) -> io::Result<Vec<u8>> {
    let n_rows = frame.result.cells.len() + frame.search.cells.len();
    let mut bytes = Vec::with_capacity(80 + 20 * n_rows);
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&frame.iteration.to_le_bytes());
    bytes.extend_from_slice(&frame.evaluations.to_le_bytes());
    bytes.extend_from_slice(&frame.seconds.to_le_bytes());
    for section in [&frame.result, &frame.search] {
        let kind: u32 = match section.kind {
            SectionKind::Absent => 0,
            SectionKind::Whole => 1,
            SectionKind::Changes => 2,
        };
        let lengths = [section.cells.len(), section.thresholds.len(), section.measures.len()];
        bytes.extend_from_slice(&kind.to_le_bytes());
        for length in lengths {
            bytes.extend_from_slice(&(length as u32).to_le_bytes());
        }
        section.cells.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()));
        for values in [&section.objectives, &section.thresholds, &section.measures] {
            values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
    }
    let vitals = serde_json::to_vec(&frame.vitals)?;
    bytes.extend_from_slice(&(vitals.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&vitals);
    let length = u32::try_from(bytes.len() - 8).map_err(io::Error::other)?;
    let checksum = crc32fast::hash(&bytes[8..]);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The next frame with its length; nothing if it is not complete yet.
///
/// # Errors
/// Bytes that are no frame.
pub(crate) fn read(source: &mut impl Read) -> io::Result<Option<(Frame, u64)>> {
    let mut head = [0; 8];
    if let Err(error) = source.read_exact(&mut head) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let [length, checksum] = [0, 4].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")));
    if length > MAX_FRAME {
        return Err(io::Error::other(format!("expected a frame, found a length of {length} bytes")));
    }
    let mut content = Vec::new();
    source.by_ref().take(length.into()).read_to_end(&mut content)?;
    if content.len() < length as usize {
        return Ok(None);
    }
    if crc32fast::hash(&content) != checksum {
        return Err(io::Error::other("expected a frame, found other bytes"));
    }
    let frame = decode(&content).ok_or_else(|| io::Error::other("expected a frame, found one that is cut short"))?;
    Ok(Some((frame, 8 + u64::from(length))))
}

fn decode(mut bytes: &[u8]) -> Option<Frame> {
    let rest = &mut bytes;
    let iteration = u64::from_le_bytes(take(rest)?);
    let evaluations = u64::from_le_bytes(take(rest)?);
    let seconds = f64::from_le_bytes(take(rest)?);
    let result = decode_section(rest)?;
    let search = decode_section(rest)?;
    let length = u32::from_le_bytes(take(rest)?) as usize;
    let vitals = (rest.len() == length).then(|| serde_json::from_slice(rest).ok())??;
    Some(Frame { iteration, evaluations, seconds, result, search, vitals })
}

fn decode_section(rest: &mut &[u8]) -> Option<Section> {
    let kind = match u32::from_le_bytes(take(rest)?) {
        0 => SectionKind::Absent,
        1 => SectionKind::Whole,
        2 => SectionKind::Changes,
        _ => return None,
    };
    let n = u32::from_le_bytes(take(rest)?) as usize;
    let n_thresholds = u32::from_le_bytes(take(rest)?) as usize;
    let n_measures = u32::from_le_bytes(take(rest)?) as usize;
    let is_sound = (n_thresholds == 0 || n_thresholds == n) && n_measures.checked_rem(n).unwrap_or(n_measures) == 0;
    // No more is reserved than is there.
    if !is_sound || rest.len() < 12 * n + 8 * (n_thresholds + n_measures) {
        return None;
    }
    let cells = (0..n).map(|_| take(rest).map(u32::from_le_bytes)).collect::<Option<_>>()?;
    let objectives = (0..n).map(|_| take(rest).map(f64::from_le_bytes)).collect::<Option<_>>()?;
    let thresholds = (0..n_thresholds).map(|_| take(rest).map(f64::from_le_bytes)).collect::<Option<_>>()?;
    let measures = (0..n_measures).map(|_| take(rest).map(f64::from_le_bytes)).collect::<Option<_>>()?;
    Some(Section { kind, cells, objectives, thresholds, measures })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}
