"""Which architectures have hardware for what a kernel does with tensor descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.goal import goal
from teeny.ir.core import walk_function
from teeny.ir.types import ViewType

if TYPE_CHECKING:
    from teeny.ir.core import Module

_TILES, _ROWS = 90, range(100, 120)
"""Architectures that move tiles begin with the first; those of the second gather and scatter rows too."""
WIDEST = 32
"""Bits of an element of rows that are moved so."""
_BY_ROWS = frozenset(("tt.descriptor_gather", "tt.descriptor_scatter"))


def moves_tiles(module: Module, name: str) -> bool:
    """Whether an architecture ("sm_90") has hardware for all that a module does with tensor descriptors."""
    capability = goal(name).capability
    rows = [op for f in module.functions for op in walk_function(f) if op.name in _BY_ROWS]
    types = [op.operands[0].type for op in rows]
    wide = any(isinstance(type_, ViewType) and type_.element.bits > WIDEST for type_ in types)
    return capability >= _TILES and (not rows or (capability in _ROWS and not wide))
