//! What a user says about an external evaluator, and what is checked before anything is started.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ExternalError;
use super::extras::Extras;
use super::hosts::{self, Crew, Host};
use super::report::TimeLimit;

/// Into how many requests a batch is cut unless `rows_per_request` says otherwise. A constant, because results of
/// vectorised evaluators may depend on how rows are grouped and must not depend on the number of workers.
const REQUESTS_PER_BATCH: usize = 32;

/// The longest time limit, in seconds (about 115 days); keeps all sums of times within range.
const MAX_SECONDS: f64 = 1e7;

/// The program that evaluates solutions, and how to deal with it. Reads from TOML; unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExternalConfig {
    /// The program and its arguments. `{directory}` stands for [`directory`](Self::directory), and in the files
    /// protocol `{params}`, `{result}` and `{work_dir}` for the paths of one evaluation.
    pub command: Vec<String>,
    /// How the program is spoken to.
    pub protocol: Protocol,
    /// Number of processes that run at the same time; with hosts what these add up to.
    pub workers: usize,
    /// The machines that the workers run on; none for this one (JSON lines only).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// The command that starts a worker on a host, ssh if absent. `{host}` and `{worker}` stand for its name and the
    /// number of the worker, and the last argument is added: a line for a shell of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<Vec<String>>,
    /// Seconds that are waited while none of the hosts is there.
    pub host_patience: f64,
    /// Seconds one evaluation may take. A request of several rows may take that long for each row.
    pub time_limit: f64,
    /// Seconds a whole request may take, whatever its number of rows (JSON lines only).
    pub request_time_limit: Option<f64>,
    /// Seconds a worker may take from its start to its hello (JSON lines only).
    pub start_time_limit: f64,
    /// Rows in one request (JSON lines only). Without it a batch is cut into about 32 requests.
    pub rows_per_request: Option<usize>,
    /// Requests a worker may have at the same time (JSON lines only); it may answer them in any order.
    pub requests_in_flight: usize,
    /// How often a failed evaluation is tried again before it counts as failed.
    pub retries: usize,
    /// What happens to the run when an evaluation has failed for good.
    pub on_failure: OnFailure,
    /// How often in a row a worker may fail to start, with growing pauses, before the run is given up.
    pub start_attempts: usize,
    /// Worker failures without a single good evaluation in between after which the run is given up.
    pub give_up_after: usize,
    /// The folder the program belongs to: relative programs are found there, and JSON-lines workers run there. The
    /// current directory if absent.
    pub directory: Option<PathBuf>,
    /// Environment variables to set in addition to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// Further numbers that the program gives for each solution, and that are kept with the elites.
    pub extras: Extras,
    /// The longest answer that is read, in bytes. Without it, what the rows can need with room to spare.
    pub max_answer_bytes: Option<usize>,
    /// Settings of the files protocol.
    pub files: Option<FilesConfig>,
}

impl Default for ExternalConfig {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            protocol: Protocol::JsonLines,
            workers: 1,
            hosts: Vec::new(),
            launcher: None,
            host_patience: 300.0,
            time_limit: 60.0,
            request_time_limit: None,
            start_time_limit: 60.0,
            rows_per_request: None,
            requests_in_flight: 1,
            retries: 1,
            on_failure: OnFailure::Skip,
            start_attempts: 5,
            give_up_after: 100,
            directory: None,
            env: BTreeMap::new(),
            extras: Extras::default(),
            max_answer_bytes: None,
            files: None,
        }
    }
}

/// How the program is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// A long-lived process that reads requests and writes answers, one JSON object per line.
    #[default]
    JsonLines,
    /// One process per evaluation, with a parameter file and a result file.
    Files,
}

/// What happens when an evaluation has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The row is left out and counted; the run goes on.
    #[default]
    Skip,
    /// The run ends with an error that names the row and the cause.
    Abort,
}

/// Settings of the files protocol.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilesConfig {
    /// What the parameter and result files look like.
    pub format: FileFormat,
    /// Where the work directories are made; a temporary folder if absent.
    pub work_dir: Option<PathBuf>,
    /// How many work directories of failed evaluations are kept; needs `work_dir`.
    pub keep_failed: usize,
}

