//! External evaluators as a user meets them: real processes, and every fault they can have.
#![cfg(unix)]

mod completion;
mod support;
mod watched;
mod json_lines;
mod json_faults;
mod json_starts;
mod hosts;
mod files;
mod examples;
