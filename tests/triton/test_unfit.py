"""Launches of `tn.from_triton(...)` that do not fit: what is wrong with which argument, and with the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import teeny as tn
from teeny.diag.errors import LaunchError, TeenyError


@triton.jit
def plain(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0.0) + 1, mask=offs < n)


tuned = triton.autotune(configs=[triton.Config({"BLOCK": 4})], key=["n"])(plain)
X, OUT = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)

WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str, str]] = {
    "a text": (("abc", OUT, 4), {}, "L002", "`x_ptr` of `plain` does not fit"),
    "a list": ((X, [1.0], 4), {}, "L002", "`out_ptr` of `plain` does not fit"),
    "a list for a number": ((X, OUT, [4]), {}, "L002", "`n` of `plain` does not fit"),
    "a list in a tuple": ((X, OUT, (4, [4])), {}, "L002", "`n[1]` of `plain` does not fit"),
    "an object": ((X, OUT, object()), {}, "L002", "found: a object"),
    "an int too large": ((X, OUT, 1 << 64), {}, "L002", "an int of at most 64 bits"),
    "an array of complex numbers": ((X.astype(complex), OUT, 4), {}, "L002", "an array of complex128"),
    "a number for a pointer": ((3, OUT, 4), {}, "L002", "it is used as a pointer"),
    "None for a pointer": ((X, None, 4), {}, "L002", "it is used as a pointer"),
    "a tuple for a pointer": ((X, (OUT, OUT), 4), {}, "L002", "it is used as a pointer"),
    "an array for a number": ((X, OUT, X), {}, "X009", "Triton refuses `plain`"),
    "missing": ((X, OUT), {}, "L001", "`plain` lacks `n`"),
    "too many": ((X, OUT, 4, 5, 6), {}, "L001", "`plain` takes 4 arguments"),
    "unknown": ((X, OUT, 4), {"BLOK": 4}, "L001", "`plain` has no parameter `BLOK`"),
    "twice": ((X, OUT, 4), {"n": 4}, "L001", "`plain` has two values for `n`"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("autotuned", [False, True])
def test_arguments_that_do_not_fit(name: str, autotuned: bool) -> None:
    args, keywords, code, text = WRONG[name]
    kernel = tn.from_triton(tuned if autotuned else plain)
    if not autotuned:
        keywords = {"BLOCK": 4, **keywords}
    for launch in (kernel[(1,)], lambda *a, **k: kernel.trace((1,), *a, **k)):
        with pytest.raises(TeenyError) as caught:
            launch(*args, **keywords)
        assert caught.value.diagnostics[0].code == code, str(caught.value)
        assert text in str(caught.value)


def test_what_the_autotuner_chooses() -> None:
    for given in ({"BLOCK": 8}, {"num_warps": 2}):
        with pytest.raises(LaunchError, match="is chosen by the autotuner"):
            tn.from_triton(tuned)[(1,)](X, OUT, 4, **given)


def test_constants_that_a_kernel_cannot_have() -> None:
    for value in (5, "a", X):
        with pytest.raises(TeenyError, match="X009") as caught:
            tn.from_triton(plain)[(1,)](X, OUT, 4, BLOCK=value)
        assert "tl.arange(0, BLOCK)" in str(caught.value)


def test_errors_of_the_users_own_functions_stay() -> None:
    def rule(args: dict[str, Any]) -> int:
        raise KeyError("mine")

    kernel = tn.from_triton(triton.heuristics({"BLOCK": rule})(plain))
    with pytest.raises(KeyError, match="mine"):
        kernel[(1,)](X, OUT, 4)


GRIDS = [
    (-1,),
    (1, -1),
    (-1, -2),
    (-1, 0),
    (1, 1, 1, 1),
    (),
    (1.5,),
    "a",
    lambda meta: (1, 1, 1, 1),
    lambda meta: (-1,),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_grids_that_are_none(grid: Any) -> None:
    kernel = tn.from_triton(plain)
    for launch in (lambda *a, **k: kernel[grid](*a, **k), lambda *a, **k: kernel.trace(grid, *a, **k)):
        with pytest.raises(LaunchError) as caught:
            launch(X, OUT, 4, BLOCK=4)
        assert caught.value.diagnostics[0].code == "L008"


@pytest.mark.parametrize("grid", [(0,), (1, 0), (0, 3, 1), lambda meta: (0,)])
def test_with_a_zero_nothing_runs(grid: Any) -> None:
    out = np.zeros(4, np.float32)
    tn.from_triton(plain)[grid](X, out, 4, BLOCK=4)
    assert not out.any()


def test_negative_grids_of_tritons_own_launches() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.ones(4), torch.zeros(4)
    tn.triton.activate()
    for grid in ((-1,), (-1, -2), (-1, 0), (1, 1, -1)):
        with pytest.raises(LaunchError, match="L008"):
            plain[grid](x, out, 4, BLOCK=4)
    plain[(0,)](x, out, 4, BLOCK=4)
    assert not out.any()
    plain[(1,)](x, out, 4, BLOCK=4)
    assert bool((out == 2).all())


@triton.jit
def of_tuple(arrays, sizes, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    y = tl.load(arrays[0] + offs, mask=offs < sizes[0]) + tl.load(arrays[1][0] + offs) * sizes[1]
    tl.store(out_ptr + offs, y)


def test_traces_with_tuples() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    seen = tn.from_triton(of_tuple).trace((1,), (x, (x,)), (3, 2), out, BLOCK=4)
    assert str(seen["y"]) == "y: f32 (4,) = [0 3 6 ?]"
    assert not out.any()
    short = np.zeros(2, np.float32)
    assert "byte 8 of argument 1" in tn.from_triton(of_tuple).trace((1,), (x, (short,)), (3, 2), out, BLOCK=4).fault


@triton.jit
def of_descriptors(x_desc, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    x = x_desc.load([tl.program_id(0) * ROWS, 0])
    made = tl.make_tensor_descriptor(out_ptr, [8, 16], [16, 1], [ROWS, COLS])
    y = x * 2
    made.store([tl.program_id(0) * ROWS, 0], y)


def test_traces_with_descriptors() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.arange(6 * 16, dtype=torch.float32).reshape(6, 16), torch.zeros(8, 16)
    given = TensorDescriptor.from_tensor(x, [4, 16])
    seen = tn.from_triton(of_descriptors).trace((2,), given, out, ROWS=4, COLS=16, program=1)
    assert seen.fault == ""
    wanted = torch.zeros(4, 16)
    wanted[:2] = x[4:] * 2
    assert np.array_equal(seen["y"].value, wanted.numpy())