/// What parameter and result files look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// One JSON object.
    #[default]
    Json,
    /// Numbers separated by white space.
    Text,
}

/// The shape of the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// Number of measures.
    pub measure_dim: usize,
}

impl Shape {
    /// Numbers in one Jacobian: the objective's gradient, then one gradient for each measure.
    pub fn jacobian_len(self) -> usize {
        (1 + self.measure_dim) * self.solution_dim
    }
}

impl ExternalConfig {
    /// Checks every value by itself and against the others; starts nothing.
    pub fn check(&self) -> Result<(), ExternalError> {
        let program = self.command.first().map_or("", String::as_str);
        require(!program.is_empty(), "command", "a program and its arguments", format!("{:?}", self.command))?;
        let has_nul = |text: &String| text.contains('\0');
        require(!self.command.iter().any(has_nul), "command", "text without NUL", format!("{:?}", self.command))?;
        let bad_name = |name: &String| name.is_empty() || name.contains(['=', '\0']);
        let bad_env = self.env.iter().find(|(name, value)| bad_name(name) || has_nul(value));
        require(bad_env.is_none(), "env", "names without `=` and text without NUL", format!("{bad_env:?}"))?;
        if let Err((found, expected)) = self.extras.check() {
            return Err(ExternalError::Config { key: "extras", expected, found: format!("{found:?}") });
        }
        at_least_one("workers", self.workers)?;
        at_least_one("requests_in_flight", self.requests_in_flight)?;
        at_least_one("rows_per_request", self.rows_per_request.unwrap_or(1))?;
        at_least_one("start_attempts", self.start_attempts)?;
        at_least_one("give_up_after", self.give_up_after)?;
        at_least_one("max_answer_bytes", self.max_answer_bytes.unwrap_or(1))?;
        seconds("time_limit", self.time_limit)?;
        seconds("request_time_limit", self.request_time_limit.unwrap_or(1.0))?;
        seconds("start_time_limit", self.start_time_limit)?;
        seconds("host_patience", self.host_patience)?;
        self.check_hosts()?;
        match self.protocol {
            Protocol::JsonLines => {
                let expected = "absent with protocol \"json-lines\"";
                require(self.files.is_none(), "files", expected, format!("{:?}", self.files))
            }
            Protocol::Files => self.check_files(),
        }
    }

    /// What only makes sense with other machines, and together with these.
    fn check_hosts(&self) -> Result<(), ExternalError> {
        let launcher = format!("{:?}", self.launcher);
        if self.hosts.is_empty() {
            return require(self.launcher.is_none(), "launcher", "absent without `hosts`", launcher);
        }
        let names: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        let is_spoken_to = self.protocol == Protocol::JsonLines;
        require(is_spoken_to, "hosts", "absent with protocol \"files\"", format!("{names:?}"))?;
        let repeated = hosts::repeated(&self.hosts);
        require(repeated.is_none(), "hosts", "each host once, with the number of its workers", format!("{names:?}"))?;
        let n_workers = hosts::n_workers(&self.hosts);
        let found = format!("{}, where the hosts have {n_workers}", self.workers);
        require(self.workers == n_workers, "workers", "what `hosts` add up to", found)?;
        let is_command = |words: &Vec<String>| {
            words.first().is_some_and(|program| !program.is_empty()) && words.iter().all(|word| !word.contains('\0'))
        };
        require(self.launcher.as_ref().is_none_or(is_command), "launcher", "a program and its arguments", launcher)
    }

    /// The same with a single worker, on the first host if there are any.
    pub fn with_one_worker(mut self) -> Self {
        self.workers = 1;
        self.hosts.truncate(1);
        self.hosts.iter_mut().for_each(|host| host.workers = 1);
        self
    }

    /// The same with its workers elsewhere.
    pub fn with_crew(mut self, crew: Crew) -> Self {
        match crew {
            Crew::Here(workers) => {
                self.workers = workers;
                self.hosts.clear();
                self.launcher = None;
            }
            Crew::On(hosts) => {
                self.workers = hosts::n_workers(&hosts);
                self.hosts = hosts;
            }
        }
        self
    }

