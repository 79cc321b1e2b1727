"""Dialect text through Triton's compiler. Nothing is cached here: the caller keeps results under the text's hash."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teeny.backends.triton.capture import standard_error, standard_output
from teeny.backends.triton.complaint import complaint
from teeny.backends.triton.limits import limits
from teeny.backends.triton.metadata import Metadata, metadata_of
from teeny.backends.triton.older import for_version
from teeny.backends.triton.wheel import load, version
from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError
from teeny.diag.span import Location, SourceFile, shown_column
from teeny.ir.core import walk_function
from teeny.ir.text import print_module

if TYPE_CHECKING:
    from teeny.backends.triton.complaint import Place
    from teeny.ir.core import Module

ARCHITECTURES = (75, 80, 86, 87, 89, 90, 100, 120)
"""Compute capabilities, times ten, that code can be made for."""
_OLDEST_ISA = {75: 63, 80: 70, 86: 71, 87: 74, 89: 78, 90: 80, 100: 86, 120: 87}
"""The first version of PTX that knows an architecture. With an older one LLVM ends the process."""
_MOST_WARPS = 32

_ARCH = re.compile(r"(?:sm_?)?(\d+)a?")


@dataclass(frozen=True, slots=True)
class TritonArtifact:
    """A compiled kernel."""

    ptx: str
    cubin: bytes
    metadata: Metadata


def compile_text(
    text: str,
    arch: int | str,
    *,
    num_warps: int = 4,
    num_stages: int = 3,
    num_ctas: int = 1,
    maxnreg: int | None = None,
    enable_fp_fusion: bool = True,
    ptx_version: int | None = None,
    name: str = "<text>",
    places: Mapping[Place, Location] | None = None,
) -> TritonArtifact:
    """Compile a module's text for one architecture: 90, "sm_90" or "sm_90a".

    `ptx_version` (86 for ISA 8.6) chooses an older ISA than the newest of Triton's ptxas, for older drivers. Text
    without locations gives code without line information. `name` is what messages call the text; `places` finds the
    locations behind those in the text. Raises `CompileError`: X001 where Triton is missing, X002 where it fails.
    """
    capability = _capability(arch)
    _refuse(capability, num_warps, num_stages, ptx_version)
    installed = version()
    options = {
        "num_warps": num_warps,
        "num_stages": num_stages,
        "num_ctas": num_ctas,
        "maxnreg": maxnreg,
        "enable_fp_fusion": enable_fp_fusion,
        "ptx_version": ptx_version,
    }
    kernel = re.search(r"tt\.func (?:public )?@([\w$.-]+)", text)
    handle, path = tempfile.mkstemp(suffix=".ttir")
    log: list[str] = []
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(for_version(text, installed))
        noted, arguments, ptx, cubin = _stages(path, capability, options, "loc(" in text, log)
        return TritonArtifact(ptx, cubin, metadata_of(ptx, arguments, installed, noted))
    except CompileError:
        raise
    except Exception as error:
        what, place = str(error) or type(error).__name__, SourceFile(name, text)
        diagnostic = complaint(what, "".join(log), place, path, places or {}, kernel and kernel[1])
        raise CompileError((diagnostic,)) from error
    finally:
        os.unlink(path)


def compile_module(module: Module, arch: int | str, **options: Any) -> TritonArtifact:
    """Compile a concrete module with line information; complaints are mapped to its locations.

    Takes the options of `compile_text`.
    """
    wrong = limits(module, _capability(arch))
    if wrong:
        raise CompileError(wrong)
    places: dict[Place, Location] = {}
    for function in module.functions:
        for op in walk_function(function):
            if op.loc is not None:
                span = op.loc.span
                column = shown_column(span.source.line(span.line), span.column)
                places.setdefault((span.source.name, span.line, column), op.loc)
    return compile_text(print_module(module, locations=True, contracts=False), arch, places=places, **options)


def _capability(arch: int | str) -> int:
    match = _ARCH.fullmatch(str(arch))
    found = int(match[1]) if match is not None else 0
    if found not in ARCHITECTURES:
        known = ", ".join(f"sm_{a}" for a in ARCHITECTURES)
        message = f"code for {arch if isinstance(arch, str) else f'sm_{arch}'} cannot be made"
        raise CompileError((report("X002", message, help=(f"the architectures are {known}",)),))
    return found


def _refuse(capability: int, num_warps: int, num_stages: int, ptx_version: int | None) -> None:
    """What Triton would fail on badly."""
    if num_warps not in (1, 2, 4, 8, 16, _MOST_WARPS):
        message = f"num_warps is {num_warps}, and must be a power of two of at most {_MOST_WARPS}"
        raise CompileError((report("X002", message),))
    if num_stages < 1:
        raise CompileError((report("X002", f"num_stages is {num_stages}, and must be positive"),))
    oldest = _OLDEST_ISA[capability]
    if ptx_version is not None and ptx_version < oldest:
        needed = f"{oldest // 10}.{oldest % 10}"
        message = f"PTX of version {ptx_version // 10}.{ptx_version % 10} has no sm_{capability}; it needs {needed}"
        raise CompileError((report("X002", message),))


def _stages(
    path: str, capability: int, options: dict[str, Any], lines: bool, log: list[str]
) -> tuple[dict[str, Any], list[str], str, bytes]:
    """Every stage of Triton's compiler, from its passes over the dialect on, which `triton.compile` would leave out.

    What it writes comes into `log`, but not from code generation: an error of LLVM ends the process and must show.
    """
    compiler, common = load("compiler.compiler"), load("backends.compiler")
    ir, knobs = load("_C.libtriton").ir, load("knobs")
    target = common.GPUTarget("cuda", capability, 32)
    backend = compiler.make_backend(target)
    chosen = backend.parse_options({k: v for k, v in options.items() if v is not None})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with standard_error(log):
        module: Any = ir.parse_mlir_module(path, context)
    module.context = context
    name = module.get_entry_func_name()
    arguments = [str(t) for t in module.get_function_signature(module.get_function(name))]
    noted: dict[str, Any] = {"target": target, **vars(chosen)}
    made: dict[str, Any] = {}
    stages: dict[str, Any] = {}
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = not lines
        backend.add_stages(stages, chosen, common.Language.TRITON)
        for stage, run in stages.items():
            catch = {"ptx": contextlib.nullcontext, "cubin": standard_output}.get(stage, standard_error)
            with catch(log):
                module = made[stage] = run(module, noted)
    return noted, arguments, made["ptx"], made["cubin"]
