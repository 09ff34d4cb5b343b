//! The converter of official weight files, on the golden models in the forms that official weights come in
//! (`reference/make_official.py`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use tempfile::TempDir;

use crate::golden;

#[test]
fn converted_weights_are_the_weights() {
    let folder = TempDir::new().unwrap();
    for (model, file) in [("stylegan", "stylegan.pt"), ("stylegan2", "stylegan2.pkl"), ("clip", "clip.bin")] {
        let target = folder.path().join("converted.safetensors");
        let output = convert(model, &golden::path("official").join(file), &target);
        assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
        let expected = tensors(&golden::path(&format!("{model}.safetensors")));
        assert_eq!(tensors(&target), expected, "{model}");
    }
}

#[test]
fn files_that_cannot_be_converted_are_refused_in_a_line() {
    let folder = TempDir::new().unwrap();
    let official = |file: &str| golden::path("official").join(file);
    let cut = |file: &str| -> PathBuf {
        let bytes = std::fs::read(official(file)).unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
        path
    };
    let cases = [
        ("clip", official("stylegan.pt"), "expected a clip model"),
        ("stylegan", golden::path("stylegan.safetensors"), "not a PyTorch file"),
        ("stylegan", cut("stylegan.pt"), "damaged"),
        ("stylegan2", cut("stylegan2.pkl"), "damaged"),
        ("clip", cut("clip.bin"), "damaged"),
        ("clip", folder.path().join("nowhere.bin"), "No such file"),
    ];
    for (model, source, expected) in cases {
        let target = folder.path().join("converted.safetensors");
        let output = convert(model, &source, &target);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && !target.exists(), "{model} {}", source.display());
        assert!(message.contains(expected) && message.lines().count() == 1, "{model} {}: {message}", source.display());
    }
}

fn convert(model: &str, source: &Path, target: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/convert_weights.py");
    Command::new("python3").arg(script).arg(model).arg(source).arg(target).output().expect("python3 runs")
}

fn tensors(path: &Path) -> BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    file.iter().map(|(name, view)| (name.into(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()))).collect()
}
