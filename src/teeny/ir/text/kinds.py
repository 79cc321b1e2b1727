"""Which writer and which reader belong to a `Structural` kind of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.ir.text import atomic, contracts, convert, dot, effects, extern, flow, gather, plain, regions, views

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.parts import Parts
    from teeny.ir.text.printer import Printer

Writer = Callable[["Printer", "Op"], None]
"""Appends the operation's text, from its name on."""
Reader = Callable[["Parser", "OpDef"], "Parts"]
"""Reads what follows the operation's name."""

_KINDS: dict[str, tuple[Writer, Reader]] = {
    "constant": (plain.write_constant, plain.read_constant),
    "axis": (plain.write_axis, plain.read_axis),
    "select": (plain.write_select, plain.read_select),
    "atomic": (atomic.write_atomic, atomic.read_atomic),
    "gather": (gather.write_gather, gather.read_gather),
    "call": (plain.write_call, plain.read_call),
    "br": (flow.write_br, flow.read_br),
    "cond_br": (flow.write_cond_br, flow.read_cond_br),
    "make block pointer": (views.write_make_pointer, views.read_make_pointer),
    "make descriptor": (views.write_make_descriptor, views.read_make_descriptor),
    "descriptor load": (views.write_descriptor_load, views.read_descriptor_load),
    "descriptor store": (views.write_descriptor_store, views.read_descriptor_store),
    "descriptor reduce": (views.write_descriptor_store, views.read_descriptor_store),
    "descriptor gather": (views.write_gather, views.read_gather),
    "descriptor scatter": (views.write_scatter, views.read_scatter),
    "advance": (views.write_advance, views.read_advance),
    "extern": (extern.write_extern, extern.read_extern),
    "dot": (dot.write_dot, dot.read_dot),
    "dot_scaled": (dot.write_dot_scaled, dot.read_dot_scaled),
    "generic": (regions.write_generic, regions.read_generic),
    "for": (regions.write_for, regions.read_for),
    "if": (regions.write_if, regions.read_if),
    "while": (regions.write_while, regions.read_while),
    "condition": (regions.write_condition, regions.read_condition),
    "print": (effects.write_print, effects.read_print),
    "assert": (effects.write_assert, effects.read_assert),
    "asm": (effects.write_asm, effects.read_asm),
    "fp_to_fp": (convert.write_fp_to_fp, convert.read_fp_to_fp),
    "contract": (contracts.write_contract, contracts.read_contract),
}


def writer_of(kind: str) -> Writer:
    return _KINDS[kind][0]


def reader_of(kind: str) -> Reader:
    return _KINDS[kind][1]
