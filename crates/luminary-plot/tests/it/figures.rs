//! Figures through the public interface: what is in the SVG, and what colour pixels have.

use luminary_plot::*;
use resvg::tiny_skia::Pixmap;

use crate::synthetic::{cvt, grid, spread_points};

fn draw(archive: &Archive) -> Figure {
    let spec = Heatmap { title: "Title", note: "", objective: "Objective", archive };
    heatmap(&spec, &Style::default()).expect("the archive is valid")
}

/// The part of the SVG inside the first group of this class.
fn group<'a>(svg: &'a str, class: &str) -> &'a str {
    let start = svg.find(&format!("<g class=\"{class}\"")).unwrap_or_else(|| panic!("no group {class}"));
    &svg[start..start + svg[start..].find("</g>").expect("groups are closed")]
}

/// The area of the plot in pixels of the figure: x, y, width, height of the frame.
fn frame(svg: &str) -> [f64; 4] {
    let end = svg.find("fill=\"none\" stroke=\"#52606d\"/>").expect("the plot has a frame");
    let tag = &svg[svg[..end].rfind("<rect").expect("the frame is a rectangle")..end];
    ["x", "y", "width", "height"].map(|name| attribute(tag, name))
}

fn attribute(tag: &str, name: &str) -> f64 {
    let start = tag.find(&format!(" {name}=\"")).expect("the attribute is there") + name.len() + 3;
    tag[start..start + tag[start..].find('"').expect("attributes end")].parse().expect("a number")
}

/// The colour at a point of the plot, given as fractions from the lower left, in a rendering at double size.
fn color_at(figure: &Figure, x: f64, y: f64) -> Rgb {
    let pixmap = Pixmap::decode_png(&figure.to_png(2.0).expect("it renders")).expect("a valid PNG");
    let [left, top, width, height] = frame(figure.svg());
    let (px, py) = (2.0 * (left + x * width), 2.0 * (top + (1.0 - y) * height));
    let pixel = pixmap.pixel(px as u32, py as u32).expect("the point is inside");
    Rgb(pixel.red(), pixel.green(), pixel.blue())
}

fn close(a: Rgb, b: Rgb, tolerance: u8) -> bool {
    a.0.abs_diff(b.0) <= tolerance && a.1.abs_diff(b.1) <= tolerance && a.2.abs_diff(b.2) <= tolerance
}

#[test]
fn small_grid_has_a_rectangle_for_each_elite() {
    let figure = draw(&grid(&[4, 4], &[(6, 0.0), (12, 1.0), (0, 0.5)]));
    assert_eq!(group(figure.svg(), "cells").matches("<rect").count(), 3);
    // Cell 6 is column 1, row 2; cell 12 is column 3, row 0.
    assert_eq!(color_at(&figure, 0.375, 0.625), ColorMap::Viridis.at(0.0));
    assert_eq!(color_at(&figure, 0.875, 0.125), ColorMap::Viridis.at(1.0));
    assert_eq!(color_at(&figure, 0.125, 0.125), ColorMap::Viridis.at(0.5));
    assert_eq!(color_at(&figure, 0.625, 0.875), EMPTY);
}

#[test]
fn large_grid_is_an_image_with_the_same_colours() {
    // The lower left quarter is low, the upper right quarter high, the rest empty.
    let n = 500;
    let cell = |i: usize| (i / n < n / 2, i % n < n / 2);
    let elites: Vec<(usize, f64)> = (0..n * n)
        .filter_map(|i| match cell(i) {
            (true, true) => Some((i, -5.0)),
            (false, false) => Some((i, 5.0)),
            _ => None,
        })
        .collect();
    let figure = draw(&grid(&[n, n], &elites));
    assert_eq!(group(figure.svg(), "cells").matches("<image").count(), 1);
    assert!(figure.svg().len() < 50_000, "{} bytes", figure.svg().len());
    for (x, y) in [(0.02, 0.02), (0.49, 0.49), (0.25, 0.1)] {
        assert!(close(color_at(&figure, x, y), ColorMap::Viridis.at(0.0), 1));
        assert!(close(color_at(&figure, 1.0 - x, 1.0 - y), ColorMap::Viridis.at(1.0), 1));
        assert_eq!(color_at(&figure, x, 1.0 - y), EMPTY);
    }
}

