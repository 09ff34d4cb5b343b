//! Headless Chromium, driven over its debugging pipe: real pointer and key events, and every error the page reports.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

/// How long an answer may take before the test gives up on a browser that hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Browser {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    next_id: u64,
    session: Option<String>,
    errors: Vec<String>,
    profile: PathBuf,
}

impl Browser {
    /// Opens a page from a file in a window of the given size, and waits until its heatmap is ready.
    pub(crate) fn open(name: &str, html: &str, width: u32, height: u32) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let profile = folder.join(format!("chromium-{name}-{}", std::process::id()));
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, html).expect("the test folder can be written");
        let mut browser = Self::start(profile);
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", metrics);
        browser.call("Emulation.setScrollbarsHidden", json!({"hidden": true}));
        browser.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        browser
            .wait_for("document.readyState === 'complete' && document.getElementById('map')?.dataset.ready === 'true'");
        browser
    }

    fn start(profile: PathBuf) -> Self {
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
        ];
        // Chromium reads commands from file descriptor 3 and answers on 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(chromium())
            .args(arguments)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh can be started");
        let input = process.stdin.take().expect("stdin is a pipe");
        let output = BufReader::new(process.stdout.take().expect("stdout is a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        Self { process, input, messages, next_id: 1, session: None, errors: Vec::new(), profile }
    }

    /// Sends a command and returns its result. Errors that the page reports meanwhile are kept.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let sent = self.input.write_all(format!("{command}\0").as_bytes()).and_then(|()| self.input.flush());
        sent.unwrap_or_else(|error| panic!("Chromium ended before {method}: {error}"));
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("no answer from Chromium to {method}: {error}"));
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.errors.push(parameters["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.errors.push(parameters["entry"]["text"].to_string());
            }
            _ => {}
        }
    }

    /// The value of a JavaScript expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The text of an element.
    pub(crate) fn text(&mut self, id: &str) -> String {
        let value = self.evaluate(&format!("document.getElementById('{id}').textContent"));
        value.as_str().unwrap_or_default().to_string()
    }

    fn wait_for(&mut self, condition: &str) {
        let start = std::time::Instant::now();
        while self.evaluate(condition) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "the page never reached: {condition}; errors: {:?}", self.errors);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer.
    pub(crate) fn point_at(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Presses and releases the left button.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.point_at(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses and releases a key, by its name (`ArrowLeft`) and code of old.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Saves a picture of the whole page in the test folder, for people to look at, and returns it.
    pub(crate) fn screenshot(&mut self, name: &str) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": true}));
        let data = picture["data"].as_str().unwrap_or_default();
        let png = base64::engine::general_purpose::STANDARD.decode(data).expect("a picture in base64");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        std::fs::write(file, &png).expect("the test folder can be written");
        png
    }

    /// Exceptions, and what the content security policy blocked.
    pub(crate) fn errors(&mut self) -> Vec<String> {
        // A last answer makes sure that everything before it has arrived.
        self.evaluate("0");
        self.errors.clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The browser's program. The test never installs it, and never passes without it.
fn chromium() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let candidates = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    found.expect("the report tests need Chromium, which is not on the PATH: install the Debian package `chromium`")
}
