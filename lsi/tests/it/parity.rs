//! Values and gradients of all networks against PyTorch.

use luminary_lsi::networks::{Generator, Noise, Resample};
use luminary_lsi::tape::{Tape, Var};

use crate::golden::{self, Case, assert_close, cotangent};

#[test]
fn stylegan_agrees_with_pytorch() {
    assert_generator_agrees(&*golden::stylegan(), &Case::open("stylegan"), [6, 6, 16]);
}

#[test]
fn stylegan2_agrees_with_pytorch() {
    assert_generator_agrees(&*golden::stylegan2(), &Case::open("stylegan2"), [6, 6, 16]);
}

#[test]
fn mobile_stylegan_agrees_with_pytorch() {
    assert_generator_agrees(&*golden::mobile_stylegan(), &Case::open("mobile_stylegan"), [6, 8, 32]);
}

#[test]
fn clip_agrees_with_pytorch() {
    let (clip, case) = (golden::clip(), Case::open("clip"));
    let images = Tape::new().input(case.tensor("images"));
    let vectors = clip.embed_images(images.clone());
    assert_close("image vectors", vectors.value().clone(), case.tensor("image_vectors"));
    let gradient = vectors.pull_back(cotangent(vectors.dims()), &images);
    assert_close("gradient by images", gradient, case.tensor("images_gradient"));

    let text = clip.embed_text("a digit eight").unwrap();
    assert_close("text vector", text.unsqueeze(), case.tensor::<2>("text_vector"));
    assert!((clip.logit_scale() - 100.0).abs() < 1e-4, "{}", clip.logit_scale());
    assert_eq!(clip.image_size(), 8);
}

#[test]
fn face_networks_agree_with_pytorch() {
    let (nets, case) = (golden::face_nets(), Case::open("face_nets"));
    let agrees = |name: &str, size: usize, forward: &dyn Fn(Var<4>) -> Var<2>| {
        let images = Tape::new().input(case.tensor("images"));
        let output = forward(Resample::bilinear(8, size, &golden::place()).forward(images.clone()));
        assert_close(name, output.value().clone(), case.tensor(name));
        let gradient = output.pull_back(cotangent(output.dims()), &images);
        assert_close(name, gradient, case.tensor(&format!("{name}_gradient")));
    };
    agrees("age_gender", 32, &|images| nets.age_gender.forward(images));
    agrees("expression", 32, &|images| nets.expression.forward(images));
    agrees("identity", 104, &|images| nets.identity.forward(images));
}

fn assert_generator_agrees(generator: &dyn Generator, case: &Case, shape: [usize; 3]) {
    assert_eq!([generator.latent_dim(), generator.n_layers(), generator.resolution()], shape);
    let z = Tape::new().input(case.tensor::<2>("z"));
    let w = generator.map(z.clone());
    assert_close("w", w.value().clone(), case.tensor("w"));
    assert_close("gradient by z", w.pull_back(cotangent(w.dims()), &z), case.tensor("z_gradient"));

    // The reference of StyleGAN, which stores no noise, came with noise of its own.
    let noise = match case.has("noise0") {
        true => Noise::Given((0..generator.n_layers()).map(|layer| case.tensor(&format!("noise{layer}"))).collect()),
        false => Noise::Fixed,
    };
    let latents = Tape::new().input(case.tensor::<3>("latents"));
    let images = generator.synthesise(latents.clone(), &noise);
    assert_close("images", images.value().clone(), case.tensor("images"));
    let gradient = images.pull_back(cotangent(images.dims()), &latents);
    assert_close("gradient by latents", gradient, case.tensor("latents_gradient"));
}
