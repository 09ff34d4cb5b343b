//! Input that nobody wrote: everything this crate reads, changed at random. Whatever comes is read or refused; nothing
//! panics, hangs, or takes more memory than its length explains.
//!
//! The test command tries a few thousand inputs for each target. `LUMINARY_FUZZ_SECONDS=600` goes on for ten minutes
//! each, and prints how many inputs there were. What a target takes becomes a seed of further inputs, so that these get
//! past the first check. `cargo xtask fuzz` tries the same targets guided by coverage (`fuzz/`), which is why they are
//! there with the feature `fuzz`, too.

mod harness;
mod mutate;
mod targets;

pub use harness::{Read, Target, Verdict, fuzz};

/// All targets.
pub fn targets() -> Vec<Target> {
    let mut targets = targets::targets();
    #[cfg(unix)]
    targets.extend(crate::external::fuzz_targets());
    targets
}

/// The target of this name.
///
/// # Panics
/// When there is none.
pub fn target(name: &str) -> Target {
    let found = targets().into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("expected the name of a target, found {name:?}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// What is stored for each target: its seeds, and what coverage or a finding has taught. `UPDATE_EXPECTED=1` writes
    /// the seeds.
    #[test]
    fn stored_inputs_are_read_or_refused() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for mut target in targets() {
            let folder = corpus.join(target.name);
            if std::env::var_os("UPDATE_EXPECTED").is_some() {
                fs::create_dir_all(&folder).unwrap();
                for (number, seed) in target.seeds.iter().enumerate() {
                    fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
                }
            }
            let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let mut n_taken = 0;
            for file in files {
                let path = file.unwrap().path();
                eprintln!("{}", path.display());
                n_taken += usize::from((target.read)(&fs::read(path).unwrap()) == Verdict::Taken);
            }
            assert!(n_taken >= target.seeds.len(), "{}: only {n_taken} stored inputs are taken", target.name);
        }
    }

    macro_rules! targets_are_tried {
        ($($test:ident: $name:literal,)*) => {
            $(#[test] fn $test() { fuzz(target($name)); })*

            #[test]
            fn every_target_is_tried() {
                assert_eq!(targets().iter().map(|target| target.name).collect::<Vec<_>>(), [$($name),*]);
            }
        };
    }

    targets_are_tried! {
        configurations: "configuration",
        overrides: "override",
        manifests: "manifest",
        states: "state",
        summaries: "summary",
        checkpoints: "checkpoint",
        engines: "engine",
        journals: "journal",
        calls: "call",
        messages: "message",
        metrics: "metrics",
        tables: "table",
        live_files: "live",
        lines: "line",
        lines_with_jacobians: "line_jacobian",
        greetings: "hello",
        results: "result",
        results_with_jacobians: "result_jacobian",
    }
}
