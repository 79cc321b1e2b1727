"""Kernels that map elements: activations, rotary embedding, dropout, an optimiser's step, quantisation."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from bench.triton_kernels.case import Trial, case, normal

SQRT_2_OVER_PI = tl.constexpr(0.7978845608028654)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@case
def vector_add(scale):
    n = 100_000 * scale
    x, y, out = normal(n), normal(n, seed=1), torch.empty(n)
    return Trial(
        lambda: add_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, y, out, n, BLOCK=1024), [out], lambda: [x + y]
    )


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    gate = tl.load(gate_ptr + row * stride + offs, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + row * stride + offs, mask=mask, other=0)
    tl.store(out_ptr + row * stride + offs, silu(gate).to(up.dtype) * up, mask=mask)


@case
def swiglu(scale):
    rows, cols = 64 * scale, 1000
    gate, up = normal(rows, cols), normal(rows, cols, seed=1)
    out = torch.empty_like(up)
    return Trial(
        lambda: swiglu_kernel[(rows,)](gate, up, out, cols, gate.stride(0), BLOCK=1024),
        [out],
        lambda: [torch.nn.functional.silu(gate) * up],
    )


@triton.jit
def geglu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    gate = tl.load(x_ptr + offs, mask=mask, other=0.0)
    up = tl.load(x_ptr + n + offs, mask=mask, other=0.0)
    inner = SQRT_2_OVER_PI * (gate + 0.044715 * gate * gate * gate)
    tl.store(out_ptr + offs, 0.5 * gate * (1.0 + libdevice.tanh(inner)) * up, mask=mask)


@case
def geglu(scale):
    n = 50_000 * scale
    x, out = normal(2 * n), torch.empty(n)
    return Trial(
        lambda: geglu_kernel[(triton.cdiv(n, 512),)](x, out, n, BLOCK=512),
        [out],
        lambda: [torch.nn.functional.gelu(x[:n], approximate="tanh") * x[n:]],
    )


@triton.jit
def rotary_kernel(q_ptr, cos_ptr, sin_ptr, seq, heads, stride_b, stride_s, stride_h, HALF: tl.constexpr):
    pid = tl.program_id(0)
    position = pid % seq
    batch = pid // seq
    head = tl.program_id(1)
    offs = tl.arange(0, HALF)
    cos = tl.load(cos_ptr + position * HALF + offs)
    sin = tl.load(sin_ptr + position * HALF + offs)
    base = q_ptr + batch * stride_b + position * stride_s + head * stride_h
    first = tl.load(base + offs)
    second = tl.load(base + HALF + offs)
    tl.store(base + offs, first * cos - second * sin)
    tl.store(base + HALF + offs, second * cos + first * sin)


@case
def rotary_embedding(scale):
    batch, seq, heads, half = 2, 32 * scale, 4, 32
    start = normal(batch, seq, heads, 2 * half)
    q = start.clone()
    angle = torch.arange(seq)[:, None] / (10000 ** (torch.arange(half) / half))
    cos, sin = angle.cos().contiguous(), angle.sin().contiguous()

    def wanted():
        a, b = start[..., :half], start[..., half:]
        c, s = cos[None, :, None], sin[None, :, None]
        return [torch.cat((a * c - b * s, b * c + a * s), -1)]

    return Trial(
        lambda: rotary_kernel[(batch * seq, heads)](q, cos, sin, seq, heads, *q.stride()[:3], HALF=half),
        [q],
        wanted,
        reset=lambda: q.copy_(start),
    )


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def philox_uniform(seed, n):
    """The first word of Philox4x32-10 of the counters 0, 1, ... as uniform numbers, as `tl.rand` makes them."""
    mask = (1 << 32) - 1
    found = []
    for counter in range(n):
        c, k = [counter, 0, 0, 0], [seed & mask, seed >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        word = c[0] - (1 << 32) if c[0] >> 31 else c[0]
        found.append((-word - 1 if word < 0 else word) * 4.6566127342e-10)
    return torch.tensor(found)


@case
def dropout(scale):
    n = 2000 * scale
    x, out = normal(n), torch.empty(n)
    return Trial(
        lambda: dropout_kernel[(triton.cdiv(n, 256),)](x, out, n, 0.3, 123, BLOCK=256),
        [out],
        lambda: [torch.where(philox_uniform(123, n) > 0.3, x / 0.7, 0.0)],
    )


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, decay, fix1, fix2, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = beta1 * tl.load(m_ptr + offs, mask=mask) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + offs, mask=mask) + (1 - beta2) * g * g
    p = p * (1 - lr * decay) - lr * (m / fix1) / (tl.sqrt(v / fix2) + eps)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


@case
def adamw(scale):
    n = 30_000 * scale
    start = [normal(n), normal(n, seed=1), normal(n, seed=2) * 0.1, normal(n, seed=3).abs() * 0.1]
    p, g, m, v = (t.clone() for t in start)
    lr, b1, b2, eps, decay, step = 1e-2, 0.9, 0.99, 1e-8, 0.1, 3

    def wanted():
        p0, g0, m0, v0 = start
        m1, v1 = b1 * m0 + (1 - b1) * g0, b2 * v0 + (1 - b2) * g0 * g0
        p1 = p0 * (1 - lr * decay) - lr * (m1 / (1 - b1**step)) / ((v1 / (1 - b2**step)).sqrt() + eps)
        return [p1, m1, v1]

    def reset():
        for t, s in zip((p, g, m, v), start, strict=True):
            t.copy_(s)

    grid = (triton.cdiv(n, 1024),)
    return Trial(
        lambda: adamw_kernel[grid](p, g, m, v, n, lr, b1, b2, eps, decay, 1 - b1**step, 1 - b2**step, BLOCK=1024),
        [p, m, v],
        wanted,
        reset=reset,
    )


@triton.jit
def quantise_kernel(x_ptr, q_ptr, scale_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0) / 127.0, 1e-8)
    q = libdevice.rint(x / scale)
    q = tl.clamp(q, -127.0, 127.0)
    tl.store(q_ptr + row * cols + offs, q.to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


@case
def quantise_int8(scale):
    rows, cols = 50 * scale, 700
    x = normal(rows, cols)
    q, s = torch.empty(rows, cols, dtype=torch.int8), torch.empty(rows)

    def wanted():
        step = (x.abs().amax(1) / 127.0).clamp(min=1e-8)
        return [(x / step[:, None]).round().clamp(-127, 127).to(torch.int8), step]

    return Trial(lambda: quantise_kernel[(rows,)](x, q, s, cols, BLOCK=1024), [q, s], wanted)


@triton.jit
def dequantise_kernel(q_ptr, scale_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    scale = tl.load(scale_ptr + row)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        q = tl.load(q_ptr + row * cols + offs, mask=offs < cols)
        tl.store(out_ptr + row * cols + offs, q.to(tl.float32) * scale, mask=offs < cols)


@case
def dequantise_int8(scale):
    rows, cols = 50 * scale, 700
    q = torch.randint(-127, 128, (rows, cols), dtype=torch.int8, generator=torch.Generator().manual_seed(0))
    s, out = normal(rows).abs(), torch.empty(rows, cols)
    return Trial(
        lambda: dequantise_kernel[(rows,)](q, s, out, cols, BLOCK=256), [out], lambda: [q.float() * s[:, None]]
    )


@triton.jit
def fp8_kernel(x_ptr, q_ptr, back_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), 0), 1e-12) / 448.0
    q = (x / scale).to(tl.float8e4nv)
    tl.store(q_ptr + offs, q, mask=mask)
    tl.store(back_ptr + offs, q.to(tl.float32) * scale, mask=mask)
    tl.store(scale_ptr + pid, scale)


@case
def quantise_fp8(scale):
    n, block = 20_000 * scale, 128
    blocks = triton.cdiv(n, block)
    x = normal(n)
    q, back, s = torch.empty(n, dtype=torch.float8_e4m3fn), torch.empty(n), torch.empty(blocks)

    def wanted():
        padded = torch.nn.functional.pad(x, (0, blocks * block - n)).view(blocks, block)
        step = padded.abs().amax(1).clamp(min=1e-12) / 448.0
        small = (padded / step[:, None]).to(torch.float8_e4m3fn)
        return [small.view(-1)[:n].float(), (small.float() * step[:, None]).view(-1)[:n], step]

    return Trial(lambda: fp8_kernel[(blocks,)](x, q, back, s, n, BLOCK=block), [q, back, s], wanted)


@triton.jit
def mxfp4_kernel(x_ptr, packed_ptr, scale_ptr, back_ptr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, GROUP)
    x = tl.load(x_ptr + pid * GROUP + offs)
    largest = tl.max(tl.abs(x), axis=0)
    exponent = tl.maximum(((largest.to(tl.int32, bitcast=True) >> 23) & 0xFF) - 2, 1)
    scale = (exponent << 23).to(tl.float32, bitcast=True)
    y = tl.minimum(tl.abs(x) / scale, 6.0)
    code = (
        (y > 0.25).to(tl.int32)
        + (y >= 0.75).to(tl.int32)
        + (y > 1.25).to(tl.int32)
        + (y >= 1.75).to(tl.int32)
        + (y > 2.5).to(tl.int32)
        + (y >= 3.5).to(tl.int32)
        + (y > 5.0).to(tl.int32)
    )
    code = code | tl.where(x < 0, 8, 0)
    even, odd = tl.split(tl.reshape(code, (GROUP // 2, 2)))
    packed = even | (odd << 4)
    half = tl.arange(0, GROUP // 2)
    tl.store(packed_ptr + pid * (GROUP // 2) + half, packed.to(tl.uint8))
    tl.store(scale_ptr + pid, exponent.to(tl.uint8))
    low = packed & 15
    high = packed >> 4
    both = tl.interleave(low, high)
    size = both & 7
    value = tl.where(size < 2, size * 0.5, (1.0 + (size & 1) * 0.5) * tl.exp2(((size >> 1) - 1).to(tl.float32)))
    tl.store(back_ptr + pid * GROUP + offs, tl.where((both & 8) != 0, -value, value) * scale)


@case
def quantise_mxfp4(scale):
    groups, group = 300 * scale, 32
    x = normal(groups, group)
    packed = torch.empty(groups, group // 2, dtype=torch.uint8)
    s, back = torch.empty(groups, dtype=torch.uint8), torch.empty(groups, group)
    table = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])

    def wanted():
        exponent = (torch.frexp(x.abs().amax(1)).exponent - 1 + 127 - 2).clamp(min=1)
        step = torch.ldexp(torch.ones(groups), exponent - 127)
        y = (x.abs() / step[:, None]).clamp(max=6.0)
        distance = (y[..., None] - table).abs()
        near = distance.argmin(-1)
        tie = (distance == distance.gather(-1, near[..., None])).sum(-1) > 1
        code = torch.where(tie & (near % 2 == 1), near + 1, near)
        code = code + 8 * (x < 0)
        values = table[code % 8] * torch.where(code >= 8, -1.0, 1.0) * step[:, None]
        return [(code[:, ::2] + 16 * code[:, 1::2]).to(torch.uint8), exponent.to(torch.uint8), values]

    return Trial(lambda: mxfp4_kernel[(groups,)](x, packed, s, back, GROUP=group), [packed, s, back], wanted)
