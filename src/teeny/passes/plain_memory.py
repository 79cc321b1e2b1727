"""Block pointers and tensor descriptors both written as plain pointers, offsets and masks."""

from __future__ import annotations

from teeny.ir.core import Module
from teeny.passes.block_pointers import block_pointers
from teeny.passes.descriptors import descriptors


def plain_memory(module: Module) -> Module:
    """The module itself where it has neither, else a copy without; generic or concrete."""
    return descriptors(block_pointers(module))
