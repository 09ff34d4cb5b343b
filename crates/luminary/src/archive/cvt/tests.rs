//! The public promises of a tessellation; the search and k-means have tests of their own.

use proptest::prelude::*;

use super::*;
use crate::message_pack;

fn config(n_cells: usize, dim: usize, centroids: CentroidSource) -> CvtConfig {
    CvtConfig { n_cells, measure_bounds: vec![(0.0, 1.0); dim], centroids, seed: 1 }
}

#[test]
fn a_built_tessellation_has_the_cells_asked_for_and_each_centroid_in_its_own_cell() {
    for (n_cells, dim) in [(1, 1), (7, 2), (300, 3), (300, 30)] {
        let cvt = Cvt::build(&config(n_cells, dim, CentroidSource::k_means(n_cells))).expect("valid");
        assert_eq!((cvt.n_cells(), cvt.measure_dim()), (n_cells, dim));
        let mut cells = vec![CellIdx::default(); n_cells];
        cvt.cells_of(cvt.centroids(), &mut cells);
        assert!(cells.into_iter().map(CellIdx::index).eq(0..n_cells));
        assert!((0..n_cells).all(|cell| cvt.cell_of(cvt.centroid(cell)) == cell));
    }
}

#[test]
fn building_twice_gives_the_same_tessellation_and_another_seed_another_one() {
    let config = config(100, 4, CentroidSource::KMeans { n_samples: 5_000, max_iterations: 10 });
    let cvt = Cvt::build(&config).expect("valid");
    assert_eq!(cvt, Cvt::build(&config).expect("valid"));
    assert_ne!(cvt, Cvt::build(&CvtConfig { seed: 2, ..config }).expect("valid"));
}

#[test]
fn given_centroids_are_taken_as_they_are() {
    let given = vec![0.25, 0.5, 5.0, -5.0];
    let cvt = Cvt::build(&config(2, 2, CentroidSource::Given(given.clone()))).expect("valid");
    assert_eq!(cvt.centroids(), given);
    assert_eq!(cvt.centroid(1), [5.0, -5.0]);
    assert_eq!(cvt.measure_bounds(), [(0.0, 1.0), (0.0, 1.0)]);
    assert_eq!(cvt.cell_of(&[1e12, -1e12]), 1);
}

#[test]
fn faults_of_a_configuration_are_named() {
    let error = |config: CvtConfig| Cvt::build(&config).expect_err("invalid");
    let sobol = || CentroidSource::Sobol;
    assert_eq!(error(config(0, 2, sobol())), CvtError::NoCells);
    assert_eq!(error(config(5, 0, sobol())), CvtError::NoMeasures);
    let few = CentroidSource::KMeans { n_samples: 9, max_iterations: 1 };
    assert_eq!(error(config(10, 2, few)), CvtError::TooFewSamples { n_cells: 10, n_samples: 9 });
    let given = CentroidSource::Given(vec![0.5; 6]);
    assert_eq!(error(config(2, 2, given)), CvtError::WrongCentroidCount { expected: 2, found: 3 });
    let ragged = CentroidSource::Given(vec![0.5; 5]);
    assert_eq!(error(config(2, 2, ragged)), CvtError::RaggedCentroids { measures: 2, found: 5 });

    let huge = error(config(usize::MAX, 2, CentroidSource::k_means(usize::MAX)));
    let message = huge.to_string();
    let CvtError::TooLarge { n_cells: usize::MAX, measures: 2, bytes_needed } = huge else { panic!("{message}") };
    assert!(message.contains(&bytes_needed.to_string()), "{message}");
    let samples = CentroidSource::KMeans { n_samples: 1 << 40, max_iterations: 1 };
    assert!(matches!(error(config(10, 2, samples)), CvtError::TooLarge { .. }));
}

