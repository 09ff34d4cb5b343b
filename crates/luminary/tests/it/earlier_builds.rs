//! Files that earlier builds wrote still load, and go on as they would have there.
//!
//! The files in `tests/data` were written before strategies took partial rankings. Each holds what was saved between ask
//! and tell in six dimensions with batches of eight rows. The recorded numbers are those of the build that wrote them:
//! what is loaded is equal to them, what follows is equal up to rounding, which differs between CPUs.

use luminary::WideRng;
use luminary::problem::Problem;
use luminary::scheduler::Scheduler;
use luminary::strategy::{
    CmaConfig, Factorisation, LmMaConfig, OpenAiConfig, SepCmaConfig, Strategy, StrategyConfig, StrategyShape, Variant,
};
use luminary_domains::LinearProjection;

const DIM: usize = 6;
const BATCH_SIZE: usize = 8;

/// Ten iterations amplify rounding; this is far above what it comes to, and far below what a lost number would do.
const TOLERANCE: f64 = 1e-9;

/// A file with a strategy, and where the strategy was, after the tell that was due, and ten iterations later.
struct Recorded {
    config: StrategyConfig,
    bytes: &'static [u8],
    saved: Numbers,
    told: Numbers,
    later: Numbers,
}

/// The first and the last component of a strategy's mean, and its step size, if it has one of its own.
#[derive(Debug, PartialEq)]
struct Numbers {
    first: f64,
    last: f64,
    sigma: Option<f64>,
}

impl Numbers {
    fn new(first: f64, last: f64, sigma: Option<f64>) -> Self {
        Self { first, last, sigma }
    }

    fn of(strategy: &Strategy) -> Self {
        let mean = strategy.get().mean();
        let sigma = match strategy {
            Strategy::CmaEs(strategy) => Some(strategy.sigma()),
            Strategy::SepCmaEs(strategy) => Some(strategy.sigma()),
            Strategy::LmMaEs(strategy) => Some(strategy.sigma()),
            Strategy::OpenAiEs(_) => None,
        };
        Self::new(mean[0], mean[DIM - 1], sigma)
    }

    fn assert_near(&self, recorded: &Self, context: &str) {
        let near = |x: f64, y: f64| (x - y).abs() < TOLERANCE;
        let same_sigma = self.sigma.iter().zip(&recorded.sigma).all(|(&x, &y)| near(x, y));
        let same = near(self.first, recorded.first) && near(self.last, recorded.last) && same_sigma;
        assert!(same, "{context}: expected {recorded:?}, found {self:?}");
    }
}

fn recorded() -> Vec<Recorded> {
    let published = CmaConfig {
        variant: Variant::Published,
        factorisation: Factorisation::Eigen,
        active: true,
        ..CmaConfig::default()
    };
    vec![
        Recorded {
            config: StrategyConfig::CmaEs(CmaConfig::default()),
            bytes: include_bytes!("../data/strategy_cma.bin"),
            saved: Numbers::new(0.8821755332992738, 1.0629516994946562, Some(0.2773400715152415)),
            told: Numbers::new(0.24382390706552726, 0.43132390706552726, Some(0.2517975190138676)),
            later: Numbers::new(0.8978840113285711, 0.9863695305904632, Some(0.234874236345763)),
        },
        Recorded {
            config: StrategyConfig::CmaEs(published),
            bytes: include_bytes!("../data/strategy_cma_eigen.bin"),
            saved: Numbers::new(0.8831673832908639, 0.9737401641428849, Some(0.2795627598470759)),
            told: Numbers::new(0.24382390706552726, 0.43132390706552726, Some(0.25282952517081736)),
            later: Numbers::new(1.0096470457037094, 1.101599705730667, Some(0.5552103300679133)),
        },
        Recorded {
            config: StrategyConfig::SepCmaEs(SepCmaConfig::default()),
            bytes: include_bytes!("../data/strategy_sep_cma.bin"),
            saved: Numbers::new(0.9353156124565798, 0.9997398994522206, Some(0.2582232451271865)),
            told: Numbers::new(0.24382390706552726, 0.43132390706552726, Some(0.23043512180528344)),
            later: Numbers::new(0.8711451346945759, 1.1601185122784168, Some(0.4000845113177965)),
        },
        Recorded {
            config: StrategyConfig::LmMaEs(LmMaConfig::default()),
            bytes: include_bytes!("../data/strategy_lm_ma.bin"),
            saved: Numbers::new(0.4118002794863785, 0.9267964902927572, Some(0.5741675811231709)),
            told: Numbers::new(0.24382390706552726, 0.43132390706552726, Some(0.47132068779843633)),
            later: Numbers::new(0.8237656994825525, 0.9885394119859806, Some(0.23077658396774492)),
        },
        Recorded {
            config: StrategyConfig::OpenAiEs(OpenAiConfig::default()),
            bytes: include_bytes!("../data/strategy_open_ai.bin"),
            saved: Numbers::new(0.2513455568904503, 0.385824544670216, None),
            told: Numbers::new(0.2513639592033187, 0.39355753349114286, None),
            later: Numbers::new(0.2743658849162225, 0.4661500187152304, None),
        },
    ]
}

