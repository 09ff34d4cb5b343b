//! The report in a real browser: hover, click, keys, axes, sizes, and text that tries to be a script.

use luminary_plot::{
    Archive, CurvePanel, Curves, Goal, Precision, Report, ReportArchive, ReportField, Series, Style, curves, report,
};
use serde_json::json;

use crate::browser::Browser;
use crate::synthetic::{cvt, grid, spread_points};

const N_PARAMETERS: usize = 5;

/// A page whose elite in row i has measures 0.1 i ... and solution i, i + 0.5, ...
fn page(archive: &Archive, title: &str, n_parameters: usize) -> String {
    styled_page(archive, title, n_parameters, &Style::default())
}

fn styled_page(archive: &Archive, title: &str, n_parameters: usize, style: &Style) -> String {
    let n = archive.elite_cells.len();
    let n_measures = archive.measures.len();
    let measures: Vec<f64> = (0..n * n_measures).map(|i| 0.1 * i as f64).collect();
    let solutions: Vec<f64> = (0..n).flat_map(|e| (0..n_parameters).map(move |p| e as f64 + 0.5 * p as f64)).collect();
    let spec = ReportArchive {
        archive,
        objective: "Speed",
        measures: &measures,
        solutions: &solutions,
        parameters: &[],
        precision: Precision::Single,
        fields: &[],
    };
    let facts = [("QD score".to_string(), "12.5".to_string())];
    let figures = [(
        "The archive".to_string(),
        luminary_plot::heatmap(&luminary_plot::Heatmap { title, note: "", objective: "Speed", archive }, style)
            .expect("the archive is valid"),
    )];
    let spec =
        Report { title, note: "a note", facts: &facts, archive: Some(spec), figures: &figures, ..Report::default() };
    report(&spec, style).expect("the report is valid")
}

/// The page position of a point of the heatmap, given as fractions from the lower left, after scrolling to it.
fn position(browser: &mut Browser, x: f64, y: f64) -> (f64, f64) {
    let place = browser.evaluate(&format!(
        "(() => {{ const map = document.getElementById('map'); map.scrollIntoView({{block: 'center'}});
        const box = map.getBoundingClientRect();
        const [left, top, width, height] = map.dataset.area.split(' ').map(Number);
        return [box.left + left + {x} * width, box.top + top + (1 - {y}) * height]; }})()"
    ));
    (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"))
}

fn elite(browser: &mut Browser) -> i64 {
    let value = browser.evaluate("Number(document.getElementById('map').dataset.elite ?? -1)");
    value.as_i64().expect("an integer")
}

/// A 4 x 4 grid: elite 0 in column 1, row 2; elite 1 in column 3, row 0; elite 2 in column 0, row 0.
fn small_grid() -> Archive {
    grid(&[4, 4], &[(6, 10.0), (12, 30.0), (0, 20.0)])
}

