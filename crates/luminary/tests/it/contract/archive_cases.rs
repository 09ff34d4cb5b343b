//! One archive of each kind, and rows for them: what the suite over all archives runs on.

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, ArchiveKind, Batch, CategoricalConfig, CellsConfig, CentroidSource,
    ColumnData, Competition, CvtConfig, DensityConfig, DiscountArchive, DiscountConfig, DnsConfig, Dtype, ExtraColumn,
    GridConfig, LearningRate, NonFinite, PerceptronConfig, ProximityConfig, SlidingBoundariesConfig, ThresholdDecay,
    UpdateRule,
};
use luminary::error::CallError;
use proptest::prelude::*;

use crate::common::TableModel;

pub(super) const SOLUTION_DIM: usize = 2;
pub(super) const BOUNDS: [(f64, f64); 2] = [(-1.0, 1.0); 2];

/// One archive of each kind; `build` makes a fresh one.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) build: Box<dyn Fn() -> Box<dyn Archive>>,
    /// Whether measures are categories from 0 to 2.
    pub(super) is_categorical: bool,
    pub(super) has_extras: bool,
}

pub(super) fn extra_columns() -> Vec<ExtraColumn> {
    vec![
        ExtraColumn::new("id", 1).with_dtype(Dtype::I64),
        ExtraColumn::new("halves", 2).with_dtype(Dtype::F32),
        ExtraColumn::new("weight", 1),
        ExtraColumn::new("name", 3).with_dtype(Dtype::U8),
        ExtraColumn::new("is_even", 1).with_dtype(Dtype::Bool),
    ]
}

pub(super) fn kinds() -> Vec<(&'static str, ArchiveKind)> {
    let names = ["red", "green", "blue"].map(String::from).to_vec();
    let cells = |cells| ArchiveKind::Cells(cells);
    let proximity = ProximityConfig {
        measure_bounds: BOUNDS.to_vec(),
        n_neighbours: 3,
        novelty_threshold: 0.4,
        competition: Competition::None,
        decay: None,
    };
    let local = ProximityConfig {
        competition: Competition::Local,
        decay: Some(ThresholdDecay { rate: 0.5, n_batches: 1, minimum: 0.1 }),
        ..proximity.clone()
    };
    vec![
        ("grid", cells(CellsConfig::Grid(GridConfig::new(vec![4, 3], BOUNDS.to_vec())))),
        (
            "cvt",
            cells(CellsConfig::Cvt(CvtConfig {
                n_cells: 12,
                measure_bounds: BOUNDS.to_vec(),
                centroids: CentroidSource::Sobol,
                seed: 1,
            })),
        ),
        ("categorical", cells(CellsConfig::Categorical(CategoricalConfig { categories: vec![names.clone(), names] }))),
        (
            "sliding boundaries",
            cells(CellsConfig::SlidingBoundaries(SlidingBoundariesConfig {
                remap_frequency: 7,
                buffer_capacity: 15,
                ..SlidingBoundariesConfig::new(vec![3, 4], BOUNDS.to_vec())
            })),
        ),
        ("proximity", ArchiveKind::Proximity(proximity)),
        ("proximity with local competition", ArchiveKind::Proximity(local)),
        (
            "dns",
            ArchiveKind::Dns(DnsConfig {
                measure_bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); 2],
                capacity: 9,
                n_neighbours: 3,
            }),
        ),
        (
            "density",
            ArchiveKind::Density(DensityConfig {
                measure_bounds: BOUNDS.to_vec(),
                buffer_size: 20,
                bandwidth: 0.3,
                seed: 3,
            }),
        ),
        (
            "discount",
            ArchiveKind::Discount {
                discount: DiscountConfig { min_f: -1.0, ..DiscountConfig::new(BOUNDS.to_vec()) },
                perceptron: PerceptronConfig::default(),
            },
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, kind) in kinds() {
        let is_categorical = name == "categorical";
        let config = ArchiveConfig {
            extra_columns: extra_columns(),
            qd_score_offset: -2.5,
            ..ArchiveConfig::new(SOLUTION_DIM, kind)
        };
        let mut configs = vec![config.clone()];
        if ["grid", "cvt", "categorical"].contains(&name) {
            let acceptance = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.3), min_f: -1.0 };
            configs.push(ArchiveConfig { acceptance, rule: UpdateRule::Batch, ..config });
        }
        for config in configs {
            let build = Box::new(move || config.build().unwrap());
            cases.push(Case { name, build, is_categorical, has_extras: true });
        }
    }
    let discount = || -> Box<dyn Archive> {
        let config = DiscountConfig {
            learning_rate: LearningRate::Fixed(0.5),
            min_f: -1.0,
            n_initial: 10,
            n_empty: 4,
            seed: 2,
            ..DiscountConfig::new(BOUNDS.to_vec())
        };
        Box::new(DiscountArchive::new(SOLUTION_DIM, config, Box::new(TableModel::default())).unwrap())
    };
    cases.push(Case {
        name: "discount of one's own",
        build: Box::new(discount),
        is_categorical: false,
        has_extras: false,
    });
    cases
}

