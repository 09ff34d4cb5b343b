//! What a run costs in memory, beside what it has to hold.

use luminary::emitter::EmitterConfig;
use luminary::scheduler::Scheduler;

/// Bytes of this process that are in memory, if the system tells.
pub(crate) fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Prints the growth of the process over the run beside the bytes of archive columns and strategy matrices. Runs in one
/// process reuse each other's memory, so the figure is exact for the first one only.
pub(crate) fn report(scheduler: &Scheduler, before: Option<usize>) {
    let (Some(before), Some(after)) = (before, resident_bytes()) else { return };
    let held = archive_bytes(scheduler) + matrix_bytes(scheduler);
    let grown = after.saturating_sub(before);
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    println!(
        "    memory grew by {:.1} MB for {:.1} MB of archive columns and matrices ({:.2} times)",
        megabytes(grown),
        megabytes(held),
        grown as f64 / held as f64
    );
}

fn archive_bytes(scheduler: &Scheduler) -> usize {
    let (archive, result) = (scheduler.archive(), scheduler.result());
    let result_bytes = if std::ptr::addr_eq(archive, result) { 0 } else { result.bytes_in_use() };
    archive.bytes_in_use() + result_bytes
}

/// Covariance and its factor, for each strategy.
fn matrix_bytes(scheduler: &Scheduler) -> usize {
    let config = scheduler.config();
    let bytes_of = |emitter: &EmitterConfig| {
        let dim = match emitter {
            EmitterConfig::Evolution(_) => config.archive.solution_dim,
            EmitterConfig::Arborescence(_) => 1 + scheduler.archive().measure_dim(),
            _ => 0,
        };
        2 * dim * dim * size_of::<f64>()
    };
    config.emitters.iter().map(|group| group.count * bytes_of(&group.emitter)).sum()
}
