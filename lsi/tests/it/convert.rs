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

#[test]
fn face_networks_are_read_scaled_folded_and_turned() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let manifest = |name: &str, weights: &str| {
        write(
            &format!("{name}-weights_manifest.json"),
            format!(r#"[{{"paths": ["{name}.bin"], "weights": [{weights}]}}]"#).as_bytes(),
        );
    };
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    // One pixel, two inputs, three outputs, in 8 bits: 0.5 times the byte minus 1.
    let eighth = r#""dtype": "float32", "quantization": {"dtype": "uint8", "scale": 0.5, "min": -1.0}"#;
    manifest("age_gender_model", &format!(r#"{{"name": "a/filters", "shape": [1, 1, 2, 3], {eighth}}}"#));
    write("age_gender_model.bin", &[0, 1, 2, 3, 4, 5]);
    // A kernel of one row and two columns for each of two channels.
    manifest("face_expression_model", r#"{"name": "b/depthwise_filter", "shape": [1, 2, 2, 1], "dtype": "float32"}"#);
    write("face_expression_model.bin", &floats(&[1.0, 2.0, 3.0, 4.0]));
    let entry = |name: &str, shape: &str| format!(r#"{{"name": "c/{name}", "shape": {shape}, "dtype": "float32"}}"#);
    let entries = [
        entry("conv/filters", "[1, 1, 1, 2]"),
        entry("conv/bias", "[2]"),
        entry("scale/weights", "[2]"),
        entry("scale/biases", "[2]"),
    ];
    manifest("face_recognition_model", &entries.join(", "));
    write("face_recognition_model.bin", &floats(&[1.0, 2.0, 3.0, 4.0, 10.0, 100.0, 0.5, 0.25]));

    let target = folder.path().join("converted.safetensors");
    let convert = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/convert_face_nets.py");
        Command::new("python3").arg(script).arg(folder.path()).arg(&target).output().expect("python3 runs")
    };
    let output = convert();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = [
        ("age_gender.a.weight", vec![3, 2, 1, 1], floats(&[-1.0, 0.5, -0.5, 1.0, 0.0, 1.5])),
        ("expression.b.depthwise", vec![2, 1, 1, 2], floats(&[1.0, 3.0, 2.0, 4.0])),
        ("identity.c.bias", vec![2], floats(&[30.5, 400.25])),
        ("identity.c.weight", vec![2, 1, 1, 1], floats(&[10.0, 200.0])),
    ];
    let expected = expected.into_iter().map(|(name, shape, bytes)| (name.to_owned(), (Dtype::F32, shape, bytes)));
    assert_eq!(tensors(&target), expected.collect());

    write("age_gender_model.bin", &[0, 1, 2]);
    let output = convert();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("expected 6 bytes of a/filters, found 3"), "{message}");
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
