//! The end of a metrics log, for those who look at many runs, or at one again and again.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::disk::open_regular;

use super::metrics::{MetricsLog, MetricsRow, complete_rows};

/// Bytes that are read of a longer log: a hundred lines or more.
const TAIL: u64 = 64 * 1024;
/// A log of this many bytes whose end does not read is not read from its beginning.
const MAX_WHOLE: u64 = 256 << 20;

impl MetricsLog {
    /// The last complete lines of a log, without reading all of it; none if there is no log.
    ///
    /// # Errors
    /// When the file does not read.
    pub fn read_tail(path: &Path) -> io::Result<Vec<MetricsRow>> {
        let mut file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length <= TAIL {
            return Self::read(path);
        }
        file.seek(SeekFrom::Start(length - TAIL))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        // The first line is cut, and does not read.
        let rows: Vec<_> = complete_rows(&bytes).map(|(row, _)| row).collect();
        // A line may be longer than the tail, or damaged. Of a log that is much longer nothing would be found by reading all.
        if rows.is_empty() && length <= MAX_WHOLE { Self::read(path) } else { Ok(rows) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_huge_file_that_is_no_log_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        // More than any machine has memory, and nothing on the disk.
        fs::File::create(&path).unwrap().set_len(1 << 43).unwrap();
        assert!(MetricsLog::read_tail(&path).unwrap().is_empty());
    }

    #[test]
    fn the_tail_of_a_log_ends_as_the_log_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        assert!(MetricsLog::read_tail(&path).unwrap().is_empty());
        let line = |i: u64| {
            format!(
                "{{\"iteration\":{i},\"evaluations\":{i},\"seconds\":0.5,\"qd_score\":1,\"qd_score_sum\":1,\
                 \"coverage\":0.5,\"elites\":1,\"best\":1,\"mean\":1,\"restarts\":0,\"invalid\":0}}\n"
            )
        };
        for n in [3, 2_000] {
            let text: String = (1..=n).map(line).collect();
            fs::write(&path, &text).unwrap();
            let all = MetricsLog::read(&path).unwrap();
            let tail = MetricsLog::read_tail(&path).unwrap();
            assert_eq!(tail, all[all.len() - tail.len()..], "{n}");
            assert_eq!(tail.len() < all.len(), text.len() as u64 > TAIL);
        }
        let damaged = "x".repeat(2 * TAIL as usize);
        fs::write(&path, line(1) + &damaged).unwrap();
        assert_eq!(MetricsLog::read_tail(&path).unwrap().len(), 1);
    }
}
