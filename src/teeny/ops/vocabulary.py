"""Constructors for the common kinds of operations, and families that pick a variant by dtype."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Required, TypedDict

from teeny.ir.dtype import BOOL, DType
from teeny.ir.rules import Absent, Absorb, Interval, Lanewise, Structural, unchanged
from teeny.ir.schema import AnyRule, Expand, OpDef, Ulp, define, dtype_of, expect, lanewise, same_shape
from teeny.ir.types import Type, with_element

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ops.function import Shapes

GENERIC_ONLY = Absent("generic IR is seen by the front end and the checks alone")
CORRECT = Ulp()
NO_INTERVAL = Absent("no bound better than the dtype's range")


FoldRule = (
    Callable[[float], float | None]
    | Callable[[float, float], float | None]
    | Callable[[float, float, float], float | None]
)
IntervalRule = (
    Callable[[Interval], Interval]
    | Callable[[Interval, Interval], Interval]
    | Callable[[Interval, Interval, Interval], Interval]
)


class Rules(TypedDict, total=False):
    """What the variants of one idea share; see `OpDef`."""

    group: Required[str]
    fold: FoldRule
    absorb: Absorb
    interval: IntervalRule
    commutative: bool
    identity: Callable[[DType], float]
    cost: float
    wide: bool


def elementwise(
    name: str,
    mask: int,
    arity: int,
    numpy: AnyRule,
    cpu: AnyRule,
    *,
    group: str,
    fold: FoldRule | None = None,
    absorb: Absorb | None = None,
    interval: IntervalRule | Absent = NO_INTERVAL,
    commutative: bool = False,
    identity: Callable[[DType], float] | None = None,
    ulp: Ulp = CORRECT,
    cost: float = 1.0,
    wide: bool = False,
    symbols: tuple[str, ...] = (),
    expand: Expand | None = None,
) -> OpDef:
    """Define an operation whose operands and result share one type with a dtype in `mask`.

    `numpy(np, *arrays)` and `cpu(b, *lanes)` need no more than the operands.
    """

    def meaning(np: Any, op: Op, *arrays: Any) -> Any:
        return numpy(np, *arrays)

    def lane(b: Any, op: Op, *lanes: Any) -> Any:
        return cpu(b, *lanes)

    names = ("x", "y", "z")[:arity]
    plain = ", ".join(f"${n}" for n in names) + " attr-dict : type($result)"
    text = Structural("extern") if symbols else plain
    return define(
        OpDef(
            name, text, names, lanewise(mask), meaning, lane, Lanewise(absorb), interval,
            fold=fold, group=group, commutative=commutative, identity=identity, ulp=ulp, cost=cost,
            wide=wide, symbols=symbols, expand=expand,
        )
    )  # fmt: skip


def conversion(
    name: str,
    source: int,
    target: int,
    numpy: Callable[[Any, Any, DType], Any],
    cpu: Callable[[Any, Any, str], Any],
    cost: float = 1.0,
    wider: bool | None = None,
) -> OpDef:
    """Define a cast between dtype classes. `numpy(np, x, dtype)` and `cpu(b, x, name)` get the target.

    `wider` says whether the target has more bits than the source (True) or fewer (False), where that is demanded.
    """

    def check(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
        same_shape(types[0], results[0])
        expect(dtype_of(types[0]).within(source), f"cannot convert from {types[0]}")
        expect(dtype_of(results[0]).within(target), f"cannot convert to {results[0]}")
        gained = dtype_of(results[0]).bits - dtype_of(types[0]).bits
        expect(wider is None or gained * (1 if wider else -1) > 0, f"{results[0]} has not the width for {types[0]}")

    return define(
        OpDef(
            name, "$x attr-dict : type($x) `to` type($result)", ("x",), check,
            lambda np, op, x: numpy(np, x, dtype_of(op.results[0].type)),
            lambda b, op, x: cpu(b, x, dtype_of(op.results[0].type).mlir),
            Lanewise(), unchanged, inferred=False, group="cast", cost=cost,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Family:
    """One idea over the dtype classes: the variant for a leaf, or the generic operation while the dtype is a
    variable."""

    generic: OpDef
    float: OpDef | None = None
    signed: OpDef | None = None
    unsigned: OpDef | None = None
    bool: OpDef | None = None

    def pick(self, dtype: DType) -> OpDef:
        if dtype.is_variable:
            return self.generic
        variants = {"float": self.float, "signed": self.signed, "unsigned": self.unsigned, "bool": self.bool}
        found = variants.get(dtype.kind)
        expect(found is not None, f"{self.generic.group} has no form for {dtype}")
        assert found is not None
        return found


def family(group: str, mask: int, arity: int = 2, **variants: OpDef | None) -> Family:
    """A family, with its generic operation `num.<group>` taking its rules from the first variant."""
    first = next(v for v in variants.values() if v is not None)
    generic = define(
        OpDef(
            f"num.{group}", first.text, first.operands, lanewise(mask), GENERIC_ONLY, GENERIC_ONLY, first.fill,
            first.interval, fold=first.fold, group=group, commutative=first.commutative, identity=first.identity,
            generic=True, cost=first.cost,
        )
    )  # fmt: skip
    return Family(generic, **variants)


def numpy_dtype(np: Any, dtype: DType) -> Any:
    """The NumPy dtype of a leaf (bfloat16 and the 8-bit floats through ml_dtypes)."""
    names = {
        "bool": "bool", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
        "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2fnuz": "float8_e5m2fnuz",
    }  # fmt: skip
    name = names.get(dtype.name)
    if name is None:
        name = {"i": "int", "u": "uint", "f": "float"}[dtype.name[0]] + dtype.name[1:]
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def odd_f32(np: Any, near: Any, error: Any) -> Any:
    """The f32 numbers `near`, or where they miss an exact value by `error` the neighbour whose last bit is odd.

    A further rounding to 16 bits is then right (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums",
    2008). Only the sign of the error counts: above or below.
    """
    bits = near.view(np.int32)
    outward = np.where(np.signbit(near), error < 0, error > 0)
    return (
        np.where((error != 0) & (bits & 1 == 0), bits + np.where(outward, 1, -1), bits)
        .astype(np.int32)
        .view(near.dtype)
    )


def rounded(np: Any, x: Any, target: Any) -> Any:
    """Floats to another NumPy dtype with one rounding (alone, f64 to bfloat16 goes by way of f32 and rounds twice)."""
    if x.dtype != np.float64 or target.itemsize > 2:
        return x.astype(target)
    near = np.asarray(x.astype(np.float32))
    error = np.where(np.isfinite(x), x - near.astype(np.float64), 0.0)
    return odd_f32(np, near, error).astype(target)


def as_unsigned(np: Any, x: Any) -> Any:
    """The same bits, read without a sign."""
    return np.asarray(x).view(np.dtype(f"u{x.dtype.itemsize}"))


def predicate_type(type_: Type) -> Type:
    """The type of a comparison of two values of `type_`."""
    return with_element(type_, BOOL)


def choice(s: Shapes, name: str, found: Any, choices: tuple[str, ...]) -> None:
    """Demand one of a few words for the argument `name`; a fault lists them."""
    if isinstance(found, str) and found not in choices:
        s.fault("E005", f"`{name}` is one of {', '.join(map(repr, choices))}, found {found!r}")
