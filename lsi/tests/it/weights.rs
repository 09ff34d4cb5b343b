//! Weight files that cannot be used, and what is said about them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use luminary_lsi::networks::clip::Clip;
use luminary_lsi::networks::faces::FaceNets;
use luminary_lsi::networks::{MobileStyleGan, StyleGan, StyleGan2};
use luminary_lsi::weights::{ModelKind, WeightError};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use tempfile::TempDir;

use crate::golden;

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = load(ModelKind::Clip, Path::new("nowhere/clip.safetensors")).unwrap_err();
    assert!(matches!(error, WeightError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().contains("nowhere/clip.safetensors"), "{error}");
}

#[test]
fn files_cut_anywhere_are_recognised() {
    let folder = TempDir::new().unwrap();
    for kind in ModelKind::ALL {
        let bytes = std::fs::read(golden::path(file_of(kind))).unwrap();
        for kept in [0, 4, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            let path = folder.path().join("cut.safetensors");
            std::fs::write(&path, &bytes[..kept]).unwrap();
            let error = load(kind, &path).unwrap_err();
            assert!(matches!(error, WeightError::Truncated { found, .. } if found == kept), "{kind} {kept}: {error:?}");
        }
    }
}

#[test]
fn other_kinds_of_files_are_recognised() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model.pt");
    // A zip archive, as PyTorch writes them, and a text.
    for bytes in [&b"PK\x03\x04\x00\x00\x08\x08 and more"[..], b"This is not a model."] {
        std::fs::write(&path, bytes).unwrap();
        let error = load(ModelKind::StyleGan2, &path).unwrap_err();
        assert!(matches!(error, WeightError::NotSafetensors { .. }), "{error:?}");
    }
}

#[test]
fn a_file_of_another_model_is_recognised() {
    for expected in ModelKind::ALL {
        for found in ModelKind::ALL.into_iter().filter(|&found| found != expected) {
            let error = load(expected, &golden::path(file_of(found))).unwrap_err();
            assert!(
                matches!(error, WeightError::WrongModel { expected: e, found: Some(f), .. } if e == expected && f == found),
                "{error:?}"
            );
        }
        let error = load(expected, &golden::path("clip.case.safetensors")).unwrap_err();
        assert!(matches!(error, WeightError::WrongModel { found: None, .. }), "{error:?}");
    }
    let message = load(ModelKind::StyleGan2, &golden::path("clip.safetensors")).unwrap_err().to_string();
    assert!(message.ends_with("expected a StyleGAN2 model, found a CLIP model"), "{message}");
}

/// Tensors without which there is still a whole network, only one without a stored mean; every other tensor is missed.
fn is_dispensable(name: &str) -> bool {
    name.contains("w_avg") || name == "text_model.vocabulary"
}

#[test]
fn every_tensor_that_is_missing_or_has_another_shape_is_named() {
    let folder = TempDir::new().unwrap();
    for kind in ModelKind::ALL {
        let bytes = std::fs::read(golden::path(file_of(kind))).unwrap();
        let names: Vec<String> =
            SafeTensors::deserialize(&bytes).unwrap().names().into_iter().map(Into::into).collect();
        for name in names.iter().filter(|name| !is_dispensable(name)) {
            let path = rewrite(&folder, kind, |tensors| drop(tensors.remove(name)));
            let error = load(kind, &path).expect_err(&format!("{kind} without {name}"));
            let is_found = match &error {
                // Without the tensor that tells models apart there is no model.
                WeightError::WrongModel { found: None, .. } => true,
                WeightError::Missing { .. } | WeightError::Shape { .. } => true,
                _ => false,
            };
            assert!(is_found, "{kind} without {name}: {error:?}");
        }
    }
}

#[test]
fn a_missing_tensor_is_named() {
    let folder = TempDir::new().unwrap();
    let name = "synthesis.b8.conv1.affine.bias";
    let path = rewrite(&folder, ModelKind::StyleGan2, |tensors| drop(tensors.remove(name)));
    let error = load(ModelKind::StyleGan2, &path).unwrap_err();
    assert!(matches!(&error, WeightError::Missing { name: found, .. } if found == name), "{error:?}");
    assert!(error.to_string().ends_with("the StyleGAN2 model lacks the tensor `synthesis.b8.conv1.affine.bias`"));
}

