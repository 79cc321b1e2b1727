"""What kernels print and assert: the operations that do, and the lines that `tl.device_print` makes.

A line says where a lane stands, then the prefix and the value, as on a GPU: `pid (0, 0, 0) idx (3) x: 1.5`. Floats
are printed with the digits that tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from teeny.diag.span import Location, user_location
from teeny.ir.core import walk_function
from teeny.ir.types import PointerType, element_of, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.ir.core import Function, Op, Value

Program = tuple[int, int, int]
UNDEFINED = "?"


def lines_of(
    program: Program,
    prefix: str,
    hexadecimal: Sequence[bool],
    arrays: Sequence[NDArray[Any]],
    undefined: Sequence[NDArray[Any] | None] = (),
) -> Iterator[str]:
    """A line for each lane of each array, in row-major order; one line where there are no arrays.

    `hexadecimal` tells which arrays are printed so: all if asked for, else pointers alone. `undefined` marks, for each
    array, lanes that hold nothing.
    """
    import numpy as np

    place = f"pid ({', '.join(map(str, program))})"
    if not arrays:
        yield f"{place}{prefix}"
    for number, array in enumerate(arrays):
        said = f"{prefix}(operand {number}) " if len(arrays) > 1 else prefix or " "
        poison = undefined[number] if number < len(undefined) else None
        for index in np.ndindex(array.shape):
            word = UNDEFINED if poison is not None and poison[index] else _word(array[index], hexadecimal[number])
            yield f"{place} idx ({', '.join(map(str, index))}){said}{word}"


def _word(value: Any, hexadecimal: bool) -> str:
    if hexadecimal:
        digits = value.tobytes()[::-1].hex()
        return f"0x{digits}"
    return str(int(value)) if value.dtype.kind == "b" else str(value)


def first_failure(condition: NDArray[Any]) -> tuple[int, ...]:
    """The first lane that is False, in row-major order."""
    import numpy as np

    return tuple(int(i) for i in np.unravel_index(int(np.argmin(condition)), condition.shape))


# Operations that report


@dataclass(frozen=True, slots=True)
class Report:
    """A print (its `text` is the prefix) or an assertion (the message).

    `operands`: the dtype of each, with sign (`ptr` for pointers), and its shape. `place`: file, line and column.
    """

    kind: str
    text: str
    hexadecimal: bool
    operands: tuple[tuple[str, tuple[int, ...]], ...]
    place: str
    location: Location | None = None

    def to_json(self) -> list[Any]:
        """All but the location."""
        return [self.kind, self.text, self.hexadecimal, [[d, list(s)] for d, s in self.operands], self.place]

    @staticmethod
    def from_json(data: Sequence[Any]) -> Report:
        kind, text, hexadecimal, operands, place = data
        return Report(kind, text, hexadecimal, tuple((d, tuple(s)) for d, s in operands), place)


def reporting(function: Function) -> list[Op]:
    """The operations that print or assert, in program order: each has its place here as its number."""
    return [op for op in walk_function(function) if op.schema.group in ("print", "assert")]


def reports_of(function: Function) -> tuple[Report, ...]:
    """What the operations of a concrete kernel report."""
    return tuple(map(_report, reporting(function)))


def _report(op: Op) -> Report:
    assertion = op.schema.group == "assert"
    signs = (0,) if assertion else cast("tuple[int, ...]", op.attrs["isSigned"])
    operands = tuple(
        (_dtype(v, bool(s)), cast("tuple[int, ...]", shape_of(v.type))) for v, s in zip(op.operands, signs, strict=True)
    )
    location = None if op.loc is None else user_location(op.loc)
    place = "" if location is None else location.span.position
    text = str(op.attrs["message" if assertion else "prefix"])
    return Report(op.schema.group, text, not assertion and bool(op.attrs["hex"]), operands, place, location)


def _dtype(value: Value, signed: bool) -> str:
    element = element_of(value.type)
    if isinstance(element, PointerType):
        return "ptr"
    unsigned = element.kind == "signed" and not signed
    return f"u{element.bits}" if unsigned else element.name
