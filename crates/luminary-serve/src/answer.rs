//! What is sent back: JSON, bytes with a tag, and refusals in words.

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

/// An answer of one piece.
pub(crate) fn plain(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A refusal, in words.
pub(crate) fn failure(status: StatusCode, message: impl AsRef<str>) -> Response {
    plain(status, "application/json", json!({ "error": message.as_ref() }).to_string())
}

/// JSON.
pub(crate) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => plain(StatusCode::OK, "application/json", bytes),
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Bytes that whoever has them already need not get again.
pub(crate) fn tagged(request: &HeaderMap, kind: &'static str, tag: &str, bytes: Bytes) -> Response {
    let quoted = format!("\"{tag}\"");
    let has_it = request.get(IF_NONE_MATCH).is_some_and(|found| found.as_bytes() == quoted.as_bytes());
    let mut response = match has_it {
        true => plain(StatusCode::NOT_MODIFIED, kind, Body::empty()),
        false => plain(StatusCode::OK, kind, bytes),
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(value) = HeaderValue::from_str(&quoted) {
        headers.insert(ETAG, value);
    }
    response
}

/// A short name of these bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}
