//! Traces at common positions, so that means over trials can be taken, and the figure of them.

use luminary_domains::Domain;
use luminary_plot::{CurvePanel, Curves, Figure, Markers, PlotError, Series, Style};

use super::study::{CONTENDERS, Contender, Study};
use super::trace::Point;

/// Positions of a curve after its start.
const N_POSITIONS: u64 = 60;

/// Evaluations and time are shown in thousands.
const THOUSAND: f64 = 1000.0;

/// What progress is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Evaluations,
    Time,
}

impl Axis {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Evaluations => "evaluations",
            Self::Time => "time",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Evaluations => "Evaluations (thousands)",
            Self::Time => "Virtual time (thousands)",
        }
    }
}

/// Evenly spaced positions, each with the state of every trial there; `None` for one that has ended.
pub(super) fn curve(
    study: &Study,
    domain: Domain,
    contender: Contender,
    axis: Axis,
) -> impl Iterator<Item = (f64, Vec<Option<Point>>)> {
    (0..=N_POSITIONS).map(move |i| {
        let traces = study.traces(domain, contender);
        match axis {
            Axis::Evaluations => {
                let evaluations = study.n_evaluations * i / N_POSITIONS;
                (evaluations as f64, traces.map(|trace| trace.after_evaluations(evaluations)).collect())
            }
            Axis::Time => {
                let time = study.longest_time(domain) * i as f64 / N_POSITIONS as f64;
                (time, traces.map(|trace| trace.at_time(time)).collect())
            }
        }
    })
}

/// QD scores against evaluations above, against virtual time below, a column for each domain.
pub(super) fn figure(study: &Study) -> Result<Figure, PlotError> {
    let axes = [Axis::Evaluations, Axis::Time];
    let panels = axes.into_iter().flat_map(|axis| Domain::ALL.map(|domain| panel(study, domain, axis))).collect();
    let spec = Curves {
        title: "CMA-MAE in rows order and in completion order".into(),
        panels,
        columns: Some(Domain::ALL.len()),
        markers: Markers::None,
    };
    luminary_plot::curves(&spec, &Style::default())
}

fn panel(study: &Study, domain: Domain, axis: Axis) -> CurvePanel {
    let series = |contender: Contender| {
        let (x, columns): (Vec<f64>, Vec<Vec<Option<Point>>>) = curve(study, domain, contender, axis).unzip();
        // A mean over the trials that are left would jump where others end, so a curve ends with its first trial.
        let n_whole = columns.iter().take_while(|points| points.iter().all(Option::is_some)).count();
        let score = |points: &Vec<Option<Point>>, trial: usize| points[trial].map_or(f64::NAN, |point| point.qd_score);
        let n_trials = columns.first().map_or(0, Vec::len);
        let values = |trial: usize| columns[..n_whole].iter().map(|points| score(points, trial)).collect();
        Series {
            name: contender.name.to_owned(),
            x: x[..n_whole].iter().map(|position| position / THOUSAND).collect(),
            trials: (0..n_trials).map(values).collect(),
        }
    };
    CurvePanel {
        title: domain.to_string(),
        x_label: axis.label().to_owned(),
        y_label: "QD score".to_owned(),
        series: CONTENDERS.map(series).to_vec(),
    }
}
