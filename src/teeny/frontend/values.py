"""What an expression of a kernel can be while it is lowered.

Run-time values are `Operand`s (a tensor, scalar or pointer with its IR value). Everything else is known at compile
time: Python numbers, strings, None, functions and modules as they are, dtypes as `DType`, tuples of any of these. In
generic code a Const parameter has no value yet: an int is a symbolic dim (`ir.poly`), a bool a `Condition`, a dtype a
variable, others an `Unset`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from teeny.ir.dtype import DType
from teeny.ir.poly import Poly
from teeny.ir.types import PointerType, ViewType
from teeny.ops.function import Operand

if TYPE_CHECKING:
    from teeny.ir.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Condition:
    """A compile-time bool of generic code: the guard that is true where it is."""

    guard: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of Const ints that the facts do not decide; it becomes a `Condition` where a branch needs it."""

    predicate: Predicate
    text: str


@dataclass(frozen=True, slots=True)
class Unset:
    """A Const float or str of generic code, or what was computed from one: its value comes with the specialisation.

    Of kind bool it is a condition that no guard tracks: both of its sides are checked. `parts` is what it was computed
    from: two values with the same parts are the same. The last part of a tuple is the term of its annotation.
    """

    kind: type
    text: str
    parts: tuple[Any, ...] = ()


class Unknown:
    """What a faulty expression gives: it agrees with everything, so that one cause is reported once."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Method:
    """A method found on a value: the function and its first argument."""

    function: Any
    first: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A method without arguments, whose value is known: `x.dtype.is_fp16`."""

    value: Any


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple, of values of any kind."""
    return isinstance(value, tuple)


def is_const(value: object) -> bool:
    """Whether a value is known at compile time."""
    return all(map(is_const, value)) if is_tuple(value) else not isinstance(value, Operand | Unknown)


def kind_of(value: object) -> type:
    """The Python type that a compile-time value has or will have."""
    if isinstance(value, Poly):
        return int
    if isinstance(value, Condition | Comparison):
        return bool
    return value.kind if isinstance(value, Unset) else type(value)


def is_faulty(value: object) -> bool:
    """Whether a value comes from a reported fault, so that nothing more should be said about it."""
    return isinstance(value, Unknown) or (is_tuple(value) and any(map(is_faulty, value)))


def show_dtype(dtype: DType | PointerType) -> str:
    if isinstance(dtype, PointerType):
        return f"Ptr[{show_dtype(dtype.pointee)}]"
    return dtype.name


def show_shape(shape: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def show_number(value: float) -> str:
    """A number as messages write it: that of very many digits by its size."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"of {value.bit_length()} bits"
    return repr(value)


def show(value: object) -> str:
    """A value's kind in the words of an annotation: `Tensor[f32] of shape (BLOCK,)`, `Scalar[i32]`, `Const 3`."""
    if isinstance(value, Operand):
        dtype = show_dtype(value.dtype)
        if isinstance(value.type, ViewType):
            kind = "BlockPtr" if value.type.kind == "block pointer" else "TensorDescriptor"
            return f"{kind}{dtype.removeprefix('Ptr')} of blocks {show_shape(value.type.shape)}"
        if isinstance(value.dtype, PointerType):
            return dtype if not value.shape else f"{dtype} of shape {show_shape(value.shape)}"
        return f"Tensor[{dtype}] of shape {show_shape(value.shape)}" if value.shape else f"Scalar[{dtype}]"
    if isinstance(value, DType):
        return f"the dtype {value.name}"
    if isinstance(value, PointerType):
        return f"the type {show_dtype(value)}"
    if isinstance(value, Condition | Comparison):
        return "a Const bool"
    if isinstance(value, Poly):
        return f"the Const int {value}"
    if isinstance(value, Unset):
        return f"a Const {value.kind.__name__}"
    if value is None:
        return "None"
    if is_tuple(value):
        return f"a tuple of {len(value)}"
    if isinstance(value, bool | int | float):
        return f"the {type(value).__name__} {show_number(value)}"
    if isinstance(value, str):
        return f"the str {value!r}"
    if callable(value):
        return f"the function {getattr(value, '__name__', '?')}"
    return f"a {type(value).__name__}"
