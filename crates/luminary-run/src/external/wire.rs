//! The messages: requests are written straight from the solutions, answers are read straight into number buffers.

use serde::{Deserialize, Serialize};

use super::config::Shape;
use super::extras::Extras;
use super::report::{Fault, cut};
use super::scan::{LINE_END, Scanned, Scanner};

/// The protocol version in both hellos. Changes when an old evaluator would misunderstand a new Luminary.
pub(super) const VERSION: u32 = 1;

/// The largest id: every integer up to here is exact in programs whose only numbers are f64.
const MAX_ID: f64 = 9_007_199_254_740_992.0;

/// What a result file of numbers holds.
const RESULT_FILE: &str = "a result file (the objective, the measures, extras and gradients if there are some)";

/// What each row of an answer must hold.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) shape: Shape,
    pub(super) extras: &'a Extras,
    pub(super) jacobian: bool,
}

impl Wanted<'_> {
    /// Numbers of one row: objective, measures, extras and, if asked for, the Jacobian.
    pub(super) fn stride(self) -> usize {
        let jacobian = if self.jacobian { self.shape.jacobian_len() } else { 0 };
        1 + self.shape.measure_dim + self.extras.width() + jacobian
    }
}

/// Appends the first line a worker gets.
pub(super) fn write_hello(worker: usize, shape: Shape, extras: &Extras, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Hello<'a> {
        hello: &'static str,
        version: u32,
        solution_dim: usize,
        measure_dim: usize,
        #[serde(skip_serializing_if = "Extras::is_empty")]
        extras: &'a Extras,
        worker: usize,
    }
    let Shape { solution_dim, measure_dim } = shape;
    let hello = Hello { hello: "luminary", version: VERSION, solution_dim, measure_dim, extras, worker };
    serde_json::to_writer(&mut *out, &hello).expect("plain data is written to memory");
    out.push(b'\n');
}

/// What a worker says about itself.
#[derive(Debug, Deserialize, PartialEq)]
pub(super) struct HelloReply {
    version: u32,
    #[serde(default)]
    pub(super) jacobian: bool,
    solution_dim: Option<usize>,
    measure_dim: Option<usize>,
}

/// Reads the first line a worker writes. It must know our version and, if it names its dimensions, have ours.
pub(super) fn read_hello(line: &[u8], shape: Shape) -> Scanned<HelloReply> {
    let shown = || cut(&String::from_utf8_lossy(line));
    let expected = "expected a hello such as {\"version\": 1}";
    if is_chatter(line) {
        return Err(format!("{expected}, found {:?}; {CHATTER}", shown()));
    }
    let reply: HelloReply =
        serde_json::from_slice(line).map_err(|error| format!("{expected}, found {:?} ({error})", shown()))?;
    if reply.version != VERSION {
        return Err(format!("expected protocol version {VERSION} in the hello, found {}", reply.version));
    }
    let dims = [
        ("solution_dim", shape.solution_dim, reply.solution_dim),
        ("measure_dim", shape.measure_dim, reply.measure_dim),
    ];
    match dims.into_iter().find(|(_, expected, found)| found.is_some_and(|found| found != *expected)) {
        Some((name, expected, Some(found))) => Err(format!("expected {name} {expected} in the hello, found {found}")),
        _ => Ok(reply),
    }
}

/// What to do about lines that are no JSON objects.
const CHATTER: &str = "standard output is for answers only, anything else may be printed to standard error";

/// Whether a line was not meant as an answer.
fn is_chatter(line: &[u8]) -> bool {
    !line.trim_ascii_start().starts_with(b"{")
}

/// What is wrong with an answer, and what may be done about it.
pub(super) fn with_advice(line: &[u8], fault: String) -> String {
    let advice = match is_chatter(line) {
        true => CHATTER,
        false if fault.ends_with(LINE_END) => "an answer has to be one line",
        false => return fault,
    };
    format!("{fault}; {advice}")
}

/// Appends a request for these solutions, with their seeds if there are any.
pub(super) fn write_request<'a>(
    id: u64,
    wants_jacobian: bool,
    solutions: impl Iterator<Item = &'a [f64]>,
    seeds: impl Iterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(format!("{{\"id\":{id},\"jacobian\":{wants_jacobian},\"solutions\":[").as_bytes());
    for (row, solution) in solutions.enumerate() {
        if row > 0 {
            out.push(b',');
        }
        write_numbers(solution, out);
    }
    out.push(b']');
    let seeds: Vec<String> = seeds.map(|seed| seed.to_string()).collect();
    if !seeds.is_empty() {
        out.extend_from_slice(format!(",\"seeds\":[{}]", seeds.join(",")).as_bytes());
    }
    out.extend_from_slice(b"}\n");
}

/// Appends a list of finite numbers, each as the shortest text that reads back to the same bits.
pub(super) fn write_numbers(numbers: &[f64], out: &mut Vec<u8>) {
    out.push(b'[');
    for (place, number) in numbers.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, number).expect("a number is written to memory");
    }
    out.push(b']');
}

