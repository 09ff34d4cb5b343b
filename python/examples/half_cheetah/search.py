"""Searches for gaits: policies that run on both feet, on one of them, or nearly in flight.

    pip install "gymnasium[mujoco]"
    python python/examples/half_cheetah/search.py --workers 2

The run folder is an ordinary one: `luminary show`, `plot` and `report` read it, and a run that is stopped goes on when it is
started again. render.py draws its elites. luminary.toml beside this file is the same search for the command line.
"""

import argparse
from pathlib import Path

import cheetah

import luminary


def main():
    parser = argparse.ArgumentParser(description="Policies for HalfCheetah that run in many gaits.")
    parser.add_argument("--algorithm", default="cma_mae")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--emitters", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/half-cheetah"))
    given = parser.parse_args()
    result = luminary.run(
        cheetah.gallop,
        setup=cheetah.make,
        engine=given.workers,
        solution_dim=cheetah.SOLUTION_DIM,
        ranges=cheetah.MEASURES,
        dims=[30, 30],
        algorithm=given.algorithm,
        emitters=given.emitters,
        batch_size=given.batch_size,
        sigma=0.05,
        min_f=cheetah.MIN_REWARD,
        qd_score_offset=cheetah.MIN_REWARD,
        iterations=given.iterations,
        seed=given.seed,
        run_folder=given.out,
        progress=True,
    )
    stats = result.archive.stats
    print(f"{stats.num_elites} gaits, best {stats.obj_max:.2f}, QD score {stats.qd_score:,.1f}")


if __name__ == "__main__":
    main()
