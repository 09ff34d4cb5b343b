//! The commented configuration that `luminary init` writes.

/// A configuration with every setting: those that matter most are set, the others are shown with their default.
pub const TEMPLATE: &str = r##"# A run of Luminary. Check it with `luminary check`, start it with `luminary run`.
# Settings behind `#` show their default.

[problem]
domain = "lp-sphere"            # see `luminary list`
n = 100                         # components of a solution

# A program instead of a domain (see docs/external-evaluators.md): give n, the bounds of its measures, and how to start it.
# [problem]
# n = 2
# measures = [[-1.0, 1.0], [0.0, 5.0]]
# measure_names = ["speed", "height"]
# component_names = ["thigh", "shin"]  # one for each of the n components
# objective_name = "distance"
# goal = "maximise"             # or "minimise": then archive.min_f must be given, the worst objective worth keeping
# [evaluator]                   # without it, `luminary create`, `ask` and `tell` drive the run by hand
# command = ["python3", "simulate.py"]
# workers = 4
# time_limit = 60.0
# retries = 1
# on_failure = "skip"
# extras = { energy = 1 }       # further numbers of each solution, kept with the elites; how many of each name

[archive]
# kind = "grid"                 # see `luminary list`; the other kinds are below
resolution = [100, 100]         # cells along each measure; one number for all, or text like "100x100"
# cells = 10_000                # instead of a resolution: Voronoi cells of centroids, for three measures and more
# centroids = "k_means"         # of those cells; or "sobol", "uniform"
# centroid_seed = 0
learning_rate = "0.01 at 100x100" # a number, a number at a resolution, or "auto" (from cells and budget)
# min_f = 0.0                   # threshold of an empty cell: the worst objective you would accept
# qd_score_offset = 0.0         # subtracted from every objective in the QD score; default for "minimise": min_f
# update = "sequential"         # or "batch": all rows of an iteration see the same thresholds

# Other kinds of archives, instead of a grid and its learning rate. All have qd_score_offset.
# [archive]
# kind = "cvt"                  # cells around centroids; the same as `cells` without a kind
# cells = 10_000
# learning_rate = "0.01 at 100x100"
# [archive]
# kind = "categorical"          # measures are positions in these lists: 0, 1, ...; not for a domain
# categories = [["red", "blue"], ["small", "large"]]
# [archive]
# kind = "sliding_boundaries"   # not for cma_mae and cma_maega, like all that follow: there are no thresholds
# resolution = [100, 100]
# remap_frequency = 100         # rows after which the borders move
# buffer_capacity = 1000        # latest rows that the borders follow
# [archive]
# kind = "proximity"
# novelty_threshold = 0.1       # distance that a solution needs from its neighbours, in units of the measures
# neighbours = 15
# local_competition = false     # true: a better solution replaces its nearest neighbour; default for ranker "nslc": true
# threshold_decay = { rate = 0.9, batches = 1, min = 0.0 } # after so many batches without a novel row; default: none
# [archive]
# kind = "dns"
# capacity = 1000               # elites; the cost grows with their square
# neighbours = 3                # nearest fitter solutions
# [archive]
# kind = "density"              # keeps no elites: resolution, or cells, are those of the result archive
# bandwidth = 0.5               # width of the kernel, in units of the measures
# buffer_size = 10_000          # solutions that the density is computed from
# buffer_seed = 0
# resolution = [100, 100]

[algorithm]
preset = "cma_mae"              # see `luminary list`
# variant = "standard"          # or "published": the equations behind the CMA-MAE paper's tables
# sigma = 0.5                   # initial step size, or noise of the MAP-Elites variants
# emitters = 15
# batch_size = 36               # evaluations of each emitter in an iteration
# x0 = 0.0                      # where emitters start: a number or a list
# strategy = "cma_es"           # or "sep_cma_es", "lm_ma_es", "open_ai_es" for many components
# ranker = "improvement"        # default: the preset's
# selection = "mu"              # or "filter"; default: the preset's
# restart = "basic"             # or "no_improvement", "every 50"; default: the preset's
# line_sigma = 0.2              # map_elites_line: stretch towards another elite
# gradient = "ascent"           # or "adam", for cma_mega and cma_maega
# gradient_step = 1.0
# bounds = { lower = -5.12, upper = 5.12, rule = "clip" } # or "reflect", "resample"; default: none
# bandit = { active = 5, zeta = 0.05, reselect = "restarted" } # or "all"; default: none, all emitters take part