/// A row as proptest makes it: measures within [-1.3, 1.3], and an objective.
pub(super) type Row = ([f64; 2], f64);

pub(super) fn batches() -> impl Strategy<Value = Vec<Vec<Row>>> {
    // Few distinct objectives make ties.
    let objective = prop_oneof![1 => (-4..8_i32).prop_map(f64::from), 1 => -5.0..10.0_f64];
    let row = (prop::array::uniform2(-1.3..1.3_f64), objective);
    prop::collection::vec(prop::collection::vec(row, 1..25), 1..6)
}

/// One batch in buffers, with solutions and extra values that name the row they belong to.
pub(super) struct Buffers {
    pub(super) solutions: Vec<f64>,
    pub(super) objectives: Vec<f64>,
    pub(super) measures: Vec<f64>,
    pub(super) ids: Vec<i64>,
    pub(super) halves: Vec<f32>,
    pub(super) weights: Vec<f64>,
    pub(super) names: Vec<u8>,
    pub(super) is_even: Vec<bool>,
    pub(super) has_extras: bool,
}

impl Buffers {
    pub(super) fn new(case: &Case, rows: &[Row], first_id: usize) -> Self {
        let ids: Vec<i64> = (first_id..first_id + rows.len()).map(|id| id as i64).collect();
        let measure = |x: f64| if case.is_categorical { (x.abs() * 2.0).floor() } else { x };
        Self {
            solutions: ids.iter().flat_map(|&id| [id as f64, -id as f64]).collect(),
            objectives: rows.iter().map(|row| row.1).collect(),
            measures: rows.iter().flat_map(|row| row.0.map(measure)).collect(),
            halves: ids.iter().flat_map(|&id| [id as f32 / 2.0, -id as f32 / 2.0]).collect(),
            weights: ids.iter().map(|&id| 0.1 * id as f64).collect(),
            names: ids.iter().flat_map(|&id| [id as u8, (id >> 8) as u8, b'x']).collect(),
            is_even: ids.iter().map(|id| id % 2 == 0).collect(),
            ids,
            has_extras: case.has_extras,
        }
    }

    pub(super) fn extras(&self) -> Vec<ColumnData<'_>> {
        if !self.has_extras {
            return Vec::new();
        }
        vec![
            ColumnData::I64(&self.ids),
            ColumnData::F32(&self.halves),
            ColumnData::F64(&self.weights),
            ColumnData::U8(&self.names),
            ColumnData::Bool(&self.is_even),
        ]
    }

    pub(super) fn add_to(&self, archive: &mut dyn Archive, policy: NonFinite) -> Result<AddReport, CallError> {
        let mut report = AddReport::with_seated();
        let extras = self.extras();
        let Self { solutions, objectives, measures, .. } = self;
        archive.add(&Batch { solutions, objectives, measures, extras: &extras }, policy, &mut report)?;
        Ok(report)
    }
}

/// Adds batches to an archive, one after the other, with ids that go on.
pub(super) fn add_all(case: &Case, archive: &mut dyn Archive, batches: &[Vec<Row>]) {
    let mut next_id = 0;
    for rows in batches {
        Buffers::new(case, rows, next_id).add_to(archive, NonFinite::Fail).unwrap();
        next_id += rows.len();
    }
}

pub(super) fn bytes(archive: &dyn Archive) -> Vec<u8> {
    archive.to_bytes().unwrap()
}
