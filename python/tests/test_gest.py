"""Promises of the generator of gest-api: exactly as many points as asked for, in any order, with libEnsemble too."""

import os

import numpy as np
import pytest
from gest_api.vocs import VOCS

import luminary
from luminary.gest import Generator

VARIABLES = {"x": [-2.0, 2.0], "y": [-2.0, 2.0], "z": [-2.0, 2.0]}
SETTINGS = {"ranges": {"m1": (-2, 2), "m2": (-2, 2)}, "dims": [10, 10], "emitters": 3, "batch_size": 8, "seed": 1}


def vocs(goal="MAXIMIZE", **more):
    return VOCS(variables=VARIABLES, objectives={"f": goal}, observables=["m1", "m2"], **more)


def evaluated(point):
    return {**point, "f": -point["x"] ** 2 - point["z"] ** 2, "m1": point["x"], "m2": point["y"]}


@pytest.mark.parametrize("algorithm", [name for name in luminary.presets() if not name.endswith(("mega", "maega"))])
def test_every_preset_suggests_exactly_as_many_as_asked_and_takes_results_in_any_order(algorithm):
    settings = SETTINGS
    generator = Generator(vocs(constants={"mass": 2.0}), algorithm=algorithm, **settings)
    waiting = []
    for n in (1, 5, 30, 30):
        points = generator.suggest(n)
        assert len(points) == n and all(set(point) == {*VARIABLES, "mass", "_id"} for point in points)
        waiting += map(evaluated, points)
        generator.ingest([waiting.pop() for _ in range(len(waiting) // 2)])
    generator.ingest(waiting[::-1])
    assert not generator.run.outstanding() and generator.run.stats.num_elites > 10
    generator.finalize()


def test_points_of_others_enter_the_archives_and_unknown_ids_are_refused():
    generator = Generator(vocs("MINIMIZE"), min_f=10, **SETTINGS)
    generator.ingest([{"x": 0.5, "y": 0.5, "z": 0.0, "f": 1.0, "m1": 0.5, "m2": 0.5}])
    assert generator.run.stats.num_elites == 1 and generator.run.result_archive.best_elite["objective"] == 1.0
    with pytest.raises(ValueError, match="ticket"):
        generator.ingest([{"x": 0, "y": 0, "z": 0, "f": 1.0, "m1": 0, "m2": 0, "_id": 77}])
    with pytest.raises(ValueError, match="at most"):
        generator.suggest(10**6)
    assert len(generator.suggest(2)) == 2


def test_problems_of_another_kind_are_refused():
    for wrong, word in [
        ({"objectives": {"f": "MAXIMIZE", "g": "MAXIMIZE"}, "observables": ["m1", "m2"]}, "one objective"),
        ({"objectives": {"f": "MAXIMIZE"}}, "observable"),
        ({"objectives": {"f": "MAXIMIZE"}, "observables": ["m1"], "constraints": {"c": ["LESS_THAN", 0]}}, "constraints"),
        ({"objectives": {"f": "MAXIMIZE"}, "observables": ["m1"]}, "ranges"),
    ]:
        with pytest.raises(ValueError, match=word):
            Generator(VOCS(variables=VARIABLES, **wrong), **SETTINGS)
    with pytest.raises(ValueError, match="gradients"):
        Generator(vocs(), algorithm="cma_mega", **SETTINGS)


def simulate(inputs):
    """A simulation of libEnsemble."""
    return {"f": -(inputs["x"] ** 2) - inputs["z"] ** 2, "m1": inputs["x"], "m2": inputs["y"]}


def test_libensemble_runs_it_with_asynchronous_returns(tmp_path, monkeypatch):
    from libensemble import Ensemble
    from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
    from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

    monkeypatch.chdir(tmp_path)
    problem = vocs()
    generator = Generator(problem, **SETTINGS)
    ensemble = Ensemble(
        libE_specs=LibeSpecs(comms="threads", nworkers=3, gen_on_manager=True, save_every_k_gens=1000, disable_log_files=True),
        gen_specs=GenSpecs(generator=generator, initial_batch_size=4, batch_size=2, vocs=problem),
        sim_specs=SimSpecs(simulator=simulate, vocs=problem),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens, user={"async_return": True}),
        exit_criteria=ExitCriteria(sim_max=60, wallclock_max=60),
    )
    history, _, flag = ensemble.run()
    assert flag == 0 and np.count_nonzero(history["sim_ended"]) >= 60
    assert generator.run.evaluations >= 40 and generator.run.stats.num_elites > 5
    assert os.getcwd() == str(tmp_path)
