//! What can be asked for.

use std::collections::BTreeSet;
use std::path::{Path as FsPath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use luminary_run::RunError;
use luminary_run::elite::Choice;
use luminary_run::export::Which;
use luminary_run::folder::live::LIVE;
use luminary_run::folder::{Manifest, Vitals};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{digest, failure, json, plain, tagged};
use crate::assets;
use crate::control::{self, ControlError, Pictures};
use crate::guard::{self, Guard};
use crate::library::Library;
use crate::live::LiveRuns;
use crate::options::{Control, Options};
use crate::past::Pasts;
use crate::picture::{self, Column, Since};
use crate::pulse::Pulses;
use crate::recent::Recent;
use crate::room::{self, Room};
use crate::run;
use crate::saved::{self, SavedRuns};
use crate::shape::{self, Shape};

/// Numbers in the columns of one answer, at most: thirty columns of an archive of 1,000 x 1,000.
const MAX_NUMBERS: usize = 30_000_000;
/// A list that is younger than this is good enough for whoever asks without an open page.
const LIST_LASTS: Duration = Duration::from_millis(400);

/// What all requests share.
pub(crate) struct Context {
    library: Arc<Library>,
    refreshed: Mutex<Option<Instant>>,
    saved: SavedRuns,
    live: LiveRuns,
    pasts: Pasts,
    pulses: Arc<Pulses>,
    control: Control,
    pictures: Pictures,
    recent: Recent,
}

type Shared = State<Arc<Context>>;

impl Context {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        let library = Arc::new(Library::new(options.folders));
        Arc::new(Self {
            pulses: Pulses::new(Arc::clone(&library)),
            library,
            refreshed: Mutex::default(),
            saved: SavedRuns::default(),
            live: LiveRuns::default(),
            pasts: Pasts::default(),
            control: options.control,
            pictures: Pictures::default(),
            recent: Recent::default(),
        })
    }

    /// The folder of a run; a server that was just started looks first.
    fn folder(&self, id: &str) -> Result<PathBuf, Refusal> {
        if self.library.line(id).is_none() {
            self.refresh();
        }
        self.library
            .folder(id)
            .ok_or_else(|| Refusal(StatusCode::NOT_FOUND, "expected a run, found none with this id".into()))
    }

    /// Whether an archive of a run has no cells.
    fn has_points(&self, folder: &FsPath, which: Which) -> bool {
        Manifest::read(folder).is_ok_and(|manifest| shape::cells_of(&manifest.config, which).is_none())
    }

    fn refresh(&self) {
        let mut refreshed = self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        if refreshed.is_none_or(|last| last.elapsed() > LIST_LASTS) {
            self.library.refresh();
            *refreshed = Some(Instant::now());
        }
    }
}

/// All routes, each behind the guard.
pub(crate) fn router(context: Arc<Context>, guard: Guard) -> Router {
    // Answers of these may be large.
    let in_turn = middleware::from_fn_with_state(Room::new(), room::within);
    Router::new()
        .route("/", get(assets::page))
        .route("/assets/{name}", get(assets::asset))
        .route("/favicon.ico", get(|| async { plain(StatusCode::NO_CONTENT, "image/x-icon", "") }))
        .route("/api/runs", get(list))
        .route("/api/events", get(events))
        .route("/api/palette", get(assets::palette))
        .route("/api/runs/{id}", get(details))
        .route("/api/runs/{id}/metrics", get(metrics).layer(in_turn.clone()))
        .route("/api/runs/{id}/failures", get(failures))
        .route("/api/runs/{id}/saved", get(saved))
        .route("/api/runs/{id}/vitals", get(vitals))
        .route("/api/runs/{id}/history", get(history))
        .route("/api/runs/{id}/cells", get(cells).layer(in_turn))
        .route("/api/runs/{id}/elite", get(elite))
        .route("/api/runs/{id}/stop", post(stop))
        .route("/api/runs/{id}/resume", post(resume))
        .route("/api/runs/{id}/replay", post(replay))
        .fallback(|| async { failure(StatusCode::NOT_FOUND, "expected an address of this server, found another") })
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
        .with_state(context)
}