#[test]
fn a_tensor_of_another_shape_is_named() {
    let folder = TempDir::new().unwrap();
    let name = "synthesis.b8.conv1.bias";
    let path = rewrite(&folder, ModelKind::StyleGan2, |tensors| {
        tensors.get_mut(name).unwrap().shape = vec![1, 5];
    });
    let error = load(ModelKind::StyleGan2, &path).unwrap_err();
    let WeightError::Shape { name: found_name, expected, found, .. } = &error else { panic!("{error:?}") };
    assert_eq!((found_name.as_str(), expected.as_slice(), found.as_slice()), (name, &[5][..], &[1, 5][..]));
}

#[test]
fn a_tensor_of_another_rank_is_named() {
    let folder = TempDir::new().unwrap();
    let name = "synthesis.b4.const";
    let path = rewrite(&folder, ModelKind::StyleGan2, |tensors| {
        tensors.get_mut(name).unwrap().shape = vec![6, 16];
    });
    let error = load(ModelKind::StyleGan2, &path).unwrap_err();
    assert!(matches!(&error, WeightError::Rank { expected: 3, .. }), "{error:?}");
}

#[test]
fn numbers_that_are_not_finite_or_not_numbers_are_refused() {
    let folder = TempDir::new().unwrap();
    let name = "visual_projection.weight";
    let path = rewrite(&folder, ModelKind::Clip, |tensors| {
        tensors.get_mut(name).unwrap().bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let error = load(ModelKind::Clip, &path).unwrap_err();
    assert!(matches!(&error, WeightError::NotFinite { name: found, .. } if found == name), "{error:?}");

    let path = rewrite(&folder, ModelKind::Clip, |tensors| tensors.get_mut(name).unwrap().dtype = Dtype::U32);
    let error = load(ModelKind::Clip, &path).unwrap_err();
    assert!(matches!(&error, WeightError::NotNumbers { name: found, .. } if found == name), "{error:?}");
}

fn file_of(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::StyleGan => "stylegan.safetensors",
        ModelKind::StyleGan2 => "stylegan2.safetensors",
        ModelKind::MobileStyleGan => "mobile_stylegan.safetensors",
        ModelKind::Clip => "clip.safetensors",
        ModelKind::FaceNets => "face_nets.safetensors",
    }
}

fn load(kind: ModelKind, path: &Path) -> Result<(), WeightError> {
    let place = golden::place();
    match kind {
        ModelKind::StyleGan => StyleGan::load(path, &place).map(drop),
        ModelKind::StyleGan2 => StyleGan2::load(path, &place).map(drop),
        ModelKind::MobileStyleGan => MobileStyleGan::load(path, &place).map(drop),
        ModelKind::Clip => Clip::load(path, &place).map(drop),
        ModelKind::FaceNets => FaceNets::load(path, &place).map(drop),
    }
}

struct Stored {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A golden model with a change, in a file of its own.
fn rewrite(folder: &TempDir, kind: ModelKind, change: impl FnOnce(&mut HashMap<String, Stored>)) -> PathBuf {
    let bytes = std::fs::read(golden::path(file_of(kind))).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let store = |view: TensorView<'_>| Stored {
        dtype: view.dtype(),
        shape: view.shape().to_vec(),
        bytes: view.data().to_vec(),
    };
    let mut tensors: HashMap<String, Stored> = file.iter().map(|(name, view)| (name.into(), store(view))).collect();
    change(&mut tensors);
    let views = tensors
        .iter()
        .map(|(name, stored)| (name, TensorView::new(stored.dtype, stored.shape.clone(), &stored.bytes).unwrap()));
    let path = folder.path().join("changed.safetensors");
    let bytes = safetensors::serialize(views, header.metadata().clone()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}
