"""Matrix products in microscaling formats.

Elements are small floats, 32 neighbours along k of which share a scale. Formats and scales are those of the OCP
Microscaling Formats Specification 1.0: a scale is a power of two whose exponent, biased by 127, is one byte (E8M0), 255
of which is NaN; two 4-bit floats (E2M1) lie in one byte, the first in the lower half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BF16, F16, F32, I8, LEAVES, DType, storage
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, shape_of, typed
from teeny.ops.bitcast import reinterpret
from teeny.ops.constant import constant
from teeny.ops.dot import fits, same, show
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import Const, D, E, Tensor, f32, u8

__all__ = ["dot_scaled"]

BLOCK = 32
"""Elements along k that share a scale."""
NAN_SCALE = 255
FORMATS: dict[str, DType] = {
    "e2m1": I8, "e4m3": LEAVES["f8e4m3"], "e5m2": LEAVES["f8e5m2"], "bf16": BF16, "fp16": F16,
}  # fmt: skip
"""The formats of operands, and the dtype of the IR that holds each."""
_BITS = {"e2m1": "u8", "e4m3": "u8", "e5m2": "u8", "bf16": "u16", "fp16": "u16"}
"""The dtype of the language that a format's bits may be given as."""
UNSCALED = ("bf16", "fp16")


def sizes(shape: tuple[Dim, ...], format: str, k_pack: bool, inner: int) -> tuple[Dim, ...]:
    """The shape of an operand in elements; `inner` is its axis along k, -1 or -2."""
    if format != "e2m1":
        return shape
    packed = inner if k_pack else -3 - inner
    at = len(shape) + packed
    return (*shape[:at], shape[at] * 2, *shape[at + 1 :])


def scales(op: Op) -> tuple[Value | None, Value | None]:
    """The scales of the first operand and of the second, where they have any."""
    given, scaled = iter(op.operands[3:]), str(op.attrs["scaled"])
    first, second = (next(given) if side in scaled else None for side in "ab")
    return first, second


