//! Tests through the public interface; the report is tested in headless Chromium.

mod browser;
mod figures;
mod properties;
mod report;
mod synthetic;
