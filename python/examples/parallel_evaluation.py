"""Evaluation in several processes, failing now and then, with checkpoints: stop it with Ctrl-C and start it again.

Usage: python parallel_evaluation.py [iterations [checkpoint]]
"""

import sys

import numpy as np

import luminary


def simulate(angles):
    """One slow evaluation; it fails for some solutions, as simulators do."""
    if angles[0] > 2.5:
        raise RuntimeError("the first joint broke")
    directions = np.cumsum(angles)
    hand = np.array([np.cos(directions).sum(), np.sin(directions).sum()]) / len(angles)
    return -np.std(angles), hand


def main(iterations=30, checkpoint=None):
    """Runs and prints what was found."""
    result = luminary.run(
        simulate,
        engine=2,
        algorithm="cma_mae",
        solution_dim=12,
        ranges=[(-1, 1), (-1, 1)],
        dims=[50, 50],
        threshold_min=-4.0,
        n_emitters=3,
        iterations=iterations,
        checkpoint=checkpoint,
        progress=sys.stderr.isatty(),
    )
    print(f"coverage {100 * result.archive.stats.coverage:.1f} %, {result.run.invalid} evaluations failed")
    return result.archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
