"""Elementwise kernels: rotary embedding, gated activations, quantisation, dropout, an optimiser's step."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)


@tn.kernel
def rotary(
    x_ptr: tl.Ptr[D], cos_ptr: tl.Ptr[tl.f32], sin_ptr: tl.Ptr[tl.f32], positions: tl.Ptr[tl.i64] | None,
    heads: tl.Scalar[tl.i32], HALF: tl.Const[int], BACKWARD: tl.Const[bool] = False,
) -> None:  # fmt: skip
    """Halves of each head of a token are turned, in place; (token, head) of the grid."""
    token, head = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, HALF)
    position = token.to(tl.int64)
    if positions is not None:
        position = tl.load(positions + token)
    cos = tl.load(cos_ptr + position * HALF + d)
    sin = tl.load(sin_ptr + position * HALF + d)
    if BACKWARD:
        sin = -sin
    base = x_ptr + (token * heads + head) * 2 * HALF
    a = tl.load(base + d).to(tl.f32)
    b = tl.load(base + HALF + d).to(tl.f32)
    tl.store(base + d, (a * cos - b * sin).to(x_ptr.dtype))
    tl.store(base + HALF + d, (b * cos + a * sin).to(x_ptr.dtype))


@tn.kernel
def rotary_interleaved(x_ptr: tl.Ptr[D], cos_ptr: tl.Ptr[tl.f32], sin_ptr: tl.Ptr[tl.f32], HALF: tl.Const[int]) -> None:
    """Neighbours are turned: pairs are split and joined."""
    token = tl.program_id(0)
    d = tl.arange(0, HALF)
    at = x_ptr + token * 2 * HALF + tl.arange(0, 2 * HALF)
    pairs = tl.reshape(tl.load(at).to(tl.f32), (HALF, 2))
    a, b = tl.split(pairs)
    cos, sin = tl.load(cos_ptr + token * HALF + d), tl.load(sin_ptr + token * HALF + d)
    turned = tl.join(a * cos - b * sin, a * sin + b * cos)
    tl.store(at, tl.reshape(turned, (2 * HALF,)).to(x_ptr.dtype))


def silu(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    """x sigmoid(x)."""
    return x * tl.sigmoid(x)


@tn.kernel
def swiglu(
    gate_ptr: tl.Ptr[D], up_ptr: tl.Ptr[D], out_ptr: tl.Ptr[D], count: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """silu(gate) * up."""
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask, other=0)
    tl.store(out_ptr + offsets, silu(gate).to(up.dtype) * up, mask=mask)


@tn.kernel
def swiglu_backward(
    dout_ptr: tl.Ptr[D], gate_ptr: tl.Ptr[D], up_ptr: tl.Ptr[D], count: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """The gradients replace gate and up."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    dout = tl.load(dout_ptr + at, mask=mask, other=0).to(tl.f32)
    gate = tl.load(gate_ptr + at, mask=mask, other=0).to(tl.f32)
    up = tl.load(up_ptr + at, mask=mask, other=0).to(tl.f32)
    s = tl.sigmoid(gate)
    tl.store(up_ptr + at, (dout * gate * s).to(up_ptr.dtype), mask=mask)
    tl.store(gate_ptr + at, (dout * up * s * (1 + gate * (1 - s))).to(gate_ptr.dtype), mask=mask)