/// Why a request has no answer.
struct Refusal(StatusCode, String);

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        let status = match error {
            ControlError::NotRunning | ControlError::NotResumable | ControlError::NotOurs | ControlError::NoCommand => {
                StatusCode::CONFLICT
            }
            ControlError::Other(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self(status, error.to_string())
    }
}

fn unreadable(error: impl ToString) -> Refusal {
    Refusal(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
}

/// Why there is nothing that only a checkpoint knows. That there is none yet is no fault.
fn not_saved(error: RunError) -> Refusal {
    match error {
        RunError::NoValidCheckpoint { errors, .. } if errors.is_empty() => {
            let message = "there is no checkpoint of this run yet: solutions and layers are shown as of the newest one";
            Refusal(StatusCode::NOT_FOUND, message.into())
        }
        error => unreadable(error),
    }
}

/// Whether no column is asked for twice.
fn are_different(columns: &[Column]) -> bool {
    let names: BTreeSet<String> = columns.iter().map(Column::key).collect();
    names.len() == columns.len()
}

/// Reads files on a thread that may wait for them.
async fn on_files(work: impl FnOnce() -> Result<Response, Refusal> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(response)) => response,
        Ok(Err(Refusal(status, message))) => failure(status, message),
        // A panic was reported by the thread; the server goes on.
        Err(_) => failure(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer; its terminal says why"),
    }
}

async fn list(State(context): Shared, headers: HeaderMap) -> Response {
    on_files(move || {
        context.refresh();
        let list = context.library.list();
        Ok(tagged(&headers, "application/json", &list.tag, list.json.clone()))
    })
    .await
}

#[derive(Deserialize)]
struct EventsQuery {
    run: Option<String>,
}

async fn events(State(context): Shared, Query(query): Query<EventsQuery>) -> Response {
    context.pulses.subscribe(query.run)
}

async fn details(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || {
        let folder = context.folder(&id)?;
        let details = run::details(&folder).map_err(unreadable)?;
        let can_act = context.control != Control::Refused;
        Ok(json(&json!({ "line": context.library.line(&id).as_deref(), "details": details, "can_act": can_act })))
    })
    .await
}

#[derive(Deserialize)]
struct MetricsQuery {
    #[serde(default)]
    from: u64,
}

async fn metrics(State(context): Shared, Path(id): Path<String>, Query(query): Query<MetricsQuery>) -> Response {
    on_files(move || {
        let bytes = run::metrics(&context.folder(&id)?, query.from).map_err(unreadable)?;
        Ok(plain(StatusCode::OK, "application/x-ndjson", bytes))
    })
    .await
}

async fn failures(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || Ok(json(&run::failures(&context.folder(&id)?).map_err(unreadable)?))).await
}

/// How emitters and evaluations do: as the running process reports, or else as the history ends, or else as the checkpoint
/// has it.
async fn vitals(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || {
        let folder = context.folder(&id)?;
        let reported = context.live.with(&folder, |live| Some(live.vitals.clone()));
        let vitals = reported.or_else(|| context.pasts.load(&folder).vitals().cloned());
        let vitals = match vitals {
            Some(vitals) => vitals,
            None => {
                let emitters = context.saved.load(&folder).map_err(not_saved)?.emitters.clone();
                Vitals { emitters, ..Vitals::default() }
            }
        };
        let Vitals { emitters, durations, workers } = vitals;
        Ok(json(&json!({ "emitters": emitters, "durations": durations.classes(), "workers": workers })))
    })
    .await
}

/// The moments of the past that can be shown.
async fn history(State(context): Shared, Path(id): Path<String>, headers: HeaderMap) -> Response {
    on_files(move || {
        let past = context.pasts.load(&context.folder(&id)?);
        let body = json!({ "moments": past.moments() }).to_string();
        Ok(tagged(&headers, "application/json", &past.tag, body.into()))
    })
    .await
}

/// What only the checkpoint knows: the columns of both archives.
async fn saved(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || {
        let saved = context.saved.load(&context.folder(&id)?).map_err(not_saved)?;
        let result = picture::offers(&saved, Which::Result);
        let search = picture::offers(&saved, Which::Search);
        let offers = json!({ "result": result, "search": search });
        Ok(json(&json!({ "offers": offers })))
    })
    .await
}

