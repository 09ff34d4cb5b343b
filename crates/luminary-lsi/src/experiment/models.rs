//! Which networks an experiment uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::networks::clip::Clip;
use crate::networks::{Generator, MobileStyleGan, StyleGan, StyleGan2};
use crate::place::Place;
use crate::weights::{ModelKind, WeightError, WeightFile};

/// A generator and an image-text model.
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
}

const DIGITS_GENERATOR: &[u8] = include_bytes!("../../models/digits-generator.safetensors");
const DIGITS_CLIP: &[u8] = include_bytes!("../../models/digits-clip.safetensors");

impl Models {
    /// Loads both networks.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or that hold other models.
    pub fn load(&self, place: &Place) -> Result<(Arc<dyn Generator>, Arc<Clip>), WeightError> {
        match self {
            Self::Digits => {
                let open = |name: &str, bytes: &[u8], kind| {
                    WeightFile::from_bytes(Path::new(name), bytes.to_vec(), kind, place)
                };
                let generator = open("digits-generator.safetensors", DIGITS_GENERATOR, ModelKind::StyleGan2)?;
                let clip = open("digits-clip.safetensors", DIGITS_CLIP, ModelKind::Clip)?;
                Ok((Arc::new(StyleGan2::from_weights(&generator)?), Arc::new(Clip::from_weights(&clip)?)))
            }
            Self::Files { generator, clip } => {
                Ok((load_generator(generator, place)?, Arc::new(Clip::load(clip, place)?)))
            }
        }
    }

    /// A short name, for titles.
    pub fn name(&self) -> String {
        match self {
            Self::Digits => "digits".into(),
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
