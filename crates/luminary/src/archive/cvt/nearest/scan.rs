//! Exhaustive search with a single-precision filter.
//!
//! Half the squared distance of a point x to a centroid c, less half the squared length of x, is
//! `score(c) = |c|^2 / 2 - x . c`: one multiply-add per measure, in `f32` half the memory, and a block of centroids is
//! loaded once for many points. Only centroids whose `f32` score could still belong to the nearest one are measured in
//! `f64`; a few dozen of 100,000. The filter lets through everything within its error bound, so the result is exact
//! and does not depend on how the scores were rounded.

use std::cell::RefCell;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::far::Frame;
use super::{Hit, squared_distance};

/// Centroids of a block: its scores, and at fifty measures its coordinates, stay in the first-level cache.
const BLOCK: usize = 128;

/// Measures that one pass over the scores of a block adds up.
const TILE: usize = 4;

/// Points that share one pass over the centroids' memory.
const CHUNK: usize = 256;

/// Centroids in single precision, centred and scaled into [-1, 1].
#[derive(Clone, Debug)]
pub(super) struct Scan {
    dim: usize,
    /// Tiles that hold all measures; what the last one has in excess is zero.
    n_tiles: usize,
    /// A power of two.
    scale: f64,
    /// The length of the longest scaled centroid.
    max_norm: f64,
    /// Per block and tile: the coordinates of the tile's measures.
    coordinates: Vec<[[f32; BLOCK]; TILE]>,
    /// Per block: half the squared lengths, infinite where there is no centroid.
    half_norms: Vec<[f32; BLOCK]>,
}

impl Scan {
    pub(super) fn new(centroids: &[f64], frame: &Frame) -> Scan {
        let dim = frame.dim();
        let n_tiles = dim.div_ceil(TILE);
        let n_blocks = (centroids.len() / dim).div_ceil(BLOCK);
        let scale = (-frame.radius.log2().ceil()).exp2();
        let mut coordinates = vec![[[0.0; BLOCK]; TILE]; n_blocks * n_tiles];
        let mut half_norms = vec![[f32::INFINITY; BLOCK]; n_blocks];
        let mut max_norm2 = 0.0_f64;
        for (cell, centroid) in centroids.chunks_exact(dim).enumerate() {
            let (block, lane) = (cell / BLOCK, cell % BLOCK);
            let mut norm2 = 0.0;
            for (i, (c, mid)) in centroid.iter().zip(&frame.centre).enumerate() {
                let y = (c - mid) * scale;
                coordinates[block * n_tiles + i / TILE][i % TILE][lane] = y as f32;
                norm2 += y * y;
            }
            half_norms[block][lane] = (0.5 * norm2) as f32;
            max_norm2 = max_norm2.max(norm2);
        }
        Scan { dim, n_tiles, scale, max_norm: max_norm2.sqrt(), coordinates, half_norms }
    }

    /// Improves each point's hit; see [`super::Nearest::improve_all`]. Far points keep their hit.
    pub(super) fn improve_all(&self, centroids: &[f64], points: &[f64], frame: &Frame, hits: &mut [Hit]) {
        SCRATCH.with_borrow_mut(|scratch| {
            for (points, hits) in points.chunks(CHUNK * self.dim).zip(hits.chunks_mut(CHUNK)) {
                self.prepare(points, frame, hits, scratch);
                scan_chunk(self, centroids, points, scratch, hits);
            }
        });
    }

    /// Writes the points' scaled negatives and thresholds into the scratch.
    fn prepare(&self, points: &[f64], frame: &Frame, hits: &[Hit], scratch: &mut Scratch) {
        scratch.negated.clear();
        scratch.negated.resize(hits.len() * self.n_tiles, [0.0; TILE]);
        scratch.filters.clear();
        scratch.filters.resize(hits.len(), Filter::CLOSED);
        for (row, point) in points.chunks_exact(self.dim).enumerate() {
            if frame.is_far(point) {
                continue;
            }
            let mut norm2 = 0.0;
            for (i, (x, mid)) in point.iter().zip(&frame.centre).enumerate() {
                let y = (x - mid) * self.scale;
                scratch.negated[row * self.n_tiles + i / TILE][i % TILE] = -y as f32;
                norm2 += y * y;
            }
            scratch.filters[row] = self.open_filter(norm2, hits[row]);
        }
    }

    /// The filter of a point with this squared scaled length.
    ///
    /// With u = 2^-24 and up to dim + 4 roundings, the error of a score is at most
    /// (dim + 4) u (|x| |c| + |c|^2 / 2), to first order. Twice that covers the higher orders and the rounding of the
    /// threshold; the last term covers underflow.
    fn open_filter(&self, norm2: f64, hit: Hit) -> Filter {
        let y = self.max_norm;
        let error = (self.dim + 8) as f64 * (f32::EPSILON as f64 * (norm2.sqrt() * y + 0.5 * y * y) + 2f64.powi(-120));
        let mut filter = Filter { threshold: f32::MAX, half_norm: 0.5 * norm2, error };
        if hit != Hit::NONE {
            filter.lower_to(hit, self.scale);
        }
        filter
    }

