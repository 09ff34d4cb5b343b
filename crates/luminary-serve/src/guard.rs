//! Who may ask: every request passes here first.
//!
//! - The `Host` must be this server's, so that a page elsewhere cannot reach it under a name of its own (DNS rebinding).
//! - An `Origin` must be this server's, so that no other page can read from it or act through it. Browsers do not send
//!   it with a picture or script that another page names, but say that it is one (`Sec-Fetch-Site`). Only following a link
//!   to the page is allowed from elsewhere.
//! - If there is a token, it comes as a cookie or as a bearer. The printed address has it as a query, which is answered
//!   with the cookie, so that it stays neither in the address bar nor in links.
//! - A request that changes something must have a header that a page elsewhere can only send after asking first, which
//!   is never granted.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::answer::{failure, plain};
use crate::options::Options;
use crate::token::Token;

/// Bytes of a request's body, at most.
const MAX_BODY: usize = 16 * 1024;
/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Headers with which browsers say what asks, and what for.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// The header that requests that change something must have.
const ACTS: HeaderName = HeaderName::from_static("x-luminary");

/// Nothing is loaded from elsewhere, and no script but the page's own runs. Pictures and animations of elites are blobs.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
                              img-src 'self' blob:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                              frame-ancestors 'none'";

/// What is asked of every request.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    names: Vec<String>,
    token: Option<Token>,
    cookie: String,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, options: &Options) -> Self {
        Self {
            address,
            names: options.names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            token: options.token.clone(),
            // Cookies are shared by all ports of a host.
            cookie: format!("luminary-{}", address.port()),
        }
    }

    /// Whether a host, with or without a port, is this server.
    fn is_own_host(&self, host: &str) -> bool {
        let (name, port) = split_host(host);
        let own = self.address.ip();
        // Nobody else can be reached under a name that was given with --name. A proxy in front has a port of its own.
        if !own.is_loopback() && self.names.contains(&name) {
            return true;
        }
        if port != Some(self.address.port()) && !(port.is_none() && self.address.port() == 80) {
            return false;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            // A server at all addresses cannot know them all, but an address is never rebound.
            return address == own || own.is_unspecified();
        }
        name == "localhost" && (own.is_loopback() || own.is_unspecified())
    }

    /// Whether the request knows the token.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let bearer = text_of(headers, &AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        let cookies = text_of(headers, &COOKIE).unwrap_or_default();
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let cookie = pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value).next();
        bearer.or(cookie).is_some_and(|found| token.matches(found))
    }

    /// The answer to the address that was printed: the token becomes a cookie.
    fn let_in(&self, request: &Request) -> Option<Response> {
        let token = self.token.as_ref()?;
        let query = request.uri().query()?;
        let found = query.split('&').find_map(|pair| pair.strip_prefix("token="))?;
        if request.uri().path() != "/" || !token.matches(found) {
            return None;
        }
        let cookie = format!("{}={found}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
        let mut response = plain(StatusCode::SEE_OTHER, "text/plain", "");
        response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        response.headers_mut().insert(SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        Some(response)
    }

    /// Why a request is refused, or what answers it at once.
    fn answer(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        // A request names its host once; one that says it twice, or another in its address, means two servers.
        let is_one = headers.get_all(HOST).iter().count() == 1;
        let is_same = request.uri().authority().is_none_or(|named| self.is_own_host(named.as_str()));
        let Some(host) = text_of(headers, &HOST).filter(|host| is_one && is_same && self.is_own_host(host)) else {
            let message = "expected the Host of this server, found another; names of the machine are given with --name";
            return Some(failure(StatusCode::MISDIRECTED_REQUEST, message));
        };
        if !is_of_own_page(headers, host) {
            return Some(failure(StatusCode::FORBIDDEN, "expected a request of this page, found one of another"));
        }
        if is_from_another_page(request) {
            return Some(failure(StatusCode::FORBIDDEN, "expected a request of this page, found one of another"));
        }
        if !self.is_known(headers) {
            let message = "expected the token of this server, found none or another: open the address it has printed";
            return Some(self.let_in(request).unwrap_or_else(|| failure(StatusCode::UNAUTHORIZED, message)));
        }
        if request.method() == Method::POST && !headers.contains_key(ACTS) {
            return Some(failure(StatusCode::FORBIDDEN, "expected the header x-luminary, found none"));
        }
        None
    }
}

/// Lets a request pass or refuses it, and puts the headers on whatever is answered.
pub(crate) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.answer(&request) {
        Some(answer) => answer,
        None => match read_whole(request).await {
            Ok(request) => next.run(request).await,
            Err(refusal) => refusal,
        },
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", CONTENT_POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry("cache-control").or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Reads the body, which is small and comes soon or is refused.
async fn read_whole(request: Request) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(failure(StatusCode::PAYLOAD_TOO_LARGE, "expected a body of at most 16 kB, found more")),
        Err(_) => Err(failure(StatusCode::REQUEST_TIMEOUT, "expected the body within 10 seconds")),
    }
}

/// Whether another page asks, by what the browser says; other clients say nothing.
fn is_from_another_page(request: &Request) -> bool {
    let headers = request.headers();
    let Some(site) = headers.get(&FETCH_SITE) else { return false };
    let is_own = site == "same-origin" || site == "none";
    let is_navigation = headers.get(&FETCH_MODE).is_some_and(|mode| mode == "navigate");
    let is_link = is_navigation && request.method() == Method::GET && request.uri().path() == "/";
    !is_own && !is_link
}

/// Whether the page that asks is of this host, if it says which it is. A proxy in front may have encrypted what comes here in
/// plain.
fn is_of_own_page(headers: &HeaderMap, host: &str) -> bool {
    headers.get_all(ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        ["http://", "https://"].iter().any(|scheme| origin.strip_prefix(scheme) == Some(host))
    })
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Name, in lower case and without brackets, and port of a host.
fn split_host(host: &str) -> (String, Option<u16>) {
    let (name, port) = match host.rsplit_once(':') {
        // The last colon of an address such as [::1] is inside the brackets.
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, None),
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    (name.to_ascii_lowercase(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, names: &[&str]) -> Guard {
        let names = names.iter().map(ToString::to_string).collect();
        Guard::new(address.parse().unwrap(), &Options { names, ..Options::new(Vec::new()) })
    }

    #[test]
    fn a_server_of_this_machine_answers_to_its_own_names_only() {
        let local = guard("127.0.0.1:8742", &["lab"]);
        for host in ["127.0.0.1:8742", "localhost:8742", "LOCALHOST:8742"] {
            assert!(local.is_own_host(host), "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:80", "evil.example:8742", "lab:8742", "127.0.0.1.evil.example:8742", ""] {
            assert!(!local.is_own_host(host), "{host}");
        }
        assert!(guard("[::1]:80", &[]).is_own_host("[::1]"));
    }

    #[test]
    fn a_server_for_others_answers_to_addresses_and_the_names_it_was_given() {
        let open = guard("0.0.0.0:9000", &["Lab.example"]);
        for host in ["10.0.0.7:9000", "[fe80::1]:9000", "lab.example:9000", "lab.example", "localhost:9000"] {
            assert!(open.is_own_host(host), "{host}");
        }
        for host in ["evil.example:9000", "evil.example", "10.0.0.7", "localhost"] {
            assert!(!open.is_own_host(host), "{host}");
        }
        assert!(!guard("10.0.0.7:9000", &[]).is_own_host("10.0.0.8:9000"));
    }
}
