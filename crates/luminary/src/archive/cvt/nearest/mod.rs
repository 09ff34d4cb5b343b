//! Exact nearest-centroid search.
//!
//! What "nearest" means, to the last bit: the squared distance is the `f64` sum of squared differences, added in the
//! order of the measures and never fused ([`squared_distance`]); the smallest one wins, and equal ones go to the lowest
//! cell. Every search below returns exactly that cell, so the choice of search, the processor and the batch size can
//! never change a result.
//!
//! Two searches share the work. The [`Tree`] prunes by boxes and wins while the dimension is low or the centroids are
//! clustered. With more than a dozen spread-out measures no exact method prunes much, and the [`Scan`] wins: it
//! looks at every centroid, but in `f32` and for many queries at a time. Which one serves is decided when the search is
//! built, by counting (never timing) the leaves that a few probe queries visit.
//!
//! In two measures a [`Table`] knows most answers beforehand. Filling it takes as long as some twenty searches for each
//! centroid, which pays for an archive and not for one iteration of k-means.

mod far;
mod scan;
mod table;
mod tree;

use far::Frame;
use scan::Scan;
pub(super) use table::Table;
use tree::Tree;

use super::random::Uniform;

/// The nearest centroid found so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Squared distance; see [`squared_distance`].
    pub(super) d2: f64,
    pub(super) cell: u32,
}

impl Hit {
    /// Worse than every centroid: distances are finite and below this one.
    pub(super) const NONE: Hit = Hit { d2: f64::MAX, cell: u32::MAX };

    /// Takes `other` if it is nearer, or as near with a lower cell.
    #[inline(always)]
    fn improve(&mut self, other: Hit) {
        if other.d2 < self.d2 || (other.d2 == self.d2 && other.cell < self.cell) {
            *self = other;
        }
    }
}

/// The squared distance that defines the nearest centroid: a plain sum in the order of the measures.
#[inline(always)]
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let d = a - b;
        sum += d * d;
    }
    sum
}

/// An index over centroids, which the caller keeps and passes in again with each query.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    frame: Frame,
    search: Search,
}

#[derive(Clone, Debug)]
enum Search {
    Tree(Tree),
    Scan(Scan),
}

impl Nearest {
    /// Indexes row-major centroids. They must be finite, of moderate size (checked by the caller) and at least one.
    pub(super) fn new(centroids: &[f64], bounds: &[(f64, f64)]) -> Nearest {
        let frame = Frame::new(centroids, bounds);
        let tree = Tree::new(centroids, bounds.len());
        let search = if tree_pays(&tree, bounds, centroids.len() / bounds.len()) {
            Search::Tree(tree)
        } else {
            Search::Scan(Scan::new(centroids, &frame))
        };
        Nearest { frame, search }
    }

    /// The nearest centroid of one point.
    pub(super) fn find(&self, centroids: &[f64], point: &[f64]) -> Hit {
        if self.frame.is_far(point) {
            return self.frame.find_far(centroids, point);
        }
        match &self.search {
            Search::Tree(tree) => tree.find(point, Hit::NONE),
            Search::Scan(_) => {
                let mut hit = [Hit::NONE];
                self.improve_all(centroids, point, &mut hit);
                hit[0]
            }
        }
    }

    /// Improves each point's hit to its nearest centroid. A hit comes in as [`Hit::NONE`] or as any true
    /// (distance, cell) pair of that point; a near one saves time and never changes the result.
    pub(super) fn improve_all(&self, centroids: &[f64], points: &[f64], hits: &mut [Hit]) {
        let dim = self.frame.dim();
        match &self.search {
            Search::Tree(tree) => {
                for (point, hit) in points.chunks_exact(dim).zip(hits) {
                    *hit = if self.frame.is_far(point) {
                        self.frame.find_far(centroids, point)
                    } else {
                        tree.find(point, *hit)
                    };
                }
            }
            Search::Scan(scan) => {
                scan.improve_all(centroids, points, &self.frame, hits);
                for (point, hit) in points.chunks_exact(dim).zip(hits) {
                    if self.frame.is_far(point) {
                        *hit = self.frame.find_far(centroids, point);
                    }
                }
            }
        }
    }
}

/// Whether the tree is expected to beat the scan, judged by the leaves that queries uniform in the bounds visit.
///
/// Measured with batches of 512 at 1,000 to 100,000 centroids and 8 to 14 measures: a leaf costs as much as about 300
/// scanned centroids, and a scan costs 5,000 more per query before it starts.
fn tree_pays(tree: &Tree, bounds: &[(f64, f64)], n_cells: usize) -> bool {
    const N_PROBES: usize = 32;
    let mut uniform = Uniform::new(0);
    let mut point = vec![0.0; bounds.len()];
    let mut n_leaves = 0;
    for _ in 0..N_PROBES {
        uniform.fill(bounds, &mut point);
        n_leaves += tree.count_leaves_visited(&point);
    }
    300 * n_leaves < (n_cells + 5_000) * N_PROBES
}

#[cfg(test)]
mod tests;
