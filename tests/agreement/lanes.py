"""Pairs of arithmetic, casts, choices, memory and moves."""

from __future__ import annotations

from tests.agreement.pair import Pair

_TWO = "x: {0} 256 {1}, y: {0} 256 {2}, out: {0} 256 zero, more: {0} 256 zero"
_LOAD = "i = tl.arange(0, 256)\na = tl.load(x + i)\nb = tl.load(y + i)\n"


def two(
    name: str, dtype: str, first: str, second: str, one: str, other: str, *, ulp: float = 0.0, apart: str = "",
    gpu_apart: str = "",
) -> Pair:  # fmt: skip
    """Two expressions of `a` and `b`, which give their dtype."""
    text = _LOAD + f"tl.store(out + i, {one})\ntl.store(more + i, {other})"
    return Pair(name, _TWO.format(dtype, first, second), text, ulp=ulp, apart=apart, gpu_apart=gpu_apart)


def moved(name: str, body: str, *, dtype: str = "f32", sizes: tuple[int, int] = (256, 256)) -> Pair:
    """A body that moves lanes of `x` to `out`."""
    return Pair(name, f"x: {dtype} {sizes[0]} lanes, out: {dtype} {sizes[1]} zero", body)


_TILE = "r = tl.arange(0, 16)\nt = tl.load(x + r[:, None] * 16 + r[None, :])\n"
_CUBE = "t = tl.reshape(tl.load(x + tl.arange(0, 256)), (4, 8, 8))\n"
_ROW = "r = tl.load(x + tl.arange(0, 16))\n"
_ALL = "tl.store(out + tl.arange(0, 256), tl.reshape({}, (256,)))"

