"""Text for versions of Triton that lack an operation: the operation is written with others of the same meaning."""

from __future__ import annotations

import re

_NEGATION = re.compile(r"(%[\w$.-]+) = arith\.negf (%[\w$.#-]+) : ([^\s{]+)([^\n]*)")


def for_version(text: str, version: str) -> str:
    """The text as `version` of Triton takes it. Every operation stays on its line."""
    if tuple(map(int, version.split(".")[:2])) >= (3, 8):
        return text
    return _NEGATION.sub(_negation, text)


def _negation(match: re.Match[str]) -> str:
    """-x as -0.0 - x, which also turns the sign of zeros (IEEE 754 subtraction, rounding to nearest)."""
    result, x, type_, rest = match.groups()
    zero = f"%negative.zero.{result[1:]}"
    value = "dense<-0.0>" if type_.startswith("tensor") else "-0.0"
    return f"{zero} = arith.constant {value} : {type_}{rest} {result} = arith.subf {zero}, {x} : {type_}{rest}"