/// Which archive, as addresses say it.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ArchiveName {
    #[default]
    Result,
    Search,
}

impl From<ArchiveName> for Which {
    fn from(name: ArchiveName) -> Self {
        match name {
            ArchiveName::Result => Self::Result,
            ArchiveName::Search => Self::Search,
        }
    }
}

#[derive(Deserialize)]
struct CellsQuery {
    #[serde(default)]
    archive: ArchiveName,
    /// Columns, with commas between them.
    #[serde(default)]
    columns: String,
    /// What the page has already.
    #[serde(default)]
    generation: String,
    #[serde(default)]
    frame: u64,
    /// The iteration of a moment of the past; without one it is now.
    at: Option<u64>,
}

async fn cells(
    State(context): Shared,
    Path(id): Path<String>,
    Query(query): Query<CellsQuery>,
    headers: HeaderMap,
) -> Response {
    on_files(move || {
        let folder = context.folder(&id)?;
        if let Some(iteration) = query.at {
            let (tag, bytes) = past_cells(&context, &folder, iteration)?;
            return Ok(tagged(&headers, "application/octet-stream", &tag, bytes));
        }
        let which = query.archive.into();
        let names = query.columns.split(',').filter(|name| !name.is_empty());
        let columns: Option<Vec<Column>> = names.map(Column::parse).collect();
        let Some(columns) = columns.filter(|columns| are_different(columns)) else {
            let message = format!("expected different columns, found {:?}", query.columns);
            return Err(Refusal(StatusCode::BAD_REQUEST, message));
        };
        let since = Since { generation: query.generation, frame: query.frame };
        // Running processes report these; whatever else is asked for is in the checkpoint.
        let is_reported = |column: &Column| match column {
            Column::Objective | Column::Threshold => true,
            Column::Measure(_) => context.has_points(&folder, which),
            _ => false,
        };
        let is_reported = columns.iter().all(is_reported);
        if is_reported && let Some((tag, bytes)) = live_cells(&context, &folder, which, &since)? {
            return Ok(tagged(&headers, "application/octet-stream", &tag, bytes));
        }
        let newest = saved::tag_of(&folder);
        if since.generation == newest {
            return Ok(plain(StatusCode::NOT_MODIFIED, "application/octet-stream", Bytes::new()));
        }
        let tag = digest(format!("{newest} table {which:?} {}", query.columns).as_bytes());
        let of_table = || picture::of_table(&folder, which, &columns, &newest, MAX_NUMBERS);
        if let Some(bytes) = context.recent.get(&tag, of_table) {
            return Ok(tagged(&headers, "application/octet-stream", &tag, bytes));
        }
        let saved = match context.saved.load(&folder) {
            Ok(saved) => saved,
            // The history may still say how it ended.
            Err(error) => {
                let newest = context.pasts.load(&folder).moments().last().map(|moment| moment.iteration);
                let Some(newest) = newest.filter(|_| which == Which::Result && is_reported) else {
                    return Err(not_saved(error));
                };
                let (tag, bytes) = past_cells(&context, &folder, newest)?;
                return Ok(tagged(&headers, "application/octet-stream", &tag, bytes));
            }
        };
        let n_numbers = saved.archive(which).len().saturating_mul(columns.len());
        if n_numbers > MAX_NUMBERS {
            let message = format!("expected columns of at most {MAX_NUMBERS} numbers in all, found {n_numbers}");
            return Err(Refusal(StatusCode::BAD_REQUEST, message));
        }
        let tag = digest(format!("{} {which:?} {}", saved.tag, query.columns).as_bytes());
        let bytes = context.recent.get(&tag, || Some(picture::of_saved(&saved, which, &columns))).unwrap_or_default();
        Ok(tagged(&headers, "application/octet-stream", &tag, bytes))
    })
    .await
}