#[test]
fn voronoi_cells_have_their_objectives_colour() {
    let points = spread_points(400);
    let elites: Vec<(usize, f64)> = (0..400).filter(|c| c % 3 != 0).map(|c| (c, points[2 * c])).collect();
    let figure = draw(&cvt(2, &points, &elites));
    assert_eq!(group(figure.svg(), "cells").matches('M').count(), elites.len());
    assert_eq!(group(figure.svg(), "empty-cells").matches('M').count(), 400 - elites.len());
    let (low, high) = elites.iter().fold((1.0, 0.0), |(l, h), e| (f64::min(l, e.1), f64::max(h, e.1)));
    for &(cell, objective) in elites.iter().step_by(37) {
        let expected = ColorMap::Viridis.at((objective - low) / (high - low));
        let found = color_at(&figure, points[2 * cell], points[2 * cell + 1]);
        assert!(close(found, expected, 2), "cell {cell}: {found:?}, not {expected:?}");
    }
}

#[test]
fn many_voronoi_cells_stay_a_small_file() {
    let points = spread_points(12_000);
    let elites: Vec<(usize, f64)> = (0..12_000).map(|c| (c, c as f64)).collect();
    let figure = draw(&cvt(2, &points, &elites));
    assert_eq!(group(figure.svg(), "cells").matches('M').count(), 12_000);
    assert!(figure.svg().len() < 1_200_000, "{} bytes", figure.svg().len());
}

#[test]
fn axes_have_round_ticks_and_labels() {
    let mut archive = grid(&[10, 10], &[(0, 0.0), (1, 100.0)]);
    archive.measures[0] = Measure::new("joint angle", -256.0, 256.0);
    let figure = draw(&archive);
    let axis = group(figure.svg(), "x-axis");
    for label in ["−200", "−100", "0", "100", "200", "joint angle"] {
        assert!(axis.contains(&format!(">{label}</text>")), "{label} is missing: {axis}");
    }
    assert_eq!(axis.matches("<line").count(), 5);
    assert!(group(figure.svg(), "color-bar").contains(">80</text>"));
    assert!(group(figure.svg(), "color-bar").contains(">Objective</text>"));
}

#[test]
fn one_measure_gives_bars_and_a_strip() {
    let figure = draw(&grid(&[10], &[(0, 1.0), (4, 2.0), (9, f64::NAN)]));
    assert_eq!(group(figure.svg(), "bars").matches("<rect").count(), 2, "NaN has no height");
    assert_eq!(group(figure.svg(), "cells").matches("<rect").count(), 3);
}

#[test]
fn pairs_of_measures_make_a_triangle() {
    let figure = draw(&grid(&[5, 5, 5, 5], &[(0, 1.0), (624, 2.0)]));
    assert_eq!(figure.svg().matches("<g class=\"cells\"").count(), 6);
    let wide = draw(&grid(&[2; 12], &[(0, 1.0)]));
    assert_eq!(wide.svg().matches("<g class=\"cells\"").count(), 28);
    assert!(wide.svg().contains("first 8 of 12 measures"));
}

#[test]
fn lower_objectives_are_the_bright_ones_where_they_are_better() {
    let minimise = Style { goal: Goal::Minimise, ..Style::default() };
    // Two elites share the place of the projection to the first two measures: the lower one is shown.
    let archive = grid(&[1, 2, 2], &[(0, 10.0), (1, 40.0), (2, 20.0)]);
    let spec = Heatmap { title: "", note: "", objective: "Cost", archive: &archive };
    let figure = heatmap(&spec, &minimise).unwrap();
    assert_eq!(color_at(&figure, 0.5, 0.25), ColorMap::Viridis.at(1.0));
    let bar = |svg: &str| {
        let text = |part: &str| part[part.find('>').unwrap() + 1..part.find("</text>").unwrap()].to_owned();
        group(svg, "color-bar").split("<text").skip(1).map(text).collect::<Vec<_>>()
    };
    let shown = bar(figure.svg());
    assert_eq!((shown[0].as_str(), shown[shown.len() - 2].as_str()), ("40", "10"), "the best is at the top: {shown:?}");
    let two = grid(&[1, 2], &[(0, 10.0), (1, 20.0)]);
    let ranged = Style { color_range: Some((0.0, 20.0)), ..minimise };
    let figure = heatmap(&Heatmap { archive: &two, ..spec }, &ranged).unwrap();
    assert_eq!(color_at(&figure, 0.5, 0.75), ColorMap::Viridis.at(0.0));
    assert_eq!(color_at(&figure, 0.5, 0.25), ColorMap::Viridis.at(0.5));
    let named = |archive| NamedArchive { name: "one".into(), archive };
    let spec = Comparison { title: "", note: "", objective: "Cost", archives: vec![named(&two)], columns: None };
    assert_eq!(color_at(&comparison(&spec, &ranged).unwrap(), 0.5, 0.25), ColorMap::Viridis.at(0.5));
}

