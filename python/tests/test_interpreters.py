"""What the extension module does in interpreters other than the ordinary one: it refuses, in words, and breaks nothing."""

import subprocess
import sys
import textwrap
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from luminary import _native

#: Runs code in a new interpreter of this process, which Python calls by three names.
IN_ANOTHER = textwrap.dedent("""
    def in_another(code):
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        id = interpreters.create()
        try:
            said = interpreters.run_string(id, code)
            return "" if said is None else str(said)
        except interpreters.RunFailedError as error:
            return str(error)
        finally:
            interpreters.destroy(id)
""")


def run(program):
    """Runs a program in a process of its own: interpreters that go wrong take it along."""
    text = IN_ANOTHER + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="sub-interpreters are CPython's")
def test_a_sub_interpreter_is_refused_and_the_main_one_goes_on():
    done = run("""
        import numpy as np
        from luminary.archives import GridArchive
        archive = GridArchive(solution_dim=2, dims=[4], ranges=[(0, 1)])
        said = in_another("import luminary._native")
        assert "ImportError" in said or "sub" in said.lower(), said
        archive.add(np.zeros((1, 2)), [1.0], [[0.5]])
        assert len(archive) == 1
        print("went on")
    """)
    assert done.returncode == 0 and "went on" in done.stdout, done.stdout + done.stderr
    assert "panicked" not in done.stderr, done.stderr


def test_the_library_is_one_that_free_threaded_interpreters_do_not_load():
    # Free-threaded builds have no stable interface, and look for no library of that name.
    name = Path(_native.__file__).name
    assert ".abi3." in name or sys.platform == "win32", name
    tags = pytest.importorskip("packaging.tags")
    of_ordinary = {str(tag) for tag in tags.cpython_tags((3, 13), abis=["cp313"], platforms=["any"])}
    of_free_threaded = {str(tag) for tag in tags.cpython_tags((3, 13), abis=["cp313t"], platforms=["any"])}
    assert "cp310-abi3-any" in of_ordinary
    assert not any("-abi3-" in tag for tag in of_free_threaded)
    is_free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    assert any(name.endswith(suffix) for suffix in EXTENSION_SUFFIXES) and not is_free_threaded
