//! How long a trial will take, roughly: for the order of trials and the time left, never for a result.

use luminary::preset::Preset;
use luminary_domains::Domain;

use crate::experiment::Cell;

/// Expected seconds of a trial on the development machine. Only ratios matter: the pool measures how fast this machine
/// really is.
pub(crate) fn expected_seconds(cell: &Cell) -> f64 {
    let scale = cell.n as f64 / 100.0;
    // Microseconds an iteration: a part that grows with n, and a part that grows with its square.
    let (linear, square) = match cell.algorithm {
        Preset::MapElites => (120.0, 0.0),
        Preset::MapElitesLine => (150.0, 0.0),
        Preset::CmaMega => (200.0, 0.0),
        Preset::CmaMaega => (320.0, 0.0),
        Preset::CmaMaegaDf => (400.0, 0.0),
        Preset::Auto if cell.n < 200 => (500.0, 150.0),
        Preset::Auto => (900.0, 0.0),
        Preset::CmaMae => (500.0, 350.0),
        _ => (300.0, 350.0),
    };
    let evaluation = match cell.domain {
        Domain::LpSphere | Domain::LpPlateau => 0.0,
        Domain::LpRastrigin => 50.0,
        Domain::Arm => 270.0,
    };
    cell.iterations as f64 * ((linear + evaluation) * scale + square * scale * scale) * 1e-6
}
