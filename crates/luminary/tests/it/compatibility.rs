//! What version 0.1 wrote can still be read.
//!
//! The checkpoints in `tests/data` were written by version 0.1 in the middle of a round: 5 iterations of two Gaussian
//! emitters around a soft archive with a result archive beside it, over a grid, and over centroids with an extra column.
//! The figures below are what version 0.1 itself went on to.

use luminary::archive::{ArchiveStats, ColumnData};
use luminary::scheduler::{NextCall, Scheduler, Values};

const GRID: &[u8] = include_bytes!("../data/checkpoint_0_1_grid.bin");
const CVT: &[u8] = include_bytes!("../data/checkpoint_0_1_cvt.bin");

/// `10 - |x|^2` with the first two of three components for measures and their doubles for extra values.
fn tell(scheduler: &mut Scheduler) {
    let rows: Vec<&[f64]> = scheduler.asked_solutions().chunks_exact(3).collect();
    let objectives: Vec<f64> = rows.iter().map(|row| 10.0 - row.iter().map(|x| x * x).sum::<f64>()).collect();
    let measures: Vec<f64> = rows.iter().flat_map(|row| [row[0], row[1]]).collect();
    let twice: Vec<f64> = measures.iter().map(|measure| 2.0 * measure).collect();
    let twice = [ColumnData::F64(&twice)];
    let extras = if scheduler.archive().extra_columns().is_empty() { &[][..] } else { &twice };
    scheduler.tell_values(&Values::new(&objectives, &measures).with_extras(extras)).unwrap();
}

fn check(stats: ArchiveStats, n_elites: usize, qd_score: f64, obj_max: f64) {
    assert_eq!((stats.n_elites, stats.qd_score, stats.obj_max), (n_elites, qd_score, Some(obj_max)));
}

#[test]
fn checkpoints_of_version_0_1_are_restored_and_go_on_as_they_would_have() {
    for bytes in [GRID, CVT] {
        let is_grid = bytes == GRID;
        let mut scheduler = Scheduler::from_checkpoint(bytes).unwrap();
        assert_eq!((scheduler.next_call(), scheduler.iterations()), (NextCall::Tell, 5));
        if is_grid {
            check(scheduler.archive().stats(), 15, 83.60592293378137, 9.936685208545118);
            check(scheduler.result().stats(), 16, 110.61685630469015, 9.936685208545118);
        } else {
            check(scheduler.archive().stats(), 9, 65.19030721686529, 9.936685208545118);
            check(scheduler.result().stats(), 9, 72.85867803260729, 9.936685208545118);
        }
        let best = scheduler.result().best().unwrap();
        assert_eq!(best.solution, [0.009301443780766307, 0.21254875560337524, 0.1343551304935235]);
        assert_eq!(best.cell.map(|cell| cell.index()), Some(if is_grid { 10 } else { 4 }));
        for elite in scheduler.archive().elites().filter(|_| !is_grid) {
            assert_eq!(elite.extra(0), ColumnData::F64(&[2.0 * elite.solution[0], 2.0 * elite.solution[1]]));
        }
        tell(&mut scheduler);
        for _ in 0..5 {
            scheduler.ask().unwrap();
            tell(&mut scheduler);
        }
        if is_grid {
            check(scheduler.archive().stats(), 15, 100.82437692855376, 9.966839139970807);
            check(scheduler.result().stats(), 16, 124.4592253767189, 9.966839139970807);
        } else {
            check(scheduler.archive().stats(), 11, 77.94163559311696, 9.936685208545118);
            check(scheduler.result().stats(), 11, 89.30051878363996, 9.936685208545118);
        }
        let again = Scheduler::from_checkpoint(&scheduler.to_checkpoint().unwrap()).unwrap();
        assert_eq!(again.archive().stats(), scheduler.archive().stats());
    }
}
