"""The explicit path: compile, save, load, launch on the CPU, and every refusal by its code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def double(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    tl.require(n <= tl.num_programs(0) * BLOCK, "the grid must cover n")
    tl.extent(x_ptr, n)
    tl.extent(y_ptr, n)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=mask) * 2.0, mask=mask)


def program() -> tn.Program:
    return tn.compile(double.specialize(D=tl.f32, BLOCK=16), "cpu")


def test_a_saved_program_runs_like_the_first(tmp_path: Path) -> None:
    cpu = tn.device("cpu")
    x = np.arange(37, dtype=np.float32)
    made = program()
    made.save(tmp_path / "double.teeny")
    for one in (made, tn.Program.load(tmp_path / "double.teeny")):
        y = cpu.buffer(np.zeros(40, np.float32))
        cpu.launch(one, grid=(3,), x_ptr=x, y_ptr=y, n=37)
        assert np.array_equal(y[:37], x * 2)
        assert not y[37:].any()


def test_buffers_of_the_cpu_are_arrays() -> None:
    made = tn.device("cpu").buffer((2, 3), tl.bf16)
    assert made.shape == (2, 3)
    assert made.dtype.name == "bfloat16"
    source = np.ones(3)
    copy = tn.device("cpu").buffer(source)
    copy[0] = 5
    assert source[0] == 1


def test_a_grid_with_a_zero_runs_nothing_after_the_checks() -> None:
    y = np.full(4, 7, np.float32)
    tn.device("cpu").launch(program(), grid=0, x_ptr=y, y_ptr=y, n=0)
    assert (y == 7).all()


A = np.ones(16, np.float32)
READONLY = np.ones(16, np.float32)
READONLY.flags.writeable = False
LAUNCHES: dict[str, tuple[str, Callable[[], Any]]] = {
    "missing": ("L001", lambda: launch(x_ptr=A, y_ptr=A)),
    "surplus": ("L001", lambda: launch(x_ptr=A, y_ptr=A, n=16, z=1)),
    "kind": ("L002", lambda: launch(x_ptr=A, y_ptr=A, n=1.5)),
    "dtype": ("L003", lambda: launch(x_ptr=A.astype(np.float64), y_ptr=A, n=16)),
    "read-only": ("L005", lambda: launch(x_ptr=A, y_ptr=READONLY, n=16)),
    "require": ("L006", lambda: launch(x_ptr=A, y_ptr=A, n=17)),
    "extent": ("L007", lambda: launch(x_ptr=A[1:], y_ptr=A, n=16)),
    "grid": ("L008", lambda: launch(-1, x_ptr=A, y_ptr=A, n=16)),
    "range": ("L010", lambda: launch(x_ptr=A, y_ptr=A, n=2**31)),
    "dense": ("L012", lambda: launch(x_ptr=np.ones((4, 4), np.float32).T, y_ptr=A, n=16)),
    "other target": ("L013", lambda: tn.device("cpu").launch(_gpu(), 1, x_ptr=A, y_ptr=A, n=16)),
    "cluster": ("L014", lambda: launch(tn.LaunchConfig(1, cluster=2), x_ptr=A, y_ptr=A, n=16)),
    "array type": ("L015", lambda: launch(x_ptr=[1.0], y_ptr=A, n=1)),
    "device": ("L004", lambda: tn.device("tpu")),
    "option": ("L014", lambda: tn.compile(double.specialize(D=tl.f32, BLOCK=16), "sm_90", num_warps=3)),
    "hint": ("L014", lambda: tn.compile(double.specialize(D=tl.f32, BLOCK=16), "sm_90", hints={"q": 16})),
    "target": ("X007", lambda: tn.Target("sm_91")),
    "no PTX": ("X002", lambda: program().ptx),
}


def launch(grid: Any = 1, **arguments: Any) -> None:
    tn.device("cpu").launch(program(), grid, **arguments)


def _gpu() -> tn.Program:
    pytest.importorskip("triton", reason="no triton: code for GPUs is not compiled")
    return tn.compile(double.specialize(D=tl.f32, BLOCK=16), "sm_90")


@pytest.mark.parametrize("name", LAUNCHES)
def test_what_does_not_fit_is_refused(name: str) -> None:
    code, run = LAUNCHES[name]
    with pytest.raises(tn.TeenyError) as caught:
        run()
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_hint_that_does_not_hold_is_refused() -> None:
    from dataclasses import replace

    hinted = replace(program(), hints=(16, 0, 0))
    x = np.ones(20, np.float32)
    start = next(k for k in range(1, 5) if (x.ctypes.data + 4 * k) % 16)
    with pytest.raises(tn.LaunchError) as caught:
        tn.device("cpu").launch(hinted, 1, x_ptr=x[start:], y_ptr=x, n=8)
    assert caught.value.diagnostics[0].code == "L016"


def test_what_is_no_saved_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.teeny"
    path.write_bytes(b"no zip file")
    for one in (path, tmp_path / "missing"):
        with pytest.raises(tn.CompileError):
            tn.Program.load(one)
