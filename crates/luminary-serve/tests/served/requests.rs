//! Requests that nobody wrote: each is answered or refused, and the server goes on.
//!
//! `LUMINARY_FUZZ_SECONDS=600` goes on for ten minutes, as the targets of `luminary-run` do.

#[path = "../../../luminary-run/src/fuzz/harness.rs"]
#[expect(unreachable_pub, reason = "the file is that of another crate, where it is public")]
mod harness;
#[path = "../../../luminary-run/src/fuzz/mutate.rs"]
mod mutate;

use std::io::{Read, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::{Target, Verdict, fuzz};

use crate::support::{Lab, run};

/// How long a server that waits for more of a request is listened to.
const MOMENT: Duration = Duration::from_millis(100);

/// The first bytes of an answer. An end of the head is appended, so that most requests are whole.
fn first_bytes(lab: &Lab, request: &[u8]) -> Vec<u8> {
    let mut stream = lab.connect();
    stream.set_read_timeout(Some(MOMENT)).unwrap();
    let _ = stream.write_all(&[request, b"\r\nConnection: close\r\n\r\n"].concat());
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).unwrap_or(0);
    answer[..length].to_vec()
}

#[test]
fn whatever_is_asked_for_the_server_answers_and_goes_on() {
    let lab = Lab::new();
    run(&lab.path("one"), &[], &mut ());
    let id = lab.id("one");
    let host = lab.address();
    let paths = [
        "/".to_owned(),
        "/api/runs".to_owned(),
        format!("/api/runs/{id}"),
        format!("/api/runs/{id}/metrics?from=3"),
        format!("/api/runs/{id}/failures"),
        format!("/api/runs/{id}/saved"),
        format!("/api/runs/{id}/cells?layer=objective&archive=result&x=0&y=1"),
        format!("/api/runs/{id}/elite?cell=3"),
    ];
    let requests: Vec<String> =
        paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*")).collect();
    let seeds: Vec<&[u8]> = requests.iter().map(String::as_bytes).collect();
    let n_panics = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&n_panics);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        count.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
    let lab = Arc::new(lab);
    let asked = Arc::clone(&lab);
    let seen = Arc::clone(&n_panics);
    fuzz(Target::new("request", &seeds, move |bytes| {
        let answer = first_bytes(&asked, bytes);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{}", answer.escape_ascii());
        assert_eq!(seen.load(Ordering::Relaxed), 0, "the server panicked");
        // Anything that was understood, if only to say that there is no such thing.
        if answer.is_empty() || answer.starts_with(b"HTTP/1.1 400") { Verdict::Refused } else { Verdict::Taken }
    }));
    assert_eq!(lab.get("/api/runs").status, 200);
}