LANES: list[Pair] = [
    two("add_sub_f32", "f32", "any", "random", "a + b", "a - b"),
    two("mul_neg_f16", "f16", "moderate", "moderate", "a * b", "-a"),
    two("wrapping_i32", "i32", "any", "random", "a * b + a", "a - b"),
    two("wrapping_u8", "u8", "any", "random", "a + b", "a * b"),
    two("division_i32", "i32", "random", "positive", "a // b", "a % b"),
    two("division_u32", "u32", "any", "positive", "a // b", "a % b"),
    two("division_i64", "i64", "random", "positive", "a // b", "a % b"),
    two("division_f32", "f32", "moderate", "above", "a / b", "tl.fdiv(b, a * a + 1.0)", ulp=2.5),
    two("exact_division_f32", "f32", "moderate", "above", "tl.div_rn(a, b)", "tl.sqrt_rn(b)"),
    two("shifts_i32", "i32", "any", "index", "a << b", "a >> b"),
    two("shifts_u32", "u32", "any", "index", "a << b", "a >> b"),
    two("bits_i16", "i16", "any", "random", "(a & b) | (a ^ b)", "~a & b"),
    two("umulhi", "u32", "any", "random", "tl.umulhi(a, b)", "tl.umulhi(b, b)"),
    two("extremes_f32", "f32", "nans", "moderate", "tl.maximum(a, b)", "tl.minimum(b, a)"),
    two("extremes_i8", "i8", "any", "random", "tl.maximum(a, b)", "tl.minimum(a, b)"),
    two("fma_f32", "f32", "moderate", "moderate", "tl.fma(a, b, a)", "tl.abs(a)"),
    two("floor_ceil", "f32", "moderate", "any", "tl.floor(a)", "tl.ceil(b)"),
    two("exp_log", "f32", "moderate", "above", "tl.exp(a)", "tl.log(b)", ulp=3.0),
    two("exp2_log2", "f32", "moderate", "above", "tl.exp2(a)", "tl.log2(b)", ulp=3.0),
    two("sin_cos", "f32", "moderate", "moderate", "tl.sin(a)", "tl.cos(b)", ulp=3.0),
    two("roots", "f32", "above", "above", "tl.sqrt(a)", "tl.rsqrt(b)", ulp=3.0),
    two("erf_sigmoid", "f32", "moderate", "moderate", "tl.erf(a)", "tl.sigmoid(b)", ulp=8.0),
    two("exp_f64", "f64", "moderate", "above", "tl.exp(a)", "tl.log(b)", ulp=3.0),
    two("where_f32", "f32", "moderate", "moderate", "tl.where(a < b, a, 0.5)", "tl.where(i % 3 == 0, b, a)"),
    two("where_broadcast", "i32", "any", "any", "tl.where(i < 100, a, 7)", "tl.where((a > b) & (b != 3), a, b)"),
    two("clamp_f32", "f32", "moderate", "above", "tl.clamp(a, -1.0, 2.0)", "tl.clamp(b, -b, b * 0.5)"),
    two("ternary", "f32", "moderate", "moderate", "a if tl.load(x) > 9.0 else b", "b if tl.load(x) < 9.0 else a"),
    Pair(
        "comparisons", "x: f32 256 nans, y: f32 256 ties, out: i32 256 zero",
        _LOAD + "s = (a < b).to(tl.int32) + 2 * (a <= b).to(tl.int32) + 4 * (a == b).to(tl.int32)\n"
        "tl.store(out + i, s + 8 * (a != b).to(tl.int32) + 16 * (a > b).to(tl.int32) + 32 * (a >= b).to(tl.int32))",
    ),
    Pair(
        "unsigned_comparisons", "x: u32 256 any, y: u32 256 random, out: i32 256 zero",
        _LOAD + "tl.store(out + i, (a < b).to(tl.int32) + 2 * (a >= b).to(tl.int32))",
    ),
    Pair(
        "casts_to_int", "x: f32 256 moderate, out: i32 256 zero, more: i8 256 zero",
        "i = tl.arange(0, 256)\na = tl.load(x + i)\n"
        "tl.store(out + i, (a * 100.0).to(tl.int32))\ntl.store(more + i, a.to(tl.int8))",
    ),
    Pair(
        "casts_beyond_the_range", "x: f32 256 any, out: i32 256 zero",
        "i = tl.arange(0, 256)\ntl.store(out + i, tl.load(x + i).to(tl.int32))",
        apart="beyond the range of i32 this language saturates and gives 0 for NaN; NumPy's cast does neither",
    ),
    Pair(
        "casts_to_float", "x: i32 256 any, out: f32 256 zero, more: f64 256 zero",
        "i = tl.arange(0, 256)\na = tl.load(x + i)\ntl.store(out + i, a.to(tl.float32))\n"
        "tl.store(more + i, a.to(tl.float64))",
    ),
    Pair(
        "casts_of_unsigned", "x: u32 256 any, out: f32 256 zero, more: i64 256 zero",
        "i = tl.arange(0, 256)\na = tl.load(x + i)\ntl.store(out + i, a.to(tl.float32))\n"
        "tl.store(more + i, a.to(tl.int64))",
    ),
    Pair(
        "casts_to_f16", "x: f32 256 any, out: f16 256 zero, more: f32 256 zero",
        "i = tl.arange(0, 256)\na = tl.load(x + i).to(tl.float16)\ntl.store(out + i, a)\n"
        "tl.store(more + i, a.to(tl.float32))",
    ),
    Pair(
        "casts_to_bf16", "x: f32 256 any, out: bf16 256 zero",
        "i = tl.arange(0, 256)\ntl.store(out + i, tl.load(x + i).to(tl.bfloat16))",
        apart="the interpreter cuts bits off; here and on GPUs the nearest bf16 is taken",
    ),
    Pair(
        "casts_from_bf16", "x: bf16 256 any, out: f32 256 zero",
        "i = tl.arange(0, 256)\ntl.store(out + i, tl.load(x + i).to(tl.float32))",
        apart="the interpreter makes other numbers of subnormal ones",
    ),
    Pair(
        "bitcasts", "x: f32 256 any, out: i32 256 zero, more: u32 256 zero",
        "i = tl.arange(0, 256)\na = tl.load(x + i)\ntl.store(out + i, a.to(tl.int32, bitcast=True))\n"
        "tl.store(more + i, tl.cast(a, tl.uint32, bitcast=True))",
    ),
    Pair(
        "masks", "x: f32 300 moderate, out: f32 256 zero, more: f32 256 whole",
        "i = tl.arange(0, 256)\ntl.store(out + i, tl.load(x + 40 + i, mask=i < 200, other=-1.5))\n"
        "tl.store(more + i, tl.load(x + i, i < 77, 0.0), mask=i < 77)",
    ),
    Pair(
        "strides", "x: f32 600 moderate, out: f32 256 zero, more: f32 256 zero",
        "i = tl.arange(0, 256)\ntl.store(out + 255 - i, tl.load(x + 2 * i))\n"
        "p = x + 3\np += 5\ntl.store(more + i, tl.load(p + i))",
    ),
    Pair(
        "programs", "x: i32 512 lanes, out: i32 512 zero", grid=8,
        body="p = tl.program_id(0)\ni = p * 64 + tl.arange(0, 64)\n"
        "tl.store(out + i, tl.load(x + i) * tl.num_programs(0) + p)",
    ),
    Pair(
        "cdiv_swizzle", "out: i32 32 zero, more: i32 32 zero", grid=32,
        body="p = tl.program_id(0)\na, b = tl.swizzle2d(p // 8, p % 8, 4, 8, 2)\n"
        "tl.store(out + p, a * 100 + b)\ntl.store(more + p, tl.cdiv(p + 5, 7))",
    ),
    moved("trans", _TILE + _ALL.format("tl.trans(t)")),
    moved("trans_attribute", _TILE + _ALL.format("t.T")),
    moved("permute", _CUBE + _ALL.format("tl.permute(t, (2, 0, 1))")),
    moved("trans_order", _CUBE + _ALL.format("tl.trans(t, 1, 2, 0)")),
    moved("expand_broadcast", _ROW + _ALL.format("tl.broadcast_to(r[:, None], (16, 16))")),
    moved("broadcast", _ROW + _ALL.format("r[None, :] + tl.expand_dims(r, 1)")),
    moved("flip", _TILE + _ALL.format("tl.flip(t, 0) - tl.flip(t, 1)")),
    moved("ravel_view", _TILE + "u = tl.view(tl.ravel(t), (64, 4))\n" + _ALL.format("u")),
    moved(
        "join_split",
        "r = tl.load(x + tl.arange(0, 128))\nj = tl.join(r, r + 1000.0)\na, b = tl.split(j)\n"
        "tl.store(out + tl.arange(0, 256), tl.reshape(j, (256,)))\ntl.debug_barrier()\n"
        "tl.store(out + tl.arange(0, 128), b - a * 2.0)",
    ),
    moved("interleave", "r = tl.load(x + tl.arange(0, 128))\n" + _ALL.format("tl.interleave(r, -r)")),
    moved(
        "split_of_columns", "t = tl.reshape(tl.load(x + tl.arange(0, 256)), (64, 2, 2))\na, b = tl.split(t)\n"
        "tl.store(out + tl.arange(0, 128), tl.reshape(a - b * 3.0, (128,)))",
    ),
    Pair(
        "gather", "x: f32 256 lanes, y: i32 64 index, out: f32 64 zero, more: f32 64 zero",
        "r = tl.load(x + tl.arange(0, 32))\nj = tl.arange(0, 64)\n"
        "tl.store(out + j, tl.gather(r, tl.load(y + j), 0))\n"
        "t = tl.load(x + tl.arange(0, 32)[:, None] * 8 + tl.arange(0, 8)[None, :])\n"
        "k = tl.load(y + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :])\n"
        "g = tl.gather(t, k, 0)\ntl.store(more + j, tl.reshape(g, (64,)))",
    ),
    Pair(
        "constants", "out: f32 64 zero, more: i64 64 zero",
        "i = tl.arange(0, 64)\nz = tl.zeros((64,), dtype=tl.float32)\n"
        "tl.store(out + i, z + tl.full((64,), 0.1, tl.float32) + tl.zeros_like(z))\n"
        "tl.store(more + i, tl.full((64,), 5, dtype=tl.int64) * 3000000000)",
    ),
]  # fmt: skip
