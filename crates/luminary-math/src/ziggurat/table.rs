//! The layers of the ziggurat.

use crate::log::ln_normal;
use std::sync::LazyLock;

/// More layers mean fewer rejects and a larger table: 1024 reject 0.43 % and take 8 KiB of cache.
pub(super) const LAYERS: usize = 1024;

/// Where the base layer ends and the tail begins, so that all layers have the same area.
pub(super) const R: f64 = 4.038849846109504;
/// exp(-R^2 / 2).
const F_R: f64 = 0.0002869639270833275;
/// The area of a layer: R f(R) plus the tail beyond R.
const AREA: f64 = 0.001226324646353088;

/// Layers of equal area that cover the right half of f(x) = exp(-x^2 / 2), the base first.
pub(super) struct Table {
    /// The right end of each layer. The base is a rectangle as wide as its area with the tail asks for. Zero at the end.
    pub(super) x: [f64; LAYERS + 1],
    /// The lower edge of each layer, which is f at its right end. One at the end.
    pub(super) f: [f64; LAYERS + 1],
}

/// Computed once, from additions, divisions, roots and our own logarithm: the same bits everywhere.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { x: [0.0; LAYERS + 1], f: [1.0; LAYERS + 1] };
    (table.x[0], table.f[0]) = (AREA / F_R, 0.0);
    (table.x[1], table.f[1]) = (R, F_R);
    for i in 2..LAYERS {
        table.f[i] = table.f[i - 1] + AREA / table.x[i - 1];
        table.x[i] = (-2.0 * ln_normal(table.f[i])).sqrt();
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_narrow_towards_the_top() {
        assert!(TABLE.x.is_sorted_by(|a, b| a > b));
        assert!(TABLE.f.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn layers_have_equal_area_and_end_at_the_top() {
        for i in 0..LAYERS {
            let area = TABLE.x[i] * (TABLE.f[i + 1] - TABLE.f[i]);
            assert!((area / AREA - 1.0).abs() < 1e-11, "layer {i} has area {area}");
        }
    }

    #[test]
    fn corners_lie_on_the_curve() {
        for i in 1..LAYERS {
            let f = (-0.5 * TABLE.x[i] * TABLE.x[i]).exp();
            assert!((TABLE.f[i] / f - 1.0).abs() < 1e-13, "corner {i}");
        }
    }

    /// The area under the right half of the curve is sqrt(pi / 2): what the layers hold beyond it is what they reject.
    #[test]
    fn almost_every_candidate_is_accepted() {
        let accepted: f64 = TABLE.x.windows(2).map(|ends| ends[1] / ends[0]).sum::<f64>() / LAYERS as f64;
        assert!((accepted - 0.995723).abs() < 1e-6, "{accepted}");
        assert!(LAYERS as f64 * AREA > std::f64::consts::FRAC_PI_2.sqrt());
    }
}
