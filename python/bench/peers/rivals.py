"""Who is compared, and what each can do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np

from peers import on_ribs

EVOLUTION = ("cma_mae", "cma_me", "sep_cma_me", "map_elites_line")


class Rival:
    """A library: its packages on PyPI, the methods it has, and whether it uses more than one core here."""

    def __init__(self, name, package, methods, run, is_parallel=False, strategy=None):
        self.name, self.package, self.methods = name, package, methods
        self.run, self.is_parallel, self.strategy = run, is_parallel, strategy

    def can(self, task, cores):
        """Whether there is something to measure."""
        if cores > 1 and not self.is_parallel:
            return False
        if task.method == "cma_es":
            return self.strategy is not None
        if self.name == "luminary run":
            return task.method in self.methods and task.domain is not None
        # The one that takes no centroids finds its own, in more than ten minutes for 10,000 in 20 measures.
        return task.method in self.methods and (self.name != "fcmaes-rust" or task.dims is not None)

    def version(self):
        """Of its package."""
        return version(self.package)


def _luminary(task, evaluate, cores):
    library = import_module("luminary")
    for name in ("archives", "emitters", "schedulers"):
        import_module(f"luminary.{name}")
    return on_ribs.run(library, task, evaluate, threads=cores)


def _ribs(task, evaluate, cores):
    library = import_module("ribs")
    for name in ("archives", "emitters", "schedulers"):
        import_module(f"ribs.{name}")
    return on_ribs.run(library, task, evaluate)


def _program(task, evaluate, cores):
    """The program with its own evaluation, from its start to the saved run: what a shell would wait for."""
    folder = Path(tempfile.mkdtemp()) / "run"
    size = "x".join(map(str, task.dims))
    settings = {
        "problem.domain": task.domain,
        "problem.n": task.problem.dim,
        "algorithm.preset": task.method,
        "algorithm.sigma": task.sigma,
        "algorithm.emitters": task.n_emitters,
        "algorithm.batch_size": task.batch_size,
        "archive.resolution": f'"{size}"',
        "run.iterations": task.iterations,
        "run.threads": cores,
    }
    if task.method == "cma_mae":
        settings["archive.learning_rate"] = 0.01
    flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    program = os.environ["LUMINARY_PROGRAM"]
    subprocess.run([program, "run", *flags, "--quiet", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    table = subprocess.run([program, "export", folder, "--format", "csv", "--stdout"], check=True, capture_output=True)
    shutil.rmtree(folder.parent)
    names, *rows = table.stdout.decode().splitlines()
    wanted = [i for i, name in enumerate(names.split(",")) if name == "objective" or name.startswith("measure")]
    values = np.array([[float(row.split(",")[i]) for i in wanted] for row in rows])
    return values[:, 0], values[:, 1:]


def _qdax(task, evaluate, cores):
    return import_module("peers.on_qdax").run(task)


def _fcmaes(task, evaluate, cores):
    return import_module("peers.on_fcmaes").run_cpp(task, evaluate)


def _fcmaes_rust(task, evaluate, cores):
    return import_module("peers.on_fcmaes").run_rust(task, evaluate)


def _luminary_strategy(task):
    opt = import_module("luminary.emitters.opt")
    return on_ribs.run_strategy(opt.CMAEvolutionStrategy(task.sigma, task.dim, task.batch_size, seed=1), task)


def _ribs_strategy(task):
    opt = import_module("ribs.emitters.opt")
    return on_ribs.run_strategy(opt.CMAEvolutionStrategy(task.sigma, task.dim, task.batch_size, seed=1), task)


def _pycma(task):
    cma = import_module("cma")
    options = {"popsize": task.batch_size, "seed": 1, "verbose": -9, "CMA_active": False}
    strategy = cma.CMAEvolutionStrategy(np.zeros(task.dim), task.sigma, options)
    best = np.inf
    for _ in range(task.iterations):
        solutions = strategy.ask()
        values = task.values(np.array(solutions))
        best = min(best, values.min())
        strategy.tell(solutions, values)
    return best


def _fcmaes_strategy(task):
    from fcmaes.cmaescpp import ACMA_C
    from scipy.optimize import Bounds

    box, never = np.full(task.dim, 10.0), 10**9
    strategy = ACMA_C(
        task.dim,
        Bounds(-box, box),
        np.zeros(task.dim),
        task.sigma,
        task.batch_size,
        max_evaluations=never,
        rg=np.random.default_rng(1),
        normalize=False,
    )
    return import_module("peers.on_fcmaes").run_strategy(strategy, task)


def _fcmaes_rust_strategy(task):
    from fcmaes_rust import ACMA

    box, never = np.full(task.dim, 10.0), 10**9
    strategy = ACMA(
        np.zeros(task.dim),
        -box,
        box,
        [task.sigma],
        popsize=task.batch_size,
        mu=task.batch_size // 2,
        max_evaluations=never,
        seed=1,
        normalize=False,
    )
    return import_module("peers.on_fcmaes").run_strategy(strategy, task)


RIVALS = {
    rival.name: rival
    for rival in (
        Rival("luminary", "luminary", EVOLUTION, _luminary, is_parallel=True, strategy=_luminary_strategy),
        Rival("luminary run", "luminary", ("cma_mae", "cma_me", "map_elites_line"), _program, is_parallel=True),
        Rival("pyribs", "ribs", EVOLUTION, _ribs, is_parallel=True, strategy=_ribs_strategy),
        Rival("QDax", "qdax", ("cma_me", "map_elites_line"), _qdax, is_parallel=True),
        Rival("fcmaes", "fcmaes", ("cma_me", "map_elites_line"), _fcmaes, strategy=_fcmaes_strategy),
        Rival("fcmaes-rust", "fcmaes-rust", ("cma_me", "map_elites_line"), _fcmaes_rust, strategy=_fcmaes_rust_strategy),
        Rival("pycma", "cma", (), None, strategy=_pycma),
    )
}
