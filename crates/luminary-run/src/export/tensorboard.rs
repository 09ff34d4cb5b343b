//! Event files, which TensorBoard reads: the figures of a run as its scalars.
//!
//! A file is a sequence of records: the length of the content (u64), its checksum (u32), the content and its checksum
//! (u32), all little-endian. The content is a protocol buffer, of which we need so few fields that they are written by
//! hand: `Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }`,
//! `Summary { repeated Value value = 1; }` and `Value { string tag = 1; float simple_value = 2; }`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::RunError;
use crate::folder::{METRICS, Manifest, MetricsLog, MetricsRow, write_atomically};

/// What the first event of each file says.
const FILE_VERSION: &str = "brain.Event:2";

/// Writes events one after the other.
#[derive(Debug)]
pub struct EventWriter<W> {
    inner: W,
}

impl<W: Write> EventWriter<W> {
    /// Begins a file at a time, in seconds since 1970.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(inner: W, wall_time: f64) -> io::Result<Self> {
        let mut writer = Self { inner };
        let mut event = Vec::new();
        put_double(&mut event, 1, wall_time);
        put_bytes(&mut event, 3, FILE_VERSION.as_bytes());
        writer.put_record(&event)?;
        Ok(writer)
    }

    /// Appends numbers by their tags, as they were after a step.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn scalars(&mut self, wall_time: f64, step: u64, scalars: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Vec::new();
        for (tag, value) in scalars {
            let mut content = Vec::new();
            put_bytes(&mut content, 1, tag.as_bytes());
            put_float(&mut content, 2, *value as f32);
            put_bytes(&mut summary, 1, &content);
        }
        let mut event = Vec::new();
        put_double(&mut event, 1, wall_time);
        put_integer(&mut event, 2, step);
        put_bytes(&mut event, 5, &summary);
        self.put_record(&event)
    }

    fn put_record(&mut self, content: &[u8]) -> io::Result<()> {
        let length = (content.len() as u64).to_le_bytes();
        let length_checksum = masked_crc32c(&length).to_le_bytes();
        let content_checksum = masked_crc32c(content).to_le_bytes();
        self.inner.write_all(&[&length[..], &length_checksum, content, &content_checksum].concat())
    }
}

/// Writes the metrics log of a run to a folder as an event file, which is complete or not there; returns its path.
///
/// # Errors
/// A folder without a run, or a file that cannot be written.
pub fn write_metrics(run: &Path, folder: &Path) -> Result<PathBuf, RunError> {
    let created = Manifest::read(run)?.created_unix;
    let log = run.join(METRICS);
    let rows = MetricsLog::read(&log).map_err(RunError::io("read", &log))?;
    std::fs::create_dir_all(folder).map_err(RunError::io("make the folder", folder))?;
    // The same run gives the same file, so that a second export replaces the first.
    let path = folder.join(format!("events.out.tfevents.{created}.luminary"));
    let written = write_atomically(&path, |file| {
        let start = created as f64;
        let mut writer = EventWriter::new(file, start)?;
        rows.iter().try_for_each(|row| writer.scalars(start + row.seconds, row.iteration, &scalars_of(row)))
    });
    written.map_err(RunError::io("write", &path))?;
    Ok(path)
}

/// The figures of a row by their names.
fn scalars_of(row: &MetricsRow) -> Vec<(&'static str, f64)> {
    let always = [
        ("evaluations", row.evaluations as f64),
        ("seconds", row.seconds),
        ("qd_score", row.qd_score),
        ("qd_score_sum", row.qd_score_sum),
        ("coverage", row.coverage),
        ("elites", row.elites as f64),
        ("restarts", row.restarts as f64),
        ("invalid", row.invalid as f64),
    ];
    let sometimes = [("best", row.best), ("mean", row.mean)];
    let known = sometimes.into_iter().filter_map(|(name, value)| Some((name, value?)));
    always.into_iter().chain(known).collect()
}

/// How the content of a field is laid out.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const LENGTH_AND_BYTES: u64 = 2;
const FOUR_BYTES: u64 = 5;

fn put_double(message: &mut Vec<u8>, field: u64, value: f64) {
    put_varint(message, field << 3 | EIGHT_BYTES);
    message.extend_from_slice(&value.to_le_bytes());
}

fn put_float(message: &mut Vec<u8>, field: u64, value: f32) {
    put_varint(message, field << 3 | FOUR_BYTES);
    message.extend_from_slice(&value.to_le_bytes());
}

fn put_integer(message: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(message, field << 3 | VARINT);
    put_varint(message, value);
}

fn put_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(message, field << 3 | LENGTH_AND_BYTES);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

/// Seven bits in each byte, the lowest first; the eighth says that there are more.
fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// The checksum of a record. It is masked because records may hold checksums themselves.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Castagnoli's CRC, bit by bit: event files are small. (The CRC-32 of checkpoints is another polynomial.)
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn an_event_is_the_bytes_of_its_fields() {
        let mut file = Vec::new();
        EventWriter::new(&mut file, 1.0).unwrap().scalars(2.0, 300, &[("a", 0.5)]).unwrap();
        let first = 8 + 4 + 9 + 2 + FILE_VERSION.len() + 4;
        let event = &file[first + 12..file.len() - 4];
        let expected: &[&[u8]] = &[
            &[0x09],
            &2.0_f64.to_le_bytes(),
            &[0x10, 0xac, 0x02],
            &[0x2a, 10, 0x0a, 8, 0x0a, 1, b'a', 0x15],
            &0.5_f32.to_le_bytes(),
        ];
        assert_eq!(event, expected.concat());
        assert_eq!(file[first..first + 8], (event.len() as u64).to_le_bytes());
    }
}