#[test]
fn faulty_bounds_and_centroids_are_named() {
    let faulty_bounds = [
        (1.0, 0.0),
        (1.0, 1.0),
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (f64::NEG_INFINITY, 0.0),
        (0.0, f64::INFINITY),
        (-1e300, 1e300),
        (0.0, 1e-200),
    ];
    for bound in faulty_bounds {
        let error = Cvt::new(vec![0.5; 4], vec![(0.0, 1.0), bound]).expect_err("invalid");
        assert!(matches!(error, CvtError::InvalidBounds { measure: 1, .. }), "{bound:?}: {error}");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
        let error = Cvt::new(vec![0.5, 0.5, 0.5, value], vec![(0.0, 1.0); 2]).expect_err("invalid");
        assert!(matches!(error, CvtError::InvalidCentroid { cell: 1, measure: 1, .. }), "{value}: {error}");
    }
    assert_eq!(Cvt::new(Vec::new(), vec![(0.0, 1.0)]), Err(CvtError::NoCells));
    assert_eq!(Cvt::new(vec![0.5], Vec::new()), Err(CvtError::NoMeasures));
    let ragged = CvtError::RaggedCentroids { measures: 2, found: 3 };
    assert_eq!(Cvt::new(vec![0.5; 3], vec![(0.0, 1.0); 2]), Err(ragged));
}

#[test]
fn saving_and_loading_gives_the_same_tessellation_and_the_same_cells() {
    for (n_cells, dim) in [(1, 1), (100, 2), (500, 25)] {
        let cvt = Cvt::build(&config(n_cells, dim, CentroidSource::Sobol)).expect("valid");
        let bytes = rmp_serde::to_vec_named(&cvt).expect("serialisable");
        let loaded: Cvt = message_pack::from_slice(&bytes).expect("just saved");
        assert_eq!(cvt, loaded);
        let queries = Cvt::build(&config(200, dim, CentroidSource::Uniform)).expect("valid");
        let (mut before, mut after) = (vec![CellIdx::default(); 200], vec![CellIdx::default(); 200]);
        cvt.cells_of(queries.centroids(), &mut before);
        loaded.cells_of(queries.centroids(), &mut after);
        assert_eq!(before, after);
    }
    let config = config(10, 2, CentroidSource::k_means(10));
    let bytes = rmp_serde::to_vec_named(&config).expect("serialisable");
    assert_eq!(config, message_pack::from_slice(&bytes).expect("just saved"));
}

#[test]
fn loading_checks_what_it_reads() {
    #[derive(serde::Serialize)]
    struct Saved {
        centroids: Vec<f64>,
        measure_bounds: Vec<(f64, f64)>,
    }
    let load = |centroids: Vec<f64>, measure_bounds: Vec<(f64, f64)>| {
        let bytes = rmp_serde::to_vec_named(&Saved { centroids, measure_bounds }).expect("serialisable");
        message_pack::from_slice::<Cvt>(&bytes)
    };
    assert!(load(vec![0.1, 0.2], vec![(0.0, 1.0)]).is_ok());
    assert!(load(vec![], vec![(0.0, 1.0)]).is_err());
    assert!(load(vec![0.1], vec![]).is_err());
    assert!(load(vec![0.1, f64::NAN], vec![(0.0, 1.0)]).is_err());
    assert!(load(vec![0.1, 0.2, 0.3], vec![(0.0, 1.0); 2]).is_err());
    assert!(load(vec![0.1, 0.2], vec![(1.0, 0.0)]).is_err());
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic(position in 0..10_000_usize, value in any::<u8>(), cut in 0..10_000_usize) {
        let cvt = Cvt::build(&config(30, 2, CentroidSource::Sobol)).expect("valid");
        let mut bytes = rmp_serde::to_vec_named(&cvt).expect("serialisable");
        let position = position % bytes.len();
        bytes[position] = value;
        let damaged: Result<Cvt, _> = message_pack::from_slice(&bytes);
        if let Ok(damaged) = damaged {
            prop_assert!(damaged.cell_of(&vec![0.5; damaged.measure_dim()]) < damaged.n_cells());
        }
        prop_assert!(message_pack::from_slice::<Cvt>(&bytes[..cut % bytes.len()]).is_err());
    }
}
