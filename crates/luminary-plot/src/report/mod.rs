//! A report: one HTML file with figures and an interactive heatmap, which needs no network and no other file.
//!
//! A content security policy allows only the one script and style sheet that the file itself carries, by their hashes;
//! all text is escaped, so whatever stands in a title stays text.

mod data;

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::archive::{Archive, same_length};
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::font;
use crate::scale::number;
use crate::svg::escape;

/// Plain JavaScript without dependencies; the parts share one scope. The first are modules of the live view, too.
const SCRIPT_OF_ARCHIVE: &str = concat!(
    include_str!("../../assets/shared/tiles.js"),
    include_str!("../../assets/shared/drawing.js"),
    include_str!("../../assets/report/1_archive.js"),
    include_str!("../../assets/report/2_picture.js"),
    include_str!("../../assets/report/3_colors.js"),
    include_str!("../../assets/report/4_reader.js"),
);
/// What pages without an archive need too.
const SCRIPT_OF_PAGE: &str =
    concat!(include_str!("../../assets/shared/numbers.js"), include_str!("../../assets/report/0_page.js"));
const STYLE_SHEET: &str =
    concat!(include_str!("../../assets/shared/theme.css"), include_str!("../../assets/report/report.css"));

/// What a report shows.
#[derive(Clone, Debug, Default)]
pub struct Report<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// A line under the title; may be empty.
    pub note: &'a str,
    /// Names and values that stand first, for example the QD score.
    pub facts: &'a [(String, String)],
    /// The archive of the interactive heatmap.
    pub archive: Option<ReportArchive<'a>>,
    /// Rows of a table, the first of which has the headings; for example one for each setting of a sweep.
    pub table: &'a [Vec<String>],
    /// What was run: names and values, for example versions and date.
    pub run: &'a [(String, String)],
    /// All settings, a line each; folded away at first.
    pub settings: &'a str,
    /// Figures below, each with its caption (may be empty).
    pub figures: &'a [(String, Figure)],
}

/// An archive with everything that is known of its elites.
#[derive(Clone, Copy, Debug)]
pub struct ReportArchive<'a> {
    /// Cells and objectives.
    pub archive: &'a Archive,
    /// Label of the objective.
    pub objective: &'a str,
    /// The measures of all elites, row by row.
    pub measures: &'a [f64],
    /// The solutions of all elites, row by row.
    pub solutions: &'a [f64],
    /// Names of the parameters of a solution; x0, x1 ... if empty.
    pub parameters: &'a [String],
    /// Digits of the solutions in the file.
    pub precision: Precision,
    /// What else is known of each elite, for example its threshold.
    pub fields: &'a [ReportField],
}

/// A number of each elite.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportField {
    /// What it is called.
    pub name: String,
    /// Its value for each elite.
    pub values: Vec<f64>,
}

/// How exactly a report holds solutions. Objectives and measures are always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// About seven digits: half the size, enough to look at.
    #[default]
    Single,
    /// All digits, so that solutions copied from the page are exact.
    Double,
}

/// Writes the report as HTML. Colours follow the style; its size does not matter here.
///
/// # Errors
/// If the archive does not pass [`Archive::check`], or measures, solutions or names do not fit to its elites.
pub fn report(spec: &Report, style: &Style) -> Result<String, PlotError> {
    let explorer = spec.archive.as_ref().map(|archive| explorer(archive, style)).transpose()?.unwrap_or_default();
    let of_archive = if spec.archive.is_some() { SCRIPT_OF_ARCHIVE } else { "" };
    let script = format!("(function () {{\n\"use strict\";\n{}}})();\n", in_one_scope(SCRIPT_OF_PAGE, of_archive));
    let style_sheet = font_faces() + STYLE_SHEET;
    let mut page = String::new();
    let _ = write!(
        page,
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style_sheet}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{note}
{facts}
</header>
<main>
{table}
{explorer}
{run}
{figures}
<footer>Made with Luminary {version}. <button id="theme" type="button">Dark</button></footer>
</main>
<div id="tip" hidden></div>
<script>{script}</script>
</body>
</html>
"#,
        policy = content_security_policy(&script, &style_sheet),
        title = escape(spec.title),
        note = paragraph(spec.note),
        facts = facts(spec.facts),
        table = table(spec.table),
        run = what_was_run(spec.run, spec.settings),
        figures = figures(spec.figures),
        version = env!("CARGO_PKG_VERSION"),
    );
    Ok(page)
}

/// Scripts, some of which are modules, as parts of one scope: there, nothing is exported and nothing imported.
fn in_one_scope(page: &str, archive: &str) -> String {
    let lines = page.lines().chain(archive.lines()).filter(|line| !line.starts_with("import "));
    lines.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect()
}

/// Nothing may be loaded; only this script and this style sheet may run.
fn content_security_policy(script: &str, style_sheet: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; font-src data:; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(script),
        hash(style_sheet)
    )
}

fn font_faces() -> String {
    let face = |weight: u32, font: &[u8]| {
        format!(
            "@font-face{{font-family:\"Luminary Sans\";font-weight:{weight};src:url(data:font/otf;base64,{})}}\n",
            STANDARD.encode(font)
        )
    };
    face(400, font::REGULAR) + &face(600, font::SEMIBOLD)
}

