//! What can be wrong with a weight file.

use std::io;
use std::path::{Path, PathBuf};

use safetensors::SafeTensorError;
use thiserror::Error;

use super::ModelKind;

/// A weight file that cannot be used.
#[derive(Debug, Error)]
pub enum WeightError {
    /// The operating system does not give the file.
    #[error("weights {}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file does not end where its header says.
    #[error("weights {}: cut short or damaged: its {found} bytes are not what its header asks for", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        found: usize,
    },
    /// The file is something else.
    #[error("weights {}: expected a safetensors file, found something else ({reason})", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What the header's reader says.
        reason: String,
    },
    /// The file holds another model, or none that is known.
    #[error("weights {}: expected a {expected} model, found {}", path.display(), describe(*found))]
    WrongModel {
        /// The file.
        path: PathBuf,
        /// The model asked for.
        expected: ModelKind,
        /// The model it holds.
        found: Option<ModelKind>,
    },
    /// A tensor of the model is not there.
    #[error("weights {}: the {kind} model lacks the tensor `{name}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The model.
        kind: ModelKind,
        /// The tensor.
        name: String,
    },
    /// A tensor has another number of dimensions.
    #[error("weights {}: expected {expected} dimensions of `{name}`, found the shape {found:?}", path.display())]
    Rank {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The number of dimensions.
        expected: usize,
        /// Its shape.
        found: Vec<usize>,
    },
    /// A tensor has another shape than the rest of the model asks for.
    #[error("weights {}: expected the shape {expected:?} of `{name}`, found {found:?}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The shape that fits the other tensors.
        expected: Vec<usize>,
        /// Its shape.
        found: Vec<usize>,
    },
    /// A tensor holds something else than numbers.
    #[error("weights {}: expected floating point numbers in `{name}`, found {found}", path.display())]
    NotNumbers {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The type of its elements.
        found: String,
    },
    /// A tensor holds NaN or an infinity.
    #[error("weights {}: expected finite numbers in `{name}`, found {found}", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The number.
        found: f64,
    },
    /// The tensors do not make a model.
    #[error("weights {}: not a {kind} model that can be run: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The model.
        kind: ModelKind,
        /// Expected and found.
        what: String,
    },
}

impl WeightError {
    /// What the reader of safetensors headers found in a file of `found` bytes.
    pub(super) fn from_format(path: &Path, found: usize, error: SafeTensorError) -> Self {
        use SafeTensorError as E;
        match error {
            // Other kinds of files, such as PyTorch's, begin with bytes that would be an absurd length of a header and
            // come out as `HeaderTooLarge`.
            E::HeaderTooSmall | E::MetadataIncompleteBuffer | E::InvalidHeaderLength => {
                Self::Truncated { path: path.into(), found }
            }
            other => Self::NotSafetensors { path: path.into(), reason: other.to_string() },
        }
    }
}

fn describe(found: Option<ModelKind>) -> String {
    match found {
        Some(kind) => format!("a {kind} model"),
        None => "tensors of no model known here".into(),
    }
}
