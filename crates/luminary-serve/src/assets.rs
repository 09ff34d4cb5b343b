//! The page, built into the program.

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use luminary_plot::{ColorMap, EMPTY, NOT_A_NUMBER, OKABE_ITO, Rgb};
use serde_json::json;

use crate::answer::{digest, failure, json, tagged};

/// Colours from low to high.
const N_LEVELS: usize = 254;

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";

/// What `web/build.mjs` writes to `web/dist`, and the fonts of the figures.
const ASSETS: [Asset; 5] = [
    Asset { name: "index.html", kind: PAGE, bytes: include_bytes!("../web/dist/index.html") },
    Asset { name: "app.js", kind: SCRIPT, bytes: include_bytes!("../web/dist/app.js") },
    Asset { name: "app.css", kind: STYLE, bytes: include_bytes!("../web/dist/app.css") },
    Asset { name: "regular.otf", kind: "font/otf", bytes: luminary_plot::FONT_REGULAR },
    Asset { name: "semibold.otf", kind: "font/otf", bytes: luminary_plot::FONT_SEMIBOLD },
];

pub(crate) async fn page(headers: HeaderMap) -> Response {
    find(&headers, "index.html")
}

pub(crate) async fn asset(headers: HeaderMap, Path(name): Path<String>) -> Response {
    find(&headers, &name)
}

/// The colours of figures: for cells, as bytes (empty, not a number, then from low to high), and for lines.
pub(crate) async fn palette() -> Response {
    let level = |i: usize| ColorMap::default().at(i as f64 / (N_LEVELS - 1) as f64);
    let colors = [EMPTY, NOT_A_NUMBER].into_iter().chain((0..N_LEVELS).map(level));
    let levels: Vec<u8> = colors.flat_map(|Rgb(r, g, b)| [r, g, b]).collect();
    let series: Vec<String> = OKABE_ITO.iter().map(|color| color.hex()).collect();
    json(&json!({ "levels": levels, "series": series }))
}

fn find(headers: &HeaderMap, name: &str) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => tagged(headers, asset.kind, &digest(asset.bytes), Bytes::from_static(asset.bytes)),
        None => failure(StatusCode::NOT_FOUND, "expected a file of the page, found none of this name"),
    }
}
