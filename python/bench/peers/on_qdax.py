"""QDax: one compiled loop, in single precision, as its examples write it."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from qdax.core.containers.mapelites_repertoire import MapElitesRepertoire
from qdax.core.emitters.cma_improvement_emitter import CMAImprovementEmitter
from qdax.core.emitters.cma_pool_emitter import CMAPoolEmitter
from qdax.core.emitters.mutation_operators import isoline_variation
from qdax.core.emitters.standard_emitters import MixingEmitter
from qdax.core.map_elites import MAPElites

#: Iterations in one compiled loop; what is asked for is a multiple of it.
SCANNED = 10


def run(task):
    """Returns objectives and measures of the elites. Compiles at its first call."""
    # Only the elites' number is looked at, as a logger would.
    elites = MAPElites(_scoring(task.problem), _emitter(task), lambda repertoire: {"n": _n_elites(repertoire)})
    key, first, start = jax.random.split(jax.random.PRNGKey(1), 3)
    genotypes = task.sigma * jax.random.normal(first, (elites._emitter.batch_size, task.problem.dim))
    repertoire, state, _ = elites.init(genotypes, jnp.asarray(task.centroids), start)
    # Emitters of a pool take turns, so that an iteration of the task is one turn of each.
    n_steps = task.iterations * (task.n_emitters if task.method == "cma_me" else 1)
    carry = (repertoire, state, key)
    scan = _compiled(task, elites)
    for _ in range(n_steps // SCANNED):
        carry = scan(carry)
    repertoire = jax.block_until_ready(carry)[0]
    fitness = np.asarray(repertoire.fitnesses).reshape(-1)
    occupied = np.isfinite(fitness)
    return fitness[occupied], np.asarray(repertoire.descriptors)[occupied]


def _n_elites(repertoire):
    return jnp.sum(repertoire.fitnesses > -jnp.inf)


def _scoring(problem):
    def scoring(genotypes, key):
        return (*problem.evaluate_jax(genotypes), {})

    return scoring


def _emitter(task):
    if task.method == "cma_me":
        emitter = CMAImprovementEmitter(
            batch_size=task.batch_size,
            genotype_dim=task.problem.dim,
            centroids=jnp.asarray(task.centroids),
            sigma_g=task.sigma,
        )
        return CMAPoolEmitter(num_states=task.n_emitters, emitter=emitter)
    variation = partial(isoline_variation, iso_sigma=task.sigma, line_sigma=0.2)
    n_rows = task.n_emitters * task.batch_size
    return MixingEmitter(mutation_fn=None, variation_fn=variation, variation_percentage=1.0, batch_size=n_rows)


_SCANS = {}


def _compiled(task, elites):
    """The compiled loop of a task, once for all its lengths."""
    if task.name not in _SCANS:

        @jax.jit
        def scan(carry):
            return jax.lax.scan(elites.scan_update, carry, (), length=SCANNED)[0]

        _SCANS[task.name] = scan
    return _SCANS[task.name]
