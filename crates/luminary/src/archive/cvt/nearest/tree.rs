//! A flat eight-way kd-tree with tight bounding boxes.
//!
//! An inner node holds the boxes of up to eight children, a leaf up to eight centroids, both as structures of arrays:
//! one SIMD pass over the measures yields all eight lower bounds or all eight distances. Leaves and lower nodes are
//! full (only the last of each level may not be), so the tree is as shallow as it can be.
//!
//! Pruning is exact, not just nearly: a box's bound is computed by the same operations in the same order as the
//! distance of a centroid, and rounding is monotone, so no centroid in a box is ever computed nearer than its bound.

use std::hint::black_box;

use multiversion::multiversion;

use super::Hit;

/// Children of a node, centroids of a leaf, lanes of the loops.
const WIDTH: usize = 8;

/// Marks a child number as a leaf.
const LEAF: u32 = 1 << 31;

/// Room for the deepest search: at most seven children wait per level, eleven levels hold 2^32 centroids, and eight
/// more are written before their number is known.
const STACK: usize = 96;

#[derive(Clone, Debug)]
pub(super) struct Tree {
    dim: usize,
    root: u32,
    /// Per node and measure: the eight children's lower bounds, then their upper bounds.
    boxes: Vec<[f64; 2 * WIDTH]>,
    /// Per node: the children's numbers.
    children: Vec<[u32; WIDTH]>,
    /// Per leaf and measure: the coordinates of its eight centroids, infinite where there are fewer.
    coordinates: Vec<[f64; WIDTH]>,
    /// Per leaf: the cells of its centroids.
    cells: Vec<[u32; WIDTH]>,
}

impl Tree {
    pub(super) fn new(centroids: &[f64], dim: usize) -> Tree {
        let n_cells = centroids.len() / dim;
        let mut tree = Tree {
            dim,
            root: 0,
            boxes: Vec::with_capacity(n_cells * dim / (WIDTH * (WIDTH - 1)) + dim),
            children: Vec::with_capacity(n_cells / (WIDTH * (WIDTH - 1)) + 1),
            coordinates: Vec::with_capacity((n_cells / WIDTH + 1) * dim),
            cells: Vec::with_capacity(n_cells / WIDTH + 1),
        };
        let mut order: Vec<u32> = (0..n_cells as u32).collect();
        tree.root = tree.add_subtree(centroids, &mut order);
        tree
    }

    /// The nearest centroid, or `best` if none is nearer.
    pub(super) fn find(&self, point: &[f64], best: Hit) -> Hit {
        search(self, point, best).0
    }

    /// How many leaves a search for this point looks into.
    pub(super) fn count_leaves_visited(&self, point: &[f64]) -> usize {
        search(self, point, Hit::NONE).1
    }

    /// Builds the subtree of these cells and returns its number.
    fn add_subtree(&mut self, centroids: &[f64], cells: &mut [u32]) -> u32 {
        if cells.len() <= WIDTH {
            return self.add_leaf(centroids, cells);
        }
        let mut child_len = WIDTH;
        while child_len * WIDTH < cells.len() {
            child_len *= WIDTH;
        }
        sort_into_parts(centroids, self.dim, cells, child_len);

        let node = self.children.len();
        self.children.push([0; WIDTH]);
        // A missing child's box is empty: infinitely far from every point.
        let mut empty = [f64::INFINITY; 2 * WIDTH];
        empty[WIDTH..].fill(f64::NEG_INFINITY);
        self.boxes.resize((node + 1) * self.dim, empty);
        for (lane, part) in cells.chunks_mut(child_len).enumerate() {
            for (bounds, (lo, hi)) in self.boxes[node * self.dim..].iter_mut().zip(extents(centroids, self.dim, part)) {
                bounds[lane] = lo;
                bounds[WIDTH + lane] = hi;
            }
            self.children[node][lane] = self.add_subtree(centroids, part);
        }
        node as u32
    }

    fn add_leaf(&mut self, centroids: &[f64], cells: &[u32]) -> u32 {
        let leaf = self.cells.len() as u32;
        let mut lanes = [u32::MAX; WIDTH];
        lanes[..cells.len()].copy_from_slice(cells);
        self.cells.push(lanes);
        for i in 0..self.dim {
            let mut lanes = [f64::INFINITY; WIDTH];
            for (lane, &cell) in lanes.iter_mut().zip(cells) {
                *lane = centroids[cell as usize * self.dim + i];
            }
            self.coordinates.push(lanes);
        }
        leaf | LEAF
    }
}

/// Reorders cells into consecutive parts of `part_len`, by halving along the widest measure again and again.
fn sort_into_parts(centroids: &[f64], dim: usize, cells: &mut [u32], part_len: usize) {
    let n_parts = cells.len().div_ceil(part_len);
    if n_parts <= 1 {
        return;
    }
    let middle = n_parts / 2 * part_len;
    let widths = extents(centroids, dim, cells).into_iter().map(|(lo, hi)| hi - lo).enumerate();
    let (widest, _) = widths.fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let coordinate = |cell: u32| centroids[cell as usize * dim + widest];
    cells.select_nth_unstable_by(middle, |&a, &b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(&b)));
    let (left, right) = cells.split_at_mut(middle);
    sort_into_parts(centroids, dim, left, part_len);
    sort_into_parts(centroids, dim, right, part_len);
}

