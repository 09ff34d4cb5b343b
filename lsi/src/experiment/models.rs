//! Which networks an experiment uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::networks::clip::Clip;
use crate::networks::faces::FaceNets;
use crate::networks::{Generator, MobileStyleGan, StyleGan, StyleGan2};
use crate::place::Place;
use crate::weights::{ModelKind, WeightError, WeightFile};

/// A generator and whatever judges its images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Models {
    /// The small models that come with the crate: a StyleGAN2 of 32 by 32 pixels and a CLIP that knows a few words, both
    /// trained on handwritten digits by the scripts in `training`.
    #[default]
    Digits,
    /// Weight files.
    Files {
        /// StyleGAN, StyleGAN2 or MobileStyleGAN: the file says which.
        generator: PathBuf,
        /// CLIP.
        clip: PathBuf,
    },
    /// What [`fetch_faces`](super::fetch_faces) made: a generator of faces and networks that look at them.
    Faces {
        /// The folder of both files.
        folder: PathBuf,
    },
}

const DIGITS_GENERATOR: &[u8] = include_bytes!("../../models/digits-generator.safetensors");
const DIGITS_CLIP: &[u8] = include_bytes!("../../models/digits-clip.safetensors");

/// The generator of faces.
pub const FACE_GENERATOR: &str = "mobile-stylegan-ffhq.safetensors";
/// The networks that look at faces.
pub const FACE_NETS: &str = "face-nets.safetensors";

/// Networks that belong together.
pub(super) enum Loaded {
    /// A generator and an image-text model.
    Prompts(Arc<dyn Generator>, Arc<Clip>),
    /// A generator of faces and networks that look at them.
    Faces(Arc<dyn Generator>, Arc<FaceNets>),
}

impl Models {
    /// Loads the networks.
    pub(super) fn load(&self, place: &Place) -> Result<Loaded, WeightError> {
        match self {
            Self::Digits => {
                let open = |name: &str, bytes: &[u8], kind| {
                    WeightFile::from_bytes(Path::new(name), bytes.to_vec(), kind, place)
                };
                let generator = open("digits-generator.safetensors", DIGITS_GENERATOR, ModelKind::StyleGan2)?;
                let clip = open("digits-clip.safetensors", DIGITS_CLIP, ModelKind::Clip)?;
                let generator = StyleGan2::from_weights(&generator)?;
                Ok(Loaded::Prompts(Arc::new(generator), Arc::new(Clip::from_weights(&clip)?)))
            }
            Self::Files { generator, clip } => {
                Ok(Loaded::Prompts(load_generator(generator, place)?, Arc::new(Clip::load(clip, place)?)))
            }
            Self::Faces { folder } => {
                let generator = load_generator(&folder.join(FACE_GENERATOR), place)?;
                Ok(Loaded::Faces(generator, Arc::new(FaceNets::load(&folder.join(FACE_NETS), place)?)))
            }
        }
    }

    /// A short name, for titles.
    pub fn name(&self) -> String {
        match self {
            Self::Digits => "digits".into(),
            Self::Faces { .. } => "faces".into(),
            Self::Files { generator, .. } => {
                generator.file_stem().map_or("files".into(), |stem| stem.to_string_lossy().into())
            }
        }
    }
}

/// A generator of whichever kind the file holds.
fn load_generator(path: &Path, place: &Place) -> Result<Arc<dyn Generator>, WeightError> {
    match StyleGan2::load(path, place) {
        Ok(generator) => Ok(Arc::new(generator)),
        Err(WeightError::WrongModel { found: Some(ModelKind::StyleGan), .. }) => {
            Ok(Arc::new(StyleGan::load(path, place)?))
        }
        Err(WeightError::WrongModel { found: Some(ModelKind::MobileStyleGan), .. }) => {
            Ok(Arc::new(MobileStyleGan::load(path, place)?))
        }
        Err(error) => Err(error),
    }
}
