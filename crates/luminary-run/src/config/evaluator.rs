//! The `[evaluator]` section: a program as the objective.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::Fault;
use super::setting::{Section, Setting};
use crate::external::{
    ExternalConfig, ExternalError, Extras, FileFormat, FilesConfig, MAX_NUMBERS, OnFailure, Protocol,
};

/// Reads the section. Paths become absolute, so that a run can be resumed from anywhere.
pub(super) fn read(mut section: Section) -> Result<ExternalConfig, Fault> {
    let mut reader = Reader { section: &mut section, places: BTreeMap::new() };
    let config = reader.config()?;
    let places = reader.places;
    section.finish()?;
    match config.check() {
        Ok(()) => Ok(config),
        Err(ExternalError::Config { key, expected, .. }) => Err(match places.get(key) {
            Some(setting) => setting.fault(expected),
            None => Fault::missing(&format!("evaluator.{key}"), expected),
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

    fn config(&mut self) -> Result<ExternalConfig, Fault> {
        let default = ExternalConfig::default();
        let protocols = [("json-lines", Protocol::JsonLines), ("files", Protocol::Files)];
        let policies = [("skip", OnFailure::Skip), ("abort", OnFailure::Abort)];
        let command = self.section.require("command")?;
        let command = command
            .list(&command.expected())?
            .iter()
            .map(|part| part.string().map(str::to_owned))
            .collect::<Result<_, _>>()?;
        Ok(ExternalConfig {
            command,
            protocol: self.take("protocol").map_or(Ok(default.protocol), |setting| setting.choice(&protocols))?,
            workers: self.count("workers", default.workers)?,
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
