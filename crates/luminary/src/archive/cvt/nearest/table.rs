//! Buckets for two measures: which centroids can be nearest is looked up, not searched for.
//!
//! The bounds are cut into equal boxes, four for each centroid. A bucket lists every centroid that is nearest to some point
//! of its box, mostly two or three. A point in a bucket without room for all of them, or outside the bounds, is left to the
//! tree.
//!
//! The lists leave nothing out that could be the answer to the last bit, for two reasons. Bounds of computed distances
//! over a box are computed by the same operations in the same order as the distances, and rounding is monotone. And where
//! a centroid is left out because another is nearer at all corners of the box, and therefore everywhere in it, the
//! difference is far above what rounding can make.

use std::ops::Range;

use super::squared_distance;
use crate::archive::CellIdx;

type Point = [f64; 2];

/// Beyond so many centroids filling the table takes seconds.
const MAX_CELLS: usize = 1 << 18;

/// Filling the table may look at so many candidates for each centroid; those that are spread out take far fewer. Many
/// centroids in few buckets would take far more, and gain nothing.
const LOOKS_PER_CELL: usize = 600;

/// A difference of squared distances, in units of the larger one, that rounding cannot make.
const CERTAIN: f64 = 1e-12;

/// Candidates of a box are compared with each other once there are no more of them.
const FEW: usize = 40;

/// Centroids that a bucket has room for.
const ROOM: usize = 4;

/// Stands first in a bucket that is left to the tree.
const CROWDED: u32 = u32::MAX;

/// Buckets over the bounds of a tessellation.
#[derive(Clone, Debug)]
pub(in super::super) struct Table {
    cut: Cut,
    /// Per bucket: its centroids in ascending order, the last one repeated; or [`CROWDED`].
    lists: Vec<[u32; ROOM]>,
}

impl Table {
    /// The table of these centroids; none for other numbers of measures than two, and where it would not pay.
    pub(in super::super) fn new(centroids: &[f64], bounds: &[(f64, f64)]) -> Option<Table> {
        let &[x, y] = bounds else { return None };
        let centroids: &[Point] = centroids.as_chunks().0;
        if centroids.len() > MAX_CELLS {
            return None;
        }
        let cut = Cut::new([x, y], 4 * centroids.len());
        let mut filling = Filling {
            centroids,
            cut: &cut,
            candidates: (0..centroids.len() as u32).collect(),
            looks_left: LOOKS_PER_CELL * centroids.len(),
            lists: vec![[CROWDED; ROOM]; cut.n[0] * cut.n[1]],
        };
        filling.fill([0; 2], cut.n, 0..centroids.len())?;
        let lists = filling.lists;
        Some(Table { cut, lists })
    }

    /// The cell of one point if its bucket knows it.
    pub(in super::super) fn cell_of(&self, centroids: &[f64], point: &[f64]) -> Option<usize> {
        let point: &Point = point.try_into().ok()?;
        let list = &self.lists[self.cut.bucket_of(point)?];
        (list[0] != CROWDED).then(|| nearest_of(list, centroids.as_chunks().0, point) as usize)
    }

    /// The cells of points, row by row; `search` finds those of points that the table does not know.
    pub(in super::super) fn cells_of(
        &self,
        centroids: &[f64],
        points: &[f64],
        cells: &mut [CellIdx],
        mut search: impl FnMut(&[f64]) -> usize,
    ) {
        /// Points whose lists are fetched before any of them is looked at, so that the memory is asked for many at once.
        const CHUNK: usize = 32;
        let centroids = centroids.as_chunks().0;
        let mut lists = [[CROWDED; ROOM]; CHUNK];
        for (points, cells) in points.as_chunks().0.chunks(CHUNK).zip(cells.chunks_mut(CHUNK)) {
            for (point, list) in points.iter().zip(&mut lists) {
                *list = self.cut.bucket_of(point).map_or([CROWDED; ROOM], |bucket| self.lists[bucket]);
            }
            for ((point, cell), list) in points.iter().zip(cells).zip(&lists) {
                *cell = CellIdx::new(match list[0] {
                    CROWDED => search(point),
                    _ => nearest_of(list, centroids, point) as usize,
                });
            }
        }
    }
}

