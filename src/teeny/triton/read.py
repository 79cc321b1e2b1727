"""The module that Triton's front end makes of a kernel, read into IR: one structured function without calls.

The places of operations are in the files of whoever wrote the kernel.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import teeny.language  # the operations
from teeny.diag.diagnostic import at
from teeny.diag.span import Location
from teeny.ir.core import walk_function
from teeny.ir.text import TextError, parse_module
from teeny.ir.verify import verify
from teeny.passes.accumulate import accumulate
from teeny.passes.block_pointers import block_pointers
from teeny.passes.descriptors import descriptors
from teeny.passes.inline import inline
from teeny.passes.lift_maps import lift_maps
from teeny.passes.scalar_regions import scalar_regions
from teeny.passes.structure import structure
from teeny.triton.descriptors import made_inside
from teeny.triton.places import Reader, in_user_file, readers

if TYPE_CHECKING:
    from teeny.ir.core import Function, Module

__all__ = ["read_module"]

assert teeny.language
_STANDARD = "triton.language.standard."


def read_module(text: str, name: str, *, spans: bool = False) -> Module:
    """The kernel of a module in Triton's dialect; `name` is what messages call the text.

    `spans` asks for places that cover whole expressions, which takes the user's file to be parsed.
    Raises TextError (X006) for text that is none, and for an operation that teeny does not have.
    """
    expression, word = readers()
    place = expression if spans else word
    try:
        module = inline(structure(parse_module(text, name, place)), _called)
    except TextError as error:
        raise _in_the_kernel(error, text, place) from error
    for op in walk_function(module.kernel):
        if op.loc is not None and (place := in_user_file(op.loc)) is not op.loc:
            op.loc = place
            for result in op.results:  # names of Triton's library say nothing to the user
                result.name = None
    _without_dependencies(module.kernel)
    lift_maps(module.kernel)
    scalar_regions(module.kernel)
    module = descriptors(block_pointers(made_inside(module)))
    accumulate(module)
    verify(module, concrete=True)
    return module


_ALIAS = r"{name} = loc\((.*)\)$"
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def _in_the_kernel(error: TextError, text: str, place: Reader) -> TextError:
    """The error at the line of the user's file that the line of text says; the error itself where it says none."""
    first = error.diagnostics[0]
    if first.primary is None:
        return error
    lines = text.splitlines()
    at_line = first.primary.location.span.line - 1
    said = re.search(r"loc\((#\w+)\)\s*$", lines[at_line]) if at_line < len(lines) else None
    name = said[1] if said else ""
    for _ in range(20):
        found = re.search(_ALIAS.format(name=re.escape(name)), text, re.MULTILINE) if name else None
        if found is None:
            return error
        if (spot := _PLACE.search(found[1])) is not None:
            span = place(spot[1], int(spot[2]), int(spot[3]))
            if span is None:
                return error
            return TextError((replace(first, labels=(at(Location(span)),)),))
        inner = re.findall(r"#\w+", found[1])
        name = inner[-1] if inner else ""
    return error


def _without_dependencies(function: Function) -> None:
    """Take out the assembly by which older versions of Triton wait for the launch before: on the CPU it is done."""
    for op in list(walk_function(function)):
        if op.name == "tt.elementwise_inline_asm" and str(op.attrs["asm_string"]).startswith("griddepcontrol."):
            assert op.block is not None
            op.block.ops.remove(op)


def _called(callee: str) -> str | None:
    """How a kernel calls a function of Triton's library, whose name in the text says its argument types too."""
    return f"tl.{callee.removeprefix(_STANDARD).split('__')[0]}" if callee.startswith(_STANDARD) else None
