//! The golden files: small random networks with values and gradients that PyTorch computed (`reference/make_golden.py`).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use luminary_lsi::networks::clip::Clip;
use luminary_lsi::networks::faces::FaceNets;
use luminary_lsi::networks::{Generator, MobileStyleGan, StyleGan, StyleGan2};
use luminary_lsi::{Place, Precision, Tensor};
use safetensors::SafeTensors;

pub(crate) fn place() -> Place {
    Place::cpu(Precision::Double)
}

/// A file in the folder of golden files.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

pub(crate) fn stylegan() -> Arc<dyn Generator> {
    Arc::new(StyleGan::load(&path("stylegan.safetensors"), &place()).unwrap())
}

pub(crate) fn stylegan2() -> Arc<dyn Generator> {
    Arc::new(StyleGan2::load(&path("stylegan2.safetensors"), &place()).unwrap())
}

pub(crate) fn mobile_stylegan() -> Arc<dyn Generator> {
    Arc::new(MobileStyleGan::load(&path("mobile_stylegan.safetensors"), &place()).unwrap())
}

pub(crate) fn clip() -> Arc<Clip> {
    Arc::new(Clip::load(&path("clip.safetensors"), &place()).unwrap())
}

pub(crate) fn face_nets() -> FaceNets {
    FaceNets::load(&path("face_nets.safetensors"), &place()).unwrap()
}

/// The inputs and results of a network.
pub(crate) struct Case {
    tensors: HashMap<String, (Vec<usize>, Vec<f64>)>,
}

impl Case {
    pub(crate) fn open(name: &str) -> Self {
        let bytes = std::fs::read(path(&format!("{name}.case.safetensors"))).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let decode = |data: &[u8]| data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
        let tensors = file.iter().map(|(name, view)| (name.into(), (view.shape().to_vec(), decode(view.data()))));
        Self { tensors: tensors.collect() }
    }

    pub(crate) fn tensor<const D: usize>(&self, name: &str) -> Tensor<D> {
        let (shape, values) = &self.tensors[name];
        place().tensor(values.clone(), shape.as_slice().try_into().unwrap())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }
}

/// The cotangent that the reference used.
pub(crate) fn cotangent<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let count = shape.iter().product();
    place().tensor((0..count).map(|i| (0.1 * i as f64).cos() + 0.5).collect(), shape)
}

/// Asserts that two tensors agree to a number of digits that rounding in f64 leaves after some dozen layers.
pub(crate) fn assert_close<const D: usize>(what: &str, found: Tensor<D>, expected: Tensor<D>) {
    const TOLERANCE: f64 = 1e-11;
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let scale = expected.clone().abs().max().into_scalar::<f64>();
    let error = (found - expected).abs().max().into_scalar::<f64>();
    assert!(error <= TOLERANCE * scale, "{what}: largest error {error:e} at a scale of {scale:e}");
    assert!(scale > 1e-3, "{what}: nothing to compare");
}
