"""Random numbers, the functions of libdevice, and methods that are elementary functions."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language.extra import libdevice

F = TypeVar("F", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)


@tn.kernel
def dropout(
    x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], p: tl.Scalar[tl.f32], seed: tl.Scalar[tl.i64], n: tl.Scalar[tl.i32],
    BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at, n_rounds=7) > p
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.f32) / (1.0 - p)
    tl.store(y_ptr + at, tl.where(kept, x, 0.0).to(y_ptr.dtype), mask=at < n)


@tn.kernel
def numbers(
    offset_ptr: tl.Ptr[I], word_ptr: tl.Ptr[tl.u32], out_ptr: tl.Ptr[tl.f32], SEED: tl.Const[int], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    offset = tl.load(offset_ptr + at)
    a, b, c, d = tl.randint4x(SEED, offset)
    tl.store(word_ptr + at, a ^ b ^ c ^ d ^ tl.randint(7, offset))
    e, f, g, h = tl.randn4x(SEED, offset)
    u, v = tl.pair_uniform_to_normal(tl.uint_to_uniform_float(a), tl.rand(SEED, offset))
    tl.store(out_ptr + at, e + f + g + h + u + v + tl.randn(SEED, offset))
    k, _, _, _ = tl.philox(SEED, a, 0, b, 1)
    tl.store(word_ptr + at, k)


@tn.kernel
def functions(x_ptr: tl.Ptr[F], n_ptr: tl.Ptr[tl.i32], out_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, n = tl.load(x_ptr + at), tl.load(n_ptr + at)
    y = libdevice.tan(x) + libdevice.atan2(x, 1.0) + libdevice.hypot(x, x) + libdevice.erfc(x) + libdevice.rint(x)
    z = tl.where(libdevice.isnan(y) | libdevice.isinf(y), 0.0, tl.math.copysign(y, x)).to(tl.f32)
    z += libdevice.ldexp(z, 3) + libdevice.int_as_float(libdevice.float_as_int(z) + libdevice.popc(n))
    z += libdevice.fast_expf(z) + tl.math.fast_dividef(z, 2.0) + libdevice.llrint(x).to(tl.f32)
    z += z.abs().sqrt().floor() + z.exp().log().sin() + z.cast(tl.f16).cast(tl.f32) + z.sigmoid()
    tl.store(out_ptr + at, tl.maximum(z, 1.0, propagate_nan=tl.PropagateNan.ALL))
