"""Tensor descriptors against slices of NumPy arrays, on the reference and on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teeny as tn
import teeny.language as tl
from tests.language import described
from tests.language.described import aligned, changed
from tests.language.executors import EXECUTORS, launch, module_of

NAMES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u16": np.uint16, "bool": np.bool_, "i64": np.int64}


def leaf(name: str) -> Any:
    return getattr(tl, "bool_" if name == "bool" else name)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rank=st.sampled_from((1, 2, 3)), dtype=st.sampled_from(sorted(NAMES)))
def test_tiles_are_slices(seed: int, rank: int, dtype: str) -> None:
    for executor in EXECUTORS:
        arguments, constants, wanted, target = described.tile_arguments(seed, rank, NAMES[dtype])
        launch(described.TILES[rank], executor, arguments, constants=constants, dtypes={"D": leaf(dtype)})
        np.testing.assert_array_equal(arguments[1], wanted, executor)
        np.testing.assert_array_equal(arguments[2], target, executor)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(("j", "k"), [(0, 0), (5, -3), (-8, 30)])
def test_rows(executor: str, j: int, k: int) -> None:
    x, y = aligned((20, 36), np.float32), aligned((20, 36), np.float32)
    x[...] = np.arange(720).reshape(20, 36)
    y[...] = -1
    at = np.array([3, 19, 0, -1, 20, 5, 7, 1 << 30], np.int32)
    wanted = described.rows_moved(x, y, at, j, k, 16)
    constants = {"ROWS": 8, "COLS": 16}
    launch(described.rows, executor, [x, y, at, 20, 36, j, k], constants=constants, dtypes={"D": tl.f32})
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "u64", "f32"])
def test_sums(executor: str, dtype: str) -> None:
    kind = np.dtype({"i": "int", "u": "uint", "f": "float"}[dtype[0]] + dtype[1:])
    x, y = aligned((20, 36), kind), aligned((20, 36), kind)
    x[...] = np.arange(720).reshape(20, 36) % 50
    y[...] = 3
    wanted = y.copy()
    for i in range(3):
        for j in range(3):
            corner = (8 * i - 3, 16 * j - 5)
            changed(wanted, described.tile_of(x, corner, (8, 16), 0), (corner[0] + 2, corner[1]), np.add)
    launch(described.sums, executor, [x, y, 20, 36], (3, 3), dtypes={"N": leaf(dtype)})
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "u64"])
def test_extremes_and_bits(executor: str, dtype: str) -> None:
    kind = np.dtype(("int" if dtype[0] == "i" else "uint") + dtype[1:])
    rng = np.random.default_rng(5)
    x, y, z = (aligned((20, 36), kind) for _ in range(3))
    for one in (x, y, z):
        one[...] = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, (20, 36), kind)
    v = x[:8, :16]
    wanted, other = y.copy(), z.copy()
    changed(wanted, v, (1, 4), max)
    changed(wanted, v, (-2, -4), min)
    changed(other, v, (1, 4), np.bitwise_and)
    changed(other, v, (-2, -4), np.bitwise_or)
    changed(other, v, (6, 6), np.bitwise_xor)
    launch(described.extremes, executor, [x, y, 20, 36], dtypes={"N": leaf(dtype)})
    launch(described.bits, executor, [x, z, 20, 36], dtypes={"I": leaf(dtype)})
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(z, other)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("same", [False, True])
def test_control_flow(executor: str, flag: int, same: bool) -> None:
    x, y, out = (aligned((37, 20), np.float32) for _ in range(3))
    x[...] = np.arange(740).reshape(37, 20)
    y[...] = -x
    launch(described.chosen, executor, [x, y, out, 37, 20, flag], constants={"SAME": same}, dtypes={"F": tl.f32})
    np.testing.assert_array_equal(out, described.chosen_meaning(x, y, flag, same))


def refused(*arguments: Any, **constants: Any) -> Any:
    with pytest.raises(tn.LaunchError) as caught:
        described.plane[(1,)](*arguments, **constants)
    (found,) = caught.value.diagnostics
    return found


def test_a_launch_checks_what_gpus_need() -> None:
    x, out, y = aligned((16, 32), np.float32), aligned((8, 32), np.float32), aligned((16, 32), np.float32)
    constants = {"B": (8, 32), "PADDING": "zero"}
    for _ in range(2):  # the second time by the short way
        described.plane[(1,)](x, out, y, 16, 32, 32, 0, 0, **constants)
        found = refused(x.reshape(-1)[1:497], out, y, 15, 31, 32, 0, 0, **constants)
        assert found.code == "L006"
        assert found.message == (
            "`plane`: the address of `x` must be a multiple of 16 bytes, since a tensor descriptor starts there"
        )
        found = refused(x, out, y, 16, 31, 31, 0, 0, **constants)
        assert found.code == "L006"
        assert found.message.endswith(
            "the stride of axis 0 of the tensor descriptor of `x` must be a multiple of 16 bytes, 4 elements of f32"
        )


CASES = [
    (
        "tl.make_tensor_descriptor(x, (n, n), (n,), (8, 8))",
        "S005",
        "`strides` of `tl.make_tensor_descriptor` has 1 element",
    ),
    ("tl.make_tensor_descriptor(x, (), (), ())", "S005", "has 1 to 5 axes"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, n), (8, 8))", "S011", "is the Const 1, found a scalar"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, 2), (8, 8))", "S011", "the last stride of a descriptor is 1"),
    ("tl.make_tensor_descriptor(x, (n, n), (18, 1), (8, 8))", "S011", "no multiple of 16 bytes"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, 1), (8, 2))", "S011", "16 bytes or more"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, 1), (8, 12))", "S002", "must be a power of two"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, 1), (8, n))", "E008", "must be known at compile time"),
    ("tl.make_tensor_descriptor(x, (n, n), (n, 1), (8, 8), padding_option='')", "T010", 'is "zero" or "nan"'),
    ("tl.make_tensor_descriptor(i, (n,), (1,), (8,), 'nan')", "T001", "needs a float"),
    ("tl.make_tensor_descriptor(x, (n.to(tl.i64),), (1,), (8,))", "T010", "each a scalar of i32 or an int"),
    ("d.load((0,))", "S005", "needs 2 offsets, one an axis, found 1"),
    ("d.load((0, 1.5))", "T010", "each a scalar of i32 or an int"),
    ("d.store((0, 0), tl.zeros((4, 8), tl.f32))", "S001", "do not broadcast"),
    ("d.store((0, 0), tl.zeros((8, 8), tl.f16))", "T003", "does not convert"),
    ("tl.load(d)", "T005", "needs a pointer"),
    ("d.atomic_min((0, 0), tl.zeros((8, 8), tl.f32))", "T001", "does not take f32"),
    ("d.atomic_and((0, 0), tl.zeros((8, 8), tl.f32))", "T001", ""),
    ("d.gather(tl.arange(0, 8), 0)", "S005", "a descriptor of blocks (1, columns), found (8, 8)"),
    ("e.gather(tl.arange(0, 4), 0)", "S011", "8 rows or more, found 4"),
    ("e.gather(tl.arange(0, 8)[:, None], 0)", "S005", "rows along one axis"),
    ("e.scatter(tl.zeros((8, 8), tl.f32), tl.arange(0, 8), 0)", "S001", ""),
    ("d.order", "E001", "has no attribute `order`"),
]


@pytest.mark.parametrize(("line", "code", "said"), CASES)
def test_is_refused(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = (
        "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32], i: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:\n"
        "    d = tl.make_tensor_descriptor(x, (n, n), (n, 1), (8, 8))\n"
        "    e = tl.make_tensor_descriptor(x, (n, n), (n, 1), (1, 16))\n"
        f"    {line}\n"
    )
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    (found,) = caught.value.diagnostics
    assert (found.code, said in found.message) == (code, True), f"{found.code} {found.message}"


def test_one_of_several_that_is_asked_for_its_sizes_is_no_descriptor_to_triton() -> None:
    assert described.chosen.specialize(F=tl.f32, SAME=False).described is not None
    assert described.asked.specialize().described is None


@pytest.mark.parametrize("executor", EXECUTORS)
def test_sizes_of_one_of_several(executor: str) -> None:
    x = aligned((8, 16), np.int32)
    for flag in (0, 1):
        launch(described.asked, executor, [x, 30, 16, flag])
        assert x[0, :4].tolist() == ([30, 16, 16, 1] if flag else [16, 30, 32, 1])
