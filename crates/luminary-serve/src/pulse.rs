//! What has changed, pushed to open pages.
//!
//! One task looks at the folders while a page is open, and nobody's when none is. It publishes how things stand, not what
//! happened, so that a page that reads slowly misses nothing and nothing piles up for it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::response::Response;
use futures_util::stream;
use luminary_run::folder::history::HISTORY;
use luminary_run::folder::live::{LIVE, touch_watched};
use luminary_run::folder::{FAILURES, FolderLock, METRICS};
use serde::Serialize;
use tokio::sync::watch;

use crate::answer::{failure, plain};
use crate::library::Library;
use crate::saved;

/// The time between two looks at the folders.
const PERIOD: Duration = Duration::from_millis(500);
/// Pages that are open at the same time; there are connections left for their other requests.
const MAX_PAGES: usize = 256;
/// A stream without news says so after this time, so that one whose page has gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How things stand with the runs that pages have open.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pulse {
    /// The tag of the list.
    list: String,
    runs: BTreeMap<String, RunPulse>,
}

/// How things stand with one run. Numbers change when there is something to fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct RunPulse {
    metrics: u64,
    failures: u64,
    live: u64,
    history: u64,
    checkpoint: String,
}

/// Pushes to open pages.
#[derive(Debug)]
pub(crate) struct Pulses {
    library: Arc<Library>,
    latest: watch::Sender<Arc<Pulse>>,
    /// The runs that pages have open, and how many pages.
    open: Mutex<BTreeMap<String, usize>>,
    /// Whether the task that looks is under way.
    is_looking: AtomicBool,
}

/// A page that is open; dropped when it is closed.
struct Page {
    pulses: Arc<Pulses>,
    run: Option<String>,
    latest: watch::Receiver<Arc<Pulse>>,
    /// What was sent last.
    sent: Option<String>,
}

impl Pulses {
    pub(crate) fn new(library: Arc<Library>) -> Arc<Self> {
        let (latest, _) = watch::channel(Arc::default());
        Arc::new(Self { library, latest, open: Mutex::default(), is_looking: AtomicBool::new(false) })
    }

    /// A stream of events for a page that may have a run open.
    pub(crate) fn subscribe(self: &Arc<Self>, run: Option<String>) -> Response {
        if self.latest.receiver_count() >= MAX_PAGES {
            let message = format!("expected at most {MAX_PAGES} open pages, found more");
            return failure(StatusCode::SERVICE_UNAVAILABLE, message);
        }
        if let Some(id) = &run {
            *self.open().entry(id.clone()).or_default() += 1;
        }
        let page = Page { pulses: Arc::clone(self), run, latest: self.latest.subscribe(), sent: None };
        if !self.is_looking.swap(true, Ordering::SeqCst) {
            tokio::spawn(Arc::clone(self).look_while_open());
        }
        let events = stream::unfold(page, |mut page| async move {
            let event = page.next().await?;
            Some((Ok::<_, std::convert::Infallible>(event), page))
        });
        let mut response = plain(StatusCode::OK, "text/event-stream", Body::from_stream(events));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Looks at the folders until the last page is closed.
    async fn look_while_open(self: Arc<Self>) {
        while self.latest.receiver_count() > 0 {
            let own = Arc::clone(&self);
            let Ok(pulse) = tokio::task::spawn_blocking(move || own.look()).await else { break };
            self.latest.send_if_modified(|latest| {
                let is_new = **latest != pulse;
                if is_new {
                    *latest = Arc::new(pulse);
                }
                is_new
            });
            tokio::time::sleep(PERIOD).await;
        }
        self.is_looking.store(false, Ordering::SeqCst);
    }

    fn look(&self) -> Pulse {
        let list = self.library.refresh();
        let open: Vec<String> = self.open().keys().cloned().collect();
        let runs = open.into_iter().filter_map(|id| {
            let folder = self.library.folder(&id)?;
            Some((id, RunPulse::of(&folder)))
        });
        Pulse { list: list.tag.clone(), runs: runs.collect() }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunPulse {
    fn of(folder: &Path) -> Self {
        let is_running = FolderLock::is_held(folder);
        if is_running {
            // A folder that cannot be written is shown from its checkpoints.
            let _ = touch_watched(folder);
        }
        let length = |name: &str| fs::symlink_metadata(folder.join(name)).map_or(0, |found| found.len());
        Self {
            metrics: length(METRICS),
            failures: length(FAILURES),
            // What a killed run has reported last is not shown.
            live: if is_running { length(LIVE) } else { 0 },
            history: length(HISTORY),
            checkpoint: saved::tag_of(folder),
        }
    }
}

impl Page {
    /// The next event: how things stand, as soon as it differs from what was sent.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let event = self.event();
            if self.sent.as_ref() != Some(&event) {
                self.sent = Some(event.clone());
                return Some(event.into());
            }
            match tokio::time::timeout(KEEP_ALIVE, self.latest.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => return Some(Bytes::from_static(b": nothing new\n\n")),
            }
        }
    }

    fn event(&mut self) -> String {
        let latest = self.latest.borrow_and_update();
        let run = self.run.as_ref().and_then(|id| latest.runs.get(id));
        let data = serde_json::json!({ "list": latest.list, "run": run });
        format!("event: pulse\ndata: {data}\n\n")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let Some(id) = &self.run else { return };
        let mut open = self.pulses.open();
        if let Some(n_pages) = open.get_mut(id) {
            *n_pages -= 1;
            if *n_pages == 0 {
                open.remove(id);
            }
        }
    }
}
