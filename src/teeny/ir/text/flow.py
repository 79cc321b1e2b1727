"""Branches between blocks: `cf.br ^bb1(%x : f32)`, `cf.cond_br %c, ^bb1, ^bb2(%x : f32)`.

While a function is read an operation keeps the labels of its aims; `numbered` puts the blocks' numbers in their place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from teeny.diag.diagnostic import at as mark
from teeny.diag.diagnostic import report
from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.cursor import TextError
from teeny.ir.text.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny.ir.core import Block, Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer

LABEL = re.compile(r"\^[\w$.-]+")
_WRITTEN = frozenset(("to", "count"))


def _aim(p: Printer, number: object, values: tuple[Value, ...]) -> str:
    return f"^bb{number}" + (f"({p.values(values)} : {p.types(values)})" if values else "")


def write_br(p: Printer, op: Op) -> None:
    (to,) = cast("tuple[int, ...]", op.attrs["to"])
    p.out.append(f"cf.br {_aim(p, to, op.operands)}{dictionary_text(op.attrs, _WRITTEN)}")


def write_cond_br(p: Printer, op: Op) -> None:
    yes, no = cast("tuple[int, ...]", op.attrs["to"])
    condition, *args = op.operands
    count = cast("int", op.attrs["count"])
    aims = f"{_aim(p, yes, tuple(args[:count]))}, {_aim(p, no, tuple(args[count:]))}"
    p.out.append(f"cf.cond_br {p.names[condition]}, {aims}{dictionary_text(op.attrs, _WRITTEN)}")


def _read_aim(p: Parser) -> tuple[str, tuple[Value, ...]]:
    at = p.at
    label = at.match(LABEL)
    if label is None:
        raise at.error(f"expected the label of a block, such as `^bb1`, found `{at.next_word()}`")
    values: tuple[Value, ...] = ()
    if at.accept("("):
        values = p.values()
        at.expect(":")
        for number, value in enumerate(values):
            if number:
                at.expect(",")
            p.expect_type(value)
        at.expect(")")
    return label, values


def read_br(p: Parser, schema: OpDef) -> Parts:
    label, values = _read_aim(p)
    attrs = read_dictionary(p.at)
    return Parts(values, {**attrs, "to": (label,), "count": len(values)}, ())


def read_cond_br(p: Parser, schema: OpDef) -> Parts:
    condition = p.value()
    p.at.expect(",")
    yes, first = _read_aim(p)
    p.at.expect(",")
    no, second = _read_aim(p)
    attrs = read_dictionary(p.at)
    return Parts((condition, *first, *second), {**attrs, "to": (yes, no), "count": len(first)}, ())


def numbered(blocks: list[Block], labels: Iterable[str]) -> None:
    """Replace the labels that branches name by the numbers of their blocks. Raises `TextError` for an unknown one."""
    numbers = {label: number for number, label in enumerate(labels)}
    for block in blocks:
        if block.ops and "to" in block.ops[-1].attrs:
            last = block.ops[-1]
            to = cast("tuple[str, ...]", last.attrs["to"])
            for label in to:
                if label not in numbers:
                    place = () if last.loc is None else (mark(last.loc),)
                    raise TextError((report("X006", f"there is no block {label} in this function", *place),))
            last.attrs["to"] = tuple(numbers[label] for label in to)
