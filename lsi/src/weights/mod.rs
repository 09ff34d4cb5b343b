//! Network weights from safetensors files.

mod error;
mod model;

use std::path::{Path, PathBuf};

use burn_tensor::{Tensor, bf16, f16};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

use crate::place::Place;

pub use error::WeightError;
pub use model::ModelKind;

/// A weight file of a known kind of model, whose tensors are handed out by name after a check of their shapes.
#[derive(Debug)]
pub struct WeightFile {
    path: PathBuf,
    place: Place,
    kind: ModelKind,
    bytes: Vec<u8>,
    /// Where the data begins, behind the header.
    data_start: usize,
    header: Metadata,
}

impl WeightFile {
    /// Reads a file and makes sure that it holds a model of this kind, in tensors for `place`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, that is cut short, that is no safetensors file, or that holds another model.
    pub fn open(path: &Path, kind: ModelKind, place: &Place) -> Result<Self, WeightError> {
        let bytes = std::fs::read(path).map_err(|source| WeightError::Unreadable { path: path.into(), source })?;
        Self::from_bytes(path, bytes, kind, place)
    }

    /// Like [`open`](Self::open), from the content of a file. The path is for messages.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, kind: ModelKind, place: &Place) -> Result<Self, WeightError> {
        let (header_len, header) =
            SafeTensors::read_metadata(&bytes).map_err(|error| WeightError::from_format(path, bytes.len(), error))?;
        let found = ModelKind::of(|name| header.info(name).is_some());
        if found != Some(kind) {
            return Err(WeightError::WrongModel { path: path.into(), expected: kind, found });
        }
        // The header follows eight bytes that hold its length.
        Ok(Self { path: path.into(), place: place.clone(), kind, bytes, data_start: header_len + 8, header })
    }

    /// The tensors whose names begin with `prefix` and a dot.
    pub fn at(&self, prefix: impl Into<String>) -> Weights<'_> {
        Weights { file: self, prefix: prefix.into() }
    }

    /// A text that the file's header holds beside the tensors.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.header.metadata().as_ref()?.get(key).map(String::as_str)
    }

    /// An error about something other than a single tensor.
    pub fn invalid(&self, what: impl Into<String>) -> WeightError {
        WeightError::Invalid { path: self.path.clone(), kind: self.kind, what: what.into() }
    }

    /// Where the tensors are made.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// The part of a weight file below a prefix.
#[derive(Clone, Debug)]
pub struct Weights<'a> {
    file: &'a WeightFile,
    prefix: String,
}

impl<'a> Weights<'a> {
    /// The part below a longer prefix.
    pub fn at(&self, name: &str) -> Self {
        Self { file: self.file, prefix: self.full(name) }
    }

    /// The file.
    pub fn file(&self) -> &'a WeightFile {
        self.file
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.file.header.info(&self.full(name)).is_some()
    }

    /// Whether there is nothing in this part. A layer that has lost a tensor is still a layer, so that its loader says what
    /// is missing.
    pub fn is_empty(&self) -> bool {
        let start = format!("{}.", self.prefix);
        !self.file.header.tensors().keys().any(|name| name.starts_with(&start))
    }

    /// The shape of a tensor.
    ///
    /// # Errors
    ///
    /// A tensor that is missing or has another rank.
    pub fn dims<const D: usize>(&self, name: &str) -> Result<[usize; D], WeightError> {
        let info = self.info(name)?;
        info.shape.as_slice().try_into().map_err(|_| WeightError::Rank {
            path: self.file.path.clone(),
            name: self.full(name),
            expected: D,
            found: info.shape.clone(),
        })
    }

    /// A tensor of this shape.
    ///
    /// # Errors
    ///
    /// A tensor that is missing, has another shape, does not hold floating point numbers, or holds one that is not finite.
    pub fn tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Result<Tensor<D>, WeightError> {
        Ok(self.file.place.tensor(self.values(name, shape)?, shape))
    }

    /// The numbers of a tensor of this shape, in row-major order.
    ///
    /// # Errors
    ///
    /// As [`tensor`](Self::tensor).
    pub fn values<const D: usize>(&self, name: &str, shape: [usize; D]) -> Result<Vec<f64>, WeightError> {
        let info = self.info(name)?;
        if info.shape != shape {
            return Err(WeightError::Shape {
                path: self.file.path.clone(),
                name: self.full(name),
                expected: shape.to_vec(),
                found: info.shape.clone(),
            });
        }
        let (start, end) = info.data_offsets;
        let bytes = &self.file.bytes[self.file.data_start + start..self.file.data_start + end];
        let values = decode(info.dtype, bytes).ok_or_else(|| WeightError::NotNumbers {
            path: self.file.path.clone(),
            name: self.full(name),
            found: info.dtype.to_string(),
        })?;
        match values.iter().find(|x| !x.is_finite()) {
            None => Ok(values),
            Some(&found) => Err(WeightError::NotFinite { path: self.file.path.clone(), name: self.full(name), found }),
        }
    }

    fn info(&self, name: &str) -> Result<&'a TensorInfo, WeightError> {
        let name = self.full(name);
        self.file.header.info(&name).ok_or_else(|| WeightError::Missing {
            path: self.file.path.clone(),
            kind: self.file.kind,
            name,
        })
    }

    fn full(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.into() } else { format!("{}.{name}", self.prefix) }
    }
}

/// Numbers of any type that weights come in, or none for types they do not.
fn decode(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f64>> {
    Some(match dtype {
        Dtype::F64 => numbers(bytes, f64::from_le_bytes),
        Dtype::F32 => numbers(bytes, |bytes| f32::from_le_bytes(bytes).into()),
        Dtype::F16 => numbers(bytes, |bytes| f16::from_le_bytes(bytes).into()),
        Dtype::BF16 => numbers(bytes, |bytes| bf16::from_le_bytes(bytes).into()),
        Dtype::I64 => numbers(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
        Dtype::I32 => numbers(bytes, |bytes| i32::from_le_bytes(bytes).into()),
        _ => return None,
    })
}

fn numbers<const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&chunk| convert(chunk)).collect()
}
