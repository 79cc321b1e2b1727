"""What is known at compile time: flags, optional pointers, dtypes, sizes, unrolled loops."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
A = TypeVar("A", bound=tl.Float)
HALF: tl.Const[float] = 0.5
SIZES: tl.Const[tuple[int, int]] = (16, 32)

VALUES = {
    "activated.ACT": ["relu", "square", "none"],
    "square_tile.BM": [16],
    "square_tile.BN": [16],
    "branches_on_sizes.BM": [16, 64],
    "branches_on_sizes.BN": [16, 64],
    "many_flags.*": 40,
    "halving.LOG": [3],
    "halving.BLOCK": [64],
    "divided.BLOCK": [32],
    "divided.GROUP": [4],
    "symbolic_unroll.COUNT": [0, 1, 5],
    "typed_accumulator.ACC": [tl.f32, tl.f64],
    "shape_given.SHAPE": [(16, 32)],
    "optional_size.WIDTH": [None, 64],
}


@tn.kernel
def activated(x_ptr: tl.Ptr[D], ACT: tl.Const[str], SLOPE: tl.Const[float], BLOCK: tl.Const[int]) -> None:
    """A Const string picks; a Const float is a literal."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if ACT == "relu":
        y = tl.where(x > 0.0, x, x * SLOPE)
    elif ACT == "square":
        y = x * x * (SLOPE + HALF)
    else:
        y = x
    tl.store(x_ptr + offs, y)


@tn.kernel
def by_dtype(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], h_ptr: tl.Ptr[tl.f16], BLOCK: tl.Const[int]) -> None:
    """A dtype variable is compared with dtypes."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if x_ptr.dtype == tl.f16 or x_ptr.dtype == tl.bf16:
        y = tl.exp(x.to(tl.f32)).to(x_ptr.dtype)
    elif x_ptr.dtype == tl.f32:
        y = tl.exp(x)
    else:
        y = x
    tl.store(y_ptr + offs, y)
    if x_ptr.dtype == tl.f16:
        tl.store(h_ptr + offs, (y + 1.0).to(tl.f16))


@tn.kernel
def optional_mask(x_ptr: tl.Ptr[N], mask_ptr: tl.Ptr[tl.bool_] | None, BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if mask_ptr is not None:
        keep = tl.load(mask_ptr + offs)
        x = tl.where(keep, x, 0)
    if mask_ptr is None:
        x = x + 1
    tl.store(x_ptr + offs, x)


@tn.kernel
def two_optionals(x_ptr: tl.Ptr[D], a_ptr: tl.Ptr[D] | None, b_ptr: tl.Ptr[D] | None, BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if a_ptr is not None and b_ptr is not None:
        x = x + tl.load(a_ptr + offs) * tl.load(b_ptr + offs)
    elif a_ptr is not None:
        x = x + tl.load(a_ptr + offs)
    tl.store(x_ptr + offs, x)


@tn.kernel
def known_unroll(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    """Bounds that are known: shapes may change from one iteration to the next."""
    acc = tl.load(x_ptr + tl.arange(0, BLOCK))
    for i in tl.static_range(4):
        part = tl.load(x_ptr + tl.arange(0, 1 << i))
        acc += tl.sum(part, axis=0)
        last = part
    tl.store(x_ptr + tl.arange(0, 8), last)
    for i in tl.static_range(6, 0, -2):
        tl.store(x_ptr + i, 1.0)
    tl.store(x_ptr + tl.arange(0, BLOCK), acc)


@tn.kernel
def symbolic_unroll(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int], COUNT: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.f32)
    at = 0
    for i in tl.static_range(COUNT):
        acc += tl.load(x_ptr + i * BLOCK + at + offs).to(tl.f32)
        at += BLOCK
    for i in tl.static_range(0, COUNT, 2):
        acc += 1.0
    tl.store(y_ptr + offs, acc.to(y_ptr.dtype))


@tn.kernel
def halving(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int], LOG: tl.Const[int]) -> None:
    """A Const that an unrolled loop changes."""
    stride = BLOCK
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    for _ in tl.static_range(LOG):
        stride = stride // 2
        x += tl.load(x_ptr + offs + stride)
    tl.store(x_ptr + offs, x)


@tn.kernel
def square_tile(x_ptr: tl.Ptr[D], width: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    """Equality of sizes from an assertion."""
    tl.static_assert(BM == BN)
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * width + cols[None, :])
    tl.store(x_ptr + rows[:, None] * width + cols[None, :], x + tl.trans(x))
    tl.store(x_ptr + rows * width + cols, 0.0)


@tn.kernel
def branches_on_sizes(x_ptr: tl.Ptr[D], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    a = tl.load(x_ptr + tl.arange(0, BM))
    b = tl.load(x_ptr + tl.arange(0, BN))
    if BM == BN:
        tl.store(x_ptr + tl.arange(0, BM), a + b)
    elif BM > BN:
        tl.store(x_ptr + tl.arange(0, BM), a)
    else:
        tl.store(x_ptr + tl.arange(0, BN), b)


@tn.kernel
def many_flags(
    x_ptr: tl.Ptr[D], BLOCK: tl.Const[int], F0: tl.Const[bool], F1: tl.Const[bool], F2: tl.Const[bool], F3: tl.Const[bool],
    F4: tl.Const[bool], F5: tl.Const[bool], F6: tl.Const[bool], F7: tl.Const[bool], F8: tl.Const[bool], F9: tl.Const[bool],
    F10: tl.Const[bool], F11: tl.Const[bool], F12: tl.Const[bool], F13: tl.Const[bool],
) -> None:
    """More conditions than are tracked."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if F0:
        x = x + 1.0
    if F1:
        x = x + 1.0
    if F2:
        x = x + 1.0
    if F3:
        x = x + 1.0
    if F4:
        x = x + 1.0
    if F5:
        x = x + 1.0
    if F6:
        x = x + 1.0
    if F7:
        x = x + 1.0
    if F8:
        x = x + 1.0
    if F9:
        x = x + 1.0
    if F10:
        x = x + 1.0
    if F11:
        x = x + 1.0
    if F12:
        x = x + 1.0
        y = x
    else:
        y = -x
    if F13:
        y = y * 2.0
    if F13 and F12:
        z = x
    if F13 and F12:
        y = y + z
    tl.store(x_ptr + offs, y)


