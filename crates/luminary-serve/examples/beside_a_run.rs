//! A program of your own that shows its run while it runs: `cargo run --example beside_a_run`.

use luminary_run::config::{Override, RunConfig};
use luminary_run::driver::Run;
use luminary_run::stop::StopFlag;
use luminary_serve::{Options, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let iterations = std::env::args().nth(1).unwrap_or_else(|| "20000".into());
    let folder = std::env::temp_dir().join(format!("luminary-example-{}", std::process::id()));
    let settings = [
        Override::new("example", "problem.domain", "lp-rastrigin"),
        Override::new("example", "problem.n", "20"),
        Override::new("example", "run.iterations", iterations),
    ];
    let run = Run::create(&folder, RunConfig::read(None, &settings)?)?;
    let server = Server::bind(Options::new(vec![folder.clone()]))?;
    eprintln!("live view at {}", server.url());
    let serving = server.spawn()?;
    let summary = run.execute(&StopFlag::default(), &mut ())?;
    eprintln!("QD score {:.2} after {} evaluations", summary.qd_score, summary.evaluations);
    drop(serving);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