    /// What only makes sense, or no sense, with one process per evaluation.
    fn check_files(&self) -> Result<(), ExternalError> {
        let absent = "absent with protocol \"files\"";
        let (rows, limit) = (self.rows_per_request, self.request_time_limit);
        require(rows.is_none(), "rows_per_request", absent, format!("{rows:?}"))?;
        require(limit.is_none(), "request_time_limit", absent, format!("{limit:?}"))?;
        let in_flight = self.requests_in_flight;
        require(in_flight == 1, "requests_in_flight", "1 with protocol \"files\"", in_flight.to_string())?;
        let files = self.files.clone().unwrap_or_default();
        let expected = "0 unless `work_dir` says where to keep them";
        require(
            files.keep_failed == 0 || files.work_dir.is_some(),
            "files.keep_failed",
            expected,
            files.keep_failed.to_string(),
        )
    }

    /// The host of the worker with this number, if there are hosts.
    pub(crate) fn host_of(&self, worker: usize) -> Option<&Host> {
        hosts::host_of(&self.hosts, worker).map(|place| &self.hosts[place])
    }

    /// Rows in each request of a batch of `n_rows`.
    pub(crate) fn rows_in_request(&self, n_rows: usize) -> usize {
        match self.protocol {
            Protocol::JsonLines => self.rows_per_request.unwrap_or(n_rows.div_ceil(REQUESTS_PER_BATCH)).max(1),
            Protocol::Files => 1,
        }
    }

    /// Rows in each request where rows come one by one: as many as the configuration says, and otherwise one, because workers
    /// are to have the next as soon as they are free.
    pub(crate) fn rows_in_ticket_request(&self) -> usize {
        match self.protocol {
            Protocol::JsonLines => self.rows_per_request.unwrap_or(1).max(1),
            Protocol::Files => 1,
        }
    }

    /// Rows that workers have at the same time where rows come one by one.
    pub(crate) fn n_tickets_out(&self) -> usize {
        self.workers.saturating_mul(self.requests_in_flight).saturating_mul(self.rows_in_ticket_request())
    }

    /// Time a request of `n_rows` may take, and the setting that says so.
    pub(super) fn limit_for(&self, n_rows: usize) -> (Duration, TimeLimit) {
        let by_rows = self.time_limit * n_rows as f64;
        let (seconds, limit) = match self.request_time_limit {
            Some(of_request) if of_request < by_rows => (of_request, TimeLimit::Request),
            _ => (by_rows, TimeLimit::Evaluation),
        };
        (Duration::from_secs_f64(seconds.min(MAX_SECONDS)), limit)
    }

    /// The longest answer to a request of `n_rows` that is read: room for every number at its longest with white space
    /// around it, and for an error text or extra keys in each row.
    pub(super) fn answer_limit(&self, n_rows: usize, shape: Shape) -> usize {
        const BYTES_PER_NUMBER: usize = 64;
        const BYTES_PER_ROW: usize = 4096;
        const BASE: usize = 1 << 16;
        let numbers = shape.jacobian_len().saturating_add(1 + shape.measure_dim + self.extras.width());
        let row = numbers.saturating_mul(BYTES_PER_NUMBER).saturating_add(BYTES_PER_ROW);
        self.max_answer_bytes.unwrap_or(row.saturating_mul(n_rows).saturating_add(BASE))
    }
}

fn at_least_one(key: &'static str, found: usize) -> Result<(), ExternalError> {
    require(found >= 1, key, "at least 1", found.to_string())
}

fn seconds(key: &'static str, found: f64) -> Result<(), ExternalError> {
    let expected = "a number of seconds above 0 and at most 1e7";
    require(found > 0.0 && found <= MAX_SECONDS, key, expected, found.to_string())
}

