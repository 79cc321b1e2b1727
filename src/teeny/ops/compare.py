"""Comparisons, and the choice between two values by a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BOOL, BOOLEAN, FLOAT, INT, NUM, U64, DType
from teeny.ir.rules import Absent, Interval, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, same_shape, same_types
from teeny.ir.types import PointerType, Type, shape_of
from teeny.ops.address import address
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import GENERIC_ONLY, as_unsigned, predicate_type

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import D, F, N, Ptr, Q, S, Tensor, X, bool_, f32, i32, i64

__all__ = ["where"]

NO_INTERVAL = Absent("a condition is 0 or 1")
_FLOAT = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_NUMPY = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
CORE = {p: k for table in (_FLOAT, _SIGNED, _UNSIGNED) for k, p in table.items()} | {k: k for k in _NUMPY}
"""The plain comparison ("lt") behind a predicate ("olt", "slt", "ult")."""


def _types(mask: int) -> Any:
    def infer(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
        type_ = same_types(types)
        expect(dtype_of(type_).within(mask), f"cannot compare {type_}")
        return (predicate_type(type_),)

    return infer


def _cmpi(np: Any, op: Op, x: Any, y: Any) -> Any:
    predicate = str(op.attrs["predicate"])
    if predicate[0] == "u" and predicate != "une":
        x, y = as_unsigned(np, x), as_unsigned(np, y)
    return getattr(np, _NUMPY[CORE[predicate]])(x, y)


def _cmpf(np: Any, op: Op, x: Any, y: Any) -> Any:
    predicate = str(op.attrs["predicate"])
    nan = np.isnan(x) | np.isnan(y)
    if predicate in ("ord", "uno"):
        return nan if predicate == "uno" else ~nan
    found = getattr(np, _NUMPY[predicate[1:]])(x, y)
    return found | nan if predicate[0] == "u" else found & ~nan


_TEXT = "$predicate `,` $x, $y attr-dict : type($x)"
cmpi = define(
    OpDef(
        "arith.cmpi", _TEXT, ("x", "y"), _types(INT | BOOLEAN), _cmpi,
        lambda b, op, x, y: b.icmp(op.attrs["predicate"], x, y), Structural("compare"), NO_INTERVAL,
        attrs=("predicate",), group="cmp",
    )
)  # fmt: skip
cmpf = define(
    OpDef(
        "arith.cmpf", _TEXT, ("x", "y"), _types(FLOAT), _cmpf,
        lambda b, op, x, y: b.fcmp(op.attrs["predicate"], x, y), Structural("compare"), NO_INTERVAL,
        attrs=("predicate",), group="cmp",
    )
)  # fmt: skip
cmp_ = define(
    OpDef(
        "num.cmp", _TEXT, ("x", "y"), _types(NUM | BOOLEAN), GENERIC_ONLY, GENERIC_ONLY, Structural("compare"),
        NO_INTERVAL,
        attrs=("predicate",), group="cmp", generic=True,
    )
)  # fmt: skip


def compare(b: Builder, predicate: str, dtype: DType, x: Value, y: Value) -> Value:
    """Compare by the plain predicate ("lt"), in the form that `dtype` (with sign) asks for."""
    if dtype.is_variable:
        return b.create(cmp_, x, y, predicate=predicate)
    if dtype.kind == "float":
        return b.create(cmpf, x, y, predicate=_FLOAT[predicate])
    return b.create(cmpi, x, y, predicate=(_SIGNED if dtype.kind == "signed" else _UNSIGNED)[predicate])


def _select_types(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    cond, x, y = types
    expect(x is y, f"operand types differ: {x} and {y}")
    expect(dtype_of(cond) is BOOL, f"the condition must be i1, found {cond}")
    if shape_of(cond):
        same_shape(cond, x)
    return (x,)


def _select_interval(condition: Interval, x: Interval, y: Interval) -> Interval:
    return (min(x[0], y[0]), max(x[1], y[1]))


select = define(
    OpDef(
        "arith.select", Structural("select"), ("condition", "x", "y"), _select_types,
        lambda np, op, c, x, y: np.where(c, x, y), lambda b, op, c, x, y: b.select(c, x, y),
        Structural("select"), _select_interval, group="select",
    )
)  # fmt: skip


def _emit(predicate: str) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        if isinstance(x.dtype, PointerType):
            return compare(b, predicate, U64, address(b, x.value), address(b, y.value))
        return compare(b, predicate, x.dtype, x.value, y.value)

    return emit


def _where(b: Builder, shape: Any, dtype: DType | None, condition: Operand, x: Operand, y: Operand) -> Any:
    chosen = b.create(select, condition.value, x.value, y.value)
    return Operand(chosen, x.dtype) if dtype is None else chosen


@overload
def lt(x: Tensor[N], y: Tensor[N] | int) -> Tensor[bool_]: ...
@overload
def lt(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def lt(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def lt(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def lt(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("lt"), elementwise=True, symbol="<")
def lt(x: Any, y: Any) -> Any:
    """x < y; false where either is NaN."""
    ...


@overload
def le(x: Tensor[N], y: Tensor[N] | int) -> Tensor[bool_]: ...
@overload
def le(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def le(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def le(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def le(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("le"), elementwise=True, symbol="<=")
def le(x: Any, y: Any) -> Any:
    """x <= y; false where either is NaN."""
    ...


@overload
def gt(x: Tensor[N], y: Tensor[N] | int) -> Tensor[bool_]: ...
@overload
def gt(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def gt(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def gt(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def gt(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("gt"), elementwise=True, symbol=">")
def gt(x: Any, y: Any) -> Any:
    """x > y; false where either is NaN."""
    ...


@overload
def ge(x: Tensor[N], y: Tensor[N] | int) -> Tensor[bool_]: ...
@overload
def ge(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def ge(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def ge(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def ge(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("ge"), elementwise=True, symbol=">=")
def ge(x: Any, y: Any) -> Any:
    """x >= y; false where either is NaN."""
    ...


@overload
def eq(x: Tensor[bool_], y: bool) -> Tensor[bool_]: ...
@overload
def eq(x: Tensor[S], y: Tensor[S] | int) -> Tensor[bool_]: ...
@overload
def eq(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def eq(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def eq(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def eq(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("eq"), elementwise=True, symbol="==")
def eq(x: Any, y: Any) -> Any:
    """x == y; false where either is NaN."""
    ...


@overload
def ne(x: Tensor[bool_], y: bool) -> Tensor[bool_]: ...
@overload
def ne(x: Tensor[S], y: Tensor[S] | int) -> Tensor[bool_]: ...
@overload
def ne(x: Tensor[F], y: float) -> Tensor[bool_]: ...
@overload
def ne(x: Tensor[i32], y: Tensor[i64]) -> Tensor[bool_]: ...
@overload
def ne(x: Tensor[i64], y: Tensor[i32]) -> Tensor[bool_]: ...
@overload
def ne(x: Ptr[X], y: Ptr[X]) -> Tensor[bool_]: ...
@language(_emit("ne"), elementwise=True, symbol="!=")
def ne(x: Any, y: Any) -> Any:
    """x != y; true where either is NaN."""
    ...


@overload
def where(condition: Tensor[bool_] | bool, x: Tensor[bool_] | bool, y: bool) -> Tensor[bool_]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: bool, y: Tensor[bool_]) -> Tensor[bool_]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: Tensor[D], y: Tensor[D] | int) -> Tensor[D]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: int, y: Tensor[D]) -> Tensor[D]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: Tensor[F], y: float) -> Tensor[F]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: float, y: Tensor[F]) -> Tensor[F]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: Tensor[Q], y: float) -> Tensor[Q]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: float, y: Tensor[Q]) -> Tensor[Q]: ...
@overload
def where(condition: Tensor[bool_] | bool, x: Ptr[X], y: Ptr[X]) -> Ptr[X]: ...
@overload
def where(condition: Tensor[bool_], x: int, y: int) -> Tensor[Any]: ...
@overload
def where(condition: Tensor[bool_], x: float, y: float) -> Tensor[f32]: ...
@language(
    _where,
    elementwise=True,
    codes={"condition": "T007"},
    differs="Triton converts x and y to a common dtype.",
)
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; both are evaluated (it is no control flow). All three broadcast.

    Two literals make a tensor of i32, or of f32 where one of them is a float.
    """
    ...
