"""A run that is asked and told, kept in a run folder and shown there while it goes on."""

from __future__ import annotations

from luminary._keeping import Folder, Saving
from luminary._native import NativeFolder
from luminary._run_log import Log
from luminary._serve import serve_beside

#: Iterations between lines of the metrics log.
_METRICS_EVERY = 10
#: Iterations and seconds between checkpoints.
_CHECKPOINT_EVERY = 100
_CHECKPOINT_SECONDS = 60.0


class View:
    """The folder of a :class:`luminary.Run` that is served, and the live view of it."""

    def __init__(self, search, folder):
        iterations = search._native.planned_iterations
        native = NativeFolder.create(folder, search._native, iterations, _METRICS_EVERY, _CHECKPOINT_EVERY)
        self.keeper = Folder(native, folder)
        self.log = Log(search, iterations, False, self.keeper, _METRICS_EVERY)
        self.saving = Saving(search, self.keeper, self.log, iterations, _CHECKPOINT_EVERY, _CHECKPOINT_SECONDS)
        self.server = serve_beside(folder)
        self.is_stop_requested = False
        self.iterations = search.iterations

    def after_call(self, search):
        """Something was told. Figures and checkpoints are of whole iterations; what watchers see is not."""
        if search.iterations > self.iterations:
            self.iterations = search.iterations
            self.log.note()
            self.saving.after_iteration()
        self.is_stop_requested |= self.keeper.look(search, self.log.seconds)

    def close(self, search):
        """Saves the run and writes its results; the live view ends."""
        self.keeper.finish(search, self.log.seconds, None)
        self.server.close()
