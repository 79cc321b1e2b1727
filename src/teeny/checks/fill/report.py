"""Findings as diagnostics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teeny.checks.fill.reduction import beats_nan, group_of, identity_of
from teeny.checks.fill.wording import (
    called,
    checked_axes,
    computed_text,
    fill_text,
    is_load,
    load_name,
    mask_text,
    number_text,
    outside,
    reduction_words,
)
from teeny.diag.diagnostic import Diagnostic, Label, also, at, report
from teeny.diag.span import user_location
from teeny.ir.rules import Beyond, Number, Undefined

if TYPE_CHECKING:
    from teeny.checks.fill.finding import Finding
    from teeny.checks.fill.keys import Keys
    from teeny.ir.core import Op


def diagnose(finding: Finding, kernel: str, keys: Keys, fill: float | None) -> Diagnostic:
    """A finding in words; `fill` is an `other` for its load that would mend it."""
    if finding.role == "reduction":
        return _reduction(finding, kernel, keys, fill)
    if finding.role == "dot":
        return _dot(finding, kernel, keys)
    load = finding.entry.load
    name = load_name(load)
    mask = mask_text(load) if load is not None else None
    match finding.role:
        case "stored":
            message, text = f"undefined lanes of {name} are stored", "and are written here"
            same = f"mask={mask}" if mask else "the mask of the load"
            help_ = f"give the store the mask of the load: {same}, or the load an `other`"
            if load is not None and checked_axes(load):
                help_ = 'give the store the bounds of the load, or the load padding_option="zero"'
            if not is_load(load):
                help_ = f"give this access the same mask: {same}"
        case "address" | "mask":
            what = "an address" if finding.role == "address" else "a mask"
            message, text = f"undefined lanes of {name} are used in {what}", f"and are used in {what} here"
            same = f"mask={mask}" if mask else "the same mask"
            help_ = f"give the load an `other` that is a legal place, or this access the same mask: {same}"
            if not is_load(load):
                help_ = f"give this access the same mask: {same}"
            if finding.role == "mask":
                help_ = f"use it together with the mask of the load: ... & ({mask or 'mask'})"
        case "assertion":
            message, text = f"undefined lanes of {name} decide an assertion", "and decide this"
            help_ = f"leave them out: mask={mask}" if mask else "leave them out with `mask=`"
        case _:
            message, text = f"undefined lanes of {name} decide a branch", "and decide this"
            help_ = "give the load an `other`, the value that is meant where its mask is false"
            if not is_load(load):
                help_ = f"choose a value where the mask is false: tl.where({mask or 'mask'}, ..., ...)"
    return report(finding.code, message, *_labels(finding, keys, text), help=(help_,), kernel=kernel)


def _reduction(finding: Finding, kernel: str, keys: Keys, fill: float | None) -> Diagnostic:
    op, load, state = finding.op, finding.entry.load, finding.entry.state
    short, noun = reduction_words(group_of(op) if op.regions else op.schema.group)
    name, function = load_name(load), called(op, short)
    if isinstance(state, Undefined):
        message, text = f"undefined lanes of {name} take part in {function}", f"and enter this {noun}"
    elif isinstance(state, Number):
        held, computed = number_text(state.value), computed_text(op.operands[0], load, op)
        lanes = f"lanes of {computed} outside the mask of {name}" if computed else f"lanes of {name} outside its mask"
        message = f"{lanes} hold {held} and take part in {function}"
        text = f"and enter this {noun} as {held}"
    elif isinstance(state, Beyond):
        held = number_text(state.value)
        message = f"lanes of {name} outside its mask enter a {noun} so far as {held}, and with it {function}"
        text = f"and with what came before enter this {noun}"
    else:
        message = f"lanes of {name} outside its mask hold computed values and take part in {function}"
        text = f"and after a computation enter this {noun}"
    return report(
        finding.code, message, *_labels(finding, keys, text), help=(_mend(op, load, fill, short),), kernel=kernel
    )


def _dot(finding: Finding, kernel: str, keys: Keys) -> Diagnostic:
    load, state = finding.entry.load, finding.entry.state
    name, function = load_name(load), called(finding.op, "dot")
    if isinstance(state, Undefined):
        message, text = f"undefined lanes of {name} enter {function}", "and enter each sum of this product"
    elif isinstance(state, Number):
        held = number_text(state.value)
        message, text = (
            f"lanes of {name} outside its mask hold {held} and enter {function}",
            f"and enter each sum of this product as {held}",
        )
    else:
        message, text = (
            f"lanes of {name} outside its mask hold computed values and enter {function}",
            "and after a computation enter each sum of this product",
        )
    mask = (mask_text(load) if load is not None else None) or "mask"
    zero = fill_text(0.0, load.results[0], load) if load is not None else "0"
    help_ = f"fill them with 0, which adds nothing: {_argument(0.0, zero, load)}"
    if not isinstance(state, Undefined | Number) or not is_load(load):
        help_ = f"set them to 0 after the computation: tl.where({mask}, ..., {zero})"
    return report(finding.code, message, *_labels(finding, keys, text), help=(help_,), kernel=kernel)


def _mend(op: Op, load: Op | None, fill: float | None, short: str) -> str:
    identity = identity_of(op)
    if op.schema.group == "histogram":
        mask = (mask_text(load) if load is not None else None) or "mask"
        return f"leave them out: tl.histogram(..., mask={mask})"
    if fill is not None and load is not None:
        text = _argument(fill, fill_text(fill, load.results[0], load), load, nan=beats_nan(op))
        if op.schema.group == "sort":
            return f"fill them so that they come last: {text}"
        if identity is not None and fill == identity:
            return f"fill them with the identity of {short}: {text}"
        return f"fill them so that they leave this {short} as it is: {text}"
    mask = (mask_text(load) if load is not None else None) or "mask"
    if identity is None:
        return f"choose what they hold before: tl.where({mask}, ..., ...)"
    value = fill_text(identity, op.operands[0], load) if load is not None else number_text(identity)
    return f"set them to the identity of {short} after the computation: tl.where({mask}, ..., {value})"


def _argument(fill: float, text: str, load: Op | None, *, nan: bool = False) -> str:
    """The argument that fills: of a load that checks bounds itself, where that can hold the fill, its padding.

    `nan`: a NaN loses against any number.
    """
    if load is None or not checked_axes(load):
        return f"other={text}"
    if fill == 0:
        return 'padding_option="zero"'
    if nan and math.isinf(fill):
        return 'padding_option="nan", for a NaN loses against any number'
    return f"load through plain pointers, with a mask and the fill {text}"


def _labels(finding: Finding, keys: Keys, text: str) -> tuple[Label, ...]:
    load = finding.entry.load
    found: list[Label] = []
    if finding.op.loc is not None:
        found.append(at(user_location(finding.op.loc), text))
    if load is not None and load.loc is not None:
        found.append(also(user_location(load.loc), _born(finding, load, keys)))
    return tuple(found)


def _born(finding: Finding, load: Op, keys: Keys) -> str:
    """What happens at the load to the lanes outside the condition."""
    where = outside(finding.key, keys) if not checked_axes(load) else None
    lanes = f"lanes with {where}" if where is not None else "lanes outside its mask"
    if checked_axes(load):
        lanes = "elements outside of the array"
    return f"{lanes} are not read" if len(load.operands) < 3 or not is_load(load) else f"{lanes} are filled here"
