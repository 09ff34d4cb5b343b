//! The comparison as Markdown.

use luminary_domains::Domain;
use luminary_reproduce::statistics::Summary;

use super::study::{CONTENDERS, Contender, Study};
use super::summary::{p_of_difference, summarise};
use super::trace::{Point, Trace};
use super::workers::Utilisation;

/// The share of rows order's mean final score at which speeds are compared: close to the end. Where a single trial stays
/// below it there is no number.
const SPEED_MARK: f64 = 0.95;

/// Scores after the same number of evaluations.
pub(super) fn equal_evaluations(study: &Study) -> String {
    let heading = format!("After {} evaluations:", study.n_evaluations);
    let end = |domain| study.traces(domain, CONTENDERS[0]).map(|trace| trace.end().qd_score);
    let columns = ["time to 95 %, rows order = 1"];
    scores(
        study,
        &heading,
        &columns,
        |_, trace| Some(trace.end()),
        |domain, contender| {
            let mark = SPEED_MARK * summarise(end(domain)).mean;
            let time = |contender| {
                let times: Option<Vec<f64>> =
                    study.traces(domain, contender).map(|trace| trace.time_of_score(mark)).collect();
                times.map(|times| summarise(times).mean)
            };
            let ratio = time(contender).zip(time(CONTENDERS[0])).map(|(own, rows)| own / rows);
            vec![ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))]
        },
    )
}

/// Scores at the time when the fastest trial of a domain ends.
pub(super) fn equal_time(study: &Study) -> String {
    let heading = "At the time when the first trial of the domain ends:";
    let columns = ["evaluations by then"];
    let at = |domain: Domain, trace: &Trace| trace.at_time(study.common_time(domain));
    scores(study, heading, &columns, at, |domain, contender| {
        let points = study.traces(domain, contender).filter_map(|trace| at(domain, trace));
        vec![format!("{:.0}", summarise(points.map(|point| point.evaluations as f64)).mean)]
    })
}

/// One row for each domain and order: scores at a chosen point of each trace, and further columns.
fn scores(
    study: &Study,
    heading: &str,
    columns: &[&str],
    point_of: impl Fn(Domain, &Trace) -> Option<Point>,
    further: impl Fn(Domain, Contender) -> Vec<String>,
) -> String {
    let mut text = format!("{heading}\n\n| domain | order | QD score | difference | p | coverage (%) |");
    columns.iter().for_each(|column| text += &format!(" {column} |"));
    text += "\n|---|---|---:|---:|---:|---:|";
    columns.iter().for_each(|_| text += "---:|");
    text += "\n";
    for domain in Domain::ALL {
        let summary = |contender, value: fn(Point) -> f64| {
            let points = study.traces(domain, contender).filter_map(|trace| point_of(domain, trace));
            summarise(points.map(value))
        };
        let rows = summary(CONTENDERS[0], |point| point.qd_score);
        for contender in CONTENDERS {
            let score = summary(contender, |point| point.qd_score);
            let coverage = summary(contender, |point| point.coverage);
            let [difference, p] =
                if contender == CONTENDERS[0] { [String::new(), String::new()] } else { against(score, rows) };
            let name = contender.name;
            text += &format!("| {domain} | {name} | {} | {difference} | {p} | {} |", shown(score), shown(coverage));
            further(domain, contender).iter().for_each(|value| text += &format!(" {value} |"));
            text += "\n";
        }
    }
    text
}

fn against(score: Summary, rows: Summary) -> [String; 2] {
    let p = match p_of_difference(score, rows) {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    };
    [format!("{:+.2}", score.mean - rows.mean), p]
}

fn shown(summary: Summary) -> String {
    match summary.n {
        0 | 1 => format!("{:.2}", summary.mean),
        _ => format!("{:.2} ± {:.2}", summary.mean, summary.standard_error),
    }
}

/// How well the workers of the study were used.
pub(super) fn own_utilisation(study: &Study) -> String {
    let traces = |contender| Domain::ALL.into_iter().flat_map(move |domain| study.traces(domain, contender));
    let mean = |contender, value: fn(&Trace) -> f64| summarise(traces(contender).map(value)).mean;
    let rows_time = mean(CONTENDERS[0], |trace| trace.end().time);
    let mut text = "| order | idle (%) | stale (%) | evaluations in equal time |\n|---|---:|---:|---:|\n".to_owned();
    for contender in CONTENDERS {
        text += &format!(
            "| {} | {:.1} | {:.1} | {:.2} |\n",
            contender.name,
            100.0 * mean(contender, |trace| trace.idle_share),
            100.0 * mean(contender, |trace| trace.stale_share),
            rows_time / mean(contender, |trace| trace.end().time),
        );
    }
    text
}

/// How well workers are used, by number of workers.
pub(super) fn utilisation(rows: &[Utilisation]) -> String {
    let mut text = "| workers | emitters | durations | order | idle (%) | stale (%) | evaluations in equal time |\n\
                    |---:|---:|---|---|---:|---:|---:|\n"
        .to_owned();
    for row in rows {
        text += &format!(
            "| {} | {} | {} | {} | {:.1} | {:.1} | {:.2} |\n",
            row.crew.n_workers,
            row.crew.n_emitters,
            row.crew.durations_name,
            row.contender.name,
            100.0 * row.idle_share,
            100.0 * row.stale_share,
            row.speed_up,
        );
    }
    text
}
