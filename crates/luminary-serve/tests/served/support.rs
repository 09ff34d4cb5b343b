//! How tests make runs and talk to a server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use luminary_run::config::{Override, RunConfig};
use luminary_run::driver::{Run, Watch};
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;
use luminary_serve::{Options, Running, Server};
use serde_json::Value;
use tempfile::TempDir;

/// How long an answer may take before the test gives up on a server that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The settings of a small problem.
pub(crate) fn config(settings: &[(&str, &str)]) -> RunConfig {
    let mut all = vec![
        ("problem.domain", "lp-sphere"),
        ("problem.n", "6"),
        ("algorithm.emitters", "2"),
        ("algorithm.batch_size", "6"),
        ("run.iterations", "30"),
        ("run.threads", "1"),
    ];
    if !settings.iter().any(|(key, _)| *key == "archive.kind") {
        all.extend([("archive.resolution", "[12, 12]"), ("archive.learning_rate", "0.01")]);
    }
    all.extend(settings);
    let overrides: Vec<_> = all.iter().map(|(key, value)| Override::new("test", *key, *value)).collect();
    RunConfig::read(None, &overrides).unwrap()
}

/// Runs a small problem to its end.
pub(crate) fn run(folder: &Path, settings: &[(&str, &str)], watch: &mut dyn Watch) -> Summary {
    Run::create(folder, config(settings)).unwrap().execute(&StopFlag::default(), watch).unwrap()
}

/// A folder with a server over it.
pub(crate) struct Lab {
    folder: TempDir,
    running: Running,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::with(|options| options)
    }

    /// A server with options of one's own.
    pub(crate) fn with(change: impl FnOnce(Options) -> Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { port: Some(0), ..Options::new(vec![folder.path().to_owned()]) };
        let running = Server::bind(change(options)).unwrap().spawn().unwrap();
        Self { folder, running }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// The answer to a request as a browser of this machine sends it.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[])
    }

    /// The answer to a request with more headers.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address());
        }
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        self.raw((head + "\r\n").as_bytes())
    }

    /// The answer to any bytes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has refused a request need not read the rest of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The list of runs, by name.
    pub(crate) fn runs(&self) -> Vec<Value> {
        // The server may have looked a moment ago.
        std::thread::sleep(Duration::from_millis(450));
        let mut runs = self.get("/api/runs").json()["runs"].as_array().unwrap().clone();
        runs.sort_by_key(|run| run["name"].as_str().unwrap().to_owned());
        runs
    }

    /// The id of a run.
    pub(crate) fn id(&self, name: &str) -> String {
        let runs = self.runs();
        let found = runs.iter().find(|run| run["name"] == name);
        found.unwrap_or_else(|| panic!("no run {name} among {runs:?}"))["id"].as_str().unwrap().to_owned()
    }
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = bytes.get(end + 4..).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") { dechunked(body) } else { body.to_vec() };
        Self { status, head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The head of a picture, and the bytes behind it.
    pub(crate) fn picture(&self) -> (Value, &[u8]) {
        assert_eq!(self.status, 200, "{self:?}");
        let length = u32::from_le_bytes(self.body[..4].try_into().unwrap()) as usize;
        let (head, rest) = self.body[4..].split_at(length);
        (serde_json::from_slice(head).unwrap(), rest)
    }

    pub(crate) fn error(&self) -> String {
        serde_json::from_slice::<Value>(&self.body).unwrap()["error"].as_str().unwrap().to_owned()
    }
}

/// The content of a body that comes in chunks.
fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(&String::from_utf8_lossy(&body[..end]), 16).unwrap_or(0);
        if length == 0 || body.len() < end + 4 + length {
            break;
        }
        content.extend_from_slice(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    content
}
