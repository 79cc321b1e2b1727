"""The stages of a compilation: the front end's module as text, the text as native code."""

from __future__ import annotations

from functools import cache
from typing import Any

from teeny.ir.build import build
from teeny.runtime.compilers import LAYERS, native_code
from teeny.runtime.contracts import stored
from teeny.runtime.level import chosen_level
from teeny.triton.read import read_module

__all__ = ["custom_cast", "object_stage", "text_stage", "version"]


@cache
def version() -> str:
    """Which teeny, machine and compiler make code."""
    from teeny.backends.cpu.target import fingerprint

    return f"teeny {build(*LAYERS, 'ir', 'passes', 'triton')} {fingerprint(chosen_level())}"


def text_stage(module: Any, metadata: dict[str, Any]) -> str:
    """The module as Triton's front end made it."""
    metadata["name"] = module.get_entry_func_name()
    metadata["shared"] = 0
    return str(module)


def object_stage(text: str, metadata: dict[str, Any]) -> bytes:
    """Native code of a text. What a launch needs to know goes into `metadata["native"]`.

    Raises CompileError and TextError for what the CPU cannot do.
    """
    module = read_module(text, f"<{metadata['name']}>")
    files, native = native_code(module, every=False)
    metadata["native"] = {**native, "arguments": len(module.kernel.args), "stored": sorted(stored(module.kernel))}
    return files["object"]


def custom_cast(arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None) -> Any:
    """Casts of `float8e4b15`, which NVIDIA's instructions do: refused."""
    raise NotImplementedError("float8e4b15 exists on NVIDIA GPUs alone")