/// The nearest centroid of a list. Without branches on distances, so that the processor can look at the next points
/// meanwhile.
#[inline(always)]
fn nearest_of(list: &[u32; ROOM], centroids: &[Point], point: &Point) -> u32 {
    let mut best = list[0];
    let mut best_d2 = squared_distance(point, &centroids[best as usize]);
    for &cell in &list[1..] {
        let d2 = squared_distance(point, &centroids[cell as usize]);
        // Equally near ones come in ascending order, so the lowest stays.
        let is_nearer = d2 < best_d2;
        best = if is_nearer { cell } else { best };
        best_d2 = if is_nearer { d2 } else { best_d2 };
    }
    best
}

/// How the bounds are cut.
#[derive(Clone, Debug)]
struct Cut {
    bounds: [(f64, f64); 2],
    /// Buckets along each measure.
    n: [usize; 2],
    /// Buckets in a unit of each measure.
    per_unit: [f64; 2],
}

impl Cut {
    /// About `total` boxes that are as close to squares as the bounds allow.
    fn new(bounds: [(f64, f64); 2], total: usize) -> Self {
        let widths = bounds.map(|(lower, upper)| upper - lower);
        let total = total as f64;
        // Logarithms, because products of widths may be beyond all numbers.
        let first = (0.5 * (widths[0].ln() - widths[1].ln() + total.ln())).exp().round().clamp(1.0, total);
        let n = [first, (total / first).round().max(1.0)];
        Self { bounds, n: n.map(|n| n as usize), per_unit: [n[0] / widths[0], n[1] / widths[1]] }
    }

    /// The bucket of a point; none outside the bounds.
    #[inline(always)]
    fn bucket_of(&self, point: &Point) -> Option<usize> {
        let mut is_inside = true;
        let mut bucket = 0;
        for i in 0..2 {
            let (lower, upper) = self.bounds[i];
            is_inside &= point[i] >= lower && point[i] <= upper;
            let along = ((point[i] - lower) * self.per_unit[i]) as usize;
            bucket = bucket * self.n[i] + along.min(self.n[i] - 1);
        }
        is_inside.then_some(bucket)
    }

    /// A box that holds every point of these buckets: a little larger than they are, because where a bucket ends is subject
    /// to rounding.
    fn sides(&self, from: [usize; 2], to: [usize; 2]) -> Sides {
        [0, 1].map(|i| {
            let (lower, upper) = self.bounds[i];
            let side = 1.0 / self.per_unit[i];
            let margin = 1e-6 * side + 16.0 * f64::EPSILON * lower.abs().max(upper.abs());
            (lower + from[i] as f64 * side - margin, lower + to[i] as f64 * side + margin)
        })
    }
}

/// Fills the lists from all centroids down, box by box: whoever can be nearest somewhere in a box could be so in the larger
/// one around it.
struct Filling<'a> {
    centroids: &'a [Point],
    cut: &'a Cut,
    /// A stack: the candidates of each box behind those of the larger one.
    candidates: Vec<u32>,
    looks_left: usize,
    lists: Vec<[u32; ROOM]>,
}

