"""Promises of the array store: it does as pyribs' does, with arrays of NumPy and of every library with the standard."""

import subprocess
import sys

import array_api_strict
import numpy as np
import pytest
import ribs.archives
from describe import describe
from store_calls import FAILS, ROWS, WORKS, filled, plain

import luminary.archives
import luminary.typing
from luminary.archives import ArrayStore

STRICT = type(array_api_strict.zeros(1))


@pytest.mark.parametrize("name", WORKS)
def test_it_does_as_pyribs(name):
    assert describe(WORKS[name](ArrayStore, np)) == describe(WORKS[name](ribs.archives.ArrayStore, np))


@pytest.mark.parametrize("name", FAILS)
def test_it_refuses_as_pyribs(name):
    for make in (ArrayStore, ribs.archives.ArrayStore):
        with pytest.raises(FAILS[name][0]):
            FAILS[name][1](make, np)


@pytest.mark.parametrize("name", WORKS)
def test_any_library_does_as_numpy(name):
    strict = plain(WORKS[name](ArrayStore, array_api_strict), STRICT)
    assert strict == plain(WORKS[name](ArrayStore, np), np.ndarray)


@pytest.mark.parametrize("name", FAILS)
def test_any_library_refuses_as_numpy(name):
    with pytest.raises(FAILS[name][0]):
        FAILS[name][1](ArrayStore, array_api_strict)


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("dtype", ["float32", "f4", np.float32, np.dtype("float32"), "the library's"])
def test_dtypes_have_many_names(xp, dtype):
    made = ArrayStore({"a": ((), xp.float32 if dtype == "the library's" else dtype)}, 3, xp=xp)
    assert made.dtypes == {"a": xp.float32} and made.dtypes_with_index == {"a": xp.float32, "index": xp.int32}
    assert made.field_desc == {"a": ((), xp.float32)} and made.data("a").dtype == xp.float32


def test_the_library_chooses_a_dtype():
    assert ArrayStore({"a": ((), None)}, 3, xp=array_api_strict).dtypes == {"a": array_api_strict.float64}


def test_arrays_live_where_the_user_says():
    device = array_api_strict.Device("device1")
    made = ArrayStore({"a": ((2,), array_api_strict.float32)}, 3, xp=array_api_strict, device=device)
    made.add([2], {"a": [[1, 2]]})
    made.resize(5)
    occupied, data = made.retrieve([2, 4])
    for array in (occupied, made.occupied, made.occupied_list, *data.values(), *next(iter(made)).values()):
        assert array.device == device


def test_what_cannot_hold_arrays():
    with pytest.raises(TypeError, match="expected a dtype that array_api_strict has, found <class 'object'>"):
        ArrayStore({"a": ((), object)}, 3, xp=array_api_strict)
    with pytest.raises(TypeError, match="xp must be an array namespace such as numpy or torch, but it is 'torch'"):
        ArrayStore({"a": ((), float)}, 3, xp="torch")
    with pytest.raises(ValueError, match="NumPy arrays live on the device 'cpu', but device is 'cuda'"):
        ArrayStore({"a": ((), float)}, 3, device="cuda")
    assert ArrayStore({"a": ((), float)}, 3, xp=np, device="cpu").dtypes == {"a": float}


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_rows_that_do_not_fit_change_nothing(xp):
    made = filled(ArrayStore, xp)
    for rows in ({**ROWS, "m": [[1, 2, 3]] * 3}, {**ROWS, "i": [[[1]]] * 3}, {**ROWS, "a": 1}):
        with pytest.raises(ValueError, match="In `data`, the array for `[mia]` has"):
            made.add([0, 1, 2], rows)
    as_before = plain(filled(ArrayStore, xp).data(), type(xp.zeros(1)))
    assert plain(made.data(), type(xp.zeros(1))) == as_before and len(made) == 2


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_what_is_returned_does_not_follow_the_store(xp):
    made = filled(ArrayStore, xp)
    data, flags = made.data("a"), made.retrieve([1, 3])[0]
    made.clear()
    made.add([1, 3, 0], ROWS)
    assert [float(each) for each in data] == [2, 3] and [bool(each) for each in flags] == [True, True]


def test_objects_of_any_shape_are_rows():
    made = ArrayStore({"o": ((), object)}, 3)
    made.add([1, 0], {"o": [{"a": 1}, [1, 2]]})
    assert made.data("o").tolist() == [[1, 2], {"a": 1}]


def test_without_array_api_compat():
    program = """
import sys
sys.modules["array_api_compat"] = None
import array_api_strict, numpy
from luminary.archives import ArrayStore
from store_calls import WORKS, plain
for name, call in WORKS.items():
    strict = plain(call(ArrayStore, array_api_strict), type(array_api_strict.zeros(1)))
    assert strict == plain(call(ArrayStore, numpy), numpy.ndarray), name
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=__file__.rpartition("/")[0])
    assert done.returncode == 0, done.stderr


def test_types_are_those_of_pyribs():
    names = set(luminary.typing.__all__)
    assert names == {name for name in dir(ribs.typing) if not name.startswith("_")} - {"annotations", "np", "Any", "torch", "cp"}
    assert luminary.typing.Array == ribs.typing.Array and luminary.typing.DType == ribs.typing.DType
    assert luminary.typing.Device == ribs.typing.Device
    assert luminary.typing.IS_TORCH_AVAILABLE == ribs.typing.IS_TORCH_AVAILABLE
    assert luminary.typing.IS_CP_AVAILABLE == ribs.typing.IS_CP_AVAILABLE
