"""The schema of a dialect operation: everything that is known about it, in one object.

Slots that hold no rule say why (`Absent`); `completeness` is what the registry's test reads. `Structural(kind)` names a
rule that the consumer owns, because the operation is not lane by lane (a load, a reshape, a loop).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from teeny.ir.dtype import DType, storage
from teeny.ir.rules import Absent, Interval, Lanewise, Structural
from teeny.ir.types import Element, PointerType, Type, element_of, shape_of

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

Infer = Callable[[tuple[Type, ...], dict[str, Any]], tuple[Type, ...]]
"""Result types from operand types and attributes; raises `SchemaError` where the operands do not fit."""
Check = Callable[[tuple[Type, ...], dict[str, Any], tuple[Type, ...]], None]
"""Where operands do not give the results (casts, reshapes, branches): raises `SchemaError` where the two do not fit."""
AnyRule = (
    Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
"""A function of two to five arguments, spelled out so that the parameters of a `lambda` have a type."""
Numpy = AnyRule
"""`(np, op, *arrays) -> array` (or a tuple): the meaning, on arrays of the operands' storage dtypes (i1 is bool)."""
Cpu = AnyRule
"""`(b, op, *lanes) -> lane`, written against `ir.lanes.LaneBuilder`."""
Expand = Callable[..., "Value | None"]
"""`(b, *operands, **attributes) -> result`: the same in terms of other operations, appended through the builder."""
Fold = Callable[..., float | None]
"""`(*numbers) -> number or None`: the meaning on Python numbers, where the operation's attributes do not matter."""


@dataclass(frozen=True, slots=True)
class Ulp:
    """How far results may be from the exact ones, in units of the last place; 0: rounded correctly.

    `cpu` holds for f32 and f64, on the reference too. The bounds on GPUs are for NVIDIA's, where subnormal f32
    arguments and results do not count; None says that no bound is known. 16-bit floats are rounded from an f32 result.
    """

    cpu: float = 0.0
    cuda_f32: float | None = 0.0
    cuda_f64: float | None = 0.0


class SchemaError(Exception):
    """Operands, attributes or results that do not fit a schema: the verifier's and the builder's complaint."""


@dataclass(frozen=True, slots=True)
class OpDef:
    """One dialect operation.

    `text` is its assembly format in the syntax of MLIR's ODS (`$name`, `type($name)`, `attr-dict`, literals; `(...)?`
    is printed when its first operand is present), or `Structural(kind)` where `ir.text` prints and parses it by name.
    `types` is an `Infer`, or a `Check` where `inferred` is false.
    `operands` and `results` name them: `x`, `mask?` (optional, last), `args*` (any number).
    `group` names what the variants of one idea share: addf, addi and num.add are all "add".
    `writes`: it may write memory, through the pointer that is its first operand.
    `wide`: of 16-bit floats, the language computes it in f32 and rounds once; a pass writes the conversions.
    `symbols`: the functions of NVIDIA's libdevice for f32 and f64 that stand for it in Triton's dialect, which has no
    such operation; its text is then a call of them (`Structural("extern")`).
    `expand`: of an operation with one result that Triton's dialect lacks, what stands for it there. It takes the
    attributes by name, and gives None where these make it one that the dialect has.
    """

    name: str
    text: str | Structural
    operands: tuple[str, ...]
    types: Infer | Check
    numpy: Numpy | Structural | Absent
    cpu: Cpu | Structural | Absent
    fill: Lanewise | Structural | Absent
    interval: Callable[..., Interval] | Absent
    results: tuple[str, ...] = ("result",)
    attrs: tuple[str, ...] = ()
    fold: Fold | None = None
    group: str = ""
    pure: bool = True
    writes: bool = False
    terminator: bool = False
    generic: bool = False
    commutative: bool = False
    identity: Callable[[DType], float] | None = None
    ulp: Ulp = Ulp()
    wide: bool = False
    symbols: tuple[str, ...] = ()
    expand: Expand | None = None
    regions: int = 0
    inferred: bool = True
    cost: float = 1.0

    @property
    def lanewise(self) -> bool:
        return isinstance(self.fill, Lanewise)


_registry: dict[str, OpDef] = {}


def define(schema: OpDef) -> OpDef:
    """Enter an operation into the registry. A name is defined once."""
    if schema.name in _registry:
        raise SchemaError(f"operation {schema.name} is defined twice")
    _registry[schema.name] = schema
    return schema


def registry() -> dict[str, OpDef]:
    """All operations by name. The families are imported by `teeny.ops`."""
    return _registry


def expect(ok: bool, message: str) -> None:
    if not ok:
        raise SchemaError(message)


def same_types(types: tuple[Type, ...]) -> Type:
    first = types[0]
    for other in types[1:]:
        expect(other is first, f"operand types differ: {first} and {other}")
    return first


def dtype_of(type_: Type) -> DType:
    """The element dtype of a scalar or tensor that is no pointer."""
    element = element_of(type_)
    if isinstance(element, PointerType):
        raise SchemaError(f"{type_} is a pointer")
    return element


def pointee_of(type_: Type) -> Element:
    element = element_of(type_)
    if not isinstance(element, PointerType):
        raise SchemaError(f"{type_} is no pointer")
    return element.pointee


def lanewise(mask: int) -> Infer:
    """Operands of one type whose dtype lies in `mask`; the result has that type."""

    def infer(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
        type_ = same_types(types)
        expect(dtype_of(type_).within(mask), f"the element dtype of {type_} does not fit")
        return (type_,)

    return infer


def named(op: Op, name: str) -> Value | None:
    """The operand that the schema calls `name`; None where it is left out, or the operation has none of that name."""
    for at, declared in enumerate(op.schema.operands):
        if declared.rstrip("?") == name:
            return op.operands[at] if at < len(op.operands) else None
    return None


def same_shape(x: Type, y: Type) -> None:
    expect(shape_of(x) == shape_of(y), f"shapes differ: {x} and {y}")


def is_storage(dtype: DType) -> bool:
    return storage(dtype) is dtype


def verify_op(op: Op) -> str | None:
    """What is wrong with one operation by its schema, or None."""
    schema = op.schema
    low = sum(1 for n in schema.operands if n[-1] not in "?*")
    high = 1 << 30 if any(n.endswith("*") for n in schema.operands) else len(schema.operands)
    if not low <= len(op.operands) <= high:
        return f"{schema.name} takes {low} to {high} operands, found {len(op.operands)}"
    if len(op.regions) != schema.regions:
        return f"{schema.name} has {schema.regions} regions, found {len(op.regions)}"
    missing = [a for a in schema.attrs if not a.endswith("?") and a not in op.attrs]
    if missing:
        return f"{schema.name} lacks the attribute {missing[0]}"
    operands, found = tuple(v.type for v in op.operands), tuple(r.type for r in op.results)
    try:
        if not schema.inferred:
            cast("Check", schema.types)(operands, op.attrs, found)
            return None
        expected = cast("Infer", schema.types)(operands, op.attrs)
    except SchemaError as error:
        return f"{schema.name}: {error}"
    return None if expected == found else f"{schema.name} gives {expected}, found {found}"
