//! The live display: drawn over itself a few times a second, on standard error.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use luminary_run::config::Goal;
use luminary_run::driver::{Note, Progress, Watch};
use luminary_run::load::Load;
use luminary_run::stop::StopFlag;
use terminal_size::{Height, Width, terminal_size_of};

use super::bar::{Pace, bar};
use super::colour::Colours;
use super::heatmap;
use crate::numbers::{best_score, duration, grouped, rate, score};

/// Often enough to look alive, seldom enough to cost nothing.
const FRAME: Duration = Duration::from_millis(100);
/// The picture is no wider than this many characters.
const MAX_PICTURE: usize = 50;
/// From this width on three figures fit side by side, in narrower terminals two.
const WIDE: usize = 66;
/// Smaller pictures show nothing.
const MIN_PICTURE_LINES: usize = 4;

/// Draws on a terminal.
pub(super) struct Live {
    title: String,
    folder: String,
    start: u64,
    goal: Goal,
    stop: StopFlag,
    colours: Colours,
    pace: Pace,
    last_frame: Option<Instant>,
    /// Lines of the last frame, above the cursor.
    n_drawn: usize,
    frame: Frame,
    /// How busy workers are, in words, if the run has workers.
    load: Vec<String>,
}

/// What is drawn of a run, with the words about its workers between both.
#[derive(Default)]
struct Frame {
    figures: Vec<String>,
    picture: Vec<String>,
}

impl Live {
    pub(super) fn new(title: String, folder: &Path, start: u64, goal: Goal, stop: StopFlag) -> Self {
        let folder = folder.display().to_string();
        let (colours, pace) = (Colours::of_terminal(), Pace::default());
        let frame = Frame { figures: vec![title.clone(), folder.clone()], picture: Vec::new() };
        Self { title, folder, start, goal, stop, colours, pace, last_frame: None, n_drawn: 0, frame, load: Vec::new() }
    }

    fn draw(&mut self) {
        let lines: Vec<&String> = self.frame.figures.iter().chain(&self.load).chain(&self.frame.picture).collect();
        let mut text = String::from("\x1b[?25l\x1b[?7l");
        if self.n_drawn > 0 {
            // Back to the first line of the frame before.
            let _ = write!(text, "\x1b[{}A", self.n_drawn);
        }
        text.push('\r');
        for line in &lines {
            let _ = writeln!(text, "{line}\x1b[K");
        }
        text.push_str("\x1b[J\x1b[?7h");
        self.n_drawn = lines.len();
        // A terminal that went away must not end the run.
        io::stderr().write_all(text.as_bytes()).ok();
    }

    /// A frame for a terminal of `width` by `height` characters.
    fn frame(&self, progress: &Progress<'_>, (width, height): (usize, usize)) -> Frame {
        let scheduler = progress.scheduler;
        let stats = scheduler.result().stats();
        let (iteration, wanted) = (scheduler.iterations(), progress.iterations_wanted);
        let fraction = iteration as f64 / wanted.max(1) as f64;
        let [best, mean] = [stats.obj_max, stats.obj_mean].map(|value| value.map(|value| self.goal.turn(value)));
        let pace = rate(self.pace.evaluations_per_second(progress));
        let evaluations = format!("evals/{}", pace.unit);
        let figures = [
            ("QD score", score(stats.norm_qd_score)),
            ("coverage", format!("{:.2} %", 100.0 * stats.coverage)),
            ("best", best_score(best, mean)),
            ("restarts", grouped(scheduler.restarts().total())),
            (evaluations.as_str(), pace.count),
            ("time", duration(progress.seconds)),
        ];
        let resumed = if self.start > 0 { format!(", from iteration {}", grouped(self.start)) } else { String::new() };
        let counts = format!(
            " {:3.0} %  {} of {}  {} left",
            100.0 * fraction,
            grouped(iteration),
            grouped(wanted),
            duration(Pace::seconds_left(progress))
        );
        let bar_width = width.saturating_sub(counts.chars().count() + 1).clamp(8, 60);
        let mut lines = vec![
            format!("{}{resumed}", self.title),
            self.folder.clone(),
            format!("{}{counts}", bar(fraction, bar_width)),
        ];
        let n_columns = if width >= WIDE { 3 } else { 2 };
        let column = (width / n_columns).min(25);
        for row in figures.chunks(n_columns) {
            let cells = row.iter().map(|(name, value)| format!("{:<column$}", format!("{name} {value}")));
            lines.push(cells.collect::<String>().trim_end().to_owned());
        }
        // A line of air above the picture, and the one the cursor rests on.
        let room = height.saturating_sub(lines.len() + self.load.len() + 2);
        let mut picture = Vec::new();
        if room >= MIN_PICTURE_LINES && width > 2 * MIN_PICTURE_LINES {
            let max_width = (width - 1).min(MAX_PICTURE);
            picture.push(String::new());
            picture.extend(heatmap::lines(scheduler.result(), max_width, room.min(max_width / 2), self.colours));
        }
        Frame { figures: lines, picture }
    }