    /// Measures, in `f64`, the centroids of a block whose score passes the filter.
    #[inline(never)]
    fn measure(
        &self,
        centroids: &[f64],
        point: &[f64],
        block: usize,
        scores: &[f32; BLOCK],
        filter: &mut Filter,
        hit: &mut Hit,
    ) {
        for lane in 0..BLOCK {
            if scores[lane] <= filter.threshold {
                let cell = block * BLOCK + lane;
                let d2 = squared_distance(point, &centroids[cell * self.dim..][..self.dim]);
                hit.improve(Hit { d2, cell: cell as u32 });
                filter.lower_to(*hit, self.scale);
            }
        }
    }
}

/// Which scores of one point may belong to its nearest centroid.
#[derive(Clone, Copy, Debug)]
struct Filter {
    /// The largest score that passes.
    threshold: f32,
    /// Half the squared length of the scaled point.
    half_norm: f64,
    /// Bound on the error of a score.
    error: f64,
}

impl Filter {
    /// Lets nothing pass.
    const CLOSED: Filter = Filter { threshold: f32::NEG_INFINITY, half_norm: 0.0, error: 0.0 };

    /// Lowers the threshold to the exact score of the best hit, plus what a score may be wrong by.
    #[inline(always)]
    fn lower_to(&mut self, hit: Hit, scale: f64) {
        self.threshold = (0.5 * hit.d2 * scale * scale - self.half_norm + self.error) as f32;
    }
}

/// Buffers of a chunk of points. They keep their memory between calls, so that queries do not allocate.
#[derive(Default)]
struct Scratch {
    /// Per point and tile: the negated scaled coordinates.
    negated: Vec<[f32; TILE]>,
    /// Per point.
    filters: Vec<Filter>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Scans all centroids for a chunk of points, two points at a time.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn scan_chunk(scan: &Scan, centroids: &[f64], points: &[f64], scratch: &mut Scratch, hits: &mut [Hit]) {
    let mut scores = [[0.0; BLOCK]; 2];
    for (block, tiles) in scan.coordinates.chunks_exact(scan.n_tiles).enumerate() {
        for (pair, negated) in scratch.negated.chunks(2 * scan.n_tiles).enumerate() {
            let n_points = negated.len() / scan.n_tiles;
            if target_cfg_f!(target_feature = "fma") {
                pair_scores::<true>(negated, tiles, &scan.half_norms[block], &mut scores);
            } else {
                pair_scores::<false>(negated, tiles, &scan.half_norms[block], &mut scores);
            }
            for (row, scores) in (2 * pair..).zip(&scores[..n_points]) {
                let filter = &mut scratch.filters[row];
                if n_passing(scores, filter.threshold) > 0 {
                    let point = &points[row * scan.dim..][..scan.dim];
                    scan.measure(centroids, point, block, scores, filter, &mut hits[row]);
                }
            }
        }
    }
}

/// The scores of a block for two points, or for one if only one is given.
#[inline(always)]
fn pair_scores<const FUSED: bool>(
    negated: &[[f32; TILE]],
    tiles: &[[[f32; BLOCK]; TILE]],
    half_norms: &[f32; BLOCK],
    scores: &mut [[f32; BLOCK]; 2],
) {
    *scores = [*half_norms; 2];
    let [first, second] = scores;
    let (x, y) = negated.split_at(tiles.len());
    if y.is_empty() {
        for (x, tile) in x.iter().zip(tiles) {
            for lane in 0..BLOCK {
                first[lane] = add_tile::<FUSED>(x, tile, lane, first[lane]);
            }
        }
    } else {
        for ((x, y), tile) in x.iter().zip(y).zip(tiles) {
            for lane in 0..BLOCK {
                first[lane] = add_tile::<FUSED>(x, tile, lane, first[lane]);
                second[lane] = add_tile::<FUSED>(y, tile, lane, second[lane]);
            }
        }
    }
}

#[inline(always)]
fn add_tile<const FUSED: bool>(x: &[f32; TILE], tile: &[[f32; BLOCK]; TILE], lane: usize, sum: f32) -> f32 {
    let mut sum = sum;
    for i in 0..TILE {
        // Fused where the processor can; elsewhere `mul_add` would be a slow library call.
        sum = if FUSED { x[i].mul_add(tile[i][lane], sum) } else { x[i] * tile[i][lane] + sum };
    }
    sum
}

#[inline(always)]
fn n_passing(scores: &[f32; BLOCK], threshold: f32) -> u32 {
    scores.iter().map(|&score| u32::from(score <= threshold)).sum()
}