#[test]
fn colour_range_and_map_follow_the_style() {
    let archive = grid(&[1, 1], &[(0, 5.0)]);
    let spec = Heatmap { title: "", note: "", objective: "", archive: &archive };
    let style = Style {
        color_map: ColorMap::Magma,
        color_range: Some((0.0, 10.0)),
        size: Some((300.0, 200.0)),
        ..Style::default()
    };
    let figure = heatmap(&spec, &style).unwrap();
    assert_eq!(figure.size(), (300.0, 200.0));
    assert_eq!(color_at(&figure, 0.5, 0.5), ColorMap::Magma.at(0.5));
    let png = figure.to_png(1.5).unwrap();
    let pixmap = Pixmap::decode_png(&png).unwrap();
    assert_eq!((pixmap.width(), pixmap.height()), (450, 300));
}

#[test]
fn objectives_outside_the_colours_have_arrows() {
    let elites: Vec<(usize, f64)> = (0..100).map(|i| (i, if i == 0 { -1e6 } else { i as f64 })).collect();
    let archive = grid(&[10, 10], &elites);
    let arrows = |style: &Style| {
        let spec = Heatmap { title: "", note: "", objective: "f", archive: &archive };
        let figure = heatmap(&spec, style).unwrap();
        group(figure.svg(), "color-bar").matches("class=\"outside\"").count()
    };
    assert_eq!(arrows(&Style::default()), 1, "one objective is far below all others");
    assert_eq!(arrows(&Style { color_range: Some((10.0, 20.0)), ..Style::default() }), 2);
    assert_eq!(arrows(&Style { color_range: Some((-1e6, 99.0)), ..Style::default() }), 0);
}

#[test]
fn any_two_measures_can_be_chosen() {
    let archive = grid(&[2, 3, 4], &[(0, 1.0), (23, 2.0)]);
    let spec = Heatmap { title: "", note: "", objective: "f", archive: &archive };
    let figure = heatmap(&spec, &Style { axes: Some((2, 0)), ..Style::default() }).unwrap();
    assert_eq!(figure.svg().matches("<g class=\"cells\"").count(), 1);
    assert!(group(figure.svg(), "x-axis").contains(">Measure 3</text>"));
    assert!(group(figure.svg(), "y-axis").contains(">Measure 1</text>"));
    for axes in [(0, 3), (1, 1)] {
        let message = heatmap(&spec, &Style { axes: Some(axes), ..Style::default() }).unwrap_err().to_string();
        assert!(message.contains("expected two different ones of the 3 measures"), "{message}");
    }
}

#[test]
fn long_names_are_read_whole() {
    let name = "mean vertical distance between the centre of mass and the ground, in metres";
    let mut archive = grid(&[4, 4], &[(0, 1.0), (5, 2.0)]);
    archive.measures = vec![Measure::new(name, 0.0, 1.0), Measure::new(name, 0.0, 1.0)];
    let named = |archive| NamedArchive { name: name.into(), archive };
    let spec =
        Comparison { title: name, note: name, objective: name, archives: vec![named(&archive); 4], columns: Some(2) };
    let compared = comparison(&spec, &Style::default()).unwrap();
    let spec = Heatmap { title: name, note: name, objective: name, archive: &archive };
    for svg in [heatmap(&spec, &Style::default()).unwrap().svg(), compared.svg()] {
        assert!(!svg.contains('…'), "nothing is cut");
    }
}

fn two_trials() -> Curves {
    let series = Series { name: "a".into(), x: vec![0.0, 10.0], trials: vec![vec![1.0, 2.0], vec![3.0, 2.0]] };
    let flat = Series { name: "b".into(), x: vec![0.0, 10.0], trials: vec![vec![0.0, 14.0]] };
    let panel =
        CurvePanel { title: String::new(), x_label: "x".into(), y_label: "y".into(), series: vec![series, flat] };
    Curves { title: "t".into(), panels: vec![panel], ..Curves::default() }
}

