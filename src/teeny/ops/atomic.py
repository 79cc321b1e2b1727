"""Atomic operations: each lane reads, changes and writes its element of memory in one step, and gives what was there.

Every lane of the tile does its own, a scalar does one; the lanes of a tile come in no particular order (on the
reference in row-major order), and lanes outside the mask touch nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BOOL, FLOAT, INT, LEAVES, NUM, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, pointee_of
from teeny.ir.types import Type, pointer, with_element
from teeny.ops.access import check_mask, filled, fits, with_mask
from teeny.ops.bitcast import reinterpret
from teeny.ops.bits import andi, ori, xori
from teeny.ops.compare import cmpf, cmpi, select
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import broadcast_value
from teeny.ops.vocabulary import choice

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, F, I, N, Ptr, Tensor, bool_

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
]

SEMS = ("acquire", "release", "acq_rel", "relaxed")
SCOPES = ("gpu", "cta", "sys")
KINDS = {
    "fadd": FLOAT, "fmax": FLOAT, "fmin": FLOAT, "add": INT, "max": INT, "min": INT, "umax": INT, "umin": INT,
    "and": INT, "or": INT, "xor": INT, "exch": NUM,
}  # fmt: skip
"""What `tt.atomic_rmw` does, and of which dtypes. `fmax` and `fmin` are ours: a number wins against a NaN."""
_FORMS: dict[str, dict[str, str]] = {
    "add": {"float": "fadd"},
    "max": {"float": "fmax", "unsigned": "umax"},
    "min": {"float": "fmin", "unsigned": "umin"},
}
"""The kind for a class of dtypes, where it has another name than the plain one."""

_FROM_MEMORY = Absent("memory may hold anything")
_NARROW = ("i8", "i16", "u8", "u16")
_HALVES = ("f16", "bf16")


def _check(types: tuple[Type, ...], value: int = 1) -> DType:
    expect(types[value] is with_element(types[0], pointee_of(types[0])), f"{types[value]} does not fit {types[0]}")
    return dtype_of(types[value])


def _known(attrs: dict[str, Any]) -> None:
    expect(attrs["sem"] in SEMS, f"the order of memory is one of {', '.join(SEMS)}, found {attrs['sem']}")
    expect(attrs["scope"] in SCOPES, f"the scope is one of {', '.join(SCOPES)}, found {attrs['scope']}")


def _rmw(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    dtype, kind, value = _check(types), attrs["atomic_rmw_op"], types[1]
    check_mask(types[0], types[2] if len(types) > 2 else None)
    expect(kind in KINDS, f"the kind is one of {', '.join(KINDS)}, found {kind}")
    expect(dtype.is_variable or dtype.within(KINDS[kind]), f"there is no atomic {kind} of {dtype}")
    _known(attrs)
    return (value,)


def _cas(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    _check(types)
    _check(types, 2)
    _known(attrs)
    return (types[1],)


def _expand_rmw(
    b: Builder, ptr: Value, value: Value, mask: Value | None = None, *, atomic_rmw_op: str, sem: str, scope: str
) -> Value | None:
    """`fmax` and `fmin` by the integers with the same bits, which floats without a sign are ordered like.

    Of floats with a sign the larger number is the smaller integer, read without a sign. A NaN becomes the integer that
    changes nothing. What stands in memory is compared by its bits: a NaN there may stay. An exchange of floats is one
    of integers, which every version takes for every target. None for other kinds.
    """
    dtype = dtype_of(value.type)
    if atomic_rmw_op not in ("fmax", "fmin", "exch") or dtype.kind != "float":
        return None
    most = atomic_rmw_op == "fmax"
    integer = LEAVES[f"i{dtype.bits}"]
    bits = reinterpret(b, value, integer)
    at = reinterpret(b, ptr, pointer(integer))
    if atomic_rmw_op == "exch":
        operands = (at, bits) if mask is None else (at, bits, mask)
        return reinterpret(b, b.create(atomic_rmw, *operands, atomic_rmw_op="exch", sem=sem, scope=scope), dtype)
    zero = constant(b, bits.type, 0)
    nan = b.create(cmpf, value, value, predicate="uno")
    idle = -(1 << (dtype.bits - 1)) if most else (1 << (dtype.bits - 1)) - 1
    bits = b.create(select, nan, constant(b, bits.type, idle), bits)
    plain = b.create(ori, nan, b.create(cmpi, bits, zero, predicate="sge"))
    other = b.create(xori, plain, constant(b, plain.type, True))
    found: list[Value] = []
    for kind, chosen in (("max" if most else "min", plain), ("umin" if most else "umax", other)):
        lanes = chosen if mask is None else b.create(andi, mask, chosen)
        found.append(b.create(atomic_rmw, at, bits, lanes, atomic_rmw_op=kind, sem=sem, scope=scope))
    return reinterpret(b, b.create(select, plain, *found), dtype)


def _expand_cas(b: Builder, ptr: Value, expected: Value, value: Value, *, sem: str, scope: str) -> Value | None:
    """Floats as integers with the same bits, which every version takes for every target; None for integers."""
    dtype = dtype_of(value.type)
    if dtype.kind != "float":
        return None
    integer = LEAVES[f"i{dtype.bits}"]
    bits = [reinterpret(b, v, integer) for v in (expected, value)]
    at = reinterpret(b, ptr, pointer(integer))
    return reinterpret(b, b.create(atomic_cas_, at, *bits, sem=sem, scope=scope), dtype)


atomic_rmw = define(
    OpDef(
        "tt.atomic_rmw", Structural("atomic"), ("ptr", "value", "mask?"), _rmw, Structural("atomic"),
        Structural("atomic"), Structural("atomic"), _FROM_MEMORY, attrs=("atomic_rmw_op", "sem", "scope"),
        group="atomic", pure=False, writes=True, expand=_expand_rmw, cost=20.0,
    )
)  # fmt: skip
atomic_cas_ = define(
    OpDef(
        "tt.atomic_cas", Structural("atomic"), ("ptr", "expected", "value"), _cas, Structural("atomic"),
        Structural("atomic"), Structural("atomic"), _FROM_MEMORY, attrs=("sem", "scope"), group="atomic", pure=False,
        writes=True, expand=_expand_cas, cost=20.0,
    )
)  # fmt: skip


def kind_of(name: str, dtype: DType) -> str:
    """What `tt.atomic_rmw` calls an operation of a dtype (with sign): `fadd`, `umax`."""
    return _FORMS.get(name, {}).get(dtype.kind, name)


def _shape(
    s: Shapes, pointer: Operand, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None, **_: Any
) -> tuple[Dim, ...]:
    shape = with_mask(s, pointer, mask)
    if isinstance(val, Operand):
        fits(s, "the value", val.shape, shape)
    choice(s, "sem", sem, SEMS)
    choice(s, "scope", scope, SCOPES)
    return shape


def _cas_shape(s: Shapes, cmp: Any, **rest: Any) -> tuple[Dim, ...]:
    shape = _shape(s, **rest)
    if isinstance(cmp, Operand):
        fits(s, "`cmp`", cmp.shape, shape)
    return shape


def _emit(name: str) -> Any:
    def emit(
        b: Builder, shape: tuple[Dim, ...], dtype: DType, /, pointer: Operand, val: Any, mask: Any,
        sem: str | None, scope: str | None,
    ) -> Value:  # fmt: skip
        operands = [broadcast_value(b, pointer.value, shape), filled(b, val, shape, dtype)]
        if mask is not None:
            operands.append(filled(b, mask, shape, BOOL))
        attrs = {"atomic_rmw_op": kind_of(name, dtype), "sem": sem or "acq_rel", "scope": scope or "gpu"}
        return b.op(atomic_rmw, tuple(operands), attrs).result

    return emit


def _emit_cas(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, /, pointer: Operand, cmp: Any, val: Any, sem: str | None,
    scope: str | None,
) -> Value:  # fmt: skip
    operands = (broadcast_value(b, pointer.value, shape), filled(b, cmp, shape, dtype), filled(b, val, shape, dtype))
    return b.op(atomic_cas_, operands, {"sem": sem or "acq_rel", "scope": scope or "gpu"}).result


_SHAPES = "The shape of `pointer` and `mask` together; `val` broadcasts to it (S006)."


@overload
def atomic_add(
    pointer: Ptr[N],
    val: Tensor[N] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[N]: ...
@overload
def atomic_add(
    pointer: Ptr[F],
    val: float,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[F]: ...
@language(_emit("add"), shape=_shape, exclude={"N": _NARROW}, codes={"mask": "T004", "val": "T003"}, shapes=_SHAPES)
def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> Any:
    """Add `val` to what `pointer` points at, in one step where `mask` holds; gives what was there before.

    Integers of 32 and 64 bits wrap; floats are rounded once a step, and the order of the steps is open: a float sum may
    differ from run to run. Lanes outside the mask give undefined results. `sem` is the order of memory: "acq_rel" (the
    default), "acquire", "release" or "relaxed"; `scope` is who takes part in it: "gpu" (the default), "cta" or "sys".
    """
    ...


@overload
def atomic_max(
    pointer: Ptr[N],
    val: Tensor[N] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[N]: ...
@overload
def atomic_max(
    pointer: Ptr[F],
    val: float,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[F]: ...
@language(
    _emit("max"),
    shape=_shape,
    exclude={"N": _NARROW + _HALVES, "F": _HALVES},
    codes={"mask": "T004", "val": "T003"},
    shapes=_SHAPES,
    differs="In Triton a NaN without sign wins and one with sign loses.",
)
def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> Any:
    """Make what `pointer` points at the larger of it and `val`, as `atomic_add`; gives what was there before.

    Integers, f32 and f64. A NaN in `val` changes nothing; one in memory gives way to a number on the CPU and may stay
    on a GPU.
    """
    ...


@overload
def atomic_min(
    pointer: Ptr[N],
    val: Tensor[N] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[N]: ...
@overload
def atomic_min(
    pointer: Ptr[F],
    val: float,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[F]: ...
@language(
    _emit("min"),
    shape=_shape,
    exclude={"N": _NARROW + _HALVES, "F": _HALVES},
    codes={"mask": "T004", "val": "T003"},
    shapes=_SHAPES,
    differs="In Triton a NaN with sign wins and one without sign loses.",
)
def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> Any:
    """Make what `pointer` points at the smaller of it and `val`, as `atomic_max`; gives what was there before."""
    ...


@language(_emit("and"), shape=_shape, exclude={"I": _NARROW}, codes={"mask": "T004", "val": "T003"}, shapes=_SHAPES)
def atomic_and(
    pointer: Ptr[I],
    val: Tensor[I] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[I]:
    """Keep the bits that are in `val` too, as `atomic_add`; gives what was there before. 32 and 64 bits."""
    ...


@language(_emit("or"), shape=_shape, exclude={"I": _NARROW}, codes={"mask": "T004", "val": "T003"}, shapes=_SHAPES)
def atomic_or(
    pointer: Ptr[I],
    val: Tensor[I] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[I]:
    """Set the bits that are in `val`, as `atomic_add`; gives what was there before. 32 and 64 bits."""
    ...


@language(_emit("xor"), shape=_shape, exclude={"I": _NARROW}, codes={"mask": "T004", "val": "T003"}, shapes=_SHAPES)
def atomic_xor(
    pointer: Ptr[I],
    val: Tensor[I] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[I]:
    """Turn the bits that are in `val`, as `atomic_add`; gives what was there before. 32 and 64 bits."""
    ...


@overload
def atomic_xchg(
    pointer: Ptr[N],
    val: Tensor[N] | int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[N]: ...
@overload
def atomic_xchg(
    pointer: Ptr[F],
    val: float,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[F]: ...
@language(
    _emit("exch"),
    shape=_shape,
    exclude={"N": _NARROW + _HALVES, "F": _HALVES},
    codes={"mask": "T004", "val": "T003"},
    shapes=_SHAPES,
)
def atomic_xchg(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> Any:
    """Write `val` where `mask` holds, as `atomic_add`; gives what was there before. 32 and 64 bits."""
    ...


@overload
def atomic_cas(
    pointer: Ptr[N],
    cmp: Tensor[N] | int,
    val: Tensor[N] | int,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[N]: ...
@overload
def atomic_cas(
    pointer: Ptr[F],
    cmp: Tensor[F] | float,
    val: Tensor[F] | float,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[F]: ...
@language(
    _emit_cas,
    shape=_cas_shape,
    exclude={"N": ("i8", "u8")},
    codes={"cmp": "T003", "val": "T003"},
    shapes="The shape of `pointer`; `cmp` and `val` broadcast to it (S006).",
    differs="In Triton `cmp` and `val` have the shape of `pointer` already.",
)
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> Any:
    """Write `val` where `pointer` points at exactly `cmp`, in one step; gives what was there before.

    It was written where the result equals `cmp`. Floats are compared by their bits: 0.0 is not -0.0, and a NaN is
    itself. Dtypes of 16, 32 and 64 bits. `sem` and `scope` as in `atomic_add`.
    """
    ...
