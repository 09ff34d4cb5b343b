"""Tickets of a scheduler."""

from __future__ import annotations

from luminary._tickets import Ticket, Told, check_count, one_result
from luminary._validate import as_native


class Ticketing:
    """Rows that are handed out one by one, and told in any order. For schedulers whose parts are all native."""

    def _check_tickets(self, call):
        if not self._is_native:
            raise NotImplementedError(
                f"{call}() needs archives and emitters that the engine knows; some of this scheduler are written in "
                "Python or have fields of objects. Use ask() and tell()."
            )
        self._reconnect()

    def _tickets(self, answers):
        dtype, shape = self._archive._dtypes["solution"], self._archive._solution_shape
        return [
            Ticket(number, solution.astype(dtype, copy=False).reshape(shape), *rest)
            for number, solution, *rest in answers
        ]

    def _noted(self, answer):
        """What was said about a ticket, once the archives know that they have changed."""
        told = Told(*answer)
        if told.effect not in ("waits", "repeated"):
            self._note_changes()
        if told.effect == "completed":
            self._pending = None
        return told

    def ask_tickets(self, n):
        """Up to ``n`` solutions to evaluate, each a :class:`~luminary.Ticket`.

        Fewer when all others are out already; this is never an error and never waits. In rows order they are the next
        rows of the iteration, in completion order those of the emitter that has had the fewest so far.

        Raises:
            NotImplementedError: A part that is written in Python or has fields of objects.
        """
        self._check_tickets("ask_tickets")
        return self._tickets(self._scheduler.ask_tickets(check_count(n)))

    def tell_ticket(self, id, objective, measures, jacobian=None, **extras):
        """Takes the result of a ticket, in any order. Telling the same again changes nothing.

        Args:
            id: The ticket's number.
            objective: Its objective.
            measures: Its measures.
            jacobian: For a ticket of the kind "gradient": array (1 + measure_dim, solution_dim).
            extras: Values of extra fields.

        Returns:
            A :class:`~luminary.Told`.

        Raises:
            NotImplementedError: A part that is written in Python or has fields of objects.
            ValueError: A ticket that was never issued or was settled with another result, a wrong shape, or a value that
                is not finite. Nothing has changed then.
        """
        self._check_tickets("tell_ticket")
        archive = self._archive
        if extras.keys() != archive._extra_desc.keys():
            expected = ", ".join(archive._extra_desc) or "none"
            raise ValueError(f"expected the archive's extra fields ({expected}), found {', '.join(extras) or 'none'}")
        columns = archive._told_columns({name: [value] for name, value in extras.items()}, 1)
        result = one_result(objective, archive._told_measures(measures), jacobian, archive._dtypes)
        return self._noted(self._scheduler.tell_ticket(id, *result, columns))

    def fail(self, id, reason):
        """Says that the solution of a ticket has no value: it counts as evaluated, and nothing is learnt from it.

        Raises:
            ValueError: A ticket that was never issued or has been told.
        """
        self._check_tickets("fail")
        return self._noted(self._scheduler.fail(id, str(reason)))

    def lost(self, id):
        """Says that whoever had a ticket brings no result: it is issued again with the same number, solution and seed.

        Raises:
            ValueError: A ticket that was never issued.
        """
        self._check_tickets("lost")
        self._scheduler.lost(id)

    def outstanding(self):
        """The tickets that are out, in the order of their numbers."""
        self._check_tickets("outstanding")
        return self._tickets(self._scheduler.outstanding())

    def inject(self, solution, objective, measures, **fields):
        """Adds solutions that nobody asked for to the archives; no emitter hears of them.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives.
            measures: Their measures.
            fields: Values of extra fields.

        Returns:
            What the archive's ``add`` returns.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        # The engine's answer has what archives with thresholds report.
        is_native = self._is_native and self._archive._reported == ("value",)
        if not is_native or fields.keys() != self._archive._extra_desc.keys():
            self._check_told(solution, {"objective": objective, "measures": measures, **fields}, emitters=())
            info = self._archive.add(solution, objective, measures, **fields)
            if self._result_archive is not None:
                self._result_archive.add(solution, objective, measures, **fields)
            return info
        self._reconnect()
        archive = self._archive
        solution, objective, measures, extra = archive._checked(solution, objective, measures, fields)
        rows = as_native(solution).reshape(len(solution), -1)
        columns = archive._native_columns(extra, len(rows))
        status, value = self._scheduler.inject(rows, as_native(objective), as_native(measures), columns)
        self._note_changes()
        return {"status": status, "value": value.astype(archive._dtypes["objective"], copy=False)}

    @property
    def failures(self):
        """How many rows had no value, by cause."""
        return dict(self._scheduler.failures())
