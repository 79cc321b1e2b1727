"""8-bit floats through Triton's compiler: every conversion on every architecture, by instructions where it has them."""

from __future__ import annotations

from importlib import metadata
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.backends.triton import compile_module
from teeny.backends.triton.assemble import RIGHT, choose_assembler
from teeny.backends.triton.formats import fitted
from teeny.backends.triton.goal import goal
from teeny.backends.triton.wheel import load
from teeny.ir.text import parse_module, print_module

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")

F = TypeVar("F", bound=tl.Float)
Q = TypeVar("Q", bound=tl.Float8)
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "gfx942")
FORMATS = ("f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz")


@tn.kernel
def there_and_back(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[Q], z_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + at).to(y_ptr.dtype)
    tl.store(y_ptr + at, y)
    tl.store(z_ptr + at, tl.load(y_ptr + at, mask=at < 100, other=0.5).to(z_ptr.dtype))


@tn.kernel
def toward_zero(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[Q], h_ptr: tl.Ptr[tl.f16], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x.to(y_ptr.dtype, fp_downcast_rounding="rtz"))
    tl.store(h_ptr + at, x.to(tl.f16, fp_downcast_rounding="rtz"))
    tl.store(h_ptr + BLOCK + at, x.to(tl.bf16, fp_downcast_rounding="rtz").to(tl.f16, bitcast=True))


@tn.kernel
def moved(x_ptr: tl.Ptr[Q], y_ptr: tl.Ptr[Q], u_ptr: tl.Ptr[tl.u8], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tile = tl.trans(tl.reshape(tl.load(x_ptr + at), (8, BLOCK // 8)))
    tile = tl.where(tile.to(tl.f32) > 0, tile, 0.25)
    tl.store(y_ptr + tl.arange(0, BLOCK // 8)[:, None] * 8 + tl.arange(0, 8)[None, :], tile)
    tl.store(y_ptr + BLOCK + at, tl.full((BLOCK,), 2.5, y_ptr.dtype))
    tl.store(u_ptr + at, tl.load(x_ptr + at).to(tl.u8, bitcast=True))
    tl.store(y_ptr + at, tl.load(u_ptr + at).to(y_ptr.dtype, bitcast=True))


@tn.kernel
def read(x_ptr: tl.Ptr[Q], y_ptr: tl.Ptr[F]) -> None:
    tl.store(y_ptr + tl.arange(0, 256), tl.load(x_ptr + tl.arange(0, 256)).to(y_ptr.dtype))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FORMATS)
def test_conversions_compile_everywhere(name: str, target: str) -> None:
    for dtype in ("f32", "f64") if name.endswith("fnuz") else ("f16", "bf16", "f32"):
        compile_module(there_and_back.specialize(F=dtype, Q=name, BLOCK=128).module, target)


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "gfx942"])
@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2fnuz"])
def test_other_uses_compile(name: str, target: str) -> None:
    compile_module(toward_zero.specialize(Q=name, BLOCK=128).module, target)
    compile_module(moved.specialize(Q=name, BLOCK=128).module, target)


def test_the_instructions_are_used() -> None:
    def ptx(name: str, target: str) -> str:
        return compile_module(there_and_back.specialize(F="f32", Q=name, BLOCK=128).module, target).ptx

    assert "cvt.rn.satfinite.e4m3x2.f32" in ptx("f8e4m3", "sm_90")
    assert "cvt.rn.satfinite.e5m2x2.f32" in ptx("f8e5m2", "sm_90")
    assert "satfinite" not in ptx("f8e4m3", "sm_80")


def test_infinities_become_bf16_by_f32() -> None:
    """Triton's own conversion of f8e5m2 to bf16 multiplies by a power of two, and makes numbers of infinities."""
    made = compile_module(there_and_back.specialize(F="bf16", Q="f8e5m2", BLOCK=128).module, "sm_90").ptx
    assert "mul.rn.bf16x2" not in made


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_what_was_compiled_before_does_not_matter(dtype: str) -> None:
    """Triton 3.6 keeps the conversions of f8e5m2 that the first architecture has, for all that come after."""
    module = there_and_back.specialize(F=dtype, Q="f8e5m2", BLOCK=128).module
    for target in ("sm_90", "sm_80", "sm_75"):
        assert ("e5m2x2" in compile_module(module, target).ptx) == (target == "sm_90")


@tn.kernel
def twice(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[Q], z_ptr: tl.Ptr[F], ONCE: tl.Const[bool]) -> None:
    at = tl.arange(0, 2048)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + 5 + at, x.to(y_ptr.dtype))
    if ONCE:
        tl.store(z_ptr + at, x - x.to(y_ptr.dtype).to(x.dtype))
    else:
        tl.store(y_ptr + 2064 + at, x.to(y_ptr.dtype))


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2"])
def test_assemblers_that_mix_up_pairs_are_passed_by(name: str, once: bool) -> None:
    """Those of Triton 3.6: conversions that they get wrong are written out; later wheels have a right one too."""
    ptx = compile_module(twice.specialize(F="f16", Q=name, ONCE=once).module, "sm_90").ptx
    plain = metadata.version("triton").startswith("3.6.") and not once
    assert ("satfinite" in ptx) != plain
    nvidia, tools = load("knobs").nvidia, load("backends.nvidia.compiler")
    for at in (90, 100):
        with nvidia.scope():
            choose_assembler(ptx, goal(f"sm_{at}"))
            chosen = tuple(map(int, tools.get_ptxas(at).version.split(".")))
        assert plain or once or chosen >= RIGHT


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_the_form_for_old_architectures_means_the_same(dtype: str) -> None:
    module = read.specialize(F=dtype, Q="f8e5m2").module
    x = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2)
    found: list[Any] = []
    for form in (module, fitted(module, goal("sm_80"))):
        y = np.zeros(256, {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[dtype])
        run(form, [x, y], (1, 1, 1))
        found.append(y.astype(np.float32))
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0], x.astype(np.float32))


def test_the_text() -> None:
    """As Triton prints it, read again."""
    text = print_module(there_and_back.specialize(F="f32", Q="f8e5m2", BLOCK=128).module)
    assert "tt.fp_to_fp %" in text
    assert ", rounding = rtne : tensor<128xf32> -> tensor<128xf8E5M2>" in text
    assert print_module(parse_module(text)) == text
