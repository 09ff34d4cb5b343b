//! No data makes a figure panic: whatever comes in, a figure that renders comes out, or an error.

use luminary_plot::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Name, positions and trials.
type RawSeries = (String, Vec<f64>, Vec<Vec<f64>>);

/// Ordinary numbers, and all the others.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3f64,
        1 => proptest::num::f64::ANY,
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324]),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", "\\PC{0,40}", any::<String>(), Just("very long ".repeat(200))]
}

fn measure() -> impl Strategy<Value = Measure> {
    let ordinary =
        (text(), -100.0..100.0f64, 1e-9..1e3f64).prop_map(|(name, low, width)| Measure::new(name, low, low + width));
    prop_oneof![
        9 => ordinary,
        1 => (text(), number(), number()).prop_map(|(name, lower, upper)| Measure::new(name, lower, upper)),
    ]
}

fn archive() -> impl Strategy<Value = Archive> {
    let grid = vec((measure(), 0usize..70), 1..6).prop_map(|axes| {
        let (measures, resolution): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        (measures, Cells::Grid { resolution })
    });
    let cvt = (1usize..5).prop_flat_map(|n| {
        let points = prop_oneof![
            9 => vec(-120.0..120.0f64, n..60 * n),
            1 => vec(number(), 0..20),
        ];
        (vec(measure(), n), points).prop_map(move |(measures, mut points)| {
            points.truncate(points.len() / n * n);
            (measures, Cells::Centroids { points })
        })
    });
    let elites = vec((any::<prop::sample::Index>(), number()), 0..80);
    (prop_oneof![grid, cvt], elites).prop_map(|((measures, cells), elites)| {
        let mut archive = Archive { measures, cells, elite_cells: Vec::new(), objectives: Vec::new() };
        let n_cells = archive.n_cells().max(1);
        for (cell, objective) in elites {
            archive.elite_cells.push(cell.index(n_cells));
            archive.objectives.push(objective);
        }
        archive
    })
}

fn style() -> impl Strategy<Value = Style> {
    let maps = prop::sample::select(vec![ColorMap::Viridis, ColorMap::Magma, ColorMap::Cividis]);
    let size = prop_oneof![2 => Just(None), 1 => (0.0..800.0f64, 0.0..800.0f64).prop_map(Some), 1 => Just(Some((f64::NAN, -1.0)))];
    let font = prop_oneof![3 => Just(12.0), 1 => number()];
    let goals = prop::sample::select(vec![Goal::Maximise, Goal::Minimise]);
    let spacings = prop::sample::select(vec![Spacing::Linear, Spacing::Logarithmic]);
    let range = prop::option::of((number(), number()));
    (size, font, maps, range, spacings, goals).prop_map(|(size, font_size, color_map, color_range, spacing, goal)| {
        Style { size, font_size, color_map, color_range, spacing, axes: None, goal, algorithm: None }
    })
}

/// A figure must be well-formed: the renderer parses it.
fn renders(figure: Result<Figure, PlotError>) -> Result<(), TestCaseError> {
    if let Ok(figure) = figure {
        let (width, height) = figure.size();
        let scale = 120.0 / width.max(height);
        let rendered = figure.to_png(scale);
        prop_assert!(rendered.is_ok(), "{:?}", rendered.err());
        for bad in ["NaN\"", "inf\"", "\"NaN", "\"inf"] {
            prop_assert!(!figure.svg().contains(bad), "{bad} in a coordinate");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_archive_has_a_heatmap_or_an_error(archive in archive(), title in text(), label in text(), style in style()) {
        let checked = archive.check();
        let figure = heatmap(&Heatmap { title: &title, note: &label, objective: &label, archive: &archive }, &style);
        // Logarithms may lack positive numbers.
        prop_assert!(checked.is_ok() == figure.is_ok() || style.spacing == Spacing::Logarithmic);
        renders(figure)?;
    }

    #[test]
    fn any_archives_can_be_compared(archives in vec((archive(), text(), number()), 0..4), columns in prop::option::of(0usize..9), style in style()) {
        let named = archives.iter().map(|(archive, name, _)| NamedArchive { name: name.clone(), archive }).collect();
        renders(comparison(&Comparison { title: "t", note: "", objective: "f", archives: named, columns }, &style))?;
        let rows: Vec<_> = archives.iter().map(|(archive, _, alpha)| (*alpha, archive)).collect();
        renders(alpha_blend("t", "f", &rows, &style))?;
    }

    #[test]
    fn any_series_have_curves(
        panels in vec(vec((text(), vec(number(), 0..20), vec(vec(number(), 0..20), 0..4)), 0..4), 0..4),
        columns in prop::option::of(0usize..9),
        dots in any::<bool>(),
        style in style(),
    ) {
        let panel = |series: &Vec<RawSeries>| CurvePanel {
            title: "p".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            series: series.iter().map(|(n, x, t)| Series { name: n.clone(), x: x.clone(), trials: t.clone() }).collect(),
        };
        let markers = if dots { Markers::Dots } else { Markers::None };
        renders(curves(&Curves { title: "t".into(), panels: panels.iter().map(panel).collect(), columns, markers }, &style))?;
        let panel = |series: &Vec<RawSeries>| CcdfPanel {
            title: "p".into(),
            objective: "f".into(),
            series: series.iter().map(|(n, x, t)| CcdfSeries { name: n.clone(), n_cells: x.len(), trials: t.clone() }).collect(),
            range: None,
        };
        renders(ccdf(&Ccdf { title: "t".into(), panels: panels.iter().map(panel).collect(), columns }, &style))?;
    }

    #[test]
    fn any_rows_have_parallel_axes(measures in vec(measure(), 0..5), objectives in vec(number(), 0..30), seed in vec(number(), 150), max_lines in 0usize..40, style in style()) {
        let values = &seed[..(objectives.len() * measures.len()).min(seed.len())];
        let spec = ParallelAxes { title: "t", measures: &measures, values, objective: "f", objectives: &objectives, max_lines };
        renders(parallel_axes(&spec, &style))?;
    }

    #[test]
    fn any_panels_have_an_illustration(alpha in number(), visits in number(), x in vec((number(), number(), number()), 0..20), mark in number(), style in style()) {
        let odd = AnnealingPanel {
            title: "odd".into(),
            x: x.iter().map(|v| v.0).collect(),
            objective: x.iter().map(|v| v.1).collect(),
            threshold: x.iter().map(|v| v.2).collect(),
            marks: vec![(mark, "m".into())],
        };
        renders(annealing("t", &[bimodal_example(alpha, visits), odd], &style))?;
    }

    #[test]
    fn any_archive_has_a_report_or_an_error(archive in archive(), title in text(), numbers in vec(number(), 0..400), style in style()) {
        let n = archive.elite_cells.len();
        let take = |count: usize| numbers.iter().copied().cycle().take(if numbers.is_empty() { 0 } else { count }).collect::<Vec<f64>>();
        let (measures, solutions) = (take(n * archive.measures.len()), take(n * 3));
        let spec = ReportArchive { archive: &archive, objective: &title, measures: &measures, solutions: &solutions, parameters: &[], precision: Precision::Double, fields: &[] };
        let spec = Report { title: &title, note: &title, facts: &[(title.clone(), title.clone())], archive: Some(spec), ..Report::default() };
        if let Ok(html) = report(&spec, &style) {
            prop_assert_eq!(html.matches("<script").count(), 3);
        }
    }
}
