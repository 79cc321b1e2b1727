"""Atomic operations among many programs and threads: what each found, locks, barriers, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from teeny.backends.cpu.kernel import compile_module
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import supported_levels
from teeny.backends.reference import ExecutionError, PoisonError, run
from teeny.frontend.lower import lower_concrete
from teeny.passes.polling import spinning, waits
from tests.language.executors import EXECUTORS, kernel_of, launch, module_of

MODES: list[tuple[Any, Options]] = [
    *((level, Options()) for level in supported_levels()),
    ("native", Options(width=1)),
    ("native", Options(width=4)),
    ("native", Options(exact=True)),
]


@pytest.fixture(autouse=True)
def _eight_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "8")


COUNTED = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], counts: tl.Ptr[tl.{dtype}], found: tl.Ptr[tl.{dtype}], n: tl.Scalar[tl.i32]) -> None:
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    mask = at < n
    old = tl.atomic_add(counts + tl.load(x + at, mask, other=0), 1, mask=mask, sem="relaxed")
    tl.store(found + at, old, mask=mask)
"""


@pytest.mark.parametrize("dtype", ["i32", "u64", "f16", "bf16", "f32", "f64"])
def test_each_lane_counts_once_and_finds_a_number_of_its_own(dtype: str, tmp_path: Path) -> None:
    from tests.language.rounding import DTYPES

    n = 1000 if dtype in ("f16", "bf16") else 20_000
    places = 7 if dtype != "bf16" else 61  # a bf16 counts to 256
    x = np.random.default_rng(3).integers(0, places, n).astype(np.int32)
    kernel = kernel_of(COUNTED.format(dtype=dtype), tmp_path)
    for executor in EXECUTORS:
        counts, found = np.zeros(places, DTYPES[dtype]), np.full(n, -1).astype(DTYPES[dtype])
        launch(kernel, executor, [x, counts, found, n], (-(-n // 256),))
        assert counts.astype(np.int64).tolist() == np.bincount(x, minlength=places).tolist()
        for place in range(places):
            numbers = found[x == place].astype(np.int64)
            assert sorted(numbers.tolist()) == list(range(len(numbers)))


@pytest.mark.parametrize("mode", range(len(MODES)))
def test_row_major_order_in_one_program(mode: int, tmp_path: Path) -> None:
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], sums: tl.Ptr[tl.i32], last: tl.Ptr[tl.f32], out: tl.Ptr[tl.i32]) -> None:
    rows, cols = tl.arange(0, 8)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + (rows * 16 + cols))
    old = tl.atomic_add(sums + (cols + rows) % 3 + 0 * v, v, mask=(cols < 11) & (v % 5 != 0))
    tl.store(out + (rows * 16 + cols), old, mask=(cols < 11) & (v % 5 != 0))
    before = tl.atomic_xchg(last + 0 * v, v.to(tl.f32), mask=rows < 7)
    tl.store(out + 128 + (rows * 16 + cols), before.to(tl.i32), mask=rows < 7)
"""
    module = kernel_of(text, tmp_path).specialize().module
    x = np.random.default_rng(5).integers(-99, 99, 128).astype(np.int32)

    def arrays() -> list[Any]:
        return [x.copy(), np.zeros(3, np.int32), np.full(1, 0.5, np.float32), np.full(256, -7, np.int32)]

    wanted, found = arrays(), arrays()
    run(module, wanted, (1, 1, 1))
    level, options = MODES[mode]
    compile_module(module, level, options=options).launch([a.ctypes.data for a in found], (1, 1, 1))
    for a, b in zip(wanted, found, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_store_and_loads_around_an_atomic_operation_stay_in_order(tmp_path: Path) -> None:
    """What feeds it was read before it, in every lane, and what comes later sees it."""
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], y: tl.Ptr[tl.i32]) -> None:
    at = tl.arange(0, 64)
    before = tl.load(x + at)
    tl.store(x + at, before + 1)
    tl.atomic_add(x + at + 1, tl.load(x + at))
    after = tl.load(x + at)
    tl.atomic_max(x + 63 - at, 5 * before)
    tl.store(y + at, before)
    tl.store(y + 64 + at, after)
    tl.store(y + 128 + at, tl.load(x + at))
"""
    kernel = kernel_of(text, tmp_path)
    x = np.arange(65, dtype=np.int32) % 11
    results: list[Any] = []
    for executor in EXECUTORS:
        arrays = [x.copy(), np.zeros(192, np.int32)]
        launch(kernel, executor, arrays)
        results.append(arrays)
    assert all((a == b).all() for a, b in zip(*results, strict=True))
    added = x + np.r_[np.ones(64, np.int32), 0] + np.r_[0, x[:64] + 1]
    assert (results[0][1][:64] == x[:64]).all()
    assert (results[0][1][64:128] == added[:64]).all()
    assert (results[0][1][128:] == np.maximum(added[:64], 5 * x[:64][::-1])).all()