[run]
iterations = 10_000
seed = 0
# threads = 0                   # 0: all cores; results do not depend on it
# out = "runs/my-run"           # the run folder; default: a new one under runs/
# metrics_every = 10            # iterations between lines of the metrics log; default: a thousand lines
# checkpoint_seconds = 60.0
# checkpoint_iterations = 1000  # also every so many iterations; default: by time only
# figures = false               # draw heatmap and curves into the run folder at the end; see also `luminary plot`
# non_finite = "reject"         # NaN or infinity: reject the row and count it, or "fail"
# order = "completion"          # results take effect when they come; default: "rows", the same bits for any workers
# over_issue = 1.0              # with "completion": draw so many times the rows an emitter needs, and take the first
"##;

#[cfg(test)]
mod tests {
    use luminary::archive::ArchiveKind;

    use super::super::{RunConfig, Source};
    use super::TEMPLATE;

    #[test]
    fn the_template_is_valid_as_it_is_and_with_every_setting_switched_on() {
        let plain = RunConfig::read(Some(Source::new("template", TEMPLATE)), &[]).unwrap();
        assert_eq!(plain.run.iterations, 10_000);
        // A grid excludes the cells of centroids; a domain excludes a program, and a kind the others: they have blocks
        // of their own.
        let (head, rest) = TEMPLATE.split_once("# A program").unwrap();
        let (program, rest) = rest.split_once("\n\n").unwrap();
        let (archive, rest) = rest.split_once("# Other kinds").unwrap();
        let (kinds, rest) = rest.split_once("\n\n").unwrap();
        let uncommented = |text: &str, except: &str| -> String {
            let is_setting = |line: &str| line.starts_with("# ") && !line.contains(except);
            let uncomment = |line: &str| if is_setting(line) { line[2..].to_owned() } else { line.to_owned() };
            text.lines().map(|line| uncomment(line) + "\n").collect()
        };
        let domain = format!("{head}\n{}{}", uncommented(archive, "cells"), uncommented(rest, "?"));
        let full = RunConfig::read(Some(Source::new("template", &domain)), &[]).unwrap();
        assert_eq!(full.run.checkpoint_iterations, Some(1000));
        assert_eq!(full.algorithm.bandit.map(|bandit| bandit.n_active), Some(5));
        assert_eq!(full.algorithm.sigma, plain.algorithm.sigma);
        let (_, kinds) = kinds.split_once('\n').unwrap();
        let kinds = uncommented(kinds, "?");
        let blocks: Vec<_> = kinds.split("[archive]\n").skip(1).collect();
        assert_eq!(blocks.len() + 1, ArchiveKind::ALL.len(), "every kind is shown");
        for block in blocks {
            let head = "problem = { n = 3, measures = [[0, 1], [0, 1]] }\nalgorithm.preset = 'cma_me'\n";
            let config = RunConfig::read(Some(Source::new("template", &format!("{head}[archive]\n{block}"))), &[]);
            let kind = config.unwrap().archive.kind;
            assert!(block.contains(&format!("kind = {:?}", kind.name())), "{block}");
        }
        if cfg!(unix) {
            let (_, settings) = program.split_once('\n').unwrap();
            let config = RunConfig::read(Some(Source::new("template", &uncommented(settings, "?"))), &[]).unwrap();
            assert_eq!(config.problem.labels().measures, ["speed", "height"]);
            assert_eq!(config.problem.extra_columns()[0].name, "energy");
        }
    }
}
