//! The `[evaluator]` section: a program as the objective.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::Fault;
use super::setting::{Section, Setting};
use super::settings::MAX_WORKERS;
use crate::external::{
    ExternalConfig, ExternalError, Extras, FileFormat, FilesConfig, HOST_WORDS, Host, MAX_NUMBERS, OnFailure, Protocol,
    n_workers, read_hosts,
};

/// Reads the section. Paths become absolute, so that a run can be resumed from anywhere.
pub(super) fn read(mut section: Section) -> Result<ExternalConfig, Fault> {
    let mut reader = Reader { section: &mut section, places: BTreeMap::new() };
    let config = reader.config()?;
    let places = reader.places;
    section.finish()?;
    match config.check() {
        Ok(()) => Ok(config),
        Err(ExternalError::Config { key, expected, found }) => Err(match (key, places.get(key)) {
            ("command", Some(setting)) => setting.fault_found(expected, found),
            (_, Some(setting)) => setting.fault(expected),
            (_, None) => Fault::without_place(&format!("evaluator.{key}"), expected, found),
        }),
        Err(error) => Err(Fault::missing("evaluator", &error.to_string())),
    }
}

/// Takes settings and remembers where they stood.
struct Reader<'a> {
    section: &'a mut Section,
    places: BTreeMap<String, Setting>,
}

impl Reader<'_> {
    fn take(&mut self, key: &'static str) -> Option<Setting> {
        let setting = self.section.take(key)?;
        self.places.insert(key.into(), setting.clone());
        Some(setting)
    }

    fn count(&mut self, key: &'static str, default: usize) -> Result<usize, Fault> {
        self.take(key).map_or(Ok(default), |setting| setting.count_in_range())
    }

    fn maybe_count(&mut self, key: &'static str) -> Result<Option<usize>, Fault> {
        self.take(key).map(|setting| setting.count_in_range()).transpose()
    }

    fn seconds(&mut self, key: &'static str) -> Result<Option<f64>, Fault> {
        self.take(key).map(|setting| setting.number_in_range()).transpose()
    }

    /// The number of workers, which follows from the hosts if there are any.
    fn workers(&mut self, hosts: &[Host], default: usize) -> Result<usize, Fault> {
        let given = self.take("workers");
        let n_given = given.as_ref().map(Setting::count_in_range).transpose()?;
        let n_of_hosts = n_workers(hosts);
        match (given, n_given) {
            _ if hosts.is_empty() => Ok(n_given.unwrap_or(default)),
            (Some(setting), Some(n_given)) if n_given != n_of_hosts => {
                Err(setting.fault(&format!("{n_of_hosts}, which evaluator.hosts add up to, or nothing")))
            }
            _ => Ok(n_of_hosts),
        }
    }

    fn config(&mut self) -> Result<ExternalConfig, Fault> {
        let default = ExternalConfig::default();
        let protocols = [("json-lines", Protocol::JsonLines), ("files", Protocol::Files)];
        let policies = [("skip", OnFailure::Skip), ("abort", OnFailure::Abort)];
        let command_setting = self.section.require("command")?;
        let command = words(&command_setting)?;
        self.places.insert("command".into(), command_setting);
        let hosts = self.take("hosts").map_or(Ok(Vec::new()), |setting| hosts_of(&setting))?;
        let workers = self.workers(&hosts, default.workers)?;
        Ok(ExternalConfig {
            command,
            protocol: self.take("protocol").map_or(Ok(default.protocol), |setting| setting.choice(&protocols))?,
            workers,
            hosts,
            launcher: self.take("launcher").map(|setting| read_launcher(&setting)).transpose()?,
            host_patience: self.seconds("host_patience")?.unwrap_or(default.host_patience),
            time_limit: self.seconds("time_limit")?.unwrap_or(default.time_limit),
            request_time_limit: self.seconds("request_time_limit")?,
            start_time_limit: self.seconds("start_time_limit")?.unwrap_or(default.start_time_limit),
            rows_per_request: self.maybe_count("rows_per_request")?,
            requests_in_flight: self.count("requests_in_flight", default.requests_in_flight)?,
            retries: self.count("retries", default.retries)?,
            on_failure: self.take("on_failure").map_or(Ok(default.on_failure), |setting| setting.choice(&policies))?,
            start_attempts: self.count("start_attempts", default.start_attempts)?,
            give_up_after: self.count("give_up_after", default.give_up_after)?,
            directory: Some(match self.take("directory") {
                Some(setting) => absolute(&setting)?,
                None => std::env::current_dir().unwrap_or_else(|_| ".".into()),
            }),
            env: self.take("env").map_or(Ok(BTreeMap::new()), read_env)?,
            extras: self.take("extras").map_or(Ok(Extras::default()), read_extras)?,
            max_answer_bytes: self.maybe_count("max_answer_bytes")?,
            files: self.take("files").map(read_files).transpose()?,
        })
    }
}