    fn is_due(&self) -> bool {
        self.last_frame.is_none_or(|last| last.elapsed() >= FRAME)
    }
}

/// Of the terminal, in characters.
fn size() -> (usize, usize) {
    terminal_size_of(io::stderr()).map_or((80, 24), |(Width(w), Height(h))| (w.into(), h.into()))
}

impl Watch for Live {
    fn iteration(&mut self, progress: &Progress<'_>) {
        self.pace.note(progress);
        // Once the user has asked for a stop, the answer stands below the last frame and must not be drawn over.
        let is_last = progress.scheduler.iterations() >= progress.iterations_wanted;
        if self.stop.is_requested() {
            return;
        }
        if is_last || self.is_due() {
            self.frame = self.frame(progress, size());
            self.draw();
            self.last_frame = Some(Instant::now());
        }
    }

    fn busy(&mut self, load: &Load) {
        let (width, _) = size();
        let fits = |words: String| words.chars().take(width).collect();
        self.load = [load.workers_in_words(), load.pace_in_words()].map(fits).to_vec();
        if !self.stop.is_requested() && self.is_due() {
            self.draw();
            self.last_frame = Some(Instant::now());
        }
    }

    fn note(&mut self, note: &Note) {
        // Above the next frame, which starts below it.
        eprintln!("warning: {note}");
        self.n_drawn = 0;
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        io::stderr().write_all(b"\x1b[0m\x1b[?25h").ok();
    }
}

#[cfg(test)]
mod tests {
    use luminary_domains::Domain;
    use luminary_run::config::{Override, RunConfig};

    use super::*;

    #[test]
    fn figures_stay_apart_and_frames_fit_in_terminals_of_any_size() {
        let settings = [("problem.domain", "arm"), ("problem.n", "5"), ("archive.resolution", "100")];
        let config = RunConfig::read(None, &settings.map(|(key, value)| Override::new("", key, value))).unwrap();
        let mut scheduler = config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
        scheduler.run(Domain::Arm.build(5).unwrap().as_ref(), 20).unwrap();
        let progress = Progress {
            scheduler: &scheduler,
            iterations_wanted: 10_000,
            seconds: 4000.0,
            session_seconds: 0.01,
            session_iterations: 20,
        };
        let mut live = Live::new("title".into(), Path::new("run"), 0, Goal::Maximise, StopFlag::default());
        live.pace.note(&progress);
        live.colours = Colours::None;
        for (width, height) in [(120, 50), (80, 24), (66, 24), (65, 24), (50, 20), (44, 10), (44, 3)] {
            let Frame { figures, picture } = live.frame(&progress, (width, height));
            let lines = [figures, picture].concat();
            let text = lines.join("\n");
            for name in ["coverage", "best", "restarts", "evals/s", "time"] {
                let at = text.find(name).unwrap_or_else(|| panic!("no {name} in\n{text}"));
                assert!(text[..at].ends_with([' ', '\n']), "{width} columns:\n{text}");
            }
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width} columns:\n{text}");
            assert!(lines.len() < height.max(8), "{width} x {height}:\n{text}");
        }
        let without = live.frame(&progress, (80, 24)).picture.len();
        live.last_frame = Some(Instant::now());
        live.busy(&Load::of(4));
        assert!(live.load[0].contains("4 workers") && live.load[1].contains("evals/s"), "{:?}", live.load);
        assert!(live.frame(&progress, (80, 24)).picture.len() < without, "the picture makes room");
    }
}
