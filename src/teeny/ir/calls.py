"""Functions of libraries that text may call and that are no operations: what each means in terms of operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.ir.schema import SchemaError

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.dtype import DType

__all__ = ["LibraryCall", "calls", "define_call"]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A function of elements under the name `symbol`.

    `write` appends operations for tiles (or scalars) of one shape with the dtypes `operands`, and gives the result.
    """

    symbol: str
    operands: tuple[DType, ...]
    result: DType
    write: Callable[[Builder, tuple[Value, ...]], Value]


_calls: dict[str, LibraryCall] = {}


def define_call(call: LibraryCall) -> None:
    """Enter a function. A symbol is defined once."""
    if call.symbol in _calls:
        raise SchemaError(f"the library function {call.symbol} is defined twice")
    _calls[call.symbol] = call


def calls() -> dict[str, LibraryCall]:
    """All functions by symbol. `teeny.language` imports those of libdevice."""
    return _calls