#[test]
fn hover_shows_and_click_keeps_an_elite() {
    let mut browser = Browser::open("report-grid", &page(&small_grid(), "Walkers", N_PARAMETERS), 1280, 900);
    assert_eq!(browser.text("archive-heading"), "Archive: 3 elites in 16 cells");
    assert_eq!(browser.text("place-name"), "Best elite: Cell (3, 0)");

    let (x, y) = position(&mut browser, 0.375, 0.625);
    browser.point_at(x, y);
    assert_eq!(elite(&mut browser), 0);
    assert_eq!(browser.text("place-name"), "Cell (1, 2)");
    assert_eq!(browser.text("numbers"), "Speed10Measure 10Measure 20.1Rank by objective3 of 3");
    assert_eq!(browser.text("values"), "x00x10.5x21x31.5x42");

    let (x, y) = position(&mut browser, 0.9, 0.1);
    browser.click(x, y);
    assert_eq!(elite(&mut browser), 1);
    assert_eq!(browser.evaluate("document.getElementById('pinned').hidden"), json!(false));
    let (x2, y2) = position(&mut browser, 0.1, 0.1);
    browser.point_at(x2, y2);
    assert_eq!(elite(&mut browser), 1, "a kept elite stays while the pointer moves on");
    browser.click(x, y);
    assert_eq!(browser.evaluate("document.getElementById('pinned').hidden"), json!(true));
    browser.point_at(x2, y2);
    assert_eq!(elite(&mut browser), 2, "after release the pointer decides again");

    let (x, y) = position(&mut browser, 0.6, 0.6);
    browser.point_at(x, y);
    assert_eq!(browser.text("place-name"), "Cell (2, 2) is empty");
    assert_eq!(browser.evaluate("document.getElementById('elite').hidden"), json!(true));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn what_is_minimised_has_its_own_sign_and_its_lowest_is_best() {
    let style = Style { goal: Goal::Minimise, ..Style::default() };
    let mut browser = Browser::open("report-minimise", &styled_page(&small_grid(), "Costs", 2, &style), 1280, 900);
    assert_eq!(browser.text("place-name"), "Best elite: Cell (1, 2)");
    assert_eq!(browser.text("numbers"), "Speed10Measure 10Measure 20.1Rank by objective1 of 3");
    assert_eq!(browser.text("best"), "102030");
    browser.press("Tab", 9);
    browser.press("Home", 36);
    assert_eq!(browser.text("status"), "Cell (1, 2): Speed 10, Measure 1 0, Measure 2 0.1");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn keys_reach_every_elite() {
    let mut browser = Browser::open("report-keys", &page(&small_grid(), "Walkers", N_PARAMETERS), 1280, 900);
    browser.press("Tab", 9);
    assert_eq!(browser.evaluate("document.activeElement.id"), json!("map"), "the heatmap is the first stop of Tab");
    browser.press("Home", 36);
    assert_eq!(elite(&mut browser), 1, "Home goes to the best");
    assert_eq!(browser.text("status"), "Cell (3, 0): Speed 30, Measure 1 0.2, Measure 2 0.3");
    browser.press("PageDown", 34);
    assert_eq!(elite(&mut browser), 2);
    browser.press("PageDown", 34);
    browser.press("PageDown", 34);
    assert_eq!(elite(&mut browser), 0, "the worst is the end");
    browser.press("ArrowDown", 40);
    assert_eq!(browser.text("place-name"), "Cell (1, 1) is empty");
    for _ in 0..3 {
        browser.press("ArrowDown", 40);
    }
    browser.press("ArrowLeft", 37);
    assert_eq!(elite(&mut browser), 2, "the border stops the cursor");
    browser.press("Enter", 13);
    assert_eq!(browser.evaluate("document.getElementById('pinned').hidden"), json!(false));
    browser.press("Escape", 27);
    assert_eq!(browser.text("place-name"), "Best elite: Cell (3, 0)");
    browser.evaluate("document.querySelector('#best button').click()");
    assert_eq!(elite(&mut browser), 1, "the first of the best elites can be chosen from the list");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn centroids_answer_to_their_voronoi_cells() {
    let points = spread_points(10_000);
    let elites: Vec<(usize, f64)> = (0..10_000).step_by(2).map(|cell| (cell, (cell % 100) as f64)).collect();
    let archive = cvt(2, &points, &elites);
    let mut browser = Browser::open("report-cvt", &page(&archive, "Ten thousand cells", 100), 1280, 900);
    for cell in [0, 1234, 4444, 9998] {
        let (x, y) = position(&mut browser, points[2 * cell], points[2 * cell + 1]);
        browser.point_at(x, y);
        assert_eq!(browser.text("place-name"), format!("Cell {cell}"));
        assert_eq!(elite(&mut browser), cell as i64 / 2);
        assert_eq!(browser.evaluate("document.getElementById('values').children.length"), json!(100));
    }
    let (x, y) = position(&mut browser, points[2 * 77], points[2 * 77 + 1]);
    browser.point_at(x, y);
    assert_eq!(browser.text("place-name"), "Cell 77 is empty");
    browser.screenshot("report-cvt");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn every_pixel_belongs_to_the_nearest_centroid() {
    let points = spread_points(300);
    let elites: Vec<(usize, f64)> = (0..300).map(|cell| (cell, cell as f64)).collect();
    let archive = cvt(2, &points, &elites);
    let mut browser = Browser::open("report-nearest", &page(&archive, "Cells", 1), 1000, 900);
    for i in 0..60 {
        let probe = ((0.013 + 0.618_034 * f64::from(i)).fract(), (0.5 + 0.414_214 * f64::from(i)).fract());
        let (x, y) = position(&mut browser, probe.0, probe.1);
        browser.point_at(x, y);
        let found = elite(&mut browser) as usize;
        let distance = |cell: usize| (points[2 * cell] - probe.0).hypot(points[2 * cell + 1] - probe.1);
        let nearest = (0..300).map(distance).fold(f64::INFINITY, f64::min);
        // A pixel is about 1/500 of the heatmap.
        assert!(distance(found) <= nearest + 0.004, "{probe:?}: {found} at {} not {nearest}", distance(found));
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn more_measures_are_shown_in_pairs() {
    // Two elites share the place of measures 1 and 2, and differ in measure 3.
    let archive = grid(&[2, 2, 2], &[(0, 1.0), (1, 2.0), (7, 0.5)]);
    let mut browser = Browser::open("report-3d", &page(&archive, "Three", N_PARAMETERS), 1280, 900);
    let (x, y) = position(&mut browser, 0.25, 0.25);
    browser.point_at(x, y);
    assert_eq!(elite(&mut browser), 1, "the best elite of the place");
    assert!(browser.text("numbers").contains("Elites that share this place2"));
    browser.evaluate(
        "(() => { const s = document.getElementById('axis-y'); s.value = '2'; s.dispatchEvent(new Event('change')); })()",
    );
    let (x, y) = position(&mut browser, 0.3, 0.3);
    browser.point_at(x, y);
    assert_eq!(elite(&mut browser), 0);
    let (x, y) = position(&mut browser, 0.25, 0.75);
    browser.point_at(x, y);
    assert_eq!(elite(&mut browser), 1);
    browser.evaluate(
        "(() => { const s = document.getElementById('axis-x'); s.value = '2'; s.dispatchEvent(new Event('change')); })()",
    );
    assert_eq!(
        browser.evaluate("document.getElementById('axis-y').value"),
        json!("0"),
        "axes are swapped, not doubled"
    );
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn text_stays_text() {
    let evil = "</title></script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";
    let mut archive = small_grid();
    archive.measures[0].name = evil.into();
    let mut browser = Browser::open("report-evil", &page(&archive, evil, N_PARAMETERS), 1280, 900);
    let (x, y) = position(&mut browser, 0.375, 0.625);
    browser.click(x, y);
    assert!(browser.text("numbers").contains(evil));
    assert_eq!(browser.evaluate("typeof window.hacked"), json!("undefined"));
    assert_eq!(browser.evaluate("document.title"), json!(evil));
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), json!(0));
    assert_eq!(browser.errors(), Vec::<String>::new());
    // The policy itself holds: a script that gets into the page nevertheless does not run.
    browser.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 2';
        document.body.append(s); })()",
    );
    assert_eq!(browser.evaluate("typeof window.hacked"), json!("undefined"));
    assert!(browser.errors().iter().any(|error| error.contains("Content Security Policy")));
}

#[test]
fn odd_archives_have_working_pages() {
    let cases = [
        ("empty", grid(&[3, 3], &[])),
        ("one-cell", grid(&[1, 1], &[(0, f64::NAN)])),
        ("not-finite", grid(&[2, 2], &[(0, f64::INFINITY), (1, f64::NEG_INFINITY), (2, f64::NAN), (3, 1e308)])),
        ("one-measure", grid(&[5], &[(0, 1.0), (4, 2.0)])),
        ("one-measure-cvt", cvt(1, &[0.9, 0.1, 0.5], &[(1, 1.0)])),
        ("one-centroid", cvt(2, &[0.5, 0.5], &[(0, -1e-300)])),
        ("same-centroids", cvt(2, &[0.5, 0.5, 0.5, 0.5, 0.5, 0.5], &[(0, 1.0)])),
        ("many-measures-cvt", cvt(4, &[0.5; 40], &[(3, 1.0)])),
    ];
    for (name, archive) in cases {
        let mut browser = Browser::open(&format!("report-{name}"), &page(&archive, name, 0), 800, 700);
        for (fx, fy) in [(0.05, 0.05), (0.5, 0.5), (0.95, 0.95)] {
            let (x, y) = position(&mut browser, fx, fy);
            browser.click(x, y);
        }
        for key in [("Home", 36), ("ArrowUp", 38), ("PageUp", 33), ("ArrowRight", 39)] {
            browser.evaluate("document.getElementById('map').focus()");
            browser.press(key.0, key.1);
        }
        assert_eq!(browser.errors(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn pages_fit_wide_and_narrow_windows() {
    let elites: Vec<(usize, f64)> = (0..2500).filter(|c| c % 7 > 1).map(|c| (c, (c % 50) as f64)).collect();
    let archive = grid(&[50, 50], &elites);
    let title = "A title without spaces_that_is_much_too_long_for_a_narrow_window_and_must_be_broken_somewhere";
    for (name, width) in [("report-wide", 1280), ("report-narrow", 360)] {
        let mut browser = Browser::open(name, &page(&archive, title, 100), width, 800);
        let (x, y) = position(&mut browser, 0.45, 0.51);
        browser.click(x, y);
        assert!(elite(&mut browser) >= 0, "the cell in the middle has an elite");
        browser.screenshot(name);
        let overflow = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth");
        assert_eq!(overflow, json!(0), "nothing sticks out of a window of {width} pixels");
        assert_eq!(browser.errors(), Vec::<String>::new());
    }
}

/// A page with a threshold of each elite, curves of two series, and what was run.
fn full_page(archive: &Archive) -> String {
    let n = archive.elite_cells.len();
    let fields = [ReportField { name: "threshold".into(), values: (0..n).map(|i| 100.0 * i as f64).collect() }];
    let spec = ReportArchive {
        archive,
        objective: "Speed",
        measures: &vec![0.5; 2 * n],
        solutions: &(0..2 * n).map(|i| i as f64).collect::<Vec<_>>(),
        parameters: &["thigh".to_string(), "<b>shin</b>".to_string()],
        precision: Precision::Single,
        fields: &fields,
    };
    let rising = |end: f64| vec![0.0, 0.5 * end, end];
    let series =
        |name: &str, end: f64| Series { name: name.into(), x: vec![0.0, 5.0, 10.0], trials: vec![rising(end)] };
    let series = vec![series("cma_mae", 100.0), series("cma_me", 50.0)];
    let panel = CurvePanel { title: String::new(), x_label: "iteration".into(), y_label: "QD score".into(), series };
    let lines = curves(&Curves { panels: vec![panel], ..Curves::default() }, &Style::default()).expect("valid curves");
    let row = |cells: [&str; 2]| cells.map(str::to_string).to_vec();
    let spec = Report {
        title: "Walkers",
        archive: Some(spec),
        table: &[row(["setting", "QD score"]), row(["cma_mae", "12"])],
        run: &[("Date".to_string(), "2026-01-02 03:04 UTC".to_string())],
        settings: "run.seed = 7\nrun.iterations = 100",
        figures: &[("Progress".to_string(), lines)],
        ..Report::default()
    };
    report(&spec, &Style::default()).expect("the report is valid")
}

#[test]
fn colours_show_any_number_of_an_elite() {
    let mut browser = Browser::open("report-colors", &full_page(&small_grid()), 1280, 900);
    let names = browser.evaluate("Array.from(document.getElementById('color-by').options, (o) => o.textContent)");
    assert_eq!(names, json!(["Speed", "threshold", "Measure 1", "Measure 2", "thigh", "<b>shin</b>"]));
    let mut choose = |value: usize| {
        browser.evaluate(&format!(
            "(() => {{ const s = document.getElementById('color-by'); s.value = '{value}';
            s.dispatchEvent(new Event('change')); }})()"
        ));
        browser.evaluate("document.getElementById('map').dataset.range")
    };
    assert_eq!(choose(1), json!("0 200"));
    assert_eq!(choose(5), json!("1 5"));
    assert_eq!(choose(0), json!("10 30"));
    assert!(browser.text("numbers").contains("threshold100"), "the best elite is the second");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn curves_tell_their_values_under_the_pointer() {
    let mut browser = Browser::open("report-hover", &full_page(&small_grid()), 1280, 900);
    let place = browser.evaluate(
        "(() => { const svg = document.querySelector('figure svg'); svg.scrollIntoView({block: 'center'});
        const box = svg.getBoundingClientRect(); const scale = box.width / svg.viewBox.baseVal.width;
        const [left, top, width, height] = svg.querySelector('g.panel').dataset.frame.split(' ').map(Number);
        return [box.left + scale * (left + 0.53 * width), box.top + scale * (top + height / 2)]; })()",
    );
    browser.point_at(place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"));
    let text = browser.text("tip");
    assert!(text.starts_with("iteration ") && text.contains("cma_mae: ") && text.contains("cma_me: "), "{text}");
    let value = |name: &str| -> f64 {
        let from = text.find(name).expect("the line is named") + name.len();
        let digits: String = text[from..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        digits.parse().expect("a number")
    };
    // Between two points nothing was measured: the nearest one is told, and its iteration is whole.
    assert!(value("iteration ") == 5.0 && (value("cma_mae: ") - 50.0).abs() < 0.1, "{text}");
    browser.point_at(2.0, 2.0);
    assert_eq!(browser.evaluate("document.getElementById('tip').hidden"), json!(true));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn pages_are_light_or_dark_and_say_what_was_run() {
    for (name, width) in [("report-full-wide", 1280), ("report-full-narrow", 390)] {
        let mut browser = Browser::open(name, &full_page(&small_grid()), width, 900);
        let background = "getComputedStyle(document.body).backgroundColor";
        let light = browser.evaluate(background);
        browser.screenshot(&format!("{name}-light"));
        browser.evaluate("document.getElementById('theme').click()");
        assert_ne!(browser.evaluate(background), light);
        let ink = "getComputedStyle(document.querySelector('figure svg text')).fill";
        assert_eq!(browser.evaluate(ink), json!("rgb(230, 234, 238)"), "figures follow");
        browser.screenshot(&format!("{name}-dark"));
        browser.evaluate("document.getElementById('theme').click()");
        assert_eq!(browser.evaluate(background), light);
        let page = browser.evaluate("document.body.textContent").as_str().unwrap_or_default().to_string();
        for text in ["2026-01-02 03:04 UTC", "run.seed = 7\nrun.iterations = 100", "setting"] {
            assert!(page.contains(text), "{text}");
        }
        let overflow = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth");
        assert_eq!(overflow, json!(0), "nothing sticks out of a window of {width} pixels");
        assert_eq!(browser.errors(), Vec::<String>::new());
    }
}