/// An answer to a request. The buffers are used again for every answer.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) id: u64,
    /// An error that concerns the whole request; there are no rows then.
    pub(super) error: Option<String>,
    /// One verdict for each row; `None` is a good one.
    pub(super) verdicts: Vec<Option<Fault>>,
    /// The rows' values one after the other. Those of bad rows mean nothing.
    pub(super) values: Vec<f64>,
    row: Row,
}

/// The values of one row.
#[derive(Default)]
pub(super) struct Row {
    pub(super) objective: f64,
    pub(super) measures: Vec<f64>,
    /// In the order of their names.
    pub(super) extras: Vec<f64>,
    /// Empty unless asked for.
    pub(super) jacobian: Vec<f64>,
}

impl Answer {
    /// Reads one line. An error means that the line is not an answer at all; what is wrong with single rows is in the
    /// verdicts. Never holds more than `max_rows` rows.
    pub(super) fn read(&mut self, line: &[u8], wanted: Wanted<'_>, max_rows: usize) -> Scanned<()> {
        self.error = None;
        self.verdicts.clear();
        self.values.clear();
        let (mut id, mut has_results) = (None, false);
        let mut scanner = Scanner::new(line)?;
        scanner.object(|scanner, key| match key {
            "id" => {
                let place = scanner.place();
                id = scanner.number()?.filter(|id| id.fract() == 0.0 && (0.0..=MAX_ID).contains(id));
                id.map(drop)
                    .ok_or_else(|| format!("expected a whole number as `id`, found {}", scanner.read_since(place)))
            }
            "results" if has_results => Err("expected `results` once, found it twice".to_string()),
            "results" => {
                has_results = true;
                scanner.array(|scanner| self.read_result(scanner, wanted, max_rows))
            }
            "error" => read_error(scanner).map(|error| self.error = error),
            _ => scanner.skip(),
        })?;
        scanner.end()?;
        self.id = id.ok_or("expected `id` in the answer, found none")? as u64;
        if !has_results && self.error.is_none() {
            return Err("expected `results` or `error` in the answer, found neither".to_string());
        }
        Ok(())
    }

    fn read_result(&mut self, scanner: &mut Scanner<'_>, wanted: Wanted<'_>, max_rows: usize) -> Scanned<()> {
        if self.verdicts.len() == max_rows {
            return Err(format!("expected at most {max_rows} results, found more"));
        }
        let verdict = self.row.read(scanner, wanted)?;
        self.verdicts.push(verdict);
        self.values.push(self.row.objective);
        self.values.extend_from_slice(&self.row.measures);
        self.values.extend_from_slice(&self.row.extras);
        self.values.extend_from_slice(&self.row.jacobian);
        // Keeps the stride when lists were too short.
        self.values.resize(self.verdicts.len() * wanted.stride(), f64::NAN);
        Ok(())
    }
}

