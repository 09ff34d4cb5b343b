//! Who is refused, and what a server survives.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};

use luminary_serve::Token;

use crate::support::{Lab, run};

const TOKEN: &str = "a-token-for-the-tests";
/// Held by those who look at how much memory this process takes.
static MEASURING: Mutex<()> = Mutex::new(());

#[test]
fn every_answer_carries_a_policy_that_allows_nothing_from_elsewhere() {
    let lab = Lab::new();
    for path in ["/", "/assets/app.js", "/api/runs", "/nowhere"] {
        let answer = lab.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let page = String::from_utf8(lab.get("/").body).unwrap();
    assert!(!page.contains("://") && !page.contains("style=") && !page.contains("onclick"), "{page}");
}

#[test]
fn another_host_or_origin_is_refused() {
    let lab = Lab::new();
    let port = lab.address().port();
    let evil = format!("evil.example:{port}");
    assert_eq!(lab.send("GET", "/api/runs", &[("Host", &evil)]).status, 421);
    assert_eq!(lab.raw(b"GET /api/runs HTTP/1.1\r\nConnection: close\r\n\r\n").status, 421);
    let own_host = format!("Host: {}\r\nConnection: close\r\n\r\n", lab.address());
    for start in ["GET /api/runs HTTP/1.1\r\nHost: evil.example\r\n", "GET http://evil.example/api/runs HTTP/1.1\r\n"] {
        assert_eq!(lab.raw(format!("{start}{own_host}").as_bytes()).status, 421, "{start}");
    }
    let twice =
        format!("GET /api/runs HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\nConnection: close\r\n\r\n", lab.address());
    assert_eq!(lab.raw(twice.as_bytes()).status, 421);
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        let answer = lab.send("GET", "/api/runs", &[("Origin", origin)]);
        assert_eq!(answer.status, 403, "{origin}");
    }
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(lab.send("GET", "/api/runs", &[("Origin", &own)]).status, 200);
    assert_eq!(lab.send("OPTIONS", "/api/runs", &[]).status, 405);
}

