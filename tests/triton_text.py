"""Text through Triton's own parser and printer."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from typing import Any

from teeny.backends.triton.older import for_version
from teeny.backends.triton.wheel import version


@cache
def _context() -> Any:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", 90, 32)).load_dialects(context)
    return context


def through_triton(text: str, *, locations: bool = False) -> str:
    """What Triton prints for a text; raises what it raises where it cannot read it."""
    from triton._C.libtriton import ir

    with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as file:
        file.write(for_version(text, version()))
    try:
        module = ir.parse_mlir_module(file.name, _context())
        return str(module) if locations else module.str_nodebug()
    finally:
        os.unlink(file.name)