/// A list of texts.
fn words(setting: &Setting) -> Result<Vec<String>, Fault> {
    setting.list(&setting.expected())?.iter().map(|part| part.string().map(str::to_owned)).collect()
}

/// A list of hosts, or a text of them, which is easier to give on a command line.
fn hosts_of(setting: &Setting) -> Result<Vec<Host>, Fault> {
    let hosts: Vec<Host> = if setting.is_string() {
        read_hosts(setting.string()?).map_err(|_| setting.fault(HOST_WORDS))?
    } else {
        let read = |part: &Setting| part.string()?.parse().map_err(|_| part.fault(HOST_WORDS));
        setting.list(&setting.expected())?.iter().map(read).collect::<Result<_, _>>()?
    };
    match n_workers(&hosts) {
        1..=MAX_WORKERS => Ok(hosts),
        found => Err(setting.fault_found(&format!("hosts with 1 to {MAX_WORKERS} workers in all"), found.to_string())),
    }
}

/// The launcher; a path to its program becomes absolute.
fn read_launcher(setting: &Setting) -> Result<Vec<String>, Fault> {
    let mut words = words(setting)?;
    if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
        let path = std::path::absolute(&program).map_err(|error| setting.fault(&format!("a path ({error})")))?;
        *program = path.to_str().ok_or_else(|| setting.fault("a path that is Unicode"))?.to_owned();
    }
    Ok(words)
}

fn read_env(setting: Setting) -> Result<BTreeMap<String, String>, Fault> {
    let entries = setting.entries(&setting.expected())?;
    entries.into_iter().map(|(key, value)| Ok((key, value.string()?.to_owned()))).collect()
}

pub(super) fn read_extras(setting: Setting) -> Result<Extras, Fault> {
    let entries = setting.entries(&setting.expected())?;
    let widths = entries.iter().map(|(name, width)| Ok((name.clone(), width.count(1, MAX_NUMBERS)?)));
    let extras = Extras(widths.collect::<Result<_, _>>()?);
    extras.check().map_err(|(bad, expected)| {
        let entry = entries.iter().find(|(name, _)| *name == bad).map_or(&setting, |(_, entry)| entry);
        entry.fault_found(expected, format!("{bad:?}"))
    })?;
    Ok(extras)
}

fn read_files(setting: Setting) -> Result<FilesConfig, Fault> {
    let mut section = setting.into_section()?;
    let formats = [("json", FileFormat::Json), ("text", FileFormat::Text)];
    let config = FilesConfig {
        format: section.take("format").map_or(Ok(FileFormat::default()), |setting| setting.choice(&formats))?,
        work_dir: section.take("work_dir").map(|setting| absolute(&setting)).transpose()?,
        keep_failed: section.take("keep_failed").map_or(Ok(0), |setting| setting.count_in_range())?,
    };
    section.finish()?;
    Ok(config)
}

fn absolute(setting: &Setting) -> Result<PathBuf, Fault> {
    std::path::absolute(setting.string()?).map_err(|error| setting.fault(&format!("a path ({error})")))
}
