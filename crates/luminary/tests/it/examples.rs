//! The examples run to their end. Those of parts of one's own assert that their part did something and survives saving.

use std::error::Error;

#[path = "../../examples/custom_archive.rs"]
mod custom_archive;
#[path = "../../examples/custom_emitter.rs"]
mod custom_emitter;
#[path = "../../examples/custom_ranker.rs"]
mod custom_ranker;
#[path = "../../examples/custom_restart.rs"]
mod custom_restart;
#[path = "../../examples/custom_stop.rs"]
mod custom_stop;
#[path = "../../examples/custom_strategy.rs"]
mod custom_strategy;
#[path = "../../examples/many_measures.rs"]
mod many_measures;
#[path = "../../examples/noisy.rs"]
mod noisy;

#[test]
fn an_archive_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_archive::main()
}

#[test]
fn an_emitter_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_emitter::main()
}

#[test]
fn a_ranker_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_ranker::main()
}

#[test]
fn a_strategy_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_strategy::main()
}

#[test]
fn a_restart_rule_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_restart::main()
}

#[test]
fn a_stop_rule_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_stop::main()
}

#[test]
fn thresholds_of_a_model_for_many_measures() -> Result<(), Box<dyn Error>> {
    many_measures::compare(&[])
}

#[test]
fn a_noisy_problem_with_and_without_noise_handling() -> Result<(), Box<dyn Error>> {
    noisy::compare(&["lp-sphere", "5", "2", "2000", "1..3", "cma_mae"].map(str::to_owned))
}