#[test]
fn band_has_the_width_of_the_confidence_interval() {
    let mut spec = two_trials();
    // At x = 0 the trials are -8, 2, 2, 2 and 12.
    spec.panels[0].series[0].trials = [-8.0, 2.0, 2.0, 2.0, 12.0].map(|value| vec![value, 2.0]).to_vec();
    spec.panels[0].series[1].trials = vec![vec![0.0, 10.0]];
    let figure = curves(&spec, &Style::default()).unwrap();
    let svg = figure.svg();
    assert!(svg.contains("mean and 95 % confidence interval (Student t) of 5 trials"));
    assert_eq!(svg.matches("class=\"band\"").count(), 1, "one trial has no band");
    // Mean 2, s = sqrt(200 / 4), half-width 2.776445 * sqrt(50 / 5) = 8.779890. The axis runs from -6.779890 to 10.779890
    // (the band; the other line reaches 10), with 4 % of that at each end.
    let [_, top, _, height] = frame(svg);
    let tag = &svg[..svg.find("class=\"band\"").unwrap()];
    let path = &tag[tag.rfind("d=\"M").unwrap() + 4..];
    let upper: f64 = path.split([' ', 'L']).nth(1).unwrap().parse().unwrap();
    let lower: f64 = path.trim_end_matches("Z\" ").rsplit([' ', 'L']).next().unwrap().parse().unwrap();
    let pixels_per_unit = height / (2.0 * 8.779890 * 1.08);
    assert!((lower - upper - 2.0 * 8.779890 * pixels_per_unit).abs() < 0.05, "{upper} {lower}");
    assert!((upper - top - 0.04 / 1.08 * height).abs() < 0.05);
}

#[test]
fn few_trials_are_shown_one_by_one() {
    let figure = curves(&two_trials(), &Style::default()).unwrap();
    assert!(figure.svg().contains("mean of 2 trials and each of them"));
    assert_eq!(figure.svg().matches("class=\"trial\"").count(), 2, "a single trial is its own mean");
    assert_eq!(figure.svg().matches("class=\"band\"").count(), 0);
}

#[test]
fn legend_names_each_series_once() {
    let mut spec = two_trials();
    spec.panels.push(spec.panels[0].clone());
    let figure = curves(&spec, &Style::default()).unwrap();
    let legend = group(figure.svg(), "legend");
    assert_eq!(legend.matches("<text").count(), 2);
    assert!(legend.contains(">a</text>") && legend.contains(">b</text>"));
    assert_eq!(figure.svg().matches("class=\"line\"").count(), 4 + 2, "four lines and two samples of them");
}

#[test]
fn a_line_without_a_name_has_the_colour_of_its_algorithm() {
    let spec = |name: &str| {
        let series = Series { name: name.into(), x: vec![0.0, 1.0], trials: vec![vec![1.0, 2.0]] };
        let panel = CurvePanel { title: "".into(), x_label: "".into(), y_label: "".into(), series: vec![series] };
        Curves { panels: vec![panel], ..Curves::default() }
    };
    let stroke = |name: &str, algorithm: Option<&str>| {
        let style = Style { algorithm: algorithm.map(str::to_owned), ..Style::default() };
        let svg = curves(&spec(name), &style).unwrap().svg().to_owned();
        let line = &svg[svg.find("class=\"line\"").unwrap()..];
        line[line.find("stroke=\"").unwrap()..].chars().take(15).collect::<String>()
    };
    assert_eq!(stroke("", Some("map_elites")), stroke("MAP-Elites", None));
    assert_ne!(stroke("", Some("map_elites")), stroke("", None));
    assert_eq!(stroke("mine", Some("map_elites")), stroke("mine", None), "a name speaks for itself");
}

#[test]
fn points_of_two_names_never_look_alike() {
    let names = ["CMA-ME", "CMA-ME*", "CMA-ME (imp, opt)"];
    let point = |name: &str| AgreementPoint { name: name.into(), theirs: 1.0, ours: 1.0 };
    let shape = |name: &str| {
        let panel = AgreementPanel { title: String::new(), points: vec![point(name)] };
        let svg = agreement("", "", ("", ""), &[panel], &Style::default()).svg().to_owned();
        group(&svg, "points").to_owned()
    };
    let shapes = names.map(shape);
    assert!(shapes[0] != shapes[1] && shapes[1] != shapes[2] && shapes[0] != shapes[2], "{shapes:?}");
}

#[test]
fn markers_are_drawn_on_request() {
    let spec = Curves { markers: Markers::Dots, ..two_trials() };
    assert_eq!(curves(&spec, &Style::default()).unwrap().svg().matches("<circle").count(), 4);
    assert_eq!(curves(&two_trials(), &Style::default()).unwrap().svg().matches("<circle").count(), 0);
}

#[test]
fn trials_longer_than_their_positions_are_refused() {
    let mut spec = two_trials();
    spec.panels[0].series[0].trials[1].push(1.0);
    let message = curves(&spec, &Style::default()).unwrap_err().to_string();
    assert_eq!(message, "values of a trial: expected 2 values, found 3");
}