fn require(holds: bool, key: &'static str, expected: &'static str, found: String) -> Result<(), ExternalError> {
    if holds { Ok(()) } else { Err(ExternalError::Config { key, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ExternalConfig, String> {
        let config: ExternalConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn a_command_is_enough() {
        let config = read("command = ['python3', 'sphere.py']").unwrap();
        assert_eq!(
            config,
            ExternalConfig { command: vec!["python3".into(), "sphere.py".into()], ..Default::default() }
        );
    }

    #[test]
    fn a_config_survives_a_round_trip_through_toml() {
        let config = ExternalConfig {
            command: vec!["./sim".into(), "{params}".into()],
            protocol: Protocol::Files,
            env: [("OMP_NUM_THREADS".to_string(), "1".to_string())].into(),
            extras: Extras([("energy".to_string(), 1), ("forces".to_string(), 3)].into()),
            host_patience: 7.0,
            files: Some(FilesConfig { format: FileFormat::Text, work_dir: Some("work".into()), keep_failed: 3 }),
            ..Default::default()
        };
        assert_eq!(read(&toml::to_string(&config).unwrap()).unwrap(), config);
    }

    #[test]
    fn every_bad_value_is_named() {
        let cases = [
            ("", "command"),
            ("command = [\"a\\u0000b\"]", "command"),
            ("command = ['x']\nwokers = 2", "wokers"),
            ("command = ['x']\nworkers = 0", "workers"),
            ("command = ['x']\ntime_limit = 0", "time_limit"),
            ("command = ['x']\ntime_limit = nan", "time_limit"),
            ("command = ['x']\nrequest_time_limit = inf", "request_time_limit"),
            ("command = ['x']\nstart_time_limit = -1.0", "start_time_limit"),
            ("command = ['x']\nrows_per_request = 0", "rows_per_request"),
            ("command = ['x']\nrequests_in_flight = 0", "requests_in_flight"),
            ("command = ['x']\nstart_attempts = 0", "start_attempts"),
            ("command = ['x']\ngive_up_after = 0", "give_up_after"),
            ("command = ['x']\nmax_answer_bytes = 0", "max_answer_bytes"),
            ("command = ['x']\nenv = { 'A=B' = 'c' }", "env"),
            ("command = ['x']\nextras = { cell = 1 }", "extras"),
            ("command = ['x']\nextras = { energy = 0 }", "extras"),
            ("command = ['x']\non_failure = 'explode'", "explode"),
            ("command = ['x']\nfiles = { format = 'text' }", "files"),
            ("command = ['x']\nhost_patience = 0", "host_patience"),
            ("command = ['x']\nhosts = ['-v']", "-v"),
            ("command = ['x']\nhosts = ['a', 'a']\nworkers = 2", "each host once"),
            ("command = ['x']\nhosts = ['a', 'b*2']", "found 1, where the hosts have 3"),
            ("command = ['x']\nhosts = ['a']\nlauncher = []", "launcher"),
            ("command = ['x']\nlauncher = ['ssh']", "launcher"),
            ("command = ['x']\nprotocol = 'files'\nhosts = ['a']", "hosts"),
            ("command = ['x']\nprotocol = 'files'\nrows_per_request = 4", "rows_per_request"),
            ("command = ['x']\nprotocol = 'files'\nrequest_time_limit = 4.0", "request_time_limit"),
            ("command = ['x']\nprotocol = 'files'\nrequests_in_flight = 2", "requests_in_flight"),
            ("command = ['x']\nprotocol = 'files'\nfiles = { keep_failed = 4 }", "files.keep_failed"),
        ];
        for (text, key) in cases {
            let message = read(text).expect_err(text);
            assert!(message.contains(key), "{text:?} gave {message:?}");
        }
    }

    #[test]
    fn requests_are_cut_by_the_batch_alone() {
        let mut config = ExternalConfig { command: vec!["x".into()], ..Default::default() };
        assert_eq!([0, 1, 32, 33, 540].map(|n| config.rows_in_request(n)), [1, 1, 1, 2, 17]);
        config.workers = 64;
        assert_eq!(config.rows_in_request(540), 17);
        config.rows_per_request = Some(100);
        assert_eq!(config.rows_in_request(540), 100);
    }

    #[test]
    fn a_request_has_the_time_of_its_rows_up_to_its_own_limit() {
        let mut config = ExternalConfig { time_limit: 2.0, ..Default::default() };
        assert_eq!(config.limit_for(10), (Duration::from_secs(20), TimeLimit::Evaluation));
        config.request_time_limit = Some(5.0);
        assert_eq!(config.limit_for(10), (Duration::from_secs(5), TimeLimit::Request));
        assert_eq!(config.limit_for(1), (Duration::from_secs(2), TimeLimit::Evaluation));
    }
}
