"""What a kernel tells the compiler: facts about values, and barriers. They change no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from teeny.ir.dtype import BOOL
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, shape_of
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, D, I, Ptr, Tensor, bool_
    from teeny.ops.function import Emitter

__all__ = ["assume", "debug_barrier", "max_constancy", "max_contiguous", "multiple_of"]

_NO_RESULT = Absent("it has no result")


def _hint(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    rank = len(shape_of(types[0]))
    expect(len(attrs["values"]) == max(1, rank), f"a hint has one number an axis, found {attrs['values']}")
    return ()


def _assume(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(types[0] is BOOL, f"what is assumed must be i1, found {types[0]}")
    return ()


def _barrier(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


hint_ = define(
    OpDef(
        "teeny.hint", "$x attr-dict `:` type($x)", ("x",), _hint, Structural("hint"), Structural("nothing"),
        Structural("nothing"), _NO_RESULT, results=(), attrs=("kind", "values"), group="hint", pure=False, cost=0.0,
    )
)  # fmt: skip
"""`x` has this divisibility, contiguity or constancy (`kind`), a number an axis. In Triton's text it is an attribute of
the operation that makes `x`, which `passes.expand` writes."""
assume_ = define(
    OpDef(
        "llvm.intr.assume", "$condition attr-dict `:` type($condition)", ("condition",), _assume, Structural("assume"),
        Structural("nothing"), Structural("nothing"), _NO_RESULT, results=(), group="assume", pure=False, cost=0.0,
    )
)  # fmt: skip
barrier_ = define(
    OpDef(
        "gpu.barrier", "attr-dict", (), _barrier, Structural("nothing"), Structural("nothing"), Structural("nothing"),
        _NO_RESULT, results=(), group="barrier", pure=False, cost=0.0,
    )
)  # fmt: skip
"""All threads of a program have done what stands before. The other executors run a program by one thread."""
ttg_barrier = define(
    OpDef(
        "ttg.barrier", "$space attr-dict", (), _barrier, Structural("nothing"), Structural("nothing"),
        Structural("nothing"), _NO_RESULT, results=(), attrs=("space",), group="barrier", pure=False, cost=0.0,
    )
)  # fmt: skip
"""The same as newer versions of Triton write it; `space` says for which memory (`all`)."""
for _name in ("wait", "launch_dependents"):
    define(
        OpDef(
            f"tt.grid_dependency_{_name}", "attr-dict", (), _barrier, Structural("nothing"), Structural("nothing"),
            Structural("nothing"), _NO_RESULT, results=(), group="grid_dependency", pure=False, cost=0.0,
        )
    )  # fmt: skip


def _numbers(values: Any) -> tuple[Any, ...]:
    return tuple(cast("tuple[Any, ...]", values)) if isinstance(values, tuple | list) else (values,)


def _same_shape(s: Shapes, input: Operand, values: Any) -> tuple[Dim, ...]:
    numbers, rank = _numbers(values), max(1, len(input.shape))
    if len(numbers) != rank:
        s.fault("S005", f"a hint takes one number an axis: {rank} here, found {len(numbers)}")
    for number in numbers:
        s.require("pow2", number, None, "S002", "the numbers of a hint must be powers of two")
    return input.shape


def _emit(kind: str) -> Emitter:
    def emit(b: Builder, shape: Any, dtype: Any, input: Operand, values: Any) -> Value:
        b.op(hint_, (input.value,), {"kind": kind, "values": _numbers(values)})
        return input.value

    return emit


def _no_shape(s: Shapes) -> tuple[Dim, ...]:
    return ()


def _emit_barrier(b: Builder, shape: Any, dtype: Any) -> None:
    b.op(barrier_, ())


@overload
def multiple_of(input: Tensor[I], values: Const[int | tuple[int, ...] | list[int]]) -> Tensor[I]: ...
@overload
def multiple_of(input: Ptr[D], values: Const[int | tuple[int, ...] | list[int]]) -> Ptr[D]: ...
@language(_emit("divisibility"), shape=_same_shape)
def multiple_of(input: Any, values: Any) -> Any:
    """`input` itself, said to be a multiple of `values`: one power of two an axis (S002, S005).

    Of a tile it says so of the first element of each contiguous run. GPUs load wider for it. A false hint makes wrong
    code there; the reference reports one about a scalar; the CPU needs none and ignores it.
    """
    ...


@overload
def max_contiguous(input: Tensor[I], values: Const[int | tuple[int, ...] | list[int]]) -> Tensor[I]: ...
@overload
def max_contiguous(input: Ptr[D], values: Const[int | tuple[int, ...] | list[int]]) -> Ptr[D]: ...
@language(_emit("contiguity"), shape=_same_shape)
def max_contiguous(input: Any, values: Any) -> Any:
    """`input` itself, said to rise by one within each run of `values` elements: one power of two an axis (S002, S005).

    A hint for GPUs, as `multiple_of` is; it goes unchecked.
    """
    ...


@overload
def max_constancy(input: Tensor[D], values: Const[int | tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def max_constancy(input: Ptr[D], values: Const[int | tuple[int, ...] | list[int]]) -> Ptr[D]: ...
@language(_emit("constancy"), shape=_same_shape)
def max_constancy(input: Any, values: Any) -> Any:
    """`input` itself, said to be the same within each run of `values` elements: one power of two an axis (S002, S005).

    A hint for GPUs, as `multiple_of` is; it goes unchecked.
    """
    ...


@language(construct="assume")
def assume(cond: Tensor[bool_] | bool) -> None:
    """A scalar condition that holds whenever the program gets here; GPU code may rely on it.

    The reference reports one that is false; the CPU ignores it. A false Const is an error (E013).
    """
    ...


@language(_emit_barrier, shape=_no_shape)
def debug_barrier() -> None:
    """Wait until all threads of this program have come here: what they stored before can be loaded after.

    Needed on a GPU where a lane loads what another lane of the program stored; elsewhere nothing happens.
    """
    ...
