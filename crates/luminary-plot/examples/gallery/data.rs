//! Synthetic data that looks like that of real runs.

use luminary_plot::{Archive, CcdfSeries, Cells, Measure, Series};

pub(crate) const ALGORITHMS: [&str; 8] =
    ["CMA-MAE", "CMA-ME", "CMA-ME (opt)", "CMA-ME (imp)", "CMA-ME*", "MAP-Elites (line)", "MAP-Elites", "CMA-MAEGA"];

/// Small deterministic generator (SplitMix64), enough for pictures.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A grid over [-256, 256] in each measure, with elites inside a ball that holds `reach` of the half-width.
pub(crate) fn grid(resolution: &[usize], reach: f64) -> Archive {
    let n_cells: usize = resolution.iter().product();
    let place = |cell: usize| {
        let mut rest = cell;
        let mut point: Vec<f64> = resolution
            .iter()
            .rev()
            .map(|&r| {
                let i = rest % r;
                rest /= r;
                2.0 * (i as f64 + 0.5) / r as f64 - 1.0
            })
            .collect();
        point.reverse();
        point
    };
    filled(measures(resolution.len()), Cells::Grid { resolution: resolution.to_vec() }, n_cells, place, reach)
}

/// Centroids spread like those of a CVT: random points, relaxed a few times towards even spacing.
pub(crate) fn cvt(n: usize) -> Archive {
    let mut random = Random(7);
    // A jittered hexagonal lattice looks like a converged CVT and costs nothing.
    let columns = (n as f64).sqrt().ceil() as usize;
    let spacing = 512.0 / columns as f64;
    let point = |i: usize, random: &mut Random| {
        let (column, row) = (i % columns, i / columns);
        let shift = if row % 2 == 0 { 0.25 } else { 0.75 };
        let jitter = |random: &mut Random| 0.18 * spacing * random.normal();
        let x = -256.0 + (column as f64 + shift) * spacing + jitter(random);
        let y = -256.0 + (row as f64 + 0.5) * spacing * columns as f64 / (n as f64 / columns as f64) + jitter(random);
        [x.clamp(-255.9, 255.9), y.clamp(-255.9, 255.9)]
    };
    let points: Vec<f64> = (0..n).flat_map(|i| point(i, &mut random)).collect();
    let place = |cell: usize| vec![points[2 * cell] / 256.0, points[2 * cell + 1] / 256.0];
    filled(measures(2), Cells::Centroids { points: points.clone() }, n, place, 0.8)
}

fn filled(
    measures: Vec<Measure>,
    cells: Cells,
    n_cells: usize,
    place: impl Fn(usize) -> Vec<f64>,
    reach: f64,
) -> Archive {
    let mut random = Random(n_cells as u64);
    let mut archive = Archive { measures, cells, elite_cells: Vec::new(), objectives: Vec::new() };
    for cell in 0..n_cells {
        let point = place(cell);
        let radius = point.iter().map(|v| v * v).sum::<f64>().sqrt();
        let ragged = reach * (1.0 + 0.1 * (point[0] * 17.0).sin() + 0.05 * random.normal());
        if radius < ragged {
            let distance = point.iter().map(|v| (v - 0.35).powi(2)).sum::<f64>();
            archive.elite_cells.push(cell);
            archive.objectives.push(100.0 - 45.0 * distance - 3.0 * random.uniform());
        }
    }
    archive
}

fn measures(n: usize) -> Vec<Measure> {
    (0..n).map(|i| Measure::new(format!("Measure {}", i + 1), -256.0, 256.0)).collect()
}

/// Twenty trials of each algorithm over 10,000 iterations.
pub(crate) fn learning_curves(seed: u64) -> Vec<Series> {
    let mut random = Random(seed);
    let x: Vec<f64> = (0..=1000).map(|i| f64::from(i) * 10.0).collect();
    let series = |(i, name): (usize, &&str)| {
        let height = 65.0 - 6.0 * i as f64 + 3.0 * random.normal();
        let trials = (0..20).map(|_| {
            let (top, rate) = (height + 1.2 * random.normal(), 2500.0 * (1.0 + 0.06 * random.normal()));
            x.iter().map(|t| top * (1.0 - (-t / rate).exp()) + 0.1 * random.normal()).collect()
        });
        Series { name: name.to_string(), trials: trials.collect(), x: x.clone() }
    };
    ALGORITHMS.iter().enumerate().map(series).collect()
}

/// Five trials of four algorithms at 25 resolutions.
pub(crate) fn resolution_curves() -> Vec<Series> {
    let mut random = Random(3);
    let x: Vec<f64> = (0..25).map(|i| 50.0 + 18.75 * f64::from(i)).collect();
    let names = ["CMA-MAE", "CMA-ME", "MAP-Elites (line)", "MAP-Elites"];
    let series = |(i, name): (usize, &&str)| {
        let trial = |random: &mut Random| {
            x.iter().map(|r| (64.0 - 8.0 * i as f64) / (1.0 + r / 400.0 * i as f64) + random.normal()).collect()
        };
        Series { name: name.to_string(), trials: (0..5).map(|_| trial(&mut random)).collect(), x: x.clone() }
    };
    names.iter().enumerate().map(series).collect()
}

/// Objectives of ten final archives of each algorithm.
pub(crate) fn distributions(seed: u64) -> Vec<CcdfSeries> {
    let mut random = Random(seed);
    let series = |(i, name): (usize, &&str)| {
        let trial = |random: &mut Random| {
            let n = ((0.85 - 0.09 * i as f64) * 2500.0 * (1.0 + 0.02 * random.normal())) as usize;
            (0..n.min(2500)).map(|_| 100.0 - (12.0 + 2.0 * i as f64) * random.normal().abs()).collect()
        };
        CcdfSeries { name: name.to_string(), n_cells: 2500, trials: (0..10).map(|_| trial(&mut random)).collect() }
    };
    ALGORITHMS.iter().enumerate().map(series).collect()
}

/// Measures, rows and objectives of elites.
pub(crate) fn rows(n: usize, n_measures: usize) -> (Vec<Measure>, Vec<f64>, Vec<f64>) {
    let mut random = Random(11);
    let mut values = Vec::with_capacity(n * n_measures);
    let mut objectives = Vec::with_capacity(n);
    for _ in 0..n {
        let base = random.normal() * 80.0;
        let row: Vec<f64> = (0..n_measures)
            .map(|i| {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                (sign * base + 60.0 * random.normal()).clamp(-256.0, 256.0)
            })
            .collect();
        objectives.push(100.0 - row.iter().map(|v| (v - 60.0).abs()).sum::<f64>() / 12.0);
        values.extend(row);
    }
    (measures(n_measures), values, objectives)
}

/// Measures and solutions for the elites of an archive, row by row.
pub(crate) fn solutions(archive: &Archive, n_parameters: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random(5);
    let n = archive.elite_cells.len();
    let measures = (0..n * archive.measures.len()).map(|_| 512.0 * random.uniform() - 256.0).collect();
    let solutions = (0..n * n_parameters).map(|i| 2.0 * random.normal() + ((i % n_parameters) as f64 / 9.0).sin());
    (measures, solutions.collect())
}
