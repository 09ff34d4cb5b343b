"""Says how long it takes until something happens, and how large what one installs is.

Usage: cargo xtask bench start [--repeats 20]

Times are the least processor time of several starts, with that of the operating system, so that other processes and cold
caches count little; a first start from a cold disk takes longer.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def milliseconds(words, repeats):
    """Of the quickest of several processes."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words() if callable(words) else words, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return 1e3 * min(times)


def main():
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    program = os.environ["LUMINARY_PROGRAM"]
    with tempfile.TemporaryDirectory() as folder:
        unused = (str(number) for number in range(repeats))

        def one_iteration():
            flags = ["--domain", "lp-sphere", "--iterations", "1", "--threads", "1", "--quiet"]
            return [program, "run", *flags, "--out", str(Path(folder) / next(unused))]

        starts = {
            "`luminary --version`": [program, "--version"],
            "`luminary run` of one iteration, saved": one_iteration,
            "`python -c pass`": [sys.executable, "-c", "pass"],
            "`import numpy`": [sys.executable, "-c", "import numpy"],
            "`import luminary`": [sys.executable, "-c", "import luminary"],
            "`import ribs` with its archives, emitters and schedulers": [
                sys.executable,
                "-c",
                "import ribs.archives, ribs.emitters, ribs.schedulers",
            ],
        }
        print("| start | processor time, ms |\n|---|---:|")
        for name, words in starts.items():
            # Some of these are slow, and none needs more to be told from the others.
            print(f"| {name} | {milliseconds(words, repeats if 'ribs' not in name else 3):.0f} |", flush=True)
    library = Path(importlib.util.find_spec("luminary._native").origin)
    wheel = next((Path(__file__).resolve().parents[2] / "target" / "wheels").glob("*.whl"))
    print("\n| file | MB |\n|---|---:|")
    for name, path in {"wheel": wheel, "its library": library, "program": Path(program)}.items():
        print(f"| {name} | {path.stat().st_size / 1e6:.1f} |")


if __name__ == "__main__":
    main()
