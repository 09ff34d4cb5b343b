"""A process of the local pool: it gets the job first, then tasks, one at a time."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback

from luminary.engines._work import SetupError, work


def serve(pipe):
    """Evaluates tasks until the other end of the pipe is closed."""
    if hasattr(os, "setsid"):
        # A group of its own: what the evaluation starts is killed with it, and Ctrl-C is for the main process alone.
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        job = pickle.loads(pipe.recv_bytes())  # noqa: S301
        job.prepare()
    except (EOFError, OSError):
        return
    except SetupError as error:
        pipe.send(("broken", str(error)))
        os._exit(1)
    except BaseException:
        pipe.send(("broken", f"the function cannot be unpickled there:\n{traceback.format_exc()}"))
        os._exit(1)
    tasks = queue.SimpleQueue()
    # Reads on its own thread, so that the end of the main process is noticed in the middle of an evaluation.
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    pipe.send(("ready",))
    while True:
        kind, solutions, seeds = tasks.get()
        try:
            answers, seconds = work(job, kind, solutions, seeds)
            answer = ("done", answers, seconds)
        except Exception as error:
            answer = ("wrong", error)
        pipe.send(answer)


def _receive(pipe, tasks):
    try:
        while True:
            tasks.put(pipe.recv())
    except (EOFError, OSError):
        if hasattr(os, "killpg"):
            os.killpg(os.getpgid(0), signal.SIGKILL)
        os._exit(1)
