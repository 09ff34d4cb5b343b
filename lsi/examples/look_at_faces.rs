//! Draws faces, says what the networks see in them, and how long that takes on one thread.
//!
//! ```text
//! luminary lsi fetch faces
//! cargo run --release --manifest-path lsi/Cargo.toml --example look_at_faces -- MODELS COUNT OUT
//! ```
//!
//! MODELS is the folder of the fetched models; OUT gets the faces as PNG files.
#![allow(clippy::print_stdout, reason = "a program that reports to the terminal")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use luminary::problem::{DifferentiableProblem, Problem};
use luminary_lsi::domains::{Faces, FacesConfig};
use luminary_lsi::networks::MobileStyleGan;
use luminary_lsi::networks::faces::FaceNets;
use luminary_lsi::{Place, Precision, keep_freed_memory};
use luminary_math::WideRng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    keep_freed_memory();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [models, count, out] = arguments.as_slice() else { return Err("expected MODELS COUNT OUT".into()) };
    let (models, out, place) = (Path::new(models), Path::new(out), Place::cpu(Precision::Single));
    let generator = MobileStyleGan::load(&models.join("mobile-stylegan-ffhq.safetensors"), &place)?;
    let nets = FaceNets::load(&models.join("face-nets.safetensors"), &place)?;
    let domain = Faces::new(Arc::new(generator), Arc::new(nets), FacesConfig::default())?;
    println!("mean distance of samples from the mean face: {:.1}", domain.statistics().typical_norm);
    std::fs::create_dir_all(out)?;

    let dim = domain.spec().solution_dim;
    let mut rng = WideRng::from_path(0, "faces");
    for index in 0..count.parse()? {
        let mut solution = vec![0.0; dim];
        rng.fill_normal(&mut solution);
        solution.iter_mut().for_each(|x| *x *= 0.65);
        let start = Instant::now();
        let mut measures = [0.0; 2];
        let objective = domain.evaluate(&solution, &mut measures);
        let evaluation = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut jacobian = vec![0.0; 3 * dim];
        domain.evaluate_with_jacobian(&solution, &mut measures, &mut jacobian);
        let gradient = start.elapsed().as_secs_f64();
        let [age, gender] = measures;
        println!(
            "face {index}: objective {objective:.1}, age {age:.0}, gender score {gender:.1}; {evaluation:.2} s, with \
             gradient {gradient:.2} s"
        );
        domain.render(&solution)[0].write_png(&out.join(format!("face-{index}.png")))?;
    }
    Ok(())
}
