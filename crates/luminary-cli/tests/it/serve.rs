//! serve: the live view as a program; what it answers is tested in its own crate.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::{Lab, SMALL};

/// The address in a line such as `live view at http://127.0.0.1:8742/`.
fn address_in(line: &str) -> String {
    let url = line.trim().rsplit(' ').next().unwrap();
    url.strip_prefix("http://")
        .unwrap_or_else(|| panic!("no address in {line:?}"))
        .split('/')
        .next()
        .unwrap()
        .to_owned()
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn end(child: &mut Child) -> Option<i32> {
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    child.wait().unwrap().code()
}

#[test]
fn a_server_prints_its_address_answers_there_and_ends_when_asked() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "20", "--out", "runs/one", "--quiet"]).success();
    let mut server = lab.command().args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = address_in(&line);
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    assert!(get(&address, "/").contains("<title>Luminary</title>"));
    assert!(get(&address, "/api/runs").contains("\"name\":\"one\""));
    assert_eq!(end(&mut server), Some(0));
}

#[test]
fn a_folder_that_is_not_there_yet_is_told() {
    let lab = Lab::new();
    let mut command = lab.command();
    let mut server =
        command.args(["serve", "rnus", "--port", "0"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "note: rnus is not there; runs in it are shown once it is\n");
    assert_eq!(end(&mut server), Some(0));
}

#[test]
fn control_comes_with_a_token() {
    let lab = Lab::new();
    let mut server = lab.command().args(["serve", "--port", "0", "--control"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("/?token="), "{line}");
    assert!(get(&address_in(&line), "/api/runs").starts_with("HTTP/1.1 401"));
    assert_eq!(end(&mut server), Some(0));
    let refused = lab.command().args(["serve", "--port", "0"]).env("LUMINARY_TOKEN", "short").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("expected a token of at least 16"), "{message}");
}

#[test]
fn a_run_is_served_while_it_runs() {
    let lab = Lab::new();
    let mut command = lab.command();
    command.arg("run").args(SMALL).args(["--iterations", "100000000", "--out", "served", "--serve", "--quiet"]);
    let mut run = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let list = get(&address_in(&line), "/api/runs");
    assert!(list.contains("\"name\":\"served\"") && list.contains("\"state\":\"running\""), "{list}");
    assert_eq!(end(&mut run), Some(130));
    // Looking at a folder from the process that has locked it must not give the lock away, or it would end otherwise.
    assert_eq!(lab.show("served")["status"], "interrupted");
}
