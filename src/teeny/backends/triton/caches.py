"""Words about caches that NVIDIA's instructions take one at a time; ptxas complains of two without a place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function

if TYPE_CHECKING:
    from teeny.ir.core import Module, Op

_POLICY = re.compile(r"cache_modifier = (\w+), eviction_policy = (\w+)")


def mixed(module: Module, target: str) -> list[Diagnostic]:
    """Loads and stores with more than one of them, in program order."""
    found: list[Diagnostic] = []
    for function in module.functions:
        for op in walk_function(function):
            words = _words(op)
            if len(words) < 2:
                continue
            name = op.loc.name if op.loc is not None and op.loc.name else op.name
            labels = () if op.loc is None else (at(user_location(op.loc)),)
            message = f"for {target} `{name}` takes one of cache_modifier, eviction_policy and volatile"
            help_ = f"leave out all but one of {', '.join(words)}; the result is the same"
            found.append(report("X002", message, *labels, help=(help_,), kernel=function.name))
    return found


def _words(op: Op) -> list[str]:
    match = _POLICY.search(str(op.attrs.get("cachePolicy", "")))
    words: list[str] = []
    if match is not None:
        words += [f'cache_modifier=".{match[1]}"'] if match[1] != "none" else []
        words += [f'eviction_policy="{match[2]}"'] if match[2] != "evict_normal" else []
    return words + (["volatile=True"] if op.attrs.get("isVolatile") else [])