impl Filling<'_> {
    /// Fills the buckets from `from` up to `to`, whose candidates are among these. None if that would take too long.
    fn fill(&mut self, from: [usize; 2], to: [usize; 2], among: Range<usize>) -> Option<()> {
        self.looks_left = self.looks_left.checked_sub(among.len())?;
        let own = self.candidates.len();
        let sides = self.cut.sides(from, to);
        self.push_candidates(&sides, among);
        let counts = [to[0] - from[0], to[1] - from[1]];
        if counts == [1, 1] {
            if (ROOM + 1..=FEW).contains(&(self.candidates.len() - own)) {
                self.drop_needless(&sides, own);
            }
            self.write_list(from, own);
        } else {
            let is_wider = |a: usize, b: usize| sides[a].1 - sides[a].0 > sides[b].1 - sides[b].0;
            let halved = usize::from(counts[0] == 1 || (counts[1] > 1 && is_wider(1, 0)));
            let (mut left_to, mut right_from) = (to, from);
            left_to[halved] = (from[halved] + to[halved]) / 2;
            right_from[halved] = left_to[halved];
            let own = own..self.candidates.len();
            self.fill(from, left_to, own.clone())?;
            self.fill(right_from, to, own)?;
        }
        self.candidates.truncate(own);
        Some(())
    }

    /// Pushes those of the candidates that can be nearest to a point of the box.
    fn push_candidates(&mut self, sides: &Sides, among: Range<usize>) {
        let centroid = |cell: u32| &self.centroids[cell as usize];
        let mut limit = f64::INFINITY;
        let mut nearest = 0;
        for &cell in &self.candidates[among.clone()] {
            let farthest = farthest(sides, centroid(cell));
            if farthest < limit {
                (limit, nearest) = (farthest, cell);
            }
        }
        let are_few = among.len() <= FEW;
        for at in among {
            let cell = self.candidates[at];
            let is_needless =
                || are_few && cell != nearest && is_nearer_throughout(sides, centroid(nearest), centroid(cell));
            if smallest(sides, centroid(cell)) <= limit && !is_needless() {
                self.candidates.push(cell);
            }
        }
    }

    /// Drops the candidates from `own` on than which one of the others is nearer throughout the box.
    fn drop_needless(&mut self, sides: &Sides, own: usize) {
        let centroid = |cell: u32| &self.centroids[cell as usize];
        let mut at = own;
        while at < self.candidates.len() {
            let cell = self.candidates[at];
            let mut others = self.candidates[own..].iter().filter(|&&other| other != cell);
            match others.any(|&other| is_nearer_throughout(sides, centroid(other), centroid(cell))) {
                true => drop(self.candidates.remove(at)),
                false => at += 1,
            }
        }
    }

    fn write_list(&mut self, bucket: [usize; 2], own: usize) {
        let found = &self.candidates[own..];
        if let (Some(&last), true) = (found.last(), found.len() <= ROOM) {
            let mut list = [last; ROOM];
            list[..found.len()].copy_from_slice(found);
            self.lists[bucket[0] * self.cut.n[1] + bucket[1]] = list;
        }
    }
}

/// A box: from where to where it reaches along each measure.
type Sides = [(f64, f64); 2];

/// The smallest computed distance, squared, of a point of the box.
fn smallest(sides: &Sides, centroid: &Point) -> f64 {
    let mut sum = 0.0;
    for (&(lower, upper), x) in sides.iter().zip(centroid) {
        let d = (lower - x).max(x - upper).max(0.0);
        sum += d * d;
    }
    sum
}

/// The largest one.
fn farthest(sides: &Sides, centroid: &Point) -> f64 {
    let mut sum = 0.0;
    for (&(lower, upper), x) in sides.iter().zip(centroid) {
        let d = (x - lower).max(upper - x);
        sum += d * d;
    }
    sum
}

/// Whether all points of the box are nearer to `a` than to `b`, for certain. The difference of both squared distances is
/// linear, so the corners decide.
fn is_nearer_throughout(sides: &Sides, a: &Point, b: &Point) -> bool {
    let certain = CERTAIN * farthest(sides, b);
    let [x, y] = *sides;
    let corners = [[x.0, y.0], [x.0, y.1], [x.1, y.0], [x.1, y.1]];
    corners.iter().all(|corner| squared_distance(corner, b) - squared_distance(corner, a) > certain)
}