#[test]
fn strategies_load_without_loss_and_go_on() {
    for Recorded { config, bytes, saved, told, later } in recorded() {
        let shape = StrategyShape { dim: DIM, batch_size: BATCH_SIZE, sigma0: 0.5, bounds: None };
        let mut strategy = Strategy::new(&config, shape, &[0.0; DIM]).unwrap();
        strategy.load_bytes(bytes).unwrap();
        assert_eq!(Numbers::of(&strategy), saved, "{config:?}");
        assert!(strategy.to_bytes().unwrap() == bytes, "{config:?}: saved again it is another file");

        let rows: Vec<f64> = (0..BATCH_SIZE * DIM).map(|i| (i * 7 % 16) as f64 / 16.0).collect();
        strategy.get_mut().tell(&rows, &[2, 5, 1, 0, 7, 3, 6, 4], 3);
        Numbers::of(&strategy).assert_near(&told, &format!("{config:?} told"));
        minimise(&mut strategy, 10);
        Numbers::of(&strategy).assert_near(&later, &format!("{config:?} later"));
    }
}

/// Asks, ranks by the distance to one, with later components weighted more, and tells.
fn minimise(strategy: &mut Strategy, n_iterations: usize) {
    let mut rng = WideRng::new(9);
    let mut rows = vec![0.0; BATCH_SIZE * DIM];
    for _ in 0..n_iterations {
        strategy.get_mut().ask(&mut rng, &mut rows);
        let term = |(i, x): (usize, &f64)| (1.0 + i as f64) * (x - 1.0) * (x - 1.0);
        let costs: Vec<f64> = rows.chunks_exact(DIM).map(|row| row.iter().enumerate().map(term).sum()).collect();
        let mut ranking: Vec<usize> = (0..BATCH_SIZE).collect();
        ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        strategy.get_mut().tell(&rows, &ranking, BATCH_SIZE / 2);
    }
}

#[test]
fn a_run_of_cma_mae_loads_and_goes_on() {
    let problem = LinearProjection::sphere(DIM).unwrap();
    let mut scheduler = Scheduler::from_checkpoint(include_bytes!("../data/scheduler_cma_mae.bin")).unwrap();
    assert_eq!(scheduler.iterations(), 20);
    assert_eq!(scheduler.asked_solutions()[0], 4.535866454011893);
    assert_eq!(scheduler.archive().stats().obj_max, Some(98.79486234705516));

    let mut measures = vec![0.0; 2 * BATCH_SIZE];
    let rows = scheduler.asked_solutions().chunks_exact(DIM).zip(measures.chunks_exact_mut(2));
    let objectives: Vec<f64> = rows.map(|(solution, measures)| problem.evaluate(solution, measures)).collect();
    scheduler.tell(&objectives, &measures).unwrap();
    scheduler.run(&problem, 10).unwrap();
    let qd_score = scheduler.archive().stats().qd_score;
    // A sum of objectives of about a hundred, hence a hundred times the tolerance.
    assert!((qd_score - 385.7906397958732).abs() < 100.0 * TOLERANCE, "{qd_score}");
}
