//! The data of the interactive heatmap: a JSON block, with numbers as little-endian arrays in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Precision, ReportArchive};
use crate::archive::Cells;
use crate::color_scale::Spacing;
use crate::error::PlotError;
use crate::figure::Style;
use crate::goal::Goal;
use crate::heatmap::color_scale;
use crate::tiles::palette;

/// Two inert script blocks: the description of the archive, and its solutions.
pub(super) fn blocks(spec: &ReportArchive, n_parameters: usize, style: &Style) -> Result<String, PlotError> {
    let archive = &*style.goal.turned_archive(spec.archive);
    // The page spaces its colours linearly.
    let colors = color_scale([archive], &Style { spacing: Spacing::Linear, ..style.clone() })?;
    let (grid, centroids) = match &archive.cells {
        Cells::Grid { resolution } => (Some(resolution), None),
        Cells::Centroids { points } => (None, Some(doubles(points))),
    };
    let measures: Vec<_> =
        archive.measures.iter().map(|m| json!({"name": m.name, "lower": m.lower, "upper": m.upper})).collect();
    let cells: Vec<f64> = archive.elite_cells.iter().map(|&cell| cell as f64).collect();
    let fields: Vec<_> =
        spec.fields.iter().map(|field| json!({"name": field.name, "values": doubles(&field.values)})).collect();
    let description = json!({
        "objective": spec.objective,
        // Higher objectives are better in this block; the page shows those that are minimised with their own sign.
        "minimise": style.goal == Goal::Minimise,
        "measures": measures,
        "grid": grid,
        "centroids": centroids,
        "n_cells": archive.n_cells(),
        "n_elites": archive.elite_cells.len(),
        "n_parameters": n_parameters,
        "parameters": spec.parameters,
        "cells": doubles(&cells),
        "objectives": doubles(&archive.objectives),
        "elite_measures": doubles(spec.measures),
        "fields": fields,
        "palette": STANDARD.encode(palette(&colors)),
        "range": [colors.range.lower, colors.range.upper],
        "solution_bytes": match spec.precision { Precision::Single => 4, Precision::Double => 8 },
    });
    // In JSON, `<` occurs in strings only; escaped, it can neither end the block nor begin a comment.
    let description = description.to_string().replace('<', "\\u003c");
    let solutions = match spec.precision {
        Precision::Single => base64_of(spec.solutions, |value| (*value as f32).to_le_bytes()),
        Precision::Double => doubles(spec.solutions),
    };
    Ok(format!(
        "<script type=\"application/json\" id=\"data\">{description}</script>\n\
         <script type=\"application/octet-stream\" id=\"solutions\">{solutions}</script>\n"
    ))
}

fn doubles(values: &[f64]) -> String {
    base64_of(values, |value| value.to_le_bytes())
}

fn base64_of<const N: usize>(values: &[f64], bytes: impl Fn(&f64) -> [u8; N]) -> String {
    STANDARD.encode(values.iter().flat_map(bytes).collect::<Vec<u8>>())
}
