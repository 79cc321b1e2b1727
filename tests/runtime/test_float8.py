"""8-bit floats as arguments: dispatch over them, arrays of each library, scalars, and what they lack."""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.diag.errors import KernelError, LaunchError
from tests.language.rounding import DTYPES8

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "float8.py"
D = TypeVar("D", bound=tl.Dtype)
E = TypeVar("E", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
Q = TypeVar("Q", bound=tl.Float8)
NAMES = {
    "float8e4nv": "f8e4m3", "float8e5": "f8e5m2", "float8e4b8": "f8e4m3fnuz", "float8e5b16": "f8e5m2fnuz",
}  # fmt: skip


@tn.kernel
def copy(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@tn.kernel
def convert(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[E], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n).to(y_ptr.dtype), mask=at < n)


@tn.kernel
def quantise(
    x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[Q], scale_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """A row divided by its scale, which brings the largest size to 240."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0).to(tl.f32)
    scale = tl.max(tl.abs(x), axis=0) / 240.0
    tl.store(y_ptr + row * n + at, (x / scale).to(y_ptr.dtype), mask=at < n)
    tl.store(scale_ptr + row, scale)


@tn.kernel
def fill(x_ptr: tl.Ptr[Q], value: tl.Scalar[Q], BLOCK: tl.Const[int]) -> None:
    tl.store(x_ptr + tl.arange(0, BLOCK), value)


@pytest.mark.parametrize("name", DTYPES8)
def test_a_kernel_of_every_dtype_takes_them(name: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(DTYPES8[name])
    y = np.zeros(256, DTYPES8[name])
    copy[(3,)](x, y, 250, BLOCK=128)
    assert (y.view(np.uint8)[:250] == np.arange(250)).all()
    assert not y.view(np.uint8)[250:].any()
    assert name in copy.supported_dtypes["D"]


@pytest.mark.parametrize("name", DTYPES8)
def test_two_variables_are_bound_apart(name: str) -> None:
    x = np.array([0.3, -1.5, 1000.0, 1e-3, 1e9] * 5, np.float32)
    y = np.zeros(25, DTYPES8[name])
    z = np.zeros(25, np.float64)
    convert[(1,)](x, y, 25, BLOCK=32)
    convert[(1,)](y, z, 25, BLOCK=32)
    limit = float(ml_dtypes.finfo(DTYPES8[name]).max)
    wanted = np.clip(x, -limit, limit).astype(DTYPES8[name]).astype(np.float64)
    assert (z == wanted).all()


@pytest.mark.parametrize("name", DTYPES8)
@pytest.mark.parametrize("wide", [np.float16, np.float32])
def test_quantise(name: str, wide: Any) -> None:
    x = np.random.default_rng(2).standard_normal((4, 100)).astype(wide)
    y, scale = np.zeros((4, 100), DTYPES8[name]), np.zeros(4, np.float32)
    quantise[(4,)](x, y, scale, 100, BLOCK=128)
    back = y.astype(np.float32) * scale[:, None]
    step = 2.0 ** -(3 if "e4m3" in name else 2) / 2
    assert (np.abs(back - x.astype(np.float32)) <= step * np.abs(x.astype(np.float32)) + scale[:, None] * 2.0**-9).all()


def test_names_of_triton_are_the_same_classes() -> None:
    for theirs, ours in NAMES.items():
        assert getattr(tl, theirs) is getattr(tl, ours)


@pytest.mark.skipif("torch" not in {d.name for d in metadata.distributions()}, reason="needs torch")
@pytest.mark.parametrize("theirs", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_torch_tensors(theirs: str) -> None:
    import torch

    dtype = getattr(torch, theirs)
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype)
    y = torch.zeros(256, dtype=torch.uint8).view(dtype)
    copy[(2,)](x, y, 256, BLOCK=128)
    assert bool((x.view(torch.uint8) == y.view(torch.uint8)).all())


def test_scalars() -> None:
    x = np.zeros(8, DTYPES8["f8e5m2"])
    fill[(1,)](x, 0.3, BLOCK=8)
    assert (x.astype(np.float32) == 0.3125).all()
    fill[(1,)](x, float("inf"), BLOCK=8)
    assert np.isinf(x.astype(np.float32)).all()
    with pytest.raises(LaunchError) as caught:
        fill[(1,)](np.zeros(8, DTYPES8["f8e4m3"]), 1000.0, BLOCK=8)
    assert [d.code for d in caught.value.diagnostics] == ["L010"]


@tn.kernel
def reread(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[E], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at).to(y_ptr.dtype, bitcast=True))


@tn.kernel
def cut(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[E], HOW: tl.Const[str], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at).to(y_ptr.dtype, fp_downcast_rounding=HOW))


def test_the_bits_of_a_type_variable() -> None:
    """What a bitcast needs is decided where the dtypes are known."""
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.uint32)
    reread[(1,)](x, y, BLOCK=8)
    assert (y == x.view(np.uint32)).all()
    for wrong in ("f64", "bool", "f8e5m2"):
        with pytest.raises(KernelError) as caught:
            reread.specialize(D="f32", E=wrong, BLOCK=8)
        assert [d.code for d in caught.value.diagnostics] == ["T020"]


def test_roundings_that_do_not_fit() -> None:
    cut.specialize(D="f32", E="f16", HOW="rtz", BLOCK=8)
    for source, target, how in (("f32", "f16", "up"), ("f16", "f32", "rtz"), ("i32", "f16", "rtne")):
        with pytest.raises(KernelError) as caught:
            cut.specialize(D=source, E=target, HOW=how, BLOCK=8)
        assert [d.code for d in caught.value.diagnostics] == ["T020"]


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("float8_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        module.main()
    finally:
        del sys.modules[spec.name]
    first, second = capsys.readouterr().out.splitlines()
    assert "3.98 times smaller, off by 0.036" in first
    assert "off by 0.071" in second