@tn.kernel
def shapes_by_flag(x_ptr: tl.Ptr[D], WIDE: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    """A name with two shapes: each use is lowered once for each."""
    if WIDE:
        offs = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    else:
        offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if WIDE:
        total = tl.sum(x, axis=1)
    else:
        total = x
    tl.store(x_ptr + tl.arange(0, BLOCK), total)


@tn.kernel
def dtypes_by_flag(x_ptr: tl.Ptr[D], PRECISE: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    acc_dtype = tl.f32 if PRECISE else x_ptr.dtype
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs).to(acc_dtype)
    tl.store(x_ptr + offs, (x * x).to(x_ptr.dtype))


@tn.kernel
def typed_accumulator(x_ptr: tl.Ptr[D], ACC: tl.Const[type[A]], BLOCK: tl.Const[int]) -> None:
    """A dtype as a Const."""
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), ACC)
    acc += tl.load(x_ptr + offs).to(ACC)
    tl.store(x_ptr + offs, acc.to(x_ptr.dtype))


@tn.kernel
def shape_given(x_ptr: tl.Ptr[D], SHAPE: tl.Const[tuple[int, int]]) -> None:
    rows, cols = SHAPE
    at = tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]
    tl.store(x_ptr + at, tl.zeros(SHAPE, x_ptr.dtype))
    tl.store(x_ptr + tl.arange(0, SIZES[0]), 1.0)


@tn.kernel
def optional_size(x_ptr: tl.Ptr[D], WIDTH: tl.Const[int | None], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    if WIDTH is not None:
        tl.store(x_ptr + offs, 1.0, mask=offs < WIDTH)
    else:
        tl.store(x_ptr + offs, 1.0)


@tn.kernel
def divided(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int], GROUP: tl.Const[int]) -> None:
    """Obligations: the quotient has to be a power of two, and to divide."""
    tl.static_assert(BLOCK % GROUP == 0, "groups fill the block")
    parts = BLOCK // GROUP
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    y = tl.sum(tl.reshape(x, (parts, GROUP)), axis=1)
    tl.store(x_ptr + tl.arange(0, parts), y)


@tn.kernel
def arithmetic(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int], SCALE: tl.Const[float], SHIFT: tl.Const[int] = 3) -> None:
    """Const expressions of all kinds."""
    count: tl.Const[int] = max(BLOCK // 2, 1) + min(SHIFT, 2) + abs(-SHIFT) + tl.cdiv(BLOCK, 4)
    ratio = SCALE / 3 + float(SHIFT) ** 2 - (BLOCK % 7)
    whole = int(SCALE * 10.0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < count + whole, other=0)
    y = (x.to(tl.f32) * ratio).to(x_ptr.dtype)
    if BLOCK & 1 == 0 and SHIFT in (1, 2, 3) and bool(SHIFT):
        y = y + (2**SHIFT + (1 << SHIFT))
    tl.store(x_ptr + offs, y)