#[test]
fn comparison_shares_colours_and_axes() {
    let (low, high) = (grid(&[1, 1], &[(0, 0.0)]), grid(&[1, 1], &[(0, 10.0)]));
    let archives = [("low", &low), ("high", &high), ("low", &low)];
    let named = |(name, archive): (&str, _)| NamedArchive { name: name.into(), archive };
    let spec = Comparison {
        title: "t",
        note: "",
        objective: "f",
        archives: archives.into_iter().map(named).collect(),
        columns: Some(3),
    };
    let figure = comparison(&spec, &Style::default()).unwrap();
    let svg = figure.svg();
    assert_eq!(svg.matches("<g class=\"cells\"").count(), 3);
    assert_eq!(svg.matches("<g class=\"color-bar\"").count(), 1);
    assert_eq!(svg.matches(&ColorMap::Viridis.at(0.0).hex()).count(), 2);
    assert_eq!(svg.matches(&ColorMap::Viridis.at(1.0).hex()).count(), 1);
    assert_eq!(svg.matches(">Measure 2</text>").count(), 1, "only the first column names the vertical axis");
    assert_eq!(svg.matches(">Measure 1</text>").count(), 3);

    let blend = alpha_blend("t", "f", &[(0.0, &low), (0.01, &high), (1.0, &low)], &Style::default()).unwrap();
    for text in ["α = 0", "α = 0.01", "α = 1", "optimises, like CMA-ES", "explores, like CMA-ME"] {
        assert!(blend.svg().contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn parallel_axes_keep_the_best_elite_and_count_the_rest() {
    let measures = [Measure::new("a", 0.0, 1.0), Measure::new("b", 0.0, 1.0)];
    let values: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
    let mut objectives: Vec<f64> = (0..100).map(f64::from).collect();
    objectives[3] = f64::NAN;
    let spec = ParallelAxes {
        title: "t",
        measures: &measures,
        values: &values,
        objective: "f",
        objectives: &objectives,
        max_lines: 10,
    };
    let figure = parallel_axes(&spec, &Style::default()).unwrap();
    let lines = group(figure.svg(), "elites");
    assert_eq!(lines.matches("<path").count(), 10);
    assert!(lines.trim_end().ends_with(&format!("stroke=\"{}\"/>", ColorMap::Viridis.at(1.0).hex())), "best on top");
    assert!(figure.svg().contains("10 of 100 elites, evenly spaced by objective · 1 left out"));
    assert_eq!(figure.svg().matches("<g class=\"axis\"").count(), 3);
    let wrong = ParallelAxes { values: &values[1..], ..spec };
    let message = parallel_axes(&wrong, &Style::default()).unwrap_err().to_string();
    assert_eq!(message, "measures of elites: expected 200 values, found 199");
}

#[test]
fn agreement_has_a_point_for_each_number() {
    let point = |name: &str, ours: f64| AgreementPoint { name: name.into(), theirs: 50.0, ours };
    let points = vec![point("CMA-MAE", 50.0), point("CMA-ME*", 40.0), point("odd", f64::NAN)];
    let panels = [AgreementPanel { title: "Arm".into(), points }];
    let figure = agreement("t", "", ("paper", "ours"), &panels, &Style::default());
    let points = group(figure.svg(), "points");
    assert_eq!(points.matches("r=\"4\"").count(), 2, "what is not finite has no point");
    assert_eq!(points.matches("fill=\"#ffffff\"").count(), 1, "relatives are told apart by a ring");
    assert_eq!(group(figure.svg(), "legend").matches("<text").count(), 3);
    assert!(agreement("", "", ("", ""), &[], &Style::default()).to_png(1.0).is_ok());
}

#[test]
fn annealing_has_a_panel_for_each_alpha() {
    let panels = [0.0, 0.02, 1.0].map(|alpha| bimodal_example(alpha, 60.0));
    let figure = annealing("t", &panels, &Style::default()).unwrap();
    assert_eq!(figure.svg().matches("<g class=\"x-axis\"").count(), 3);
    let mut broken = bimodal_example(0.5, 10.0);
    broken.threshold.pop();
    assert!(annealing("t", &[broken], &Style::default()).unwrap_err().to_string().starts_with("thresholds of a panel"));
}

#[test]
fn figures_carry_nothing_a_strict_policy_blocks() {
    let archive = grid(&[100, 100], &(0..10_000).map(|i| (i, i as f64)).collect::<Vec<_>>());
    for svg in [draw(&archive).svg(), curves(&two_trials(), &Style::default()).unwrap().svg()] {
        for forbidden in [" style=", " id=", "<style", "<script", "onload"] {
            assert!(!svg.contains(forbidden), "{forbidden}");
        }
    }
}
