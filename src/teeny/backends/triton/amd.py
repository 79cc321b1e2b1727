"""Dialect text as Triton's backend for AMD takes it: its library's functions, and a conversion that it lacks."""

from __future__ import annotations

import re
from functools import cache

from teeny.ir.schema import registry
from teeny.ir.text.extern import OCML_NAMES

_SYMBOL = re.compile(r'symbol = "(__nv_\w+)"')
_NVIDIA = "__nv_"
_WIDER = re.compile(
    r"(%[\w$.-]+) = arith\.extf (%[\w$.#-]+) : ((?:tensor<[\dx]*)?)bf16(>?) to (?:tensor<[\dx]*)?f64>?([^\n]*)"
)


def for_amd(text: str) -> str:
    """The text with the same meaning and every operation on its line.

    NVIDIA's functions (`__nv_tanhf`) are replaced by AMD's (`__ocml_tanh_f32`); bf16 becomes f64 by way of f32, which
    is exact, because Triton (3.6 to 3.9) fails on doing so at once.
    """
    named = _SYMBOL.sub(lambda found: f'symbol = "{_names().get(found[1], found[1])}"', text)
    return _WIDER.sub(_by_f32, named)


@cache
def _names() -> dict[str, str]:
    """Both libraries name most functions as C does; AMD's adds the dtype at the end."""
    names: dict[str, str] = {}
    for schema in registry().values():
        if len(schema.symbols) == 2:
            single, double = schema.symbols
            name = double.removeprefix(_NVIDIA)
            name = OCML_NAMES.get(name, name)
            names |= {single: f"__ocml_{name}_f32", double: f"__ocml_{name}_f64"}
    return names


def _by_f32(match: re.Match[str]) -> str:
    result, x, before, after, rest = match.groups()
    half = f"%by.f32.{result[1:]}"
    narrow, single, double = (f"{before}{dtype}{after}" for dtype in ("bf16", "f32", "f64"))
    first, second = f"{x} : {narrow} to {single}", f"{half} : {single} to {double}"
    return f"{half} = arith.extf {first}{rest} {result} = arith.extf {second}{rest}"