impl Row {
    /// Reads one result: `{"objective": ..., "measures": [...]}`, with `extras` and `jacobian` if asked for, or
    /// `{"error": "..."}`. Gives what is wrong with the row, or an error if the text is broken.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'_>, wanted: Wanted<'_>) -> Scanned<Option<Fault>> {
        let Wanted { shape, extras, jacobian: wants_jacobian } = wanted;
        self.objective = f64::NAN;
        self.measures.clear();
        self.extras.clear();
        self.jacobian.clear();
        if scanner.peek() != Some(b'{') {
            return skipped(scanner, "an object for each result").map(Some);
        }
        let place = scanner.place();
        let (mut has_objective, mut has_measures) = (false, false);
        let (mut has_extras, mut has_jacobian) = (extras.is_empty(), !wants_jacobian);
        let (mut reported, mut fault) = (None, None);
        scanner.object(|scanner, key| {
            let found = match key {
                "objective" => {
                    has_objective = true;
                    let place = scanner.place();
                    let number = scanner.number()?;
                    self.objective = number.unwrap_or(f64::NAN);
                    let found = || scanner.read_since(place);
                    number
                        .is_none()
                        .then(|| Fault::Garbage(format!("expected a number as `objective`, found {}", found())))
                }
                "measures" => {
                    has_measures = true;
                    self.measures.clear();
                    read_numbers(scanner, "measures", shape.measure_dim, &mut self.measures)?
                }
                "extras" if !extras.is_empty() => {
                    has_extras = true;
                    extras.read(scanner, &mut self.extras)?
                }
                "jacobian" if wants_jacobian => {
                    has_jacobian = true;
                    self.jacobian.clear();
                    read_jacobian(scanner, shape, &mut self.jacobian)?
                }
                "error" => {
                    reported = read_error(scanner)?;
                    None
                }
                _ => {
                    scanner.skip()?;
                    None
                }
            };
            fault = fault.take().or(found);
            Ok(())
        })?;
        let needed = [
            ("objective", has_objective),
            ("measures", has_measures),
            ("extras", has_extras),
            ("jacobian", has_jacobian),
        ];
        let missing = needed
            .into_iter()
            .find(|(_, found)| !found)
            .map(|(key, _)| format!("expected `{key}` in each result, found none in {}", scanner.read_since(place)))
            .map(Fault::Garbage);
        Ok(reported.map(Fault::Reported).or(fault).or(missing).or_else(|| self.non_finite()))
    }

    /// Reads white-space separated numbers: objective, measures, extras and, if asked for, the Jacobian.
    pub(super) fn read_text(&mut self, bytes: &[u8], wanted: Wanted<'_>) -> Scanned<Option<Fault>> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("expected UTF-8, found {error}"))?;
        let expected = wanted.stride();
        let mut numbers = Vec::with_capacity(expected);
        let mut found = 0;
        for word in text.split_whitespace() {
            let number: f64 = word.parse().map_err(|_| format!("expected a number, found {:?}", cut(word)))?;
            if found < expected {
                numbers.push(number);
            }
            found += 1;
        }
        if found != expected {
            return Ok(Some(Fault::WrongLength { what: RESULT_FILE, expected, found }));
        }
        let (measures, rest) = numbers[1..].split_at(wanted.shape.measure_dim);
        let (extras, jacobian) = rest.split_at(wanted.extras.width());
        self.objective = numbers[0];
        self.measures = measures.to_vec();
        self.extras = extras.to_vec();
        self.jacobian = jacobian.to_vec();
        Ok(self.non_finite())
    }

    fn non_finite(&self) -> Option<Fault> {
        let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let parts = [
            ("the objective", finite(&[self.objective])),
            ("the measures", finite(&self.measures)),
            ("the jacobian", finite(&self.jacobian)),
        ];
        parts.into_iter().find(|(_, finite)| !finite).map(|(what, _)| Fault::NonFinite(what))
    }
}

/// Reads a list of exactly `expected` numbers; never stores more.
pub(super) fn read_numbers(
    scanner: &mut Scanner<'_>,
    what: &'static str,
    expected: usize,
    out: &mut Vec<f64>,
) -> Scanned<Option<Fault>> {
    if scanner.peek() != Some(b'[') {
        return skipped(scanner, &format!("a list of numbers as {what}")).map(Some);
    }
    let (mut found, mut other) = (0, None);
    scanner.array(|scanner| {
        let place = scanner.place();
        let number = scanner.number()?;
        if number.is_none() && other.is_none() {
            other = Some(scanner.read_since(place));
        }
        if found < expected {
            out.push(number.unwrap_or(f64::NAN));
        }
        found += 1;
        Ok(())
    })?;
    Ok(match (found == expected, other) {
        (true, None) => None,
        (true, Some(other)) => Some(Fault::Garbage(format!("expected only numbers in {what}, found {other}"))),
        (false, _) => Some(Fault::WrongLength { what, expected, found }),
    })
}

/// Reads one gradient for the objective and one for each measure.
fn read_jacobian(scanner: &mut Scanner<'_>, shape: Shape, out: &mut Vec<f64>) -> Scanned<Option<Fault>> {
    if scanner.peek() != Some(b'[') {
        return skipped(scanner, "a list of gradients as jacobian").map(Some);
    }
    let expected = 1 + shape.measure_dim;
    let (mut found, mut fault) = (0, None);
    scanner.array(|scanner| {
        if found < expected {
            let in_gradient = read_numbers(scanner, "a gradient in the jacobian", shape.solution_dim, out)?;
            fault = fault.take().or(in_gradient);
        } else {
            scanner.skip()?;
        }
        found += 1;
        Ok(())
    })?;
    let wrong_length = (found != expected).then_some(Fault::WrongLength { what: "the jacobian", expected, found });
    Ok(fault.or(wrong_length))
}

/// Reads an error text; `null` is none. Any other value is shown as it is.
fn read_error(scanner: &mut Scanner<'_>) -> Scanned<Option<String>> {
    match scanner.peek() {
        Some(b'"') => scanner.string().map(|text| Some(cut(&text))),
        Some(b'n') => scanner.skip().map(|()| None),
        _ => {
            let place = scanner.place();
            scanner.skip()?;
            Ok(Some(format!("{} (expected a text)", scanner.read_since(place))))
        }
    }
}

/// Passes over a value that should have been something else.
pub(super) fn skipped(scanner: &mut Scanner<'_>, expected: &str) -> Scanned<Fault> {
    let place = scanner.place();
    scanner.skip()?;
    Ok(Fault::Garbage(format!("expected {expected}, found {}", scanner.read_since(place))))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;

#[cfg(any(test, feature = "fuzz"))]
#[path = "wire_fuzz.rs"]
pub(super) mod fuzz;
