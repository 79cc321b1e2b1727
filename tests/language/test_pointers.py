"""Pointers to pointers, pointers from integers: launches, aliasing on the CPU, what the reference refuses, misuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from teeny.backends.cpu.kernel import compile_module
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import supported_levels
from teeny.backends.reference import AccessError, run
from tests.language.executors import kernel_of, module_of

MODES: list[tuple[Any, Options]] = [
    *((level, Options()) for level in supported_levels()),
    ("native", Options(width=1)),
    ("native", Options(exact=True)),
    ("native", Options(disjoint=True)),
]

GROUPED = """D = TypeVar("D", tl.f16, tl.f32, tl.i64)


@tn.kernel
def kernel(
    x_ptrs: tl.Ptr[tl.Ptr[D]], sizes: tl.Ptr[tl.i32], y_ptr: tl.Ptr[D], groups: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    for group in tl.range(tl.program_id(0), groups, tl.num_programs(0)):
        x_ptr = tl.load(x_ptrs + group)
        mask = at < tl.load(sizes + group)
        x = tl.load(x_ptr + at, mask=mask, other=0)
        tl.store(x_ptr + at, x + x, mask=mask)
        tl.store(y_ptr + group * BLOCK + at, x, mask=mask)
"""


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_arrays_of_addresses(dtype: Any, tmp_path: Path) -> None:
    """As in a grouped product: each group has an array of its own."""
    kernel = kernel_of(GROUPED, tmp_path)
    arrays = [(np.arange(n) % 50).astype(dtype) for n in (5, 64, 1, 0, 33)]
    sizes = np.array([len(a) for a in arrays], np.int32)
    for executor in ("cpu", "reference"):
        mine = [a.copy() for a in arrays]
        addresses = np.array([a.ctypes.data for a in mine], np.int64)
        y = np.full((5, 64), 99).astype(dtype)
        if executor == "cpu":
            kernel[(2,)](addresses, sizes, y, 5, BLOCK=64)
        else:
            module = kernel.specialize(D={2: "f16", 4: "f32", 8: "i64"}[y.itemsize], BLOCK=64).module
            run(module, [addresses, sizes, y, 5], (2, 1, 1), reachable=mine)
        for before, after, row in zip(arrays, mine, y, strict=True):
            assert (after == before + before).all()
            assert (row[: len(before)] == before).all()
            assert (row[len(before) :] == 99).all()


def test_pointers_are_stored_and_followed(tmp_path: Path) -> None:
    """A list of blocks: each holds the address of the next, and a value."""
    text = """@tn.kernel
def kernel(nodes: tl.Ptr[tl.Ptr[tl.Ptr[tl.i64]]], out: tl.Ptr[tl.i64]) -> None:
    node = tl.load(nodes)
    total = tl.load(out)
    while node.to(tl.int1):
        total += tl.load(node + 1).to(tl.int64)
        node = tl.load(node).to(tl.Ptr[tl.Ptr[tl.i64]])
    tl.store(out, total)
    tl.store(nodes + 1, tl.load(nodes) + 1)
"""
    kernel = kernel_of(text, tmp_path)
    for executor in ("cpu", "reference"):
        memory = np.zeros(6, np.int64)
        base = memory.ctypes.data
        memory[:] = [base + 32, 10, 0, 20, base + 16, 30]  # 0 -> 2 (bytes 32) -> 1 (bytes 16)
        nodes, out = np.array([base, 0], np.int64), np.zeros(1, np.int64)
        if executor == "cpu":
            kernel[(1,)](nodes, out)
        else:
            run(kernel.specialize().module, [nodes, out], (1, 1, 1), reachable=[memory])
        assert out[0] == 60
        assert nodes[1] == base + 8


@pytest.mark.parametrize("mode", range(len(MODES)))
def test_pointers_from_integers_may_lead_anywhere(mode: int, tmp_path: Path) -> None:
    """Loads and stores through them keep their order with those through the arguments themselves."""
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], y: tl.Ptr[tl.i32], place: tl.Ptr[tl.i64], flag: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, 64)
    z = tl.load(place).to(tl.pointer_type(tl.i32))
    w = tl.load(place + at % 2).to(tl.Ptr[tl.i32])
    a = tl.load(x + at)
    b = tl.load(z + 3 + at)
    tl.store(z + 4 + at, a + 1)
    c = tl.load(x + at)
    tl.store(x + at, b)
    d = tl.load(z + at)
    either = x + 1
    if flag > 0:
        either = z + 2
    tl.store(either + at, d + 5)
    block = tl.where(at < 32, z + at, y + at)
    e = tl.load(x + at)
    tl.store(block, tl.load(x + 1 + at) + 7)
    f = tl.load(x + at)
    moved = z + at
    for step in tl.range(0, 3):
        tl.store(moved, tl.load(x + at) + step)
        moved = moved + 2
    g = tl.load(x + at)
    tl.store(w + 1 + at, tl.load(z + at))
    tl.store(y + 64 + at, a)
    tl.store(y + 128 + at, b)
    tl.store(y + 192 + at, c)
    tl.store(y + 256 + at, d)
    tl.store(y + 320 + at, e)
    tl.store(y + 384 + at, f)
    tl.store(y + 448 + at, g)
"""
    module = kernel_of(text, tmp_path).specialize().module
    level, options = MODES[mode]
    code = compile_module(module, level, options=options)
    for flag in (0, 1):
        results: list[list[Any]] = []
        for executor in ("reference", "cpu"):
            x, y = np.arange(100, dtype=np.int32), 1000 + np.arange(512, dtype=np.int32)
            place = np.array([x.ctypes.data, y.ctypes.data], np.int64)
            if executor == "reference":
                run(module, [x, y, place, flag], (1, 1, 1))
            else:
                code.launch([x.ctypes.data, y.ctypes.data, place.ctypes.data, flag], (1, 1, 1))
            results.append([x, y])
        for found, wanted in zip(*results, strict=True):
            assert (found == wanted).all()


def test_an_address_of_no_known_array_stops_the_reference(tmp_path: Path) -> None:
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.i64], y: tl.Ptr[tl.f32]) -> None:
    at = tl.arange(0, 8)
    p = tl.load(x).to(tl.pointer_type(tl.f32))
    {line}