LOCKED = """@tn.kernel
def kernel(locks: tl.Ptr[tl.i32], x: tl.Ptr[tl.f32], sums: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    pid = tl.program_id(0)
    cols = tl.arange(0, 64)
    mask = cols < n
    partial = tl.load(x + pid * 64 + cols, mask=mask, other=0.0)
    lock = locks + pid % 4
    count = locks + 4 + pid % 4
    while {condition}:
        pass
    rows = sums + (pid % 4) * 64 + cols
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        partial += tl.load(rows, mask=mask, other=0.0)
    tl.store(rows, partial, mask=mask)
    tl.atomic_xchg(lock, 0)
"""


@pytest.mark.parametrize("condition", ["tl.atomic_cas(lock, 0, 1) == 1", "tl.atomic_xchg(lock, 1) != 0"])
def test_locks_work_with_any_number_of_programs(condition: str, tmp_path: Path) -> None:
    """As the backward pass of a layer norm adds up its weights' gradients."""
    kernel = kernel_of(LOCKED.format(condition=condition), tmp_path)
    function = kernel.specialize().module.kernel
    assert len(spinning(function)) == 1
    assert not waits(function)
    for executor, programs in (("reference", 40), ("cpu", 5000)):
        x = np.random.default_rng(1).integers(-3, 4, (programs, 64)).astype(np.float32)
        locks, sums = np.zeros(8, np.int32), np.full((4, 64), 9, np.float32)
        launch(kernel, executor, [locks, x, sums, 50], (programs,))
        wanted = np.stack([x[k::4].sum(0) for k in range(4)])
        wanted[:, 50:] = 9
        assert (sums == wanted).all()
        assert locks.tolist() == [0] * 4 + [1] * 4


MET = """@tn.kernel
def kernel(arrived: tl.Ptr[tl.i32], x: tl.Ptr[tl.i32], y: tl.Ptr[tl.i32]) -> None:
    pid, programs = tl.program_id(0), tl.num_programs(0)
    for step in tl.range(0, 3):
        tl.store(x + pid, pid + step)
        tl.atomic_add(arrived, 1)
        while {condition}:
            pass
        tl.store(y + step * programs + pid, tl.load(x + programs - 1 - pid))
        tl.atomic_add(arrived, 1)
        while tl.atomic_add(arrived, 0) < (2 * step + 2) * programs:
            pass
"""


@pytest.mark.parametrize(
    "condition",
    [
        "tl.atomic_add(arrived, 0) < (2 * step + 1) * programs",
        "tl.atomic_load(arrived) < (2 * step + 1) * programs",
        "tl.atomic_or(arrived, 0) < (2 * step + 1) * programs",
    ],
)
def test_programs_that_wait_for_all_others_run_side_by_side(condition: str, tmp_path: Path) -> None:
    kernel = kernel_of(MET.format(condition=condition), tmp_path)
    assert waits(kernel.specialize().module.kernel)
    for executor, programs in (("reference", 5), ("cpu", 1), ("cpu", 3), ("cpu", 150)):
        arrived, x, y = np.zeros(1, np.int32), np.zeros(programs, np.int32), np.zeros((3, programs), np.int32)
        launch(kernel, executor, [arrived, x, y], (programs,))
        assert (y == np.arange(programs)[::-1] + np.arange(3)[:, None]).all()


def test_more_programs_than_threads_cannot_wait(tmp_path: Path) -> None:
    kernel = kernel_of(MET.format(condition="tl.atomic_add(arrived, 0) < programs"), tmp_path)
    arrays = [np.zeros(1, np.int32), np.zeros(1025, np.int32), np.zeros(3 * 1025, np.int32)]
    with pytest.raises(tn.LaunchError, match="L018"):
        launch(kernel, "cpu", arrays, (1025,))
    assert not arrays[0].any()


def test_a_wait_in_vain_ends_on_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teeny.backends.reference.control.PATIENCE", 50)
    text = "@tn.kernel\ndef kernel(p: tl.Ptr[tl.i32]) -> None:\n    while tl.atomic_add(p, 0) == 0:\n        pass\n"
    module = kernel_of(text, tmp_path).specialize().module
    for grid in ((1, 1, 1), (3, 1, 1)):
        with pytest.raises(ExecutionError, match="has not come in 50 turns"):
            run(module, [np.zeros(1, np.int32)], grid)


