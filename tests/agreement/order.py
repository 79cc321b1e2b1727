"""Pairs of reductions, scans, sorting, products, atomics, random numbers, block pointers and control flow."""

from __future__ import annotations

from dataclasses import replace

from tests.agreement.pair import Pair

_T = "tl.Tensor[tl.f32]"
_ROWS = "r = tl.arange(0, 16)\nt = tl.load(x + r[:, None] * 32 + tl.arange(0, 32)[None, :])\n"
_ALL = "tl.store({} + tl.arange(0, 512), tl.reshape({}, (512,)))\n"
_OUT = "tl.store(out + r, {})\ntl.store(more + tl.arange(0, 32), {})"


def rows(name: str, dtype: str, maker: str, one: str, other: str, *, gives: str = "", apart: str = "") -> Pair:
    """A reduction of 16 x 32 along the last axis, and one along the first."""
    arrays = f"x: {dtype} 512 {maker}, out: {gives or dtype} 16 zero, more: {gives or dtype} 32 zero"
    return Pair(name, arrays, _ROWS + _OUT.format(one, other), apart=apart)


def scan(name: str, dtype: str, maker: str, one: str, other: str, *, apart: str = "") -> Pair:
    """Two tiles of 16 x 32."""
    arrays = f"x: {dtype} 512 {maker}, out: {dtype} 512 zero, more: {dtype} 512 zero"
    return Pair(name, arrays, _ROWS + _ALL.format("out", one) + _ALL.format("more", other), apart=apart)


def atomic(name: str, dtype: str, update: str, *, maker: str = "whole", old: str = "whole", apart: str = "") -> Pair:
    """Each of 4 programs updates 64 places with 64 lanes."""
    body = f"p = tl.program_id(0)\ni = tl.arange(0, 64)\nv = tl.load(x + p * 64 + i)\n{update}"
    return Pair(name, f"x: {dtype} 256 {maker}, out: {dtype} 64 {old}", body, grid=4, apart=apart)


def drawn(name: str, dtype: str, body: str, *, ulp: float = 0.0, apart: str = "") -> Pair:
    """Random numbers by their offsets."""
    return Pair(name, f"out: {dtype} 256 zero", "i = tl.arange(0, 256)\n" + body, ulp=ulp, apart=apart)


