"""`tn.from_triton`: kernels of Triton as kernel objects, on numpy arrays; their checks, places and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl

import teeny as tn
from teeny.diag.errors import KernelError, LaunchError, TeenyError

HERE = Path(__file__).name


@triton.jit
def row_max(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    tl.store(out_ptr + row, tl.max(x, axis=0))


@triton.jit
def shifted(x, by):
    return x + by


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def shift(x_ptr, out_ptr, n, by, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offs)
    else:
        x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, shifted(x, by), mask=offs < n)


@triton.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, shifted(x, tl.nothing_of_this_name))


def test_numpy_arrays() -> None:
    kernel = tn.from_triton(row_max)
    x = np.abs(np.random.default_rng(0).standard_normal((5, 40), np.float32))
    out = np.empty(5, np.float32)
    kernel[(5,)](x, out, 40, BLOCK=64)
    assert np.array_equal(out, x.max(axis=1))


@pytest.mark.parametrize("n", [128, 100])
def test_autotuned_with_heuristics_and_a_grid_of_meta(n: int) -> None:
    kernel = tn.from_triton(shift)
    x, out = np.arange(n, dtype=np.int64), np.zeros(n, np.int64)
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, 7)
    assert np.array_equal(out, x + 7)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.arange(64.0), torch.empty(64)
    tn.from_triton(shift)[(2,)](x, out, 64, 0.5)
    assert torch.equal(out, x + 0.5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "uint8", "uint16", "int64"])
def test_dtypes_of_numpy(dtype: str) -> None:
    x, out = np.arange(64).astype(dtype), np.zeros(64, dtype)
    tn.from_triton(shift)[(2,)](x, out, 64, 3)
    assert np.array_equal(out, x + np.asarray(3, dtype))


def test_a_finding_stands_at_the_line_of_the_user() -> None:
    (finding,) = tn.from_triton(row_max).check(x_ptr="*fp32", out_ptr="*fp32", cols="i32", BLOCK=64)
    assert finding.code == "F002"
    assert finding.primary is not None
    assert Path(finding.primary.location.span.source.name).name == HERE
    assert finding.primary.location.span.text == "tl.max(x, axis=0)"
    assert [label.location.span.text for label in finding.labels if not label.primary] == [
        "tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)"
    ]
    assert "`x`" in finding.message
    assert "tl.max" in finding.message


if row_max is not None:

    @triton.jit
    def indented(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < cols, other=0.0)
        tl.store(out_ptr, tl.max(x, axis=0))


def test_a_finding_in_an_indented_kernel() -> None:
    (finding,) = tn.from_triton(indented).check(x_ptr="*fp32", out_ptr="*fp32", cols="i32", BLOCK=64)
    assert finding.primary is not None
    assert finding.primary.location.span.text == "tl.max(x, axis=0)"


def test_specialize_raises_what_check_finds() -> None:
    with pytest.raises(KernelError, match="F002"):
        tn.from_triton(row_max).specialize(x_ptr="*fp32", out_ptr="*fp32", cols="i32", BLOCK=64)


def test_a_specialisation_compiles_for_targets() -> None:
    kernel = tn.from_triton(shift).specialize(x_ptr="*fp32:16", out_ptr="*fp32", n=100, by="fp32")
    assert kernel.name == "shift"
    assert "llir" in tn.compile(kernel, "cpu").files
    assert ".visible .entry shift" in tn.compile(kernel, "sm_80").ptx


def test_types_by_example() -> None:
    x = np.zeros(4, np.float16)
    made = tn.from_triton(shift).specialize(x_ptr=x, out_ptr=x, n=40, by=1.5)
    assert [a.dtype for a in made.arguments] == ["f16", "f16", "i32", "f32"]


def test_what_triton_refuses_stands_at_its_line() -> None:
    (finding,) = tn.from_triton(wrong).check(x_ptr="*fp32", BLOCK=8)
    assert finding.code == "X009"
    assert "nothing_of_this_name" in finding.message
    assert finding.primary is not None
    assert finding.primary.location.span.text.startswith("tl.nothing_of_this_name")


@pytest.mark.parametrize(
    ("choices", "code", "words"),
    [
        ({"x_ptr": "*fp32", "out_ptr": "*fp32", "BLOCK": 8}, "L001", "lacks `cols`"),
        ({"x_ptr": "*fp32", "out_ptr": "*fp32", "cols": "i32"}, "L001", "lacks `BLOCK`"),
        ({"x_ptr": "*fp32", "out_ptr": "*fp32", "cols": "i32", "BLOK": 8}, "L001", "no parameter `BLOK`"),
        ({"x_ptr": object(), "out_ptr": "*fp32", "cols": "i32", "BLOCK": 8}, "L002", "`x_ptr`"),
    ],
)
def test_choices_that_do_not_fit(choices: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(LaunchError) as caught:
        tn.from_triton(row_max).specialize(**choices)
    assert caught.value.diagnostics[0].code == code
    assert words in str(caught.value)


def test_what_is_no_kernel() -> None:
    with pytest.raises(LaunchError, match=r"@triton\.jit"):
        tn.from_triton(len)


def test_a_call_without_grid() -> None:
    with pytest.raises(LaunchError, match="without a grid"):
        tn.from_triton(row_max)(np.zeros(3))


def test_the_other_driver_comes_back() -> None:
    from triton.runtime import driver

    before = driver.active
    tn.from_triton(shift)[(1,)](np.zeros(4), np.zeros(4), 4, 1)
    assert driver.active is before


@triton.jit
def early(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    if limit > 10:
        if limit > 20:
            tl.store(out_ptr + offs, x - 1, mask=offs < n)
            return
        x = x + 1
    else:
        x = x + 2
    while limit > 0:
        x += limit
        limit -= 3
    tl.store(out_ptr + offs, x, mask=offs < n)


@pytest.mark.parametrize("limit", [25, 15, 5, 0])
def test_early_returns(limit: int) -> None:
    x, out = np.arange(50, dtype=np.int32), np.zeros(50, np.int32)
    tn.from_triton(early)[(9,)](x, out, 50, limit, BLOCK=16)
    if limit > 20:
        wanted = x - 1
    else:
        wanted = x + (1 if limit > 10 else 2) + sum(range(limit, 0, -3))
    assert np.array_equal(out, wanted)


def test_errors_are_teenys_own() -> None:
    """A tensor of the wrong kind names the parameter."""
    with pytest.raises((TeenyError, TypeError)) as caught:
        tn.from_triton(row_max)[(1,)]("text", np.zeros(1), 3, BLOCK=4)
    assert "str" in str(caught.value) or "text" in str(caught.value)


@triton.jit
def masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x * 2
    tl.store(out_ptr + offs, y, mask=offs < n)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_trace_shows_undefined_lanes(library: str) -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    arrays = (x, out) if library == "numpy" else tuple(map(pytest.importorskip("torch").from_numpy, (x, out)))
    kernel = tn.from_triton(masked)
    seen = kernel.trace((2,), *arrays, 6, BLOCK=4, program=1)
    assert seen["y"].undefined.tolist() == [False, False, True, True]
    assert seen["y"].value[:2].tolist() == [8.0, 10.0]
    assert "y: f32 (4,) = [8 10 ? ?]" in str(seen)
    assert "y = x * 2" in str(seen)
    assert seen.fault == ""
    assert not out.any()


def test_trace_of_an_autotuned_kernel() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    seen = tn.from_triton(shift).trace(lambda meta: (triton.cdiv(64, meta["BLOCK"]),), x, out, 64, 1.0, program=(1,))
    assert seen["x"].value.tolist() == list(range(32, 64))


def test_trace_of_an_access_outside() -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    fault = tn.from_triton(masked).trace((2,), x, out, 8, BLOCK=4, program=1).fault
    assert HERE in fault
    assert "byte 24 of argument 0, which has the bytes 0 to 24" in fault


def test_trace_of_what_does_not_fit() -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    kernel = tn.from_triton(masked)
    for arguments, keywords, code in (
        ((x, out, 6), {}, "L001"),
        ((x, out, 6, 4, 5), {}, "L001"),
        ((x, out, 6), {"BLOCK": 4, "BLOK": 3}, "L001"),
        ((x, out, 6), {"BLOCK": 4, "x_ptr": x}, "L001"),
        ((x, (out, out), 6), {"BLOCK": 4}, "L002"),
        ((x, "text", 6), {"BLOCK": 4}, "L002"),
        ((x, out, 6), {"BLOCK": 4, "program": 9}, "L008"),
    ):
        with pytest.raises(LaunchError) as caught:
            kernel.trace((2,), *arguments, **keywords)
        assert caught.value.diagnostics[0].code == code


def test_a_read_only_array_that_is_stored_to() -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    x.flags.writeable = False
    kernel = tn.from_triton(masked)
    kernel[(2,)](x, out, 6, BLOCK=4)
    assert np.array_equal(out, x * 2)
    out.flags.writeable = False
    for launch in (kernel[(2,)], lambda *a, **k: kernel.trace((2,), *a, **k)):
        with pytest.raises(LaunchError, match="L005") as caught:
            launch(x, out, 6, BLOCK=4)
        assert "`out_ptr` is read-only" in str(caught.value)


@triton.jit
def sum_of(arrays, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(arrays[0] + offs) + tl.load(arrays[1] + offs))


def test_arrays_in_tuples() -> None:
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    tn.from_triton(sum_of)[(1,)]((x, x), out, BLOCK=8)
    assert np.array_equal(out, 2 * x)


@tl.core.extern
def unheard_of(x, _semantic=None):
    symbols = {(tl.float32,): ("__nv_unheard_off", tl.float32)}
    return tl.core.extern_elementwise("", "", [x], symbols, is_pure=True, _semantic=_semantic)


@triton.jit
def unheard(x_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, unheard_of(x))


def test_a_function_that_is_unknown_stands_at_its_line() -> None:
    with pytest.raises(TeenyError, match="__nv_unheard_off") as caught:
        tn.from_triton(unheard)[(1,)](np.zeros(8, np.float32), BLOCK=8)
    (finding,) = caught.value.diagnostics
    assert finding.code == "X006"
    assert finding.primary is not None
    assert Path(finding.primary.location.span.source.name).name == HERE
    assert "unheard_of" in finding.primary.location.span.source.line(finding.primary.location.span.line)


def test_names() -> None:
    kernel = tn.from_triton(shift)
    assert kernel.name == "shift"
    assert repr(kernel) == "<triton kernel shift>"
