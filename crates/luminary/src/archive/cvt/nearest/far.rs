//! Points very far from all centroids.
//!
//! At a distance of 2^26 radii the rounding of `point - centroid` is 2^-27 radii, and so is the difference between the
//! true nearest centroid and the one in the direction of the point. Beyond, the plain sum of squares loses the
//! centroids (and at last overflows) although the direction still tells them apart. So a farther point is first pulled
//! in along its ray to that distance: nothing is lost that `f64` could have told, and every finite point has a cell.

use super::{Hit, squared_distance};

/// How many radii away a point may be before it is pulled in.
const FAR: f64 = (1u64 << 26) as f64;

/// Centre and radius of everything indexed.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The middle of the measure bounds.
    pub(super) centre: Vec<f64>,
    /// The largest coordinate difference from the centre, over bounds and centroids.
    pub(super) radius: f64,
}

impl Frame {
    pub(super) fn new(centroids: &[f64], bounds: &[(f64, f64)]) -> Frame {
        let centre: Vec<f64> = bounds.iter().map(|&(lo, hi)| 0.5 * lo + 0.5 * hi).collect();
        let mut radius = 0.0_f64;
        for (&(lo, hi), mid) in bounds.iter().zip(&centre) {
            radius = radius.max(hi - mid).max(mid - lo);
        }
        for centroid in centroids.chunks_exact(bounds.len()) {
            radius = radius.max(reach(centroid, &centre));
        }
        Frame { centre, radius }
    }

    pub(super) fn dim(&self) -> usize {
        self.centre.len()
    }

    /// Whether [`Frame::find_far`] must be used for this point.
    #[inline(always)]
    pub(super) fn is_far(&self, point: &[f64]) -> bool {
        let limit = FAR * self.radius;
        let mut far = false;
        for (x, mid) in point.iter().zip(&self.centre) {
            far |= (x - mid).abs() > limit;
        }
        far
    }

    /// The centroid nearest to a far point after it was pulled in. Looks at every centroid: such points are rare, and
    /// pulling in on the fly needs no memory.
    #[cold]
    pub(super) fn find_far(&self, centroids: &[f64], point: &[f64]) -> Hit {
        let away = reach(point, &self.centre);
        let mut best = Hit::NONE;
        for (cell, centroid) in centroids.chunks_exact(self.dim()).enumerate() {
            let mut d2 = 0.0;
            for ((x, mid), c) in point.iter().zip(&self.centre).zip(centroid) {
                let pulled = mid + (x - mid) / away * (FAR * self.radius);
                d2 += squared_distance(&[pulled], &[*c]);
            }
            best.improve(Hit { d2, cell: cell as u32 });
        }
        best
    }
}

/// The largest coordinate difference.
fn reach(point: &[f64], centre: &[f64]) -> f64 {
    point.iter().zip(centre).fold(0.0, |reach: f64, (x, mid)| reach.max((x - mid).abs()))
}
