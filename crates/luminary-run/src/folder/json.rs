//! JSON for people and programs: a key on each line, a list on one.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::atomic::replace;
use crate::disk::Disk;
use crate::error::RunError;

/// Writes a value to a file, which is complete or not there.
pub(crate) fn write_json(disk: &Disk, path: &Path, value: &impl Serialize) -> Result<(), RunError> {
    replace(disk, path, |writer| {
        value.serialize(&mut Serializer::with_formatter(&mut *writer, OneLineLists::default()))?;
        writer.write_all(b"\n")
    })
    .map_err(RunError::io("write", path))
}

/// Reads a value from a file.
pub(crate) fn read_json<T: DeserializeOwned>(disk: &Disk, path: &Path) -> Result<T, RunError> {
    let bytes = disk.read(path).map_err(RunError::io("read", path))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| RunError::Unreadable { path: path.to_owned(), message: error.to_string() })
}

/// Pretty objects, but a list of a hundred numbers does not take a hundred lines.
#[derive(Default)]
struct OneLineLists {
    pretty: PrettyFormatter<'static>,
    /// Lists we are in; objects inside a list stay on its line.
    n_lists: usize,
}

impl Formatter for OneLineLists {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.n_lists += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.n_lists -= 1;
        if self.n_lists == 0 {
            // What the pretty formatter would remember after a list.
            self.pretty.end_array_value(writer)?;
        }
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.n_lists > 0 { writer.write_all(b"{") } else { self.pretty.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.n_lists > 0 { writer.write_all(b"}") } else { self.pretty.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.n_lists, first) {
            (0, _) => self.pretty.begin_object_key(writer, first),
            (_, true) => Ok(()),
            (_, false) => writer.write_all(b", "),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.n_lists > 0 { Ok(()) } else { self.pretty.end_object_value(writer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_one_line_and_everything_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("value.json");
        let value = serde_json::json!({ "a": [1.5, [2, 3]], "b": { "c": [{ "d": 1, "e": [] }], "f": {} }, "g": [] });
        let disk = Disk::default();
        write_json(&disk, &path, &value).unwrap();
        assert_eq!(read_json::<serde_json::Value>(&disk, &path).unwrap(), value);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("  \"a\": [1.5, [2, 3]],\n"), "{text}");
        assert!(text.contains("[{\"d\": 1, \"e\": []}]"), "{text}");
        assert!(read_json::<serde_json::Value>(&disk, &folder.path().join("none")).is_err());
    }
}
