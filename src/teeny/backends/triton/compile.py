"""Dialect text through Triton's compiler. Nothing is cached here: the caller keeps results under the text's hash."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from teeny.backends.triton.amd import for_amd
from teeny.backends.triton.complaint import Asked, complaint
from teeny.backends.triton.exact import exact
from teeny.backends.triton.flattened import flattened
from teeny.backends.triton.formats import fitted
from teeny.backends.triton.goal import ARCHITECTURES, Goal, goal
from teeny.backends.triton.limits import limits, memory_limits
from teeny.backends.triton.metadata import Metadata, metadata_of
from teeny.backends.triton.older import for_version
from teeny.backends.triton.products import multiplied
from teeny.backends.triton.stages import Trail, run_stages
from teeny.backends.triton.wheel import version
from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError
from teeny.diag.span import Location, SourceFile, shown_column
from teeny.ir.core import Module, walk_function
from teeny.ir.symbol import symbol_of
from teeny.ir.text import print_module

if TYPE_CHECKING:
    from teeny.backends.triton.complaint import Place

__all__ = ["ARCHITECTURES", "TritonArtifact", "compile_module", "compile_text"]

_SPECIAL = re.compile(r"\btt\.(?:dot|dot_scaled|make_tensor_descriptor)\b")
"""Operations that some architectures have instructions of their own for."""
_EXCHANGE = re.compile(r"\btt\.atomic_rmw exch\b")
"""What AMD's buffers have no instruction for that Triton 3.6 finds."""


@dataclass(frozen=True, slots=True)
class TritonArtifact:
    """A compiled kernel. `files` holds every stage: `ttir`, `ttgir`, `llir`, then `ptx` and `cubin`, or for AMD
    `asm` and `hsaco`; portable code ends with its PTX."""

    files: Mapping[str, bytes]
    metadata: Metadata

    @property
    def ptx(self) -> str:
        return self.files["ptx"].decode()

    @property
    def cubin(self) -> bytes:
        return self.files["cubin"]


def compile_text(
    text: str,
    arch: int | str,
    *,
    portable: bool = False,
    num_warps: int = 4,
    num_stages: int | None = None,
    num_ctas: int = 1,
    maxnreg: int | None = None,
    enable_fp_fusion: bool = True,
    ptx_version: int | None = None,
    name: str = "<text>",
    places: Mapping[Place, Location] | None = None,
) -> TritonArtifact:
    """Compile a module's text for one architecture: 90, "sm_90", "sm_90a" or "gfx942".

    `portable` gives PTX for this architecture and younger ones instead of exact code. `num_stages` of None is Triton's
    default for the architecture. `ptx_version` (86 for ISA 8.6) chooses an older ISA than the newest of Triton's ptxas,
    for older drivers. Text without locations gives code without line information. `name` is what messages call the
    text; `places` finds the locations behind those in the text. Raises `CompileError`: X001 where Triton is missing,
    X002 where it fails.
    """
    made_for = goal(arch, portable=portable, num_ctas=num_ctas, special=_SPECIAL.search(text) is not None)
    stages = made_for.stages if num_stages is None else num_stages
    _refuse(made_for, num_warps, stages)
    options = {
        "num_warps": num_warps,
        "num_stages": stages,
        "num_ctas": num_ctas,
        "enable_fp_fusion": enable_fp_fusion,
        "maxnreg": maxnreg,
        "ptx_version": made_for.isa(ptx_version),
    }
    installed = version()
    kernel = re.search(r"tt\.func (?:public )?@([\w$.-]+)", text)
    asked = Asked(made_for, num_ctas, kernel and kernel[1])
    handle, path = tempfile.mkstemp(suffix=".ttir")
    trail = Trail()
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(for_version(text if made_for.capability else for_amd(text), installed))
        given = {k: v for k, v in options.items() if v is not None}
        run_stages(path, made_for, given, "loc(" in text, trail, buffers=not _EXCHANGE.search(text))
    except CompileError:
        raise
    except Exception as error:
        diagnostic = complaint(error, trail, SourceFile(name, text), path, places or {}, asked)
        raise CompileError((diagnostic,)) from error
    finally:
        os.unlink(path)
    assembly = trail.made["ptx" if made_for.capability else "amdgcn"]
    metadata = metadata_of(assembly, made_for, trail.arguments, installed, trail.noted)
    return TritonArtifact(_files(trail), metadata)


def compile_module(module: Module, arch: int | str, **options: Any) -> TritonArtifact:
    """Compile a concrete module with line information; complaints are mapped to its locations.

    Takes the options of `compile_text`, and raises CompileError (X002) too where a kernel needs more memory of the
    block than the architecture has.
    """
    made_for = goal(arch)
    wrong = limits(module, made_for)
    if wrong:
        raise CompileError(wrong)
    places: dict[Place, Location] = {}
    for function in module.functions:
        for op in walk_function(function):
            if op.loc is not None:
                span = op.loc.span
                column = shown_column(span.source.line(span.line), span.column)
                places.setdefault((span.source.name, span.line, column), op.loc)
    made = flattened(exact(fitted(multiplied(_with_symbol(module), made_for), made_for), made_for))
    text = print_module(made, locations=True, contracts=False)
    made = compile_text(text, arch, places=places, **options)
    wrong = memory_limits(module, made_for, made.metadata)
    if wrong:
        raise CompileError(wrong)
    return made


def _with_symbol(module: Module) -> Module:
    """The module with a symbol for the kernel's name that PTX and assemblers read."""
    kernel = module.kernel
    symbol = symbol_of(kernel.name)
    if symbol == kernel.name:
        return module
    return Module([replace(f, name=symbol) if f is kernel else f for f in module.functions])


def _refuse(made_for: Goal, num_warps: int, num_stages: int) -> None:
    """What Triton would fail on badly."""
    most = made_for.most_warps
    if not 1 <= num_warps <= most or num_warps & (num_warps - 1):
        message = f"num_warps is {num_warps}, and must be a power of two of at most {most}"
        raise CompileError((report("X002", message),))
    if num_stages < 1:
        raise CompileError((report("X002", f"num_stages is {num_stages}, and must be positive"),))


def _files(trail: Trail) -> dict[str, bytes]:
    names = {"amdgcn": "asm"}
    made = trail.made.items()
    return {names.get(k, k): v if isinstance(v, bytes) else str(v).encode() for k, v in made}
