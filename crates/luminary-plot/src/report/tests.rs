use super::*;
use crate::archive::{Cells, Measure};

fn archive() -> Archive {
    Archive {
        measures: vec![Measure::new("a", 0.0, 1.0), Measure::new("b", 0.0, 1.0)],
        cells: Cells::Grid { resolution: vec![4, 4] },
        elite_cells: vec![3, 7],
        objectives: vec![1.0, f64::NAN],
    }
}

fn spec(archive: &Archive) -> ReportArchive<'_> {
    ReportArchive {
        archive,
        objective: "f",
        measures: &[0.1, 0.9, 0.3, 0.8],
        solutions: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        parameters: &[],
        precision: Precision::Single,
        fields: &[],
    }
}

fn page(spec: ReportArchive, title: &str) -> Result<String, PlotError> {
    report(&Report { title, note: title, archive: Some(spec), ..Report::default() }, &Style::default())
}

#[test]
fn markup_in_any_text_is_inert() {
    let evil = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>";
    let mut archive = archive();
    archive.measures[0].name = evil.into();
    let names = vec![evil.to_string(); 3];
    let archive_spec = ReportArchive { objective: evil, parameters: &names, ..spec(&archive) };
    let heatmap = crate::Heatmap { title: evil, note: evil, objective: evil, archive: &archive };
    let figures = [(evil.to_string(), crate::heatmap(&heatmap, &Style::default()).unwrap())];
    let facts = [(evil.to_string(), evil.to_string())];
    let fields = [ReportField { name: evil.into(), values: vec![0.0; 2] }];
    let report_spec = Report {
        title: evil,
        note: evil,
        facts: &facts,
        archive: Some(ReportArchive { fields: &fields, ..archive_spec }),
        table: &[vec![evil.to_string()], vec![evil.to_string()]],
        run: &facts,
        settings: evil,
        figures: &figures,
    };
    let html = report(&report_spec, &Style::default()).unwrap();
    // One script, two data blocks, and no tag that came from the text.
    assert_eq!(html.matches("<script").count(), 3);
    assert_eq!(html.matches("</script>").count(), 3);
    assert!(!html.contains("<img") && !html.contains("<!--"));
}

#[test]
fn policy_names_the_script_and_the_style_sheet() {
    let html = page(spec(&archive()), "t").unwrap();
    let between = |start: &str, end: &str| {
        let from = html.find(start).unwrap() + start.len();
        &html[from..from + html[from..].find(end).unwrap()]
    };
    for (kind, text) in
        [("script-src", between("<script>", "</script>")), ("style-src", between("<style>", "</style>"))]
    {
        let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
        assert!(html.contains(&format!("{kind} 'sha256-{hash}'")), "{kind}");
    }
    assert!(html.contains("default-src 'none'"));
    assert!(!html.contains("http://") && !html.contains("https://"), "a report loads nothing");
}

#[test]
fn wrong_lengths_are_named() {
    let archive = archive();
    let message = |spec: ReportArchive| page(spec, "t").unwrap_err().to_string();
    assert_eq!(
        message(ReportArchive { measures: &[0.0; 3], ..spec(&archive) }),
        "measures of elites: expected 4 values, found 3"
    );
    assert_eq!(
        message(ReportArchive { solutions: &[0.0; 5], ..spec(&archive) }),
        "values of solutions: expected 4 values, found 5"
    );
    let names = ["p".to_string()];
    assert_eq!(
        message(ReportArchive { parameters: &names, ..spec(&archive) }),
        "names of parameters: expected 3 values, found 1"
    );
    let fields = [ReportField { name: "threshold".into(), values: vec![0.0] }];
    assert_eq!(
        message(ReportArchive { fields: &fields, ..spec(&archive) }),
        "values of a field: expected 2 values, found 1"
    );
}

#[test]
fn empty_archives_have_a_page() {
    let mut archive = archive();
    archive.elite_cells.clear();
    archive.objectives.clear();
    let empty = ReportArchive { measures: &[], solutions: &[], ..spec(&archive) };
    assert!(page(empty, "t").unwrap().contains("0 elites in 16 cells"));
}
