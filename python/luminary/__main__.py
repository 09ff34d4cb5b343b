"""``python -m luminary``: configuration files of the command line on the engines of Python.

``run config.toml --engine dask --scheduler tcp://10.0.0.1:8786`` makes an ordinary run folder, which every command of the
``luminary`` program reads, and ``resume`` goes on with one, whoever made it.
"""

from __future__ import annotations

import argparse
import contextlib
import sys

from luminary._optional import needed_by
from luminary._program import create, go_on
from luminary.engines import EngineError, engine_of
from luminary.engines._run_on import over_issue_words, rows_out


def main(arguments=None):
    """Runs a command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with _engine(options) as given:
            engine = engine_of(given)
            folder = _begin(options, engine) if options.command == "run" else options.folder
            search = go_on(
                folder,
                engine,
                iterations=options.iterations if options.command == "resume" else None,
                rows_per_task=options.rows_per_task,
                in_flight=options.in_flight,
                progress=not options.quiet,
            )
    except KeyboardInterrupt:
        print("stopped and saved", file=sys.stderr)
        return 130
    except (EngineError, ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not options.quiet:
        stats = search.stats
        figures = f"{search.evaluations:,} evaluations, coverage {100 * stats.coverage:.2f} %, best {stats.obj_max}"
        print(f"{figures}; results in {folder}")
    return 0


def _begin(options, engine):
    """Makes the run folder of a configuration; returns its path."""
    n_rows_out = rows_out(engine, options.rows_per_task, options.in_flight)
    folder, over_issue = create(options.config, options.set, options.out, n_rows_out)
    if over_issue is not None and not options.quiet:
        print(over_issue_words(n_rows_out, over_issue), file=sys.stderr)
    return folder


def _parser():
    parser = argparse.ArgumentParser(prog="python -m luminary", description="Configuration files on the engines of Python.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="begins a run of a configuration file with a section [evaluator]")
    run.add_argument("config", help="the configuration file")
    run.add_argument("--out", help="the run folder; run.out of the file by default")
    run.add_argument("--set", action="append", default=[], type=_setting, metavar="KEY=VALUE", help="wins over the file")
    resume = commands.add_parser("resume", help="goes on with the run of a folder")
    resume.add_argument("folder", help="the run folder")
    resume.add_argument("--iterations", type=int, help="iterations in all, if they should be others than before")
    for command in (run, resume):
        command.add_argument("--engine", required=True, help='"dask", "ray", or a number of processes of this machine')
        command.add_argument("--scheduler", help="address of the Dask scheduler or of the Ray head")
        command.add_argument("--rows-per-task", type=_rows, default="auto", help='"auto" or a number')
        command.add_argument("--in-flight", type=int, help="tasks at the same time")
        command.add_argument("--quiet", action="store_true", help="shows nothing")
    return parser


@contextlib.contextmanager
def _engine(options):
    """What the options name, as long as it is needed."""
    if options.engine == "dask":
        with needed_by("--engine dask", "distributed"):
            from distributed import Client
        if options.scheduler is None:
            raise ValueError("--scheduler: expected the address of a Dask scheduler, found none")
        with Client(options.scheduler, timeout=30) as client:
            yield client
    elif options.engine == "ray":
        with needed_by("--engine ray", "ray"):
            import ray
        ray.init(address=options.scheduler, include_dashboard=None if options.scheduler else False, log_to_driver=False)
        try:
            yield ray
        finally:
            ray.shutdown()
    elif options.engine.isdigit():
        yield int(options.engine)
    else:
        raise ValueError(f'--engine: expected "dask", "ray" or a number of processes, found {options.engine!r}')


def _setting(text):
    key, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {text!r}")
    return key.strip(), value.strip()


def _rows(text):
    return text if text == "auto" else int(text)


if __name__ == "__main__":
    sys.exit(main())
