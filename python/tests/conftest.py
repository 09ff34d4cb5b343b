"""Shared problems and archives."""

import os
import subprocess

# pyribs, which some tests compare with, would spend minutes on compiling functions that are called once.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import numpy as np
import pytest

from luminary.archives import CVTArchive, GridArchive  # noqa: E402


def sphere(solutions):
    """Prefers 0.5 everywhere; the measures are the first two components."""
    return 100 - np.sum(np.square(solutions - 0.5), axis=1), solutions[:, :2]


def sphere_jacobian(solutions):
    """Objective, measures and gradients of the sphere."""
    objective, measures = sphere(solutions)
    jacobian = np.zeros((len(solutions), 3, solutions.shape[1]))
    jacobian[:, 0] = -2 * (solutions - 0.5)
    jacobian[:, 1, 0] = jacobian[:, 2, 1] = 1
    return objective, measures, jacobian


def make_archive(kind="grid", **settings):
    """A small archive over [-1, 1] x [-2, 2]."""
    settings = {"solution_dim": 3, "ranges": [(-1, 1), (-2, 2)], "seed": 1, **settings}
    if kind == "grid":
        return GridArchive(**{"dims": [10, 20], **settings})
    return CVTArchive(**{"centroids": 30, "samples": 500, **settings})


def luminary_program(*arguments, folder=None):
    """Runs the program, which `cargo xtask test python` builds and names; returns what it printed."""
    program = os.environ.get("LUMINARY_PROGRAM")
    if program is None:
        pytest.fail("expected the path of the luminary program in LUMINARY_PROGRAM; `cargo xtask test python` sets it")
    return subprocess.run([program, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture(params=["grid", "cvt"])
def kind(request):
    """Each kind of archive."""
    return request.param
