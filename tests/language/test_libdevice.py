"""What the matrix does not say of libdevice's functions: their names, `ldexp`, and where they are found."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.triton import compile_module
from teeny.diag.errors import KernelError
from teeny.language.extra import libdevice
from tests.language.executors import EXECUTORS, launch, module_of

F = TypeVar("F", bound=tl.Float)
needs_triton = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")


@tn.kernel
def scaled(x_ptr: tl.Ptr[F], n_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, libdevice.ldexp(x, tl.load(n_ptr + at)))
    tl.store(y_ptr + BLOCK + at, libdevice.ldexp(x, -3))


@tn.kernel
def many(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    """As kernels for older versions of Triton have them, in `tl.math`."""
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    i = tl.load(i_ptr + at)
    y = tl.math.tanh(x) + tl.math.atan2(x, 2.0) + tl.math.round(x) + tl.math.fast_expf(x) + tl.math.copysign(1.0 - x, x)
    y += tl.where(tl.math.isnan(x) | tl.math.isinf(x), 0.0, libdevice.exp(x))
    y += libdevice.int_as_float(libdevice.float_as_int(x) ^ libdevice.clz(i) ^ libdevice.popc(i) ^ libdevice.ffs(i))
    y += libdevice.add_rn(libdevice.mul_rn(x, x), x) + libdevice.hypot(x, 3.0) + libdevice.erfc(x)
    tl.store(y_ptr + at, y)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_ldexp_rounds_once(dtype: str, executor: str) -> None:
    kind: Any = {"f32": np.float32, "f64": np.float64}[dtype]
    info = np.finfo(kind)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, info.max, info.tiny, info.smallest_subnormal, 1 / 3]
    exponents = [0, 1, -1, 5, -24, -149, -150, 127, 128, -1074, -1075, 1023, 2100, -2200, 2**31 - 1, -(2**31)]
    rng = np.random.default_rng(3)
    grid = np.array(np.meshgrid(special, exponents)).reshape(2, -1)
    x = np.concatenate([grid[0], np.ldexp(rng.uniform(1, 2, 512), rng.integers(-140, 120, 512))])
    n = np.concatenate([grid[1], rng.integers(-160, 160, 512)])
    x, n = np.resize(x, 1024).astype(kind), np.resize(n, 1024).astype(np.int32)
    y = np.zeros(2048, kind)
    launch(scaled, executor, [x, n, y], constants={"BLOCK": 1024}, dtypes={"F": dtype})
    with np.errstate(all="ignore"):
        wanted = np.concatenate([np.ldexp(x, n), np.ldexp(x, -3)]).astype(kind)
    bits = np.dtype(f"u{x.itemsize}")
    assert ((y.view(bits) == wanted.view(bits)) | (np.isnan(y) & np.isnan(wanted))).all()


def test_the_same_functions_in_both_modules() -> None:
    own = {"exp", "fma_rn"}
    for name in libdevice.__all__:
        if name not in own:
            assert getattr(tl.math, name) is getattr(libdevice, name), name
    assert tl.math.exp is tl.exp
    assert libdevice.exp is not tl.exp
    assert tl.extra.libdevice is libdevice


def test_kernels_that_use_many() -> None:
    x = np.linspace(-3, 3, 64, dtype=np.float32)
    i = np.arange(64, dtype=np.int32)
    found = [np.zeros(64, np.float32) for _ in EXECUTORS]
    for executor, y in zip(EXECUTORS, found, strict=True):
        launch(many, executor, [x, i, y], constants={"BLOCK": 64})
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@needs_triton
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "gfx942"])
def test_they_compile(target: str) -> None:
    made = compile_module(many.specialize(BLOCK=128).module, target)
    if target == "gfx942":
        assert b"__nv_" not in made.files["asm"]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("jn", "extending"),
        ("float2int_rn", ".to(dtype)"),
        ("add_rz", "to nearest"),
        ("scalbn", "ldexp"),
        ("sinn", "sin"),
    ],
)
def test_what_is_not_here_says_what_to_write(name: str, instead: str, tmp_path: Path) -> None:
    text = f"@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32]) -> None:\n    tl.extra.libdevice.{name}(tl.load(x))\n"
    with pytest.raises(KernelError) as caught:
        module_of(text, tmp_path)
    (found,) = caught.value.diagnostics
    assert found.code == "E002"
    assert any(instead in line for line in found.help)
