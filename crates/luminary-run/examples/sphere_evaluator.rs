//! An evaluator for Luminary in Rust: JSON lines on stdin and stdout. Run it with
//!
//! ```toml
//! [evaluator]
//! command = ["target/release/examples/sphere_evaluator"]
//! workers = 4
//! ```

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

/// The first line from Luminary.
#[derive(Deserialize)]
struct Hello {
    version: u32,
}

/// Our first line.
#[derive(Serialize)]
struct HelloReply {
    hello: &'static str,
    version: u32,
    jacobian: bool,
}

#[derive(Deserialize)]
struct Request {
    id: u64,
    solutions: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct Answer {
    id: u64,
    results: Vec<Row>,
}

/// What became of one solution.
#[derive(Serialize)]
#[serde(untagged)]
enum Row {
    Good { objective: f64, measures: Vec<f64> },
    Failed { error: String },
}

/// Objective (to be maximised) and measures of one solution.
fn evaluate(solution: &[f64]) -> Row {
    let objective = -solution.iter().map(|x| x * x).sum::<f64>();
    match solution {
        [first, second, ..] => Row::Good { objective, measures: vec![*first, *second] },
        _ => Row::Failed { error: format!("expected at least 2 components, found {}", solution.len()) },
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = std::io::stdin().lock().lines();
    let mut answers = std::io::BufWriter::new(std::io::stdout().lock());

    let hello: Hello = serde_json::from_str(&lines.next().ok_or("expected a hello")??)?;
    if hello.version != 1 {
        return Err(format!("expected protocol version 1, found {}", hello.version).into());
    }
    let reply = HelloReply { hello: "sphere_evaluator", version: 1, jacobian: false };
    serde_json::to_writer(&mut answers, &reply)?;
    answers.write_all(b"\n")?;
    answers.flush()?;

    // Ends when Luminary closes the pipe.
    for line in lines {
        let request: Request = serde_json::from_str(&line?)?;
        let results = request.solutions.iter().map(|solution| evaluate(solution)).collect();
        serde_json::to_writer(&mut answers, &Answer { id: request.id, results })?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
    Ok(())
}
