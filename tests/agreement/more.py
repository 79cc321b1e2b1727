"""Pairs of 8-bit floats, libdevice, descriptors, hints, scaled products, and forms that kernels use less."""

from __future__ import annotations

from tests.agreement.lanes import two
from tests.agreement.pair import Pair

_I = "i = tl.arange(0, 256)\n"
_LIB = "from {}.language.extra import libdevice\n"
_SQUARE = "r = tl.arange(0, 32)\nat = r[:, None] * 32 + r[None, :]\n"


def lib(name: str, one: str, other: str, *, maker: str = "moderate", ulp: float = 3.0) -> Pair:
    """Functions of libdevice."""
    arrays = f"x: f32 256 {maker}, y: f32 256 above, out: f32 256 zero, more: f32 256 zero"
    body = _I + "a = tl.load(x + i)\nb = tl.load(y + i)\n"
    body += f"tl.store(out + i, libdevice.{one})\ntl.store(more + i, libdevice.{other})"
    apart = "the interpreter has no libdevice"
    helper, here = _LIB.format("triton"), _LIB.format("teeny")
    return Pair(name, arrays, body, helper=helper, here_helper=here, ulp=ulp, apart=apart)


MORE: list[Pair] = [
    lib("pow_tanh", "pow(b, a)", "tanh(a)", ulp=4.0),
    lib("log1p_expm1", "log1p(b)", "expm1(a)"),
    lib("round_trunc", "trunc(a)", "rint(b)", ulp=0.0),
    lib("atan", "atan(a)", "atan2(a, b)"),
    lib("hyperbolic", "sinh(a)", "cosh(b)"),
    two("bf16_arithmetic", "bf16", "moderate", "moderate", "a * b", "a + b",
        apart="the interpreter computes with the bits of bf16 as integers"),
    two("extremes_propagate", "f32", "nans", "moderate", "tl.maximum(a, b, tl.PropagateNan.ALL)",
        "tl.minimum(b, a, propagate_nan=tl.PropagateNan.ALL)"),
    two("literal_sides", "i32", "any", "random", "7 - a + (a * 3)", "tl.maximum(b, 5) | 1"),
    two("conversions_inside", "f32", "moderate", "moderate", "a.to(tl.float16).to(tl.float32) + b",
        "(a > 0).to(tl.float32) * b"),
    two("hints", "f32", "moderate", "moderate", "tl.load(tl.multiple_of(x, 16) + tl.max_contiguous(i, 256))",
        "tl.where(tl.max_constancy(i, 1) > 5, a, b)"),
    Pair(
        "divisions_of_negatives", "x: i32 256 random, y: i32 256 positive, out: i32 256 zero, more: i32 256 zero",
        _I + "a = tl.load(x + i)\nb = tl.load(y + i)\ntl.store(out + i, a // -b)\ntl.store(more + i, (0 - a) % b)",
    ),
    Pair(
        "float8_casts", "x: f32 256 moderate, out: f32 256 zero, more: f32 256 zero", least=89,
        apart="the interpreter does not carry a rounding into the exponent",
        body=_I + "a = tl.load(x + i)\ntl.store(out + i, a.to(tl.float8e5).to(tl.float32))\n"
        "tl.store(more + i, a.to(tl.float16).to(tl.float8e4nv).to(tl.float32))",
    ),
    Pair(
        "argmax_fast", "x: f32 512 ordered, out: i32 16 zero",
        "r = tl.arange(0, 16)\nt = tl.load(x + r[:, None] * 32 + tl.arange(0, 32)[None, :])\n"
        "tl.store(out + r, tl.argmax(t, axis=1, tie_break_left=False))",
    ),
    Pair(
        "min_with_indices", "x: i32 512 ties, out: i32 32 zero, more: i32 32 zero",
        "t = tl.load(x + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])\n"
        "m, k = tl.min(t, 0, return_indices=True, return_indices_tie_break_left=True)\nc = tl.arange(0, 32)\n"
        "tl.store(out + c, m)\ntl.store(more + c, k)",
    ),
    Pair(
        "masked_histogram", "x: i32 256 index, out: i32 16 zero",
        _I + "v = tl.load(x + i)\ntl.store(out + tl.arange(0, 16), tl.histogram(v % 16, 16, mask=v < 20))",
    ),
    Pair(
        "topk_of_integers", "x: i32 512 any, out: i32 128 zero",
        "r = tl.arange(0, 16)\nt = tl.load(x + r[:, None] * 32 + tl.arange(0, 32)[None, :])\n"
        "tl.store(out + tl.arange(0, 128), tl.reshape(tl.topk(t, 8, 1), (128,)))",
    ),
    Pair(
        "concatenation", "x: f32 256 lanes, out: f32 256 zero",
        "a = tl.load(x + tl.arange(0, 128))\nb = tl.cat(a + 128.0, a, can_reorder=True)\n"
        "tl.store(out + tl.arange(0, 256), tl.sort(b))",
    ),
    Pair(
        "map_elementwise", "x: f32 256 moderate, out: f32 256 zero", apart="the interpreter has no map_elementwise",
        body=_I + "tl.store(out + i, tl.map_elementwise(folded, tl.load(x + i)))",
        helper="JIT\ndef folded(a):\n    if a > 1.0:\n        return a - 1.0\n    else:\n        return a * 2.0\n",
        here_helper="def folded(a: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:\n"
        "    if a > 1.0:\n        return a - 1.0\n    else:\n        return a * 2.0\n",
    ),
    Pair(
        "softmax_of_library", "x: f32 512 moderate, out: f32 512 zero", ulp=12.0,
        gpu_apart="the softmax of Triton 3.6 takes the first axis alone",
        body="r = tl.arange(0, 16)\nat = r[:, None] * 32 + tl.arange(0, 32)[None, :]\n"
        "tl.store(out + at, tl.softmax(tl.load(x + at), 1))",
    ),
    Pair(
        "descriptors", "x: f32 768 lanes, out: f32 768 zero",
        "d = tl.make_tensor_descriptor(x, shape=[12, 64], strides=[64, 1], block_shape=[8, 32])\n"
        "o = tl.make_tensor_descriptor(out, [12, 64], [64, 1], [8, 32])\n"
        "o.store([0, 0], d.load([8, 48]) + 1.0)\no.store([4, 32], d.load([2, 4]))",
    ),
    Pair(
        "dot_scaled", "x: u8 1024 index, y: u8 1024 index, out: f32 1024 zero", ulp=4.0, least=90,
        apart="the interpreter reads subnormal 8-bit floats as other numbers",
        body=_SQUARE + "s = tl.full((32, 1), 127, tl.uint8)\n"
        'tl.store(out + at, tl.dot_scaled(tl.load(x + at), s, "e5m2", tl.load(y + at), s, "e5m2"))',
    ),
    Pair(
        "dot_precision", "x: f32 1024 whole, y: f32 1024 whole, out: f32 1024 zero",
        _SQUARE + 'tl.store(out + at, tl.dot(tl.load(x + at), tl.load(y + at), input_precision="tf32x3"))',
    ),
    Pair(
        "loop_of_range", "x: f32 1024 whole, out: f32 64 zero, more: i32 1 zero", scalars={"n": 16},
        body="i = tl.arange(0, 64)\ns = tl.zeros((64,), tl.float32)\n"
        "for k in tl.range(0, n, num_stages=2):\n    s += tl.load(x + k * 64 + i)\n"
        "total = 0\nfor k in range(10, 0, -3):\n    total = total * 2 + k\ntl.store(out + i, s)\ntl.store(more, total)",
    ),
    Pair(
        "conditions", "out: i32 16 zero", grid=16,
        body="p = tl.program_id(0)\nv = p * 10 if p % 3 == 0 else 0 - p\n"
        "if p > 4 and p < 9:\n    v += 1000\nelif p == 12 or not p > 1:\n    v -= 500\ntl.store(out + p, v)",
    ),
    Pair(
        "atomic_add_f16", "x: f16 256 whole, out: f16 64 whole", grid=4,
        body="i = tl.arange(0, 64)\ntl.atomic_add(out + i, tl.load(x + tl.program_id(0) * 64 + i))",
    ),
    Pair(
        "atomic_xchg_masked", "x: f32 64 moderate, out: f32 64 whole, more: f32 64 zero",
        "i = tl.arange(0, 64)\nold = tl.atomic_xchg(out + i, tl.load(x + i), mask=i < 40)\n"
        "tl.store(more + i, old, mask=i < 40)", apart="the interpreter exchanges no floats",
    ),
    Pair(
        "pointers_of_pointers", "x: f32 64 lanes, out: i64 64 zero",
        "i = tl.arange(0, 64)\np = x + i\ntl.store(out + i, (p + 3).to(tl.int64) - p.to(tl.int64))",
    ),
]  # fmt: skip