/// The result archive at a moment of the past, with its tag.
fn past_cells(context: &Context, folder: &FsPath, iteration: u64) -> Result<(String, Bytes), Refusal> {
    let past = context.pasts.load(folder);
    let moments = past.moments();
    let moment = moments.iter().find(|moment| moment.iteration == iteration).ok_or_else(|| {
        let message = format!("expected an iteration that the history holds, found {iteration}");
        Refusal(StatusCode::NOT_FOUND, message)
    })?;
    let config = Manifest::read(folder).map_err(unreadable)?.config;
    let shape = match Shape::of_grid(&config, Which::Result) {
        Some(shape) => shape,
        // Centroids take long to find, and points are only where they are.
        None if shape::cells_of(&config, Which::Result).is_some() => {
            let saved = context.saved.load(folder).map_err(unreadable)?;
            Shape::of_archive(saved.archive(Which::Result), &config.problem.labels())
        }
        None => Shape::of_points(&config, &past.cells_at(moment).measures)
            .ok_or_else(|| unreadable("expected a problem with measures, found none"))?,
    };
    Ok((format!("{}-{iteration}", past.tag), picture::of_past(&past, &config, &shape, moment)))
}

/// The archive as the running process reports it, with its tag.
fn live_cells(
    context: &Context,
    folder: &FsPath,
    which: Which,
    since: &Since,
) -> Result<Option<(String, Bytes)>, Refusal> {
    if !folder.join(LIVE).exists() {
        return Ok(None);
    }
    let config = Manifest::read(folder).map_err(unreadable)?.config;
    let answer = context.live.with(folder, |live| {
        let shape = live.shape(&config, which)?;
        let tag = format!("{}-{}-{which:?}", live.generation(), live.n_frames);
        Some((tag, picture::of_live(live, &config, &shape, which, since)))
    });
    Ok(answer)
}

#[derive(Deserialize)]
struct EliteQuery {
    #[serde(default)]
    archive: ArchiveName,
    /// The cell, or the number of an elite of an archive without cells; the best elite if there is none.
    cell: Option<usize>,
}

async fn elite(State(context): Shared, Path(id): Path<String>, Query(query): Query<EliteQuery>) -> Response {
    on_files(move || {
        let saved = context.saved.load(&context.folder(&id)?).map_err(not_saved)?;
        let which: Which = query.archive.into();
        let choice = query.cell.map_or(Choice::Best, |cell| Choice::Cell(vec![cell]));
        let elite = saved.elite(which, &choice);
        let elite = elite.map_err(|error| Refusal(StatusCode::NOT_FOUND, error.to_string()))?;
        // Scripts round large whole numbers, such as seeds: what is copied is the text.
        let text = serde_json::to_string(&elite).map_err(unreadable)?;
        Ok(json(&json!({ "iteration": saved.iteration, "elite": elite, "json": text })))
    })
    .await
}

/// The folder of a run that may be acted on.
fn allowed(context: &Context, id: &str) -> Result<(PathBuf, PathBuf), Refusal> {
    match &context.control {
        Control::Allowed { program } => Ok((context.folder(id)?, program.clone())),
        Control::Refused => {
            let message = "expected a server that was started with --control, found one that only shows";
            Err(Refusal(StatusCode::FORBIDDEN, message.into()))
        }
    }
}

async fn stop(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || {
        let (folder, _) = allowed(&context, &id)?;
        control::stop(&folder)?;
        Ok(json(&json!({ "done": "asked to stop" })))
    })
    .await
}

async fn resume(State(context): Shared, Path(id): Path<String>) -> Response {
    on_files(move || {
        let (folder, program) = allowed(&context, &id)?;
        control::resume(&program, &folder)?;
        Ok(json(&json!({ "done": "resumed" })))
    })
    .await
}

#[derive(Deserialize)]
struct ReplayQuery {
    cell: usize,
}

async fn replay(State(context): Shared, Path(id): Path<String>, Query(query): Query<ReplayQuery>) -> Response {
    // Whoever may not does not even wait.
    if let Err(Refusal(status, message)) = allowed(&context, &id) {
        return failure(status, message);
    }
    let turn = context.pictures.turn().await;
    on_files(move || {
        let (folder, _) = allowed(&context, &id)?;
        let picture = context.pictures.draw(turn, &context.saved, &folder, query.cell)?;
        // Never as what it says it is: the page looks at the bytes and shows pictures and text only.
        Ok(plain(StatusCode::OK, "application/octet-stream", picture))
    })
    .await
}