#[test]
fn a_proxy_may_encrypt_what_comes_here_in_plain() {
    let lab = Lab::new();
    let port = lab.address().port();
    let own = format!("https://127.0.0.1:{port}");
    assert_eq!(lab.send("GET", "/api/runs", &[("Origin", &own)]).status, 200);
    for other in ["https://evil.example", "ftp://127.0.0.1", "https://"] {
        let origin = format!("{other}:{port}");
        assert_eq!(lab.send("GET", "/api/runs", &[("Origin", &origin)]).status, 403, "{origin}");
    }
    let both = [("Origin", own.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(lab.send("GET", "/api/runs", &both).status, 403);
}

#[test]
fn pictures_and_scripts_that_another_page_names_are_refused_and_links_are_not() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    for site in ["cross-site", "same-site", "other\u{e9}"] {
        for path in ["/assets/app.js".to_owned(), "/api/runs".to_owned(), format!("/api/events?run={id}")] {
            let answer = lab.send("GET", &path, &[("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors")]);
            assert_eq!(answer.status, 403, "{path} from {site}");
        }
        let link = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")];
        assert_eq!(lab.send("GET", "/", &link).status, 200);
        assert_eq!(lab.send("GET", "/api/runs", &link).status, 403);
    }
    for site in ["same-origin", "none"] {
        assert_eq!(lab.send("GET", "/api/runs", &[("Sec-Fetch-Site", site)]).status, 200);
    }
}

#[test]
fn a_token_is_asked_for_and_becomes_a_cookie() {
    let lab = Lab::with(|mut options| {
        options.token = Some(Token::new(TOKEN).unwrap());
        options
    });
    let cookie_name = format!("luminary-{}", lab.address().port());
    for path in
        ["/", "/api/runs", "/assets/app.js", "/?token=another-token-for-tests", "/api/runs?token=a-token-for-the-tests"]
    {
        let answer = lab.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains(TOKEN));
    }
    let answer = lab.get(&format!("/?token={TOKEN}"));
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").unwrap();
    assert_eq!(cookie, format!("{cookie_name}={TOKEN}; path=/; httponly; samesite=strict"));
    let good = format!("other=1; {cookie_name}={TOKEN}");
    assert_eq!(lab.send("GET", "/api/runs", &[("Cookie", &good)]).status, 200);
    for wrong in [format!("{cookie_name}={TOKEN}x"), format!("{cookie_name}="), format!("luminary={TOKEN}")] {
        assert_eq!(lab.send("GET", "/api/runs", &[("Cookie", &wrong)]).status, 401, "{wrong}");
    }
    assert_eq!(lab.send("GET", "/api/runs", &[("Authorization", "Bearer x")]).status, 401);
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    lab.runs();
    let hidden = ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%2e%2e%2frun", "run", "/etc/passwd", "%00", "a%0d%0ab"];
    for name in hidden {
        for path in [format!("/api/runs/{name}"), format!("/api/runs/{name}/metrics"), format!("/assets/{name}")] {
            let answer = lab.get(&path);
            assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    let lab = Lab::new();
    run(&outside.path().join("secret"), &[], &mut ());
    run(&lab.path("run"), &[], &mut ());
    symlink(outside.path().join("secret"), lab.path("linked")).unwrap();
    symlink(outside.path(), lab.path("all")).unwrap();
    let id = lab.id("run");
    assert_eq!(lab.runs().len(), 1, "folders behind links are not runs of this folder");
    // A file of a run that leads elsewhere.
    fs::write(outside.path().join("password"), "{\"iteration\": 1, \"x\": \"secret\"}\n").unwrap();
    fs::remove_file(lab.path("run/metrics.jsonl")).unwrap();
    symlink(outside.path().join("password"), lab.path("run/metrics.jsonl")).unwrap();
    assert_eq!(lab.get(&format!("/api/runs/{id}/metrics")).status, 404);
    let line = &lab.runs()[0];
    assert_eq!(line["state"], "damaged");
    assert!(line["cause"].as_str().unwrap().contains("symbolic links"), "{line}");
    // The run itself, replaced by a link while the server knows it.
    fs::rename(lab.path("run"), outside.path().join("moved")).unwrap();
    symlink(outside.path().join("secret"), lab.path("run")).unwrap();
    assert_eq!(lab.get(&format!("/api/runs/{id}/metrics")).status, 404);
}

#[test]
#[cfg(unix)]
fn a_folder_above_a_run_that_becomes_a_link_is_not_followed() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    let lab = Lab::new();
    run(&lab.path("sweep/run"), &[], &mut ());
    run(&outside.path().join("run"), &[], &mut ());
    let id = lab.id("sweep/run");
    fs::rename(lab.path("sweep"), lab.path("moved")).unwrap();
    symlink(outside.path(), lab.path("sweep")).unwrap();
    // Nobody has asked for the list since, so the server still knows the run.
    for what in ["", "/metrics", "/cells?columns=objective", "/elite"] {
        assert_eq!(lab.get(&format!("/api/runs/{id}{what}")).status, 404, "{what}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_becomes_a_link_at_the_wrong_moment_is_not_followed() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("password"), "secret\n").unwrap();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let log = lab.path("run/metrics.jsonl");
    let other = lab.path("other");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                symlink(outside.path().join("password"), &other).unwrap();
                fs::rename(&other, &log).unwrap();
                fs::write(&other, "{}\n").unwrap();
                fs::rename(&other, &log).unwrap();
            }
        });
        let answers: Vec<_> = (0..500).map(|_| lab.get(&format!("/api/runs/{id}/metrics"))).collect();
        is_over.store(true, Ordering::Relaxed);
        let n_read = answers.iter().filter(|answer| answer.body == b"{}\n").count();
        let n_leaked = answers.iter().filter(|answer| answer.body == b"secret\n").count();
        assert!(n_read > 0, "nothing was read at all");
        assert_eq!(n_leaked, 0);
    });
}

