"""The stages of Triton's compiler, one after the other, with what it writes caught."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

from teeny.backends.triton.assemble import choose_assembler, portable_ptx
from teeny.backends.triton.capture import standard_error, standard_output
from teeny.backends.triton.goal import Goal
from teeny.backends.triton.wheel import load

_CATCH = {"ptx": contextlib.nullcontext, "amdgcn": contextlib.nullcontext, "cubin": standard_output}
"""How a stage's output is caught, where not from standard error. Not from code generation: an error of LLVM ends the
process and must show."""


@dataclass(slots=True)
class Trail:
    """How far a compilation came: kept by the caller, who wants it where one fails.

    `stage` is the one begun last. `made` holds the stages' results by name: text, and bytes for machine code. `noted`
    is what Triton calls metadata.
    """

    stage: str = "source"

    log: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])
    made: dict[str, Any] = field(default_factory=dict[str, Any])
    noted: dict[str, Any] = field(default_factory=dict[str, Any])


def run_stages(
    path: str, goal: Goal, options: dict[str, Any], lines: bool, trail: Trail, *, buffers: bool = True
) -> None:
    """Every stage from the passes over the dialect on, which `triton.compile` would leave out for a file of it.

    Portable code ends with its PTX. Without `lines` the code has no line information; without `buffers` AMD's atomic
    operations are of the plain kind.
    """
    compiler, common = load("compiler.compiler"), load("backends.compiler")
    ir, knobs = load("_C.libtriton").ir, load("knobs")
    target = common.GPUTarget(goal.backend, goal.passes or goal.name, goal.threads)
    backend = compiler.make_backend(target)
    chosen = backend.parse_options(options)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with standard_error(trail.log):
        module: Any = ir.parse_mlir_module(path, context)
    module.context = context
    name = module.get_entry_func_name()
    trail.arguments += [str(t) for t in module.get_function_signature(module.get_function(name))]
    trail.noted |= {"target": target, **vars(chosen)}
    stages: dict[str, Any] = {}
    with knobs.compilation.scope(), knobs.amd.scope(), knobs.nvidia.scope():
        knobs.compilation.disable_line_info = not lines
        if not buffers:
            knobs.amd.use_buffer_atomics = False
        backend.add_stages(stages, chosen, common.Language.TRITON)
        for stage, run in stages.items():
            trail.stage = stage
            if stage == "cubin" and goal.portable:
                trail.made["ptx"] = portable_ptx(trail.made["ptx"], goal)
                break
            if stage == "cubin":
                choose_assembler(trail.made["ptx"], goal)
            with _CATCH.get(stage, standard_error)(trail.log):
                module = run(module, trail.noted)
            trail.made[stage] = module.str_nodebug() if hasattr(module, "str_nodebug") else module
