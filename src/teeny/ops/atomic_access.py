"""Atomic loads and stores, and waiting for a value: what one program tells another without changing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BOOL, I8, I64, INT, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, pointee_of
from teeny.ir.types import PointerType, Type, with_element
from teeny.ops.access import check_mask, filled, fits, with_mask
from teeny.ops.atomic import SCOPES
from teeny.ops.cast import convert
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import broadcast_value
from teeny.ops.vocabulary import choice

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, D, F, I, N, Ptr, Tensor, bool_, i32, i64

__all__ = ["atomic_load", "atomic_poll", "atomic_store"]

LOADS, STORES = ("acquire", "relaxed"), ("release", "relaxed")
_FROM_MEMORY = Absent("memory may hold anything")


def _word(name: str, found: str, known: tuple[str, ...]) -> None:
    expect(found in known, f"the {name} is one of {', '.join(known)}, found {found}")


def _load(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    ptr = types[0]
    check_mask(ptr, types[1] if len(types) > 1 else None)
    _word("order of memory", attrs["sem"], LOADS)
    _word("scope", attrs["scope"], SCOPES)
    return (with_element(ptr, pointee_of(ptr)),)


def _store(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    value = with_element(types[0], pointee_of(types[0]))
    expect(types[1] is value, f"the value must be {value}, found {types[1]}")
    check_mask(types[0], types[2] if len(types) > 2 else None)
    _word("order of memory", attrs["sem"], STORES)
    _word("scope", attrs["scope"], SCOPES)
    return ()


def _poll(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    ptr = types[0]
    value = with_element(ptr, pointee_of(ptr))
    expect(types[1] is value, f"the value must be {value}, found {types[1]}")
    expect(dtype_of(value).within(INT), f"one waits for an integer, found {value}")
    expect(len(types) < 3 or types[2] is I64, "the time to wait is an i64")
    _word("order of memory", attrs["sem"], LOADS)
    _word("scope", attrs["scope"], SCOPES)
    return (with_element(ptr, BOOL),)


atomic_load_ = define(
    OpDef(
        "tt.atomic_load", Structural("atomic"), ("ptr", "mask?"), _load, Structural("atomic"), Structural("atomic"),
        Structural("atomic"), _FROM_MEMORY, attrs=("sem", "scope"), group="atomic", pure=False, cost=4.0,
    )
)  # fmt: skip
atomic_store_ = define(
    OpDef(
        "tt.atomic_store", "$sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)",
        ("ptr", "value", "mask?"), _store, Structural("atomic"), Structural("atomic"), Structural("atomic"),
        Absent("it has no result"), results=(), attrs=("sem", "scope"), group="atomic", pure=False, writes=True,
        cost=4.0,
    )
)  # fmt: skip
atomic_poll_ = define(
    OpDef(
        "tt.atomic_poll",
        "$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:` type($ptr) `,` type($expected) "
        "`->` type($result)",
        ("ptr", "expected", "timeout?"), _poll, Structural("atomic"), Structural("atomic"), Structural("atomic"),
        Absent("a condition is 0 or 1"), attrs=("sem", "scope"), group="atomic", pure=False, cost=20.0,
    )
)  # fmt: skip


def _load_shape(
    s: Shapes, pointer: Operand, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> tuple[Dim, ...]:
    choice(s, "sem", sem, LOADS)
    choice(s, "scope", scope, SCOPES)
    return with_mask(s, pointer, mask)


def _store_shape(
    s: Shapes, pointer: Operand, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> tuple[Dim, ...]:
    shape = with_mask(s, pointer, mask)
    if isinstance(val, Operand):
        fits(s, "the value", val.shape, shape)
    choice(s, "sem", sem, STORES)
    choice(s, "scope", scope, SCOPES)
    return shape


def _poll_shape(
    s: Shapes, pointer: Operand, expected_value: Any, sem: str | None = None, scope: str | None = None,
    timeout_ns: Any = None,
) -> tuple[Dim, ...]:  # fmt: skip
    if isinstance(expected_value, Operand):
        fits(s, "`expected_value`", expected_value.shape, pointer.shape)
    choice(s, "sem", sem, LOADS)
    choice(s, "scope", scope, SCOPES)
    if isinstance(timeout_ns, int) and timeout_ns < 0:
        s.fault("E005", f"`timeout_ns` is a time to wait, 0 or more, found {timeout_ns}")
    if isinstance(timeout_ns, Operand) and timeout_ns.shape:
        s.fault("S005", "`timeout_ns` is one time for all lanes: a scalar")
    return pointer.shape


def _emit_load(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, pointer: Operand, mask: Any, sem: str | None, scope: str | None
) -> Value:
    operands = [broadcast_value(b, pointer.value, shape)]
    if mask is not None:
        operands.append(filled(b, mask, shape, BOOL))
    found = b.op(atomic_load_, tuple(operands), {"sem": sem or "acquire", "scope": scope or "gpu"}).result
    return found if dtype is not BOOL else compare(b, "ne", I8, found, constant(b, found.type, 0))


def _emit_store(
    b: Builder, shape: tuple[Dim, ...], dtype: Any, pointer: Operand, val: Any, mask: Any, sem: str | None,
    scope: str | None,
) -> None:  # fmt: skip
    assert isinstance(pointer.dtype, PointerType)
    pointee = pointer.dtype.pointee
    assert isinstance(pointee, DType)
    stored = filled(b, val, shape, pointee)
    operands = [broadcast_value(b, pointer.value, shape), convert(b, stored, BOOL, I8) if pointee is BOOL else stored]
    if mask is not None:
        operands.append(filled(b, mask, shape, BOOL))
    b.op(atomic_store_, tuple(operands), {"sem": sem or "release", "scope": scope or "gpu"})


def _emit_poll(
    b: Builder, shape: tuple[Dim, ...], dtype: Any, pointer: Operand, expected_value: Any, sem: str | None,
    scope: str | None, timeout_ns: Any,
) -> Value:  # fmt: skip
    assert isinstance(pointer.dtype, PointerType)
    pointee = pointer.dtype.pointee
    assert isinstance(pointee, DType)
    operands = [pointer.value, filled(b, expected_value, shape, pointee)]
    if isinstance(timeout_ns, Operand):
        assert isinstance(timeout_ns.dtype, DType)
        operands.append(convert(b, timeout_ns.value, timeout_ns.dtype, I64))
    elif timeout_ns is not None:
        operands.append(constant(b, I64, timeout_ns))
    return b.op(atomic_poll_, tuple(operands), {"sem": sem or "acquire", "scope": scope or "gpu"}).result


@language(
    _emit_load,
    shape=_load_shape,
    codes={"mask": "T004"},
    shapes="The shape of `pointer` and `mask` together.",
    differs="Triton has it from version 3.9 on.",
)
def atomic_load(
    pointer: Ptr[D],
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> Tensor[D]:
    """What `pointer` points at, read in one step where `mask` holds; elsewhere undefined.

    `sem` is "acquire" (the default) or "relaxed"; `scope` as in `atomic_add`. On a GPU it needs Triton 3.9.
    """
    ...


@overload
def atomic_store(
    pointer: Ptr[D],
    val: Tensor[D],
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> None: ...
@overload
def atomic_store(
    pointer: Ptr[N],
    val: int,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> None: ...
@overload
def atomic_store(
    pointer: Ptr[F],
    val: float,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> None: ...
@overload
def atomic_store(
    pointer: Ptr[bool_],
    val: bool,
    mask: Tensor[bool_] | bool | None = None,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
) -> None: ...
@language(
    _emit_store,
    shape=_store_shape,
    codes={"mask": "T004", "val": "T003"},
    shapes="`pointer` and `mask` broadcast together; `val` broadcasts to them (S006).",
    differs="Triton has it from version 3.9 on, and converts `val` to the pointer's dtype.",
)
def atomic_store(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> None:
    """Write `val`, which has the pointer's dtype exactly, in one step where `mask` holds.

    `sem` is "release" (the default) or "relaxed"; `scope` as in `atomic_add`. On a GPU it needs Triton 3.9.
    """
    ...


@language(
    _emit_poll,
    shape=_poll_shape,
    exclude={"I": ("i8", "u8")},
    codes={"expected_value": "T003"},
    shapes="The shape of `pointer`; `expected_value` broadcasts to it (S006).",
    differs="Triton has it from version 3.9 on.",
)
def atomic_poll(
    pointer: Ptr[I],
    expected_value: Tensor[I] | int,
    sem: Const[str | None] = None,
    scope: Const[str | None] = None,
    timeout_ns: Tensor[i32] | Tensor[i64] | int | None = None,
) -> Tensor[bool_]:
    """Wait until `pointer` points at `expected_value`, in every lane; whether it does.

    With `timeout_ns` a lane gives up, and gives False, once so many nanoseconds have passed since the beginning; each
    looks once at least. Without it the wait has no end. `sem` is "acquire" (the default) or "relaxed"; `scope` as in
    `atomic_add`. On a GPU it needs Triton 3.9; on the CPU programs that wait run side by side, 1,024 at most (L018).
    """
    ...
