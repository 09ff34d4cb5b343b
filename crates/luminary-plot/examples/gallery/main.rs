//! Writes every kind of figure, from synthetic data, as SVG and PNG:
//! `cargo run -p luminary-plot --example gallery -- DIR`.
#![allow(clippy::print_stdout, reason = "the example says what it wrote")]

mod data;

use std::error::Error;
use std::path::{Path, PathBuf};

use luminary_plot::*;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".into()));
    std::fs::create_dir_all(&folder)?;
    heatmaps(&folder)?;
    lines(&folder)?;
    comparisons(&folder)?;
    others(&folder)?;
    odd_cases(&folder)?;
    reports(&folder)?;
    println!("figures are in {}", folder.display());
    Ok(())
}

fn heatmaps(folder: &Path) -> Result<(), Box<dyn Error>> {
    let style = Style::default();
    let title = "CMA-MAE on the linear projection sphere";
    let grid = data::grid(&[100, 100], 0.75);
    let spec = Heatmap { title, note: "10,000 iterations · coverage 75 %", objective: "Objective", archive: &grid };
    write(folder, "heatmap", &heatmap(&spec, &style)?)?;
    for (name, color_map) in [("heatmap_magma", ColorMap::Magma), ("heatmap_cividis", ColorMap::Cividis)] {
        write(folder, name, &heatmap(&spec, &Style { color_map, ..style.clone() })?)?;
    }
    write(folder, "heatmap_small", &heatmap(&Heatmap { archive: &data::grid(&[20, 15], 0.7), ..spec }, &style)?)?;
    write(folder, "heatmap_500", &heatmap(&Heatmap { archive: &data::grid(&[500, 500], 0.8), ..spec }, &style)?)?;
    write(folder, "heatmap_1d", &heatmap(&Heatmap { archive: &data::grid(&[80], 0.8), ..spec }, &style)?)?;
    let four = data::grid(&[20, 20, 20, 20], 0.9);
    write(folder, "heatmap_4d", &heatmap(&Heatmap { archive: &four, ..spec }, &style)?)?;
    write(folder, "cvt", &heatmap(&Heatmap { archive: &data::cvt(1000), ..spec }, &style)?)?;
    write(folder, "cvt_10000", &heatmap(&Heatmap { archive: &data::cvt(10_000), ..spec }, &style)?)?;
    Ok(())
}

fn lines(folder: &Path) -> Result<(), Box<dyn Error>> {
    let style = Style::default();
    let panel = |title: &str, seed| CurvePanel {
        title: title.into(),
        x_label: "Iteration".into(),
        y_label: "QD score".into(),
        series: data::learning_curves(seed),
    };
    let one = Curves { title: "QD score".into(), panels: vec![panel("", 1)], ..Curves::default() };
    write(folder, "curves", &curves(&one, &style)?)?;
    let domains = ["LP sphere", "LP Rastrigin", "LP plateau", "Arm repertoire"];
    let panels = domains.iter().enumerate().map(|(i, name)| panel(name, i as u64)).collect();
    write(folder, "curves_domains", &curves(&Curves { panels, ..one.clone() }, &style)?)?;

    let panels = ["QD score", "Coverage (%)"].map(|metric| CurvePanel {
        title: String::new(),
        x_label: "Cells per side".into(),
        y_label: metric.into(),
        series: data::resolution_curves(),
    });
    let spec = Curves { title: "Resolution".into(), panels: panels.into(), columns: Some(2), markers: Markers::Dots };
    write(folder, "resolution", &curves(&spec, &style)?)?;

    let panel = |title: &str, seed| CcdfPanel {
        title: title.into(),
        objective: "Objective".into(),
        series: data::distributions(seed),
        range: Some((0.0, 100.0)),
    };
    let one = Ccdf { title: "Objectives in the final archives".into(), panels: vec![panel("", 1)], columns: None };
    write(folder, "ccdf", &ccdf(&one, &style)?)?;
    let panels = domains.iter().enumerate().map(|(i, name)| panel(name, i as u64)).collect();
    write(folder, "ccdf_domains", &ccdf(&Ccdf { panels, ..one }, &style)?)?;
    Ok(())
}

fn comparisons(folder: &Path) -> Result<(), Box<dyn Error>> {
    let style = Style::default();
    let archives: Vec<Archive> = (0..8).map(|i| data::grid(&[100, 100], 0.3 + 0.08 * f64::from(i))).collect();
    let named = |(archive, name): (_, &&str)| NamedArchive { name: name.to_string(), archive };
    let spec = Comparison {
        title: "One trial of each algorithm",
        note: "linear projection sphere, 10,000 iterations",
        objective: "Objective",
        archives: archives.iter().zip(&data::ALGORITHMS).map(named).collect(),
        columns: None,
    };
    write(folder, "comparison", &comparison(&spec, &style)?)?;
    let (grid, cvt) = (data::grid(&[50, 50], 0.6), data::cvt(1000));
    let archives =
        vec![NamedArchive { name: "Grid".into(), archive: &grid }, NamedArchive { name: "CVT".into(), archive: &cvt }];
    write(folder, "comparison_mixed", &comparison(&Comparison { archives, ..spec }, &style)?)?;

    let alphas = [0.0, 0.001, 0.01, 0.1, 1.0];
    let archives: Vec<Archive> = (0..5).map(|i| data::grid(&[100, 100], 0.2 + 0.15 * f64::from(i))).collect();
    let rows: Vec<(f64, &Archive)> = alphas.into_iter().zip(&archives).collect();
    write(folder, "alpha_blend", &alpha_blend("From optimising to exploring", "Objective", &rows, &style)?)?;
    let panels = [0.0, 0.02, 1.0].map(|alpha| bimodal_example(alpha, 60.0));
    write(folder, "annealing", &annealing("What CMA-MAE climbs after 60 visits around Y", &panels, &style)?)?;
    Ok(())
}