def _dot_scaled(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    a, b, c = types[:3]
    scaled, formats = attrs["scaled"], (attrs["a_elem_type"], attrs["b_elem_type"])
    expect(scaled in ("", "a", "b", "ab") and len(types) == 3 + len(scaled), "scales and operands do not fit together")
    expect(all(f in FORMATS for f in formats), f"no format {formats[0]} or {formats[1]}")
    expect(dtype_of(c) is F32, f"a scaled product is added up in f32, found {c}")
    packs = (attrs.get("lhs_k_pack", True), attrs.get("rhs_k_pack", True))
    shapes = [shape_of(t) for t in (a, b, c)]
    expect(2 <= len(shapes[0]) <= 3 and len({len(s) for s in shapes}) == 1, f"{a}, {b} and {c} differ in rank")
    for type_, format, pack in zip((a, b), formats, packs, strict=True):
        dtype, wanted = dtype_of(type_), FORMATS[format]
        expect(dtype is wanted or bool(dtype.is_variable and dtype.mask & wanted.mask), f"{type_} is no {format}")
        expect(pack or format == "e2m1", f"{format} is not packed")
    x, y = sizes(shapes[0], formats[0], packs[0], -1), sizes(shapes[1], formats[1], packs[1], -2)
    pairs = [(x[-1], y[-2]), (x[-2], shapes[2][-2]), (y[-1], shapes[2][-1])]
    for scale in types[3:]:
        expect(dtype_of(scale) is I8 and len(shape_of(scale)) == len(x), f"{scale} is no scale")
    given = iter(types[3:])
    for side, rows in (("a", x[-2]), ("b", y[-1])):
        if side in scaled:
            scale = shape_of(next(given))
            pairs += [(scale[-2], rows), (_blocks(x[-1]), scale[-1])]
    expect(all(same(p, q) for p, q in pairs), f"the shapes of {', '.join(map(str, types))} do not fit together")
    return (c,)


def _blocks(inner: Dim) -> Dim:
    return inner // BLOCK


dot_scaled_ = define(
    OpDef(
        "tt.dot_scaled", Structural("dot_scaled"), ("a", "b", "c", "scales*"), _dot_scaled, Structural("dot_scaled"),
        Structural("dot_scaled"), Structural("dot_scaled"), Absent("no bound better than the dtype's range"),
        attrs=("a_elem_type", "b_elem_type", "scaled", "fastMath?", "lhs_k_pack?", "rhs_k_pack?"), group="dot",
        cost=20.0,
    )
)  # fmt: skip


def _shape(
    s: Shapes, lhs: Operand, lhs_scale: Operand | None, lhs_format: Any, rhs: Operand, rhs_scale: Operand | None,
    rhs_format: Any, acc: Operand | None = None, fast_math: Any = False, lhs_k_pack: Any = True, rhs_k_pack: Any = True,
    **_: Any,
) -> tuple[Dim, ...]:  # fmt: skip
    x, y = lhs.shape, rhs.shape
    if len(x) != len(y) or not 2 <= len(x) <= 3:
        what = "takes two matrices, or two batches of them"
        s.fault("S005", f"`tl.dot_scaled` {what}, found shapes {show(x)} and {show(y)}")
        return ()
    sides = (("lhs", lhs, lhs_scale, lhs_format, lhs_k_pack), ("rhs", rhs, rhs_scale, rhs_format, rhs_k_pack))
    if not all(_side(s, *side) for side in sides):
        return ()
    x, y = sizes(x, lhs_format, lhs_k_pack, -1), sizes(y, rhs_format, rhs_k_pack, -2)
    what = f"`tl.dot_scaled` of {show(x)} and {show(y)} elements"
    s.require("eq", x[-1], y[-2], "S010", f"{what} needs equal sizes along k")
    for p, q in zip(x[:-2], y[:-2], strict=True):
        s.equal(p, q, "S010", f"{what} needs equal batches")
    s.require("divides", BLOCK, x[-1], "S010", f"{what}: the size along k is a multiple of {BLOCK}")
    for name, scale, rows in (("lhs", lhs_scale, x[-2]), ("rhs", rhs_scale, y[-1])):
        if scale is None:
            continue
        wanted = (*x[:-2], rows, _blocks(x[-1]))
        text = f"`{name}_scale` has the shape {show(wanted)}, a row of scales for each {_ROWS[name]}, found "
        if len(scale.shape) != len(wanted):
            s.fault("S005", text + show(scale.shape))
            return ()
        for p, q in zip(scale.shape, wanted, strict=True):
            s.require("eq", p, q, "S010", text + show(scale.shape))
    shape = (*x[:-1], y[-1])
    if acc is not None:
        fits(s, acc, shape)
    return shape


_ROWS = {"lhs": "row of `lhs`", "rhs": "column of `rhs`"}


def _side(s: Shapes, name: str, value: Operand, scale: Operand | None, format: str, k_pack: bool) -> bool:
    """Whether the format, the dtype and the scale of one operand go together."""
    if format not in FORMATS:
        s.fault("T021", f"`{name}_format` is one of {', '.join(map(repr, FORMATS))}, found {format!r}")
        return False
    dtype = value.dtype
    assert isinstance(dtype, DType)
    wanted = [LEAVES[_BITS[format]]] + ([FORMATS[format]] if format != "e2m1" else [])
    if not any(dtype.mask & leaf.mask for leaf in wanted):
        names = " or ".join(leaf.name for leaf in wanted)
        s.fault("T021", f"`{name}` in the format {format!r} is a tensor of {names}, found {dtype}", _help(dtype, name))
        return False
    if not k_pack and format != "e2m1":
        s.fault("T021", f"`{name}_k_pack` says how two elements lie in a byte, and {format!r} has one element each")
        return False
    if format in UNSCALED and scale is not None:
        s.fault("T021", f"`{name}` in the format {format!r} has no scale", f"pass None for `{name}_scale`")
        return False
    return True


def _help(dtype: DType, name: str) -> str:
    """The format that a dtype has."""
    for format, leaf in FORMATS.items():
        if dtype is leaf and dtype is not I8:
            return f'its format is "{format}"'
    return "" if storage(dtype) is not I8 else f"read its bits without a sign: {name}.to(tl.u8, bitcast=True)"


def _emit(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, /, lhs: Operand, lhs_scale: Operand | None, lhs_format: str,
    rhs: Operand, rhs_scale: Operand | None, rhs_format: str, acc: Operand | None = None, fast_math: bool = False,
    lhs_k_pack: bool = True, rhs_k_pack: bool = True, **_: Any,
) -> Value:  # fmt: skip
    total = constant(b, typed(shape, dtype), 0) if acc is None else acc.value
    x, y = _read(b, lhs, lhs_format), _read(b, rhs, rhs_format)
    given = [scale.value for scale in (lhs_scale, rhs_scale) if scale is not None]
    attrs: dict[str, Any] = {
        "a_elem_type": lhs_format, "b_elem_type": rhs_format, "fastMath": fast_math,
        "scaled": ("a" if lhs_scale is not None else "") + ("b" if rhs_scale is not None else ""),
    }  # fmt: skip
    packs = {"lhs_k_pack": lhs_k_pack, "rhs_k_pack": rhs_k_pack}
    attrs |= {name: False for name, pack in packs.items() if not pack}
    return b.op(dot_scaled_, (x, y, total, *given), attrs).result


def _read(b: Builder, value: Operand, format: str) -> Value:
    dtype = value.dtype
    assert isinstance(dtype, DType)
    return value.value if dtype.is_variable else reinterpret(b, value.value, FORMATS[format])


@language(
    _emit,
    shape=_shape,
    differs="Triton multiplies in bf16 or f16 where the target has no such product: what is out of their range then "
    "becomes infinite, or 0.",
)
def dot_scaled(
    lhs: Tensor[D],
    lhs_scale: Tensor[u8] | None,
    lhs_format: Const[str],
    rhs: Tensor[E],
    rhs_scale: Tensor[u8] | None,
    rhs_format: Const[str],
    acc: Tensor[f32] | None = None,
    fast_math: Const[bool] = False,
    lhs_k_pack: Const[bool] = True,
    rhs_k_pack: Const[bool] = True,
    out_dtype: type[f32] | None = None,
) -> Tensor[f32]:
    """`lhs @ rhs` in microscaling formats, added up in f32, and to `acc` where it is given.

    A format is "e4m3", "e5m2" or "e2m1" with a scale for each 32 elements along k, or "bf16" or "fp16" without one
    (T021). 8-bit floats come as such or as their bits, a tensor of u8; two elements of "e2m1" lie in one u8, the first
    in its lower half. Shapes in elements are (M, K), (K, N) and (M, N), with an equal leading axis in a batch (S010); a
    tensor of "e2m1" has half the size along k, or, for `lhs_k_pack=False` and `rhs_k_pack=False`, along M or N. A scale
    s is a u8 that stands for 2**(s - 127), 255 for NaN: `lhs_scale` has the shape (M, K // 32), `rhs_scale`
    (N, K // 32), and None stands for scales of 1. `fast_math` lets a GPU take scales of NaN for numbers.
    """
    ...