@tn.kernel
def geglu(
    x_ptr: tl.Ptr[D], out_ptr: tl.Ptr[D], cols: tl.Scalar[tl.i32], APPROXIMATE: tl.Const[bool], BLOCK: tl.Const[int]
) -> None:
    """Rows of 2 cols elements: gelu of the first half times the second."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    a = tl.load(x_ptr + row * cols * 2 + c, mask=mask).to(tl.f32)
    b = tl.load(x_ptr + row * cols * 2 + cols + c, mask=mask).to(tl.f32)
    if APPROXIMATE:
        inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
        g = 0.5 * a * (1 + tl.math.tanh(inner))
    else:
        g = 0.5 * a * (1 + tl.math.erf(a * 0.7071067811865476))
    tl.store(out_ptr + row * cols + c, (g * b).to(out_ptr.dtype), mask=mask)


@tn.kernel
def quantize_rows(
    x_ptr: tl.Ptr[D], q_ptr: tl.Ptr[tl.i8], scale_ptr: tl.Ptr[tl.f32], cols: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """int8 with a scale a row; halves away from zero."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=mask, other=0.0).to(tl.float32)
    top = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(top / 127, 1e-10)
    scaled = x / scale
    q = tl.where(scaled >= 0, scaled + 0.5, scaled - 0.5).to(tl.int8)
    tl.store(scale_ptr + row, scale)
    tl.store(q_ptr + row * cols + c, q, mask=mask)


@tn.kernel
def quantize_fp8(
    x_ptr: tl.Ptr[D], q_ptr: tl.Ptr[tl.float8e4nv], scale_ptr: tl.Ptr[tl.f32], cols: tl.Scalar[tl.i32],
    GROUP: tl.Const[int], LIMIT: tl.Const[float] = 448.0,
) -> None:  # fmt: skip
    """A scale for each group of GROUP elements of a row."""
    row, group = tl.program_id(0), tl.program_id(1)
    at = row.to(tl.int64) * cols + group * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + at).to(tl.f32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-4) / LIMIT
    q = tl.clamp(x / scale, -LIMIT, LIMIT).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + at, q)
    tl.store(scale_ptr + row * (cols // GROUP) + group, scale)


@tn.kernel
def dequantize_fp8(
    q_ptr: tl.Ptr[tl.float8e4nv], scale_ptr: tl.Ptr[tl.f32], x_ptr: tl.Ptr[D], cols: tl.Scalar[tl.i32],
    GROUP: tl.Const[int],
) -> None:  # fmt: skip
    """Back again."""
    row, group = tl.program_id(0), tl.program_id(1)
    at = row.to(tl.int64) * cols + group * GROUP + tl.arange(0, GROUP)
    scale = tl.load(scale_ptr + row * (cols // GROUP) + group)
    tl.store(x_ptr + at, (tl.load(q_ptr + at).to(tl.f32) * scale).to(x_ptr.dtype))


@tn.kernel
def dropout(
    x_ptr: tl.Ptr[D], out_ptr: tl.Ptr[D], count: tl.Scalar[tl.i32], p: tl.Scalar[tl.f32], seed: tl.Scalar[tl.i32],
    BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """Kept elements grow by 1 / (1 - p); the same seed drops the same ones."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, (x.to(tl.f32) / (1 - p)).to(x.dtype), 0.0), mask=mask)


@tn.kernel
def adamw(
    p_ptr: tl.Ptr[D], g_ptr: tl.Ptr[D], m_ptr: tl.Ptr[tl.f32], v_ptr: tl.Ptr[tl.f32], count: tl.Scalar[tl.i64],
    lr: tl.Scalar[tl.f32], beta1: tl.Scalar[tl.f32], beta2: tl.Scalar[tl.f32], eps: tl.Scalar[tl.f32],
    decay: tl.Scalar[tl.f32], step: tl.Scalar[tl.i32], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """One step, in place; moments in f32."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    p = tl.load(p_ptr + at, mask=mask).to(tl.f32)
    g = tl.load(g_ptr + at, mask=mask).to(tl.f32)
    m = tl.load(m_ptr + at, mask=mask)
    v = tl.load(v_ptr + at, mask=mask)
    p *= 1 - lr * decay
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    t = step.to(tl.f32)
    m_hat = m / (1 - tl.exp(t * tl.log(beta1)))
    v_hat = v / (1 - tl.math.pow(beta2, t))
    p -= lr * m_hat / (tl.sqrt(v_hat) + eps)
    tl.store(p_ptr + at, p.to(p_ptr.dtype), mask=mask)
    tl.store(m_ptr + at, m, mask=mask)
    tl.store(v_ptr + at, v, mask=mask)