#[test]
fn huge_and_broken_requests_are_refused_and_the_server_goes_on() {
    let lab = Lab::new();
    let host = lab.address();
    let huge = vec![b'x'; 1 << 20];
    let post = format!(
        "POST /api/runs/1/stop HTTP/1.1\r\nHost: {host}\r\nX-Luminary: 1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        huge.len()
    );
    assert_eq!(lab.raw(&[post.as_bytes(), &huge].concat()).status, 413);
    let long = format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "x".repeat(1 << 20));
    assert!([0, 400, 414, 431].contains(&lab.raw(long.as_bytes()).status));
    for bytes in [&b"\0\0\0\0\r\n\r\n"[..], b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n", &huge] {
        let mut stream = lab.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_eq!(lab.get("/api/runs").status, 200);
}

#[test]
fn two_hundred_open_pages_and_slow_clients_hold_nobody_up() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let before = memory();
    let mut pages: Vec<TcpStream> = (0..200).map(|_| lab.connect()).collect();
    for page in &mut pages {
        write!(page, "GET /api/events?run={id} HTTP/1.1\r\nHost: {}\r\n\r\n", lab.address()).unwrap();
    }
    for page in &mut pages {
        let mut byte = [0];
        page.read_exact(&mut byte).unwrap();
    }
    // Clients that begin a request and then say nothing.
    let mut slow: Vec<TcpStream> = (0..50).map(|_| lab.connect()).collect();
    slow.iter_mut().for_each(|client| client.write_all(b"GET / HT").unwrap());
    for _ in 0..100 {
        assert_eq!(lab.get(&format!("/api/runs/{id}")).status, 200);
    }
    // Far more than 250 connections take; other tests run at the same time.
    let grown = memory().saturating_sub(before);
    assert!(grown < 128 << 20, "{grown} bytes more for 250 connections");
    drop(pages);
    assert_eq!(lab.get("/api/runs").status, 200);
}

#[test]
fn more_pages_than_anybody_has_open_leave_connections_for_others() {
    let lab = Lab::new();
    let mut pages: Vec<TcpStream> = (0..400).map(|_| lab.connect()).collect();
    let mut n_refused = 0;
    for page in &mut pages {
        write!(page, "GET /api/events HTTP/1.1\r\nHost: {}\r\n\r\n", lab.address()).unwrap();
        let mut start = [0; 12];
        page.read_exact(&mut start).unwrap();
        n_refused += usize::from(start.ends_with(b"503"));
    }
    assert_eq!(n_refused, 400 - 256);
    assert_eq!(lab.get("/api/runs").status, 200);
    drop(pages);
}

#[test]
fn clients_that_ask_for_much_and_do_not_read_it_take_little_memory() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let lab = Lab::new();
    let large = [
        ("problem.n", "1000"),
        ("algorithm.preset", "map_elites"),
        ("algorithm.batch_size", "100"),
        ("archive.kind", "dns"),
        ("archive.capacity", "1500"),
        ("run.iterations", "20"),
    ];
    run(&lab.path("run"), &large, &mut ());
    let id = lab.id("run");
    // Each asks for other columns, so that no two have an answer in common.
    let path = |first: usize| {
        let columns: Vec<_> = (0..1000).map(|i| format!("component.{}", (first + i) % 1000)).collect();
        format!("/api/runs/{id}/cells?columns={}", columns.join(","))
    };
    let length = lab.get(&path(0)).body.len();
    let n_clients = (1 << 30) / length;
    assert!(n_clients < 400, "{length} bytes are too few for this test");
    let before = memory();
    let mut clients: Vec<TcpStream> = (0..n_clients).map(|_| lab.connect()).collect();
    for (i, client) in clients.iter_mut().enumerate() {
        write!(client, "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path(i + 1), lab.address()).unwrap();
    }
    let mut most = 0;
    for _ in 0..40 {
        assert_eq!(lab.get("/api/runs").status, 200, "small answers are never held up");
        most = most.max(memory().saturating_sub(before));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // Other tests run at the same time.
    assert!(most < 512 << 20, "{most} bytes more for {n_clients} answers of {length} bytes");
}

/// Memory of this process, if the system says.
fn memory() -> usize {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    4096 * pages
}
