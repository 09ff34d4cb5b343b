//! Times a network on one thread: `network_speed KIND FILE REPEATS` prints the shortest seconds of a value and of a value
//! with its gradient. `bench/compare_torch.py` runs it beside PyTorch.
#![allow(clippy::print_stdout, reason = "a program that reports to the terminal")]

use std::path::Path;
use std::time::Instant;

use luminary_lsi::networks::clip::Clip;
use luminary_lsi::networks::{Generator, MobileStyleGan, Noise, StyleGan, StyleGan2};
use luminary_lsi::tape::{Tape, Var};
use luminary_lsi::{Place, Precision, keep_freed_memory, to_vec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    keep_freed_memory();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, path, repeats] = arguments.as_slice() else { return Err("expected KIND FILE REPEATS".into()) };
    let (path, repeats, place) = (Path::new(path), repeats.parse()?, Place::cpu(Precision::Single));
    let [value, gradient] = match kind.as_str() {
        "stylegan" => time_generator(&StyleGan::load(path, &place)?, &place, repeats),
        "stylegan2" => time_generator(&StyleGan2::load(path, &place)?, &place, repeats),
        "mobile_stylegan" => time_generator(&MobileStyleGan::load(path, &place)?, &place, repeats),
        "clip" => {
            let clip = Clip::load(path, &place)?;
            let size = clip.image_size();
            time(&place, [1, 3, size, size], repeats, |images| clip.embed_images(images))
        }
        other => return Err(format!("expected stylegan, stylegan2, mobile_stylegan or clip, found {other}").into()),
    };
    println!("{value} {gradient}");
    Ok(())
}

fn time_generator(generator: &dyn Generator, place: &Place, repeats: usize) -> [f64; 2] {
    let shape = [1, generator.n_layers(), generator.latent_dim()];
    time(place, shape, repeats, |latents| generator.synthesise(latents, &Noise::Fixed))
}

fn time<const D: usize, const E: usize>(
    place: &Place,
    shape: [usize; D],
    repeats: usize,
    network: impl Fn(Var<D>) -> Var<E>,
) -> [f64; 2] {
    let input = place.tensor((0..shape.iter().product()).map(|i| (0.7 * i as f64).sin()).collect(), shape);
    let value = shortest(repeats, || drop(to_vec(network(Var::constant(input.clone())).into_value())));
    let gradient = shortest(repeats, || {
        let input = Tape::new().input(input.clone());
        let output = network(input.clone());
        drop(to_vec(output.pull_back(output.value().ones_like(), &input)));
    });
    [value, gradient]
}

fn shortest(repeats: usize, run: impl Fn()) -> f64 {
    let times = (0..repeats).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}