fn others(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (measures, values, objectives) = data::rows(10_000, 5);
    let spec = ParallelAxes {
        title: "Elites across all measures",
        measures: &measures,
        values: &values,
        objective: "Objective",
        objectives: &objectives,
        max_lines: 3000,
    };
    write(folder, "parallel", &parallel_axes(&spec, &Style::default())?)?;
    let few = ParallelAxes { max_lines: 60, ..spec };
    write(folder, "parallel_few", &parallel_axes(&few, &Style::default())?)?;
    Ok(())
}

/// Pictures of data that is nearly no data, or odd.
fn odd_cases(folder: &Path) -> Result<(), Box<dyn Error>> {
    let style = Style::default();
    let long = "A title that nobody should ever write because it does not fit anywhere ".repeat(4);
    let mut archive = data::grid(&[30, 30], 0.5);
    archive.measures[0].name = "an overlong label of a measure that also does not fit anywhere at all ".repeat(3);
    archive.objectives[5] = f64::NAN;
    archive.objectives[50] = f64::INFINITY;
    archive.objectives[60] = -1e9;
    let spec =
        Heatmap { title: &long, note: "NaN, ∞ and −10⁹ are in there", objective: &long, archive: &archive };
    write(folder, "odd_labels", &heatmap(&spec, &style)?)?;
    let mut constant = data::grid(&[30, 30], 0.5);
    constant.objectives.fill(42.0);
    let spec = Heatmap { title: "Constant objective", note: "", objective: "Objective", archive: &constant };
    write(folder, "odd_constant", &heatmap(&spec, &style)?)?;
    let empty = Archive { elite_cells: vec![], objectives: vec![], ..constant.clone() };
    write(folder, "odd_empty", &heatmap(&Heatmap { title: "Empty", archive: &empty, ..spec }, &style)?)?;
    let none = Curves { title: "No data".into(), ..Curves::default() };
    write(folder, "odd_no_curves", &curves(&none, &style)?)?;
    let large = Style { font_size: 20.0, ..style };
    write(folder, "large_text", &heatmap(&Heatmap { archive: &data::grid(&[100, 100], 0.6), ..spec }, &large)?)?;
    Ok(())
}

fn reports(folder: &Path) -> Result<(), Box<dyn Error>> {
    let style = Style::default();
    let curves_spec = Curves {
        title: "QD score".into(),
        panels: vec![CurvePanel {
            title: String::new(),
            x_label: "Iteration".into(),
            y_label: "QD score".into(),
            series: data::learning_curves(1),
        }],
        ..Curves::default()
    };
    let facts = [("QD score", "64.86"), ("Coverage", "83.31 %"), ("Best", "99.98"), ("Evaluations", "5,400,000")];
    let facts: Vec<_> = facts.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let archives = [
        ("report", data::grid(&[100, 100], 0.75)),
        ("report_cvt", data::cvt(10_000)),
        ("report_1d", data::grid(&[80], 0.8)),
        ("report_4d", data::grid(&[12, 12, 12, 12], 0.9)),
    ];
    for (name, archive) in &archives {
        let heatmap_spec = Heatmap { title: "Archive", note: "", objective: "Objective", archive };
        let figures = [
            ("Final archive".to_string(), heatmap(&heatmap_spec, &style)?),
            ("All algorithms".to_string(), curves(&curves_spec, &style)?),
        ];
        let (measures, solutions) = data::solutions(archive, 100);
        let archive = ReportArchive {
            archive,
            objective: "Objective",
            measures: &measures,
            solutions: &solutions,
            parameters: &[],
            precision: Precision::Single,
            fields: &[],
        };
        let spec = Report {
            title: "CMA-MAE on the linear projection sphere",
            note: "n = 100, 10,000 iterations, 15 emitters, seed 7",
            facts: &facts,
            archive: Some(archive),
            figures: &figures,
            ..Report::default()
        };
        std::fs::write(folder.join(format!("{name}.html")), report(&spec, &style)?)?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, figure: &Figure) -> Result<(), Box<dyn Error>> {
    std::fs::write(folder.join(format!("{name}.svg")), figure.svg())?;
    std::fs::write(folder.join(format!("{name}.png")), figure.to_png(2.0)?)?;
    Ok(())
}
