"""Functions that Triton takes from a vendor's library, under the names of AMD's."""

from __future__ import annotations

import re
from functools import cache

from teeny.ir.schema import registry

_SYMBOL = re.compile(r'symbol = "(__nv_\w+)"')
_NVIDIA = "__nv_"


def for_amd(text: str) -> str:
    """Dialect text with NVIDIA's functions (`__nv_tanhf`) replaced by AMD's (`__ocml_tanh_f32`)."""
    return _SYMBOL.sub(lambda found: f'symbol = "{_names().get(found[1], found[1])}"', text)


@cache
def _names() -> dict[str, str]:
    """Both libraries name a function as C does; AMD's adds the dtype at the end."""
    names: dict[str, str] = {}
    for schema in registry().values():
        if len(schema.symbols) == 2:
            single, double = schema.symbols
            name = double.removeprefix(_NVIDIA)
            names |= {single: f"__ocml_{name}_f32", double: f"__ocml_{name}_f64"}
    return names