fn facts(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let fact =
        |(name, value): &(String, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    format!("<dl class=\"facts\">{}</dl>", facts.iter().map(fact).collect::<String>())
}

/// A table whose first row has the headings, and whose first column names the rows.
fn table(rows: &[Vec<String>]) -> String {
    let Some((head, body)) = rows.split_first() else { return String::new() };
    let cells = |row: &[String], first: &str, other: &str| -> String {
        let tag = |i: usize| if i == 0 { first.to_string() } else { other.to_string() };
        row.iter().enumerate().map(|(i, text)| format!("<{0}>{1}</{0}>", tag(i), escape(text))).collect()
    };
    let body: String = body.iter().map(|row| format!("<tr>{}</tr>", cells(row, "th", "td"))).collect();
    format!(
        "<section class=\"card table\"><table><thead><tr>{}</tr></thead><tbody>{body}</tbody></table></section>",
        cells(head, "th", "th")
    )
}

/// What was run, and all settings behind a fold.
fn what_was_run(run: &[(String, String)], settings: &str) -> String {
    if run.is_empty() && settings.is_empty() {
        return String::new();
    }
    let row = |(name, value): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    let rows: String = run.iter().map(row).collect();
    let lines: Vec<String> = settings.lines().map(escape).collect();
    let all = match settings.is_empty() {
        true => String::new(),
        false => format!("<details><summary>All settings</summary><pre>{}</pre></details>", lines.join("\n")),
    };
    format!("<section class=\"card\"><h2>What was run</h2><dl class=\"run\">{rows}</dl>{all}</section>")
}

fn figures(figures: &[(String, Figure)]) -> String {
    let figure = |(caption, figure): &(String, Figure)| {
        // Figures that are much wider than high get a row of their own.
        let wide = if figure.size().0 > 760.0 { " wide" } else { "" };
        let caption =
            if caption.is_empty() { String::new() } else { format!("<figcaption>{}</figcaption>", escape(caption)) };
        format!("<figure class=\"card{wide}\">{}{caption}</figure>\n", figure.svg())
    };
    format!("<div class=\"figures\">\n{}</div>", figures.iter().map(figure).collect::<String>())
}

fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>", escape(text)) }
}

/// The interactive heatmap with its data. The script fills in everything that depends on the chosen cell.
fn explorer(spec: &ReportArchive, style: &Style) -> Result<String, PlotError> {
    spec.archive.check()?;
    let (n_elites, n_measures) = (spec.archive.elite_cells.len(), spec.archive.measures.len());
    same_length("measures of elites", n_elites * n_measures, spec.measures.len())?;
    let n_parameters = spec.solutions.len().checked_div(n_elites).unwrap_or(spec.parameters.len());
    same_length("values of solutions", n_elites * n_parameters, spec.solutions.len())?;
    if !spec.parameters.is_empty() {
        same_length("names of parameters", n_parameters, spec.parameters.len())?;
    }
    for field in spec.fields {
        same_length("values of a field", n_elites, field.values.len())?;
    }
    let mut page = EXPLORER.replace("{n_elites}", &number(n_elites as f64));
    page = page.replace("{n_cells}", &number(spec.archive.n_cells() as f64));
    let rounded = spec.precision == Precision::Single && n_elites > 0;
    page = page.replace("{rounding}", if rounded { ROUNDING } else { "" });
    page.push_str(&data::blocks(spec, n_parameters, style)?);
    Ok(page)
}

const ROUNDING: &str =
    "<p class=\"help\">Solutions are rounded to seven digits here; the run folder has all of them.</p>";

const EXPLORER: &str = r#"<section class="card" aria-labelledby="archive-heading">
<h2 id="archive-heading">Archive: {n_elites} elites in {n_cells} cells</h2>
<noscript><p class="note">The interactive heatmap needs JavaScript; the figures below do not.</p></noscript>
<div class="explorer">
<div>
<div class="axes" id="axes" hidden><label>Across: <select id="axis-x"></select></label>
<label>Up: <select id="axis-y"></select></label><span>Each place shows its best elite.</span></div>
<div id="map" tabindex="0" role="application" aria-label="Heatmap of the archive" aria-describedby="map-help">
<canvas id="heatmap"></canvas><canvas id="overlay"></canvas></div>
<label class="color-by">Colour by <select id="color-by"></select></label>
<p class="help" id="map-help">Point at a cell to see its elite, click to keep it. Keys: <kbd>←</kbd> <kbd>↑</kbd>
<kbd>→</kbd> <kbd>↓</kbd> move, <kbd>Home</kbd> best elite, <kbd>Page Up</kbd> <kbd>Page Down</kbd> next better or worse,
<kbd>Enter</kbd> keep, <kbd>Esc</kbd> release.</p>
</div>
<div id="details">
<h3>Best elites</h3>
<ul id="best"></ul>
<div id="place"><p id="place-name"></p><span id="pinned" hidden>kept</span></div>
<div id="elite" hidden>
<table><tbody id="numbers"></tbody></table>
<div class="solution-head"><h3>Solution</h3><button id="copy" type="button">Copy as JSON</button></div>
<canvas id="bars" role="img" aria-label="Values of the solution as bars"></canvas>
<ol id="values" tabindex="0" aria-label="Values of the solution"></ol>
{rounding}</div>
<p id="status" class="hidden" role="status"></p>
</div>
</div>
</section>
"#;

#[cfg(test)]
mod tests;