/// Smallest and largest value of each measure over these cells.
fn extents(centroids: &[f64], dim: usize, cells: &[u32]) -> Vec<(f64, f64)> {
    let mut extents = vec![(f64::INFINITY, f64::NEG_INFINITY); dim];
    for &cell in cells {
        for (extent, &x) in extents.iter_mut().zip(&centroids[cell as usize * dim..][..dim]) {
            *extent = (extent.0.min(x), extent.1.max(x));
        }
    }
    extents
}

/// Depth-first search, the nearest sibling first. Also returns the number of leaves visited.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn search(tree: &Tree, point: &[f64], best: Hit) -> (Hit, usize) {
    // The loops over two or three measures unroll once their number is known.
    match *point {
        [x, y] => search_in(tree, &[x, y], best),
        [x, y, z] => search_in(tree, &[x, y, z], best),
        _ => search_in(tree, point, best),
    }
}

#[inline(always)]
fn search_in(tree: &Tree, point: &[f64], mut best: Hit) -> (Hit, usize) {
    let dim = point.len();
    let mut n_visited = 0;
    let mut stack = Stack { bounds: [0.0; STACK], numbers: [0; STACK], len: 1 };
    stack.numbers[0] = tree.root;
    while stack.len > 0 {
        stack.len -= 1;
        if stack.bounds[stack.len] > best.d2 {
            continue;
        }
        let number = stack.numbers[stack.len];
        if number & LEAF == 0 {
            let node = number as usize;
            let bounds = lane_bounds(point, &tree.boxes[node * dim..][..dim]);
            push_children(&bounds, &tree.children[node], best.d2, &mut stack);
        } else {
            let leaf = (number & !LEAF) as usize;
            n_visited += 1;
            let d2 = lane_distances(point, &tree.coordinates[leaf * dim..][..dim]);
            if smallest(&d2) <= best.d2 {
                for lane in 0..WIDTH {
                    best.improve(Hit { d2: d2[lane], cell: tree.cells[leaf][lane] });
                }
            }
        }
    }
    (best, n_visited)
}

/// Subtrees still to be looked at.
struct Stack {
    bounds: [f64; STACK],
    numbers: [u32; STACK],
    len: usize,
}

/// Pushes the children that may hold a centroid as near as `limit`, and leaves the nearest child on top.
#[inline(always)]
fn push_children(bounds: &[f64; WIDTH], children: &[u32; WIDTH], limit: f64, stack: &mut Stack) {
    let mut nearest = f64::INFINITY;
    let mut nearest_slot = 0;
    for lane in 0..WIDTH {
        // Every child is written and the length decides which stay: there is no branch to mispredict. Sorting them all
        // was slower, in 2 measures by half.
        stack.bounds[stack.len] = bounds[lane];
        stack.numbers[stack.len] = children[lane];
        let nearer = bounds[lane] < nearest;
        nearest_slot = if nearer { stack.len } else { nearest_slot };
        nearest = if nearer { bounds[lane] } else { nearest };
        stack.len += usize::from(bounds[lane] <= limit);
    }
    if nearest <= limit {
        stack.bounds.swap(nearest_slot, stack.len - 1);
        stack.numbers.swap(nearest_slot, stack.len - 1);
    }
}

/// Squared distances of eight centroids; lane for lane the operations of [`super::squared_distance`].
#[inline(always)]
fn lane_distances(point: &[f64], coordinates: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let mut sum = [0.0; WIDTH];
    for (x, lanes) in point.iter().zip(coordinates) {
        for lane in 0..WIDTH {
            let d = x - lanes[lane];
            sum[lane] += d * d;
        }
    }
    // Without this the optimiser splits the lanes into scalars, because they are looked at one by one afterwards.
    black_box(sum)
}

/// Squared distances of eight boxes.
#[inline(always)]
fn lane_bounds(point: &[f64], boxes: &[[f64; 2 * WIDTH]]) -> [f64; WIDTH] {
    let mut sum = [0.0; WIDTH];
    for (x, lanes) in point.iter().zip(boxes) {
        for lane in 0..WIDTH {
            let below = lanes[lane] - x;
            let above = x - lanes[WIDTH + lane];
            // Plain comparisons compile to one instruction; `f64::max` would also care for NaN.
            let outside = if below > above { below } else { above };
            let d = if outside > 0.0 { outside } else { 0.0 };
            sum[lane] += d * d;
        }
    }
    black_box(sum)
}

#[inline(always)]
fn smallest(lanes: &[f64; WIDTH]) -> f64 {
    lanes.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
}
