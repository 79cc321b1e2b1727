"""From a specialisation to code of every kind: the CPU's compiler and Triton's, behind one signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from teeny.ir.build import build as code_version
from teeny.ir.core import Module
from teeny.ir.dtype import INT, DType
from teeny.ir.store import default_store, key
from teeny.ir.types import PointerType, Type
from teeny.passes.annotate import annotate
from teeny.passes.bind import bind
from teeny.passes.expand import expand
from teeny.runtime.level import chosen_level

if TYPE_CHECKING:
    from teeny.runtime.options import Options
    from teeny.runtime.specialization import Specialization
    from teeny.runtime.target import Target

DIVISOR = 16
"""What hints speak of: an address or an integer that is a multiple of this."""
UNIT = 1
"""The hint of an integer that is 1, such as the stride of a contiguous axis."""
Hints = tuple[int, ...]
"""For each argument what the code relies on: `DIVISOR`, `UNIT`, or 0 for nothing."""
LAYERS = ("ops", "backends")
"""The parts of teeny that make machine code of the IR."""

Files = tuple[dict[str, bytes], dict[str, Any]]
"""Code by kind, and metadata."""
Make = Callable[["Specialization", "Target", "Options", Hints, bool], Files]
"""Compiles; the last argument asks for every kind of code that there is, not just for what runs."""

_GPU_CODE = ("ptx", "cubin", "hsaco")


def compiler(target: Target) -> tuple[str, Make]:
    """What identifies the compiler of a target, and the compilation."""
    if target.kind == "cpu":
        from teeny.backends.cpu.target import fingerprint

        return fingerprint(chosen_level()), _native
    from teeny.backends.triton.wheel import version

    return version(), _triton


def kinds(target: Target) -> tuple[str, ...]:
    """Every kind of code that a program for the target can have, in the order in which it is made."""
    if target.kind == "cpu":
        return ("llir", "asm", "object")
    machine = ("asm", "hsaco") if target.kind == "hip" else ("ptx",) if target.portable else ("ptx", "cubin")
    return ("ttir", "ttgir", "llir", *machine)


def _native(kernel: Specialization, target: Target, options: Options, hints: Hints, every: bool) -> Files:
    return native_code(kernel.module, every=every)


def native_code(module: Module, *, every: bool) -> Files:
    """Code for this machine's CPU of the kernel of a concrete module; with `every` kind of code that there is."""
    from teeny.backends.cpu.engine import compile_assembly, compile_object
    from teeny.backends.cpu.lower.entry import lower
    from teeny.backends.cpu.target import fingerprint

    level = chosen_level()
    made = lower(module, level=level)
    metadata = {
        "symbol": made.symbol,
        "scratch_bytes": made.scratch_bytes,
        "cost_ns_per_program": made.cost_ns_per_program,
        "waits": made.waits,
        "machine": fingerprint(level),
        "reports": [one.to_json() for one in made.reports],
    }
    files = {"object": compile_object(made.ir_text, level)}
    if every:
        files |= {"llir": made.ir_text.encode(), "asm": compile_assembly(made.ir_text, level).encode()}
    return files, metadata


def _triton(kernel: Specialization, target: Target, options: Options, hints: Hints, every: bool) -> Files:
    from teeny.backends.triton.compile import compile_module

    made = compile_module(
        hinted(form_for(kernel, target, hints), hints, asserts=options.asserts),
        target.name,
        portable=target.portable,
        num_warps=options.num_warps,
        num_stages=options.num_stages,
        num_ctas=options.num_ctas,
        maxnreg=options.maxnreg,
        enable_fp_fusion=options.fp_fusion,
        ptx_version=options.ptx_version,
    )
    return {k: v for k, v in made.files.items() if every or k in _GPU_CODE}, dict(made.metadata)


def form_for(kernel: Specialization, target: Target, hints: Hints = ()) -> Module:
    """The kernel's module as a target takes it: with those tensor descriptors that it has hardware for."""
    found = kernel.described
    if found is None or target.kind != "cuda" or target.portable:
        return kernel.module
    from teeny.backends.triton.tiles import with_hardware

    return with_hardware(found, kernel.module, target.name, {at: hint for at, hint in enumerate(hints) if hint})


def hinted(module: Module, hints: Hints, *, asserts: bool) -> Module:
    """The module in Triton's operations, with the hints: attributes of arguments, constants for those that are 1."""
    module = annotate(expand(module), asserts=asserts)
    if not any(hints):
        return module
    function = module.kernel
    ones = {at: 1 for at, hint in enumerate(hints) if hint == UNIT}
    made = bind(function, ones) if ones else function
    said = function.arg_attrs or tuple(dict[str, object]() for _ in hints)
    attributes = tuple(
        ({"tt.divisibility": DIVISOR} if hint == DIVISOR and _takes_hint(value.type) else {}) | attrs
        for value, hint, attrs in zip(function.args, hints, said, strict=True)
    )
    made = replace(made, arg_attrs=attributes)
    return Module([made if f is function else f for f in module.functions])


def _takes_hint(type_: Type) -> bool:
    return isinstance(type_, PointerType) or (isinstance(type_, DType) and type_.within(INT))


@cache
def share_pool() -> None:
    """Let the machine code of the CPU's thread pool come from the cache too."""
    from teeny.backends.cpu.pool import set_object_source
    from teeny.backends.cpu.target import fingerprint

    def source(text: str, make: Callable[[], bytes]) -> bytes:
        store = default_store()
        name = key({"kind": "pool", "teeny": code_version(*LAYERS), "text": text, "machine": fingerprint("native")})
        known = store.get(name)
        if known is not None and "object" in known:
            return known["object"]
        code = make()
        store.put(name, {"object": code}, {"kernel": "the thread pool"})
        return code

    set_object_source(source)