"""
    other = np.ones(8, np.float32)
    for line, said in (
        ("tl.store(y + at, tl.load(p + at))", "reads 4 bytes at the address"),
        ("tl.store(p + at, 1.0, mask=at > 2)", "writes 4 bytes at the address"),
        ("tl.store(y + at, tl.load(p + at - 1))", "lies in no array that this run knows"),
    ):
        module = kernel_of(text.format(line=line), tmp_path).specialize().module
        x, y = np.array([other.ctypes.data], np.int64), np.zeros(8, np.float32)
        with pytest.raises(AccessError, match=said) as caught:
            run(module, [x, y], (1, 1, 1), reachable=[other] if "- 1" in line else [])
        assert caught.value.argument == -1
        if "- 1" not in line:
            run(module, [x, y], (1, 1, 1), reachable=[other])
    locked = np.ones(8, np.float32)
    locked.flags.writeable = False
    module = kernel_of(text.format(line="tl.store(p + at, 1.0)"), tmp_path).specialize().module
    with pytest.raises(AccessError):
        run(module, [np.array([locked.ctypes.data], np.int64), np.zeros(8, np.float32)], (1, 1, 1), reachable=[locked])


def test_a_trace_follows_addresses_of_its_arguments(tmp_path: Path) -> None:
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.Ptr[tl.f32]], y: tl.Ptr[tl.f32]) -> None:
    v = tl.load(tl.load(x) + 2)
    tl.store(y, v)
"""
    kernel = kernel_of(text, tmp_path)
    y = np.arange(4, dtype=np.float32)
    found = kernel.trace(1, np.array([y.ctypes.data], np.int64), y)
    assert not found.fault
    assert found["v"].value == 2.0
    assert y[0] == 0.0


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("x == 0", "T005", "`==`"),
        ("x < i", "T005", "`<`"),
        ("x == h", "T005", "Ptr[f16]"),
        ("i - x", "T005", "`-`"),
        ("x - h", "T005", ""),
        ("x + x", "T005", ""),
        ("tl.where(i > 0, x, h)", "T005", ""),
        ("tl.where(i > 0, x, 0)", "T010", "needs a pointer for `y`"),
        ("tl.load(x).to(tl.pointer_type(tl.f32))", "T005", "made of an integer, and this is Scalar[f32]"),
        ("x.to(tl.i32)", "T005", "found the dtype i32"),
        ("x.to(tl.f32)", "T005", "i64, a u64"),
        ("tl.load(pp, mask=i > 0, other=0)", "E005", "`other`"),
        ("tl.store(pp, x)", "T005", "Ptr[f32]"),
        ("tl.store(pp, 0)", "T010", ""),
        ("tl.load(pp) * 2", "T005", "`*`"),
        ("tl.pointer_type(3)", "T010", "a pointer points at elements of a dtype"),
        ("tl.pointer_type(tl.f32, 3)", "E005", "address_space"),
        ("tl.atomic_add(pp, 1)", "T001", ""),
    ],
)
def test_wrong_uses_are_told(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = f"""@tn.kernel
def kernel(x: tl.Ptr[tl.f32], h: tl.Ptr[tl.f16], pp: tl.Ptr[tl.Ptr[tl.f16]], i: tl.Scalar[tl.i32]) -> None:
    {line}
"""
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    found = caught.value.diagnostics
    assert [one.code for one in found] == [code]
    assert said in found[0].message


def test_nothing_says_what_a_variable_behind_addresses_is(tmp_path: Path) -> None:
    text = 'D = TypeVar("D", bound=tl.Num)\n\n\n@tn.kernel\ndef kernel(x: tl.Ptr[tl.Ptr[D]]) -> None:\n    tl.load(x)\n'
    with pytest.raises(tn.KernelError, match="nothing says what D is") as caught:
        module_of(text, tmp_path)
    assert [one.code for one in caught.value.diagnostics] == ["E006"]


def test_an_array_of_addresses_is_of_i64(tmp_path: Path) -> None:
    text = "@tn.kernel\ndef kernel(x: tl.Ptr[tl.Ptr[tl.f32]]) -> None:\n    tl.store(tl.load(x), 1.0)\n"
    kernel = kernel_of(text, tmp_path)
    with pytest.raises(tn.LaunchError) as caught:
        kernel[(1,)](np.zeros(1, np.float32))
    assert caught.value.diagnostics[0].code == "L003"
    assert "i64" in str(caught.value)
