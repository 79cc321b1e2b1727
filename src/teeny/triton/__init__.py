"""Triton kernels as they are: `import triton` finds this backend for the CPU by the entry point `cpu`.

`tn.from_triton(fn)` is a @triton.jit function as a kernel of teeny; `activate()` lets `fn[grid](...)` run on the CPU.
Loaded by `import triton`, so it imports nothing by itself.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.triton.active import activate
    from teeny.triton.host import wrapped as wrap

__all__ = ["activate", "wrap"]

_HOME = {"activate": ("active", "activate"), "wrap": ("host", "wrapped")}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'teeny.triton' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"teeny.triton.{home[0]}"), home[1])
