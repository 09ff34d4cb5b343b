"""Searches for policies that land in many ways.

    pip install "gymnasium[box2d]"
    python python/examples/lunar_lander/search.py --workers 2

The run folder is an ordinary one: `luminary show`, `plot` and `report` read it, and a run that is stopped goes on when it is
started again. render.py draws its elites. luminary.toml beside this file is the same search for the command line.
"""

import argparse
from pathlib import Path

import lander

import luminary


#: The search: 5 emitters with 30 policies each, over 50 x 50 ways to come down.
SETTINGS = {
    "solution_dim": lander.SOLUTION_DIM,
    "ranges": lander.MEASURES,
    "dims": [50, 50],
    "emitters": 5,
    "batch_size": 30,
    "sigma": 1.0,
    "min_f": lander.MIN_REWARD,
    "qd_score_offset": lander.MIN_REWARD,
}


def main():
    parser = argparse.ArgumentParser(description="Policies for LunarLander that land in many ways.")
    parser.add_argument("--algorithm", default="cma_me")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/lunar-lander"))
    given = parser.parse_args()
    result = luminary.run(
        lander.fly,
        setup=lander.make,
        engine=given.workers,
        algorithm=given.algorithm,
        iterations=given.iterations,
        seed=given.seed,
        run_folder=given.out,
        progress=True,
        **SETTINGS,
    )
    stats = result.archive.stats
    print(f"{stats.num_elites} policies, best {stats.obj_max:.2f}, QD score {stats.qd_score:,.1f}")


if __name__ == "__main__":
    main()
