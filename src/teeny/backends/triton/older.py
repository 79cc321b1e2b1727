"""Text for versions of Triton that lack an operation: the operation is written with others of the same meaning."""

from __future__ import annotations

import re

_DESCRIPTOR = re.compile(r"!tt\.tensordesc<([1-9][^<>]*)>")
_CACHING = re.compile(
    r" \{([^{}\n]*?)cachePolicy = #tt\.cache_policy<cache_modifier = (\w+), eviction_policy = (\w+)>(?:, )?([^{}\n]*)\}"
)
_NEGATION = re.compile(r"(%[\w$.-]+) = arith\.negf (%[\w$.#-]+) : ([^\s{]+)([^\n]*)")


def for_version(text: str, version: str) -> str:
    """The text as `version` of Triton takes it. Every operation stays on its line."""
    number = tuple(map(int, version.split(".")[:2]))
    if number < (3, 9):
        text = _CACHING.sub(_caching, text)
    if number >= (3, 8):
        return text
    return _NEGATION.sub(_negation, _DESCRIPTOR.sub(r"!tt.tensordesc<tensor<\1>>", text))


def _caching(match: re.Match[str]) -> str:
    """How an access uses the caches, in words of its own ahead of the dictionary."""
    before, modifier, eviction, after = match.groups()
    words = "" if modifier == "none" else f" cacheModifier = {modifier}"
    words += "" if eviction == "evict_normal" else f" evictionPolicy = {eviction}"
    rest = f"{before}{after}".removesuffix(", ")
    return f"{words} {{{rest}}}" if rest else words


def _negation(match: re.Match[str]) -> str:
    """-x as -0.0 - x, which also turns the sign of zeros (IEEE 754 subtraction, rounding to nearest)."""
    result, x, type_, rest = match.groups()
    zero = f"%negative.zero.{result[1:]}"
    value = "dense<-0.0>" if type_.startswith("tensor") else "-0.0"
    return f"{zero} = arith.constant {value} : {type_}{rest} {result} = arith.subf {zero}, {x} : {type_}{rest}"