def test_a_chain_of_flags(tmp_path: Path) -> None:
    """Each program waits for the one after it."""
    text = """@tn.kernel
def kernel(flags: tl.Ptr[tl.i32], x: tl.Ptr[tl.f32]) -> None:
    pid = tl.program_id(0)
    if pid + 1 < tl.num_programs(0):
        tl.atomic_poll(flags + pid + 1, 1)
    at = tl.arange(0, 16)
    tl.store(x + pid * 16 + at, 2.0 * tl.load(x + pid * 16 + 16 + at))
    tl.atomic_store(flags + pid, 1)
"""
    kernel = kernel_of(text, tmp_path)
    for executor in EXECUTORS:
        flags, x = np.zeros(20, np.int32), np.ones((21, 16), np.float32)
        launch(kernel, executor, [flags, x], (20,))
        assert (x == 2.0 ** np.arange(20, -1, -1)[:, None]).all()
        assert (flags == 1).all()


@pytest.mark.parametrize(
    ("condition", "waiting"),
    [
        ("tl.atomic_cas(p, 0, 1) != 0", False),
        ("tl.atomic_cas(p, 1, 1) != 1", True),
        ("tl.atomic_xchg(p, 1) == 1", False),
        ("tl.atomic_xchg(p, 0) == 0", True),
        ("tl.atomic_add(p, 1) < n", False),
        ("tl.atomic_max(p, 0) < n", True),
        ("tl.load(p) < n", None),
    ],
)
def test_which_loops_wait(condition: str, waiting: bool | None, tmp_path: Path) -> None:
    text = f"""@tn.kernel
def kernel(p: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    go = {condition}
    while go:
        go = {condition}
"""
    function = kernel_of(text, tmp_path).specialize().module.kernel
    assert bool(spinning(function)) == (waiting is not None)
    assert waits(function) == bool(waiting)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ('tl.atomic_add(p, 1, sem="seq_cst")', "E005", "'acquire', 'release', 'acq_rel', 'relaxed'"),
        ('tl.atomic_cas(p, 0, 1, scope="block")', "E005", "'gpu', 'cta', 'sys'"),
        ('tl.atomic_load(p, sem="release")', "E005", "'acquire', 'relaxed'"),
        ('tl.atomic_store(p, 1, sem="acquire")', "E005", "'release', 'relaxed'"),
        ("tl.atomic_poll(p, 1, timeout_ns=-1)", "E005", "0 or more"),
        ("tl.atomic_add(p, at)", "S006", "rank 1"),
        ("tl.atomic_add(p, 1, mask=at < 3)", "S006", "the mask is a block"),
        ("tl.atomic_add(p, 0.5)", "T006", "0.5"),
        ("tl.atomic_add(p + at, at, mask=at)", "T004", "mask"),
        ("tl.atomic_xchg(p, at > 2)", "T003", "atomic_xchg"),
        ("tl.atomic_add(p, 2**40)", "T006", "does not fit i32"),
        ("tl.atomic_and(f, 1)", "T001", "atomic_and"),
        ("tl.atomic_max(h, 1)", "T001", "atomic_max"),
        ("tl.atomic_add(b, 1)", "T001", "atomic_add"),
        ("tl.atomic_add(at, 1)", "T005", "pointer"),
    ],
)
def test_wrong_uses_are_told(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = f"""@tn.kernel
def kernel(p: tl.Ptr[tl.i32], f: tl.Ptr[tl.f32], h: tl.Ptr[tl.f16], b: tl.Ptr[tl.i8]) -> None:
    at = tl.arange(0, 8)
    {line}
"""
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    found = caught.value.diagnostics
    assert [one.code for one in found] == [code]
    assert said in str(caught.value)


def test_a_comparison_with_an_undefined_value_stops_the_reference(tmp_path: Path) -> None:
    text = """@tn.kernel
def kernel(p: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, 8)
    x = tl.atomic_add(p + at, 1, mask=at < n)
    tl.atomic_cas(p + at, x, 3)
"""
    with pytest.warns(UserWarning, match="F004"):
        kernel = kernel_of(text, tmp_path)
    with pytest.raises(tn.KernelError, match="F004"):
        kernel.specialize()
    with pytest.raises(PoisonError):
        run(lower_concrete(kernel.definition, {}, {}), [np.zeros(8, np.int32), 3], (1, 1, 1))
