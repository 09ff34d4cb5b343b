"""Any algorithm of Luminary as a generator of gest-api, which libEnsemble, Optimas and Xopt drive.

The variables of the VOCS are the components of a solution, its one objective is the objective, and its observables are the
measures. gest-api is young: this is written for its version 0.2.
"""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by
from luminary._search import Run

with needed_by("luminary.gest", "gest-api"):
    from gest_api import Generator as _Generator
    from gest_api.vocs import ContinuousVariable, MinimizeObjective

__all__ = ["Generator"]

#: As many rows beyond those that emitters learn from as the engine gives: whoever asks must get as many as it asks for.
_OVER_ISSUE = 16.0


class Generator(_Generator):
    """Suggests solutions, and learns from results in whatever order they come.

    Args:
        vocs: Variables with their bounds, one objective, and an observable for each measure. No constraints.
        ranges: Lower and upper bound of each observable, by name.
        algorithm: Name of a preset, "cma_mae" by default; see :func:`luminary.presets`. Those that need gradients
            are refused.
        settings: More settings, as those of :class:`luminary.Run`. The bounds of variables are bounds of solutions.

    Raises:
        ValueError: A VOCS of another kind, or settings that do not suit.

    Example:
        >>> from gest_api.vocs import VOCS
        >>> vocs = VOCS(variables={"x": [-1, 1], "y": [-1, 1]}, objectives={"f": "MAXIMIZE"}, observables=["m"])
        >>> generator = Generator(vocs, ranges={"m": (-1, 1)}, dims=[10], seed=1)
        >>> points = generator.suggest(3)
        >>> generator.ingest([{**point, "f": -point["x"] ** 2, "m": point["y"]} for point in points])
        >>> generator.run.evaluations
        3
    """

    returns_id = True

    def __init__(self, vocs, *, ranges, algorithm=None, **settings):
        super().__init__(vocs)
        self.vocs = vocs
        self._variables = list(vocs.variables)
        self._constants = {name: constant.value for name, constant in vocs.constants.items()}
        (self._objective,) = vocs.objectives
        self._measures = sorted(vocs.observables)
        if set(ranges) != set(self._measures):
            raise ValueError(f"ranges: expected bounds of {', '.join(self._measures)}, found those of {', '.join(ranges)}")
        if isinstance(vocs.objectives[self._objective], MinimizeObjective):
            settings.setdefault("goal", "minimise")
        settings.setdefault("bounds", [tuple(vocs.variables[name].domain) for name in self._variables])
        settings.setdefault("over_issue", _OVER_ISSUE)
        #: The run that is asked and told: its archives, figures and checkpoints.
        self.run = Run(
            algorithm,
            solution_dim=len(self._variables),
            ranges=[ranges[name] for name in self._measures],
            order="completion",
            **settings,
        )
        if self.run.needs_gradients:
            raise ValueError(f"algorithm: expected one that needs no gradients, found {algorithm}")

    def _validate_vocs(self, vocs):
        if len(vocs.objectives) != 1:
            raise ValueError(f"expected one objective, found {len(vocs.objectives)}")
        if not vocs.observables:
            raise ValueError("expected an observable for each measure, found none")
        if vocs.constraints:
            raise ValueError(f"expected no constraints, found {', '.join(vocs.constraints)}")
        for name, variable in vocs.variables.items():
            if not isinstance(variable, ContinuousVariable):
                raise ValueError(f"expected continuous variables, found {name} of the kind {type(variable).__name__}")

    def suggest(self, num_points=None):
        """So many points to evaluate; one if nobody says how many.

        Raises:
            ValueError: More are wanted than can be out at the same time. Those that can be had are given next time.
        """
        wanted = 1 if num_points is None else int(num_points)
        tickets = self.run.ask_tickets(wanted)
        if len(tickets) < wanted:
            for ticket in tickets:
                self.run.lost(ticket.id)
            raise ValueError(f"expected at most {len(tickets)} points, because the others are out already, found {wanted}")
        return [self._point(ticket) for ticket in tickets]

    def _point(self, ticket):
        values = dict(zip(self._variables, ticket.solution.tolist()))
        return {**values, **self._constants, "_id": ticket.id}

    def ingest(self, results):
        """Takes results. Those without an ``_id`` were not suggested here, and enter the archives only.

        Raises:
            ValueError: An ``_id`` that was never given.
        """
        for result in results:
            objective = result[self._objective]
            measures = np.array([result[name] for name in self._measures], dtype=np.float64)
            if "_id" in result:
                self.run.tell_ticket(int(result["_id"]), objective, measures)
            else:
                solution = np.array([[result[name] for name in self._variables]], dtype=np.float64)
                self.run.inject(solution, np.array([objective], dtype=np.float64), measures[None])

    def finalize(self):
        """Nothing has to be closed down."""