ORDER: list[Pair] = [
    rows("sum_f32", "f32", "whole", "tl.sum(t, axis=1)", "tl.sum(t, 0)"),
    rows("sum_i64", "i64", "any", "tl.sum(t, axis=1)", "tl.sum(t, 0)"),
    rows("max_nan", "f32", "nans", "tl.max(t, axis=1)", "tl.min(t, axis=0)"),
    rows("max_i32", "i32", "any", "tl.max(t, axis=1)", "tl.min(t, axis=0)"),
    rows("max_u32", "u32", "any", "tl.max(t, axis=1)", "tl.min(t, axis=0)"),
    rows("xor_sum", "i32", "any", "tl.xor_sum(t, axis=1)", "tl.xor_sum(t, 0)"),
    rows("argmax_ties", "f32", "ties", "tl.argmax(t, axis=1)", "tl.argmin(t, axis=0)", gives="i32"),
    rows("argmax_i32", "i32", "ties", "tl.argmax(t, 1, tie_break_left=True)", "tl.argmin(t, 0)", gives="i32"),
    replace(
        rows("argmax_nan", "f32", "nans", "tl.argmax(t, axis=1)", "tl.argmin(t, axis=0)", gives="i32"),
        gpu_apart="a NaN never wins here; in Triton the order in which elements meet decides",
    ),
    Pair(
        "max_with_indices", "x: f32 512 ties, out: f32 16 zero, more: i32 16 zero",
        _ROWS + "m, k = tl.max(t, axis=1, return_indices=True)\ntl.store(out + r, m)\ntl.store(more + r, k)",
    ),
    Pair(
        "keep_dims", "x: f32 512 whole, out: f32 512 zero",
        _ROWS + _ALL.format("out", "t - tl.max(t, axis=1, keep_dims=True) + tl.sum(t, axis=0, keep_dims=True)"),
    ),
    Pair(
        "all_axes", "x: f32 512 whole, out: f32 4 zero",
        _ROWS + "tl.store(out, tl.sum(t))\ntl.store(out + 1, tl.max(t, axis=None))\n"
        "tl.store(out + 2, tl.min(tl.min(t, 0), 0))",
    ),
    Pair(
        "reduce_product", "x: f32 512 ties, out: f32 16 zero, more: f32 32 zero",
        _ROWS + "t = t * 0.25 + 1.0\n"
        + _OUT.format("tl.reduce(t, 1, larger)", "tl.reduce(t, axis=0, combine_fn=larger)"),
        helper="JIT\ndef larger(a, b):\n    return tl.where(a > b, a, b)\n",
        here_helper=f"def larger(a: {_T}, b: {_T}) -> {_T}:\n"
        "    return tl.where(a > b, a, b)\n",
    ),
    Pair(
        "reduce_pairs", "x: f32 512 whole, out: f32 16 zero, more: f32 16 zero",
        _ROWS + "m, n = tl.reduce((t, t * t), 1, both)\ntl.store(out + r, m)\ntl.store(more + r, n)",
        helper="JIT\ndef both(a, b, c, d):\n    return a + c, b + d\n",
        here_helper=f"def both(a: {_T}, b: {_T}, c: {_T}, d: {_T}) -> tuple[{_T}, {_T}]:\n    return a + c, b + d\n",
    ),
    scan("cumsum_f32", "f32", "whole", "tl.cumsum(t, axis=1)", "tl.cumsum(t, 0)"),
    scan("cumsum_reverse", "f32", "whole", "tl.cumsum(t, axis=1, reverse=True)", "tl.cumsum(t, 0, reverse=True)"),
    scan("cumsum_i32", "i32", "any", "tl.cumsum(t, 1)", "tl.cumsum(t, 0, reverse=True)"),
    scan("cumprod", "i32", "whole", "tl.cumprod(t, axis=1)", "tl.cumprod(t, 0, reverse=True)"),
    Pair(
        "associative_scan", "x: f32 512 whole, out: f32 512 zero, more: f32 512 zero",
        _ROWS + _ALL.format("out", "tl.associative_scan(t, 1, larger)")
        + _ALL.format("more", "tl.associative_scan(t, 0, larger, reverse=True)"),
        helper="JIT\ndef larger(a, b):\n    return tl.maximum(a, b)\n",
        here_helper=f"def larger(a: {_T}, b: {_T}) -> {_T}:\n"
        "    return tl.maximum(a, b)\n",
    ),
    Pair(
        "scan_of_pairs", "x: f32 512 ties, out: f32 512 zero, more: f32 512 zero",
        _ROWS + "u, v = tl.associative_scan((t * 0.5, t), 1, step)\n"
        + _ALL.format("out", "u") + _ALL.format("more", "v"),
        helper="JIT\ndef step(a, b, c, d):\n    return a * c, b * c + d\n",
        here_helper=f"def step(a: {_T}, b: {_T}, c: {_T}, d: {_T}) -> tuple[{_T}, {_T}]:\n"
        "    return a * c, b * c + d\n",
        ulp=2.0,
    ),
    scan("sort", "f32", "ordered", "tl.sort(t)", "tl.sort(t, dim=1, descending=True)"),
    scan("sort_i32", "i32", "any", "tl.sort(t)", "tl.sort(t, descending=True)"),
    Pair(
        "topk", "x: f32 512 ordered, out: f32 64 zero",
        _ROWS + "k = tl.topk(t, 4)\ntl.store(out + tl.arange(0, 64), tl.reshape(k, (64,)))",
    ),
    Pair(
        "histogram", "x: i32 256 index, out: i32 32 zero",
        "tl.store(out + tl.arange(0, 32), tl.histogram(tl.load(x + tl.arange(0, 256)), 32))",
    ),
    Pair(
        "softmax", "x: f32 512 moderate, out: f32 512 zero",
        _ROWS + "e = tl.exp(t - tl.max(t, 1)[:, None])\n" + _ALL.format("out", "e / tl.sum(e, 1)[:, None]"), ulp=12.0,
    ),
    Pair(
        "dot_f16", "x: f16 1024 whole, y: f16 1024 whole, out: f32 1024 zero, more: f32 1024 zero",
        "r = tl.arange(0, 32)\nat = r[:, None] * 32 + r[None, :]\na = tl.load(x + at)\nb = tl.load(y + at)\n"
        "c = tl.dot(a, b)\ntl.store(out + at, c)\ntl.store(more + at, tl.dot(b, a, acc=c))",
    ),
    Pair(
        "dot_f32", "x: f32 1024 whole, y: f32 1024 whole, out: f32 1024 zero",
        "r = tl.arange(0, 32)\nat = r[:, None] * 32 + r[None, :]\n"
        'tl.store(out + at, tl.dot(tl.load(x + at), tl.trans(tl.load(y + at)), input_precision="ieee"))',
    ),
    Pair(
        "dot_i8", "x: i8 1024 any, y: i8 1024 any, out: i32 1024 zero", least=80,
        body="r = tl.arange(0, 32)\nat = r[:, None] * 32 + r[None, :]\n"
        "tl.store(out + at, tl.dot(tl.load(x + at), tl.load(y + at)))",
    ),
    Pair(
        "dot_batched", "x: f16 2048 whole, y: f16 2048 whole, out: f32 2048 zero",
        "r = tl.arange(0, 16)\nat = tl.arange(0, 8)[:, None, None] * 256 + r[None, :, None] * 16 + r[None, None, :]\n"
        "tl.store(out + at, tl.dot(tl.load(x + at), tl.load(y + at)))",
    ),
    atomic("atomic_add_f32", "f32", "tl.atomic_add(out + i, v)"),
    atomic("atomic_add_one_place", "i32", "tl.atomic_add(out + i // 16, v, mask=v > 0)"),
    atomic("atomic_extremes", "i32", "tl.atomic_max(out + i, v)\ntl.atomic_min(out + 63 - i, v - 4)", old="zero"),
    atomic("atomic_max_f32", "f32", "tl.atomic_max(out + i, v)", maker="moderate", old="moderate"),
    atomic("atomic_bits", "i32", "tl.atomic_xor(out + i, v)", maker="any", old="any"),
    atomic("atomic_or", "i32", "tl.atomic_or(out + i, v)", maker="any", old="any"),
    atomic("atomic_and", "i32", "tl.atomic_and(out + i, v)", maker="any", old="any"),
    Pair(
        "atomic_old_values", "x: i32 256 whole, out: i32 64 whole, more: i32 64 zero",
        "i = tl.arange(0, 64)\nv = tl.load(x + i)\ntl.store(more + i, tl.atomic_add(out + i, v))",
    ),
    Pair(
        "atomic_xchg", "x: i32 64 lanes, out: i32 64 whole, more: i32 64 zero",
        "i = tl.arange(0, 64)\ntl.store(more + i, tl.atomic_xchg(out + i, tl.load(x + i)))",
    ),
    Pair(
        "atomic_cas", "x: i32 64 lanes, out: i32 64 ties, more: i32 64 zero",
        "i = tl.arange(0, 64)\nv = tl.load(x + i)\ntl.store(more + i, tl.atomic_cas(out + i, v % 4, v + 100))",
    ),
    Pair(
        "tickets", "out: i32 1 zero, more: i32 16 zero", grid=16, unordered=("more",),
        body="t = tl.atomic_add(out, 1)\ntl.store(more + tl.program_id(0), t)",
    ),
    drawn("rand", "f32", "tl.store(out + i, tl.rand(42, i))"),
    drawn("rand_seed", "f32", "tl.store(out + i, tl.rand(123456789012345, i + 7, 7))"),
    drawn("randn", "f32", "tl.store(out + i, tl.randn(42, i))", ulp=64.0),
    drawn("randint", "i32", "tl.store(out + i, tl.randint(7, i).to(tl.int32, bitcast=True))"),
    drawn(
        "randint4x", "i32",
        "a, b, c, d = tl.randint4x(7, i)\ntl.store(out + i, (a ^ (b + c * 3) ^ d).to(tl.int32, bitcast=True))",
    ),
    drawn("rand4x", "f32", "a, b, c, d = tl.rand4x(7, i)\ntl.store(out + i, a + (b - c) * d)", ulp=2.0),
    Pair(
        "block_pointers", "x: f32 600 lanes, out: f32 600 zero", scalars={"m": 20, "n": 30},
        body="p = tl.make_block_ptr(x, (m, n), (n, 1), (8, 16), (16, 16), (1, 0))\n"
        "q = tl.make_block_ptr(out, shape=(m, n), strides=(n, 1), offsets=(0, 0), block_shape=(16, 16), order=(1, 0))\n"
        'a = tl.load(p, boundary_check=(0, 1), padding_option="zero")\n'
        "tl.store(tl.advance(q, (8, 16)), a * 2.0, boundary_check=(0, 1))\n"
        "tl.store(q, tl.load(tl.advance(p, (-8, -16)), boundary_check=(0, 1)), boundary_check=(0, 1))",
        apart="the newest Triton has no block pointers any more; the oldest decides, on a GPU",
    ),
    Pair(
        "loops", "x: f32 1024 whole, out: f32 64 zero, more: i32 64 zero", scalars={"n": 900},
        body="i = tl.arange(0, 64)\ns = tl.zeros((64,), dtype=tl.float32)\nsteps = 0\n"
        "for k in range(0, n, 64):\n    s += tl.load(x + k + i, mask=k + i < n, other=0.0)\n    steps += 1\n"
        "for k in tl.static_range(3):\n    s = s * 2.0 + k\n"
        "tl.store(out + i, s)\ntl.store(more + i, i * 0 + steps)",
    ),
    Pair(
        "while_and_if", "out: i32 16 zero", grid=16,
        body="n = tl.program_id(0) + 1\nsteps = 0\nwhile n != 1:\n    if n % 2 == 0:\n        n = n // 2\n    else:\n"
        "        n = 3 * n + 1\n    steps += 1\ntl.store(out + tl.program_id(0), steps)",
    ),
    Pair(
        "early_return", "out: i32 16 zero", grid=16,
        body="p = tl.program_id(0)\nif p >= 10:\n    return\ntl.store(out + p, p + 1)",
    ),
    Pair(
        "helpers", "x: f32 256 moderate, out: f32 256 zero",
        "i = tl.arange(0, 256)\ntl.store(out + i, twice(tl.load(x + i), 3.0))",
        helper="JIT\ndef once(a, by):\n    return a * by\n\nJIT\ndef twice(a, by):\n    return once(once(a, by), by)\n",
        here_helper="def once(a: tl.Tensor[tl.f32], by: float) -> tl.Tensor[tl.f32]:\n    return a * by\n\n\n"
        "def twice(a: tl.Tensor[tl.f32], by: float) -> tl.Tensor[tl.f32]:\n    return once(once(a, by), by)\n",
    ),
]  # fmt: skip
