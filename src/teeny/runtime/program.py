"""Compiled kernels: `tn.compile(kernel, tn.Target("sm_90"))`. No GPU is needed. The cache on disk keeps results."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError, LaunchError
from teeny.ir.build import build as code_version
from teeny.ir.core import Module
from teeny.ir.dtype import INT, DType
from teeny.ir.store import default_store, key
from teeny.ir.text import print_module
from teeny.ir.types import PointerType, Type
from teeny.runtime.interface import Interface
from teeny.runtime.level import chosen_level
from teeny.runtime.options import Options, options_of
from teeny.runtime.specialization import Specialization
from teeny.runtime.target import Target, target_of

DIVISOR = 16
"""What hints speak of: an address or an integer that is a multiple of this."""
Hints = tuple[bool, ...]
"""For each argument, whether the code relies on its being a multiple of `DIVISOR`."""
_FORMAT = 1
_LAYERS = ("ops", "backends")
"""The parts of teeny that make machine code of the IR."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Program:
    """A kernel compiled for one target. `files`: code by kind ("ptx", "cubin", "object", ...)."""

    interface: Interface
    target: Target
    hints: Hints
    files: Mapping[str, bytes]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<program {self.interface.id} for {self.target.name}>"

    @property
    def ptx(self) -> str:
        """The PTX. Raises CompileError where the target has none."""
        return self.file("ptx").decode()

    @property
    def cubin(self) -> bytes:
        """The machine code for the exact architecture. Raises CompileError where the target has none."""
        return self.file("cubin")

    @property
    def threads_per_block(self) -> int:
        """Threads of a block: what every launch uses. 1 on a CPU."""
        return 1 if self.target.kind == "cpu" else int(self.metadata["threads"])

    def file(self, kind: str) -> bytes:
        """Code of one kind. Raises CompileError for a kind that the program does not have."""
        found = self.files.get(kind)
        if found is None:
            message = f"a program for {self.target.name} has no {kind}; it has {', '.join(self.files)}"
            raise CompileError((report("X002", message, kernel=self.interface.kernel),))
        return found

    def save(self, path: str | Path) -> None:
        """Write the program to one file, for `Program.load` on a machine that has no compiler."""
        about = {
            "format": _FORMAT,
            "interface": self.interface.to_json(),
            "target": [self.target.name, self.target.portable],
            "hints": list(self.hints),
            "metadata": dict(self.metadata),
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("program.json", json.dumps(about, indent=1, sort_keys=True))
            for kind, data in self.files.items():
                archive.writestr(kind, data)
        Path(path).write_bytes(packed.getvalue())

    @staticmethod
    def load(path: str | Path) -> Program:
        """Read a saved program. Raises CompileError X002 for a file that is none. The code in it is trusted."""
        try:
            with zipfile.ZipFile(path) as archive:
                about = json.loads(archive.read("program.json"))
                if about["format"] != _FORMAT:
                    raise ValueError(f"its format is {about['format']}, this teeny reads {_FORMAT}")
                files = {n: archive.read(n) for n in archive.namelist() if n != "program.json"}
            interface = Interface.from_json(about["interface"])
            return Program(interface, Target(*about["target"]), tuple(about["hints"]), files, about["metadata"])
        except FileNotFoundError:
            raise CompileError((report("X002", f"there is no file {path}"),)) from None
        except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise CompileError((report("X002", f"{path} is no saved program: {error}"),)) from None


def compile(
    kernel: Specialization,
    target: Target | str,
    *,
    hints: Mapping[str, int] | None = None,
    force: bool = False,
    **options: Any,
) -> Program:
    """Compile a specialisation for a target.

    Options: see `Options`. `hints` names arguments whose address or value is a multiple of 16, which makes loads wider;
    a launch checks them. `force` compiles even where the cache has the result. Raises CompileError, and LaunchError
    (L014) for options or hints.
    """
    made = target_of(target)
    return build(kernel, made, options_of(kernel.name, options), _hints(kernel, hints or {}), force=force)


def _hints(kernel: Specialization, given: Mapping[str, int]) -> Hints:
    arguments = kernel.interface.arguments
    for name, multiple in given.items():
        if name not in kernel.interface.names or multiple not in (1, DIVISOR):
            raise LaunchError.of(
                "L014",
                f"`{kernel.name}` cannot take the hint {name}={multiple!r}",
                kernel=kernel.name,
                argument=name,
                found=repr(multiple),
                needed=f"{DIVISOR} for one of {', '.join(kernel.interface.names)}",
            )
    return tuple(given.get(a.name) == DIVISOR for a in arguments)


def build(kernel: Specialization, target: Target, options: Options, hints: Hints, *, force: bool = False) -> Program:
    """The program from the cache, or compiled now. The key of a GPU's code holds locations: it has line information."""
    compiler, make = _compiler(target)
    parts = {"target": target.name, "portable": target.portable, "compiler": compiler}
    if target.kind == "cpu":
        parts["text"] = kernel.mlir
    else:
        hinted = _hinted(kernel.module, hints)
        parts |= {**options.parts, "text": print_module(hinted, locations=True, contracts=False)}
    store, name = default_store(), key({"kind": "program", "teeny": code_version(*_LAYERS), **parts})
    known = None if force else store.get(name)
    if known is not None and "meta.json" in known:
        metadata = json.loads(known.pop("meta.json"))
        return Program(kernel.interface, target, hints, known, metadata)
    files, metadata = make(kernel, target, options, hints)
    store.put(name, {**files, "meta.json": json.dumps(metadata).encode()}, {"kernel": kernel.id})
    return Program(kernel.interface, target, hints, files, metadata)


Files = tuple[dict[str, bytes], dict[str, Any]]
Make = Callable[[Specialization, Target, Options, Hints], Files]


def _compiler(target: Target) -> tuple[str, Make]:
    """What identifies the compiler of a target, and the compilation."""
    if target.kind == "cpu":
        from teeny.backends.cpu.target import fingerprint

        return fingerprint(chosen_level()), _native
    from teeny.backends.triton.wheel import version

    return version(), _triton


def _native(kernel: Specialization, target: Target, options: Options, hints: Hints) -> Files:
    from teeny.backends.cpu.engine import compile_object
    from teeny.backends.cpu.lower.entry import lower
    from teeny.backends.cpu.target import fingerprint

    level = chosen_level()
    made = lower(kernel.module, level=level)
    metadata = {
        "symbol": made.symbol,
        "scratch_bytes": made.scratch_bytes,
        "cost_ns_per_program": made.cost_ns_per_program,
        "machine": fingerprint(level),
    }
    return {"object": compile_object(made.ir_text, level)}, metadata


def _triton(kernel: Specialization, target: Target, options: Options, hints: Hints) -> Files:
    from teeny.backends.triton.compile import compile_module

    made = compile_module(
        _hinted(kernel.module, hints),
        target.name,
        num_warps=options.num_warps,
        num_stages=options.num_stages,
        num_ctas=options.num_ctas,
        maxnreg=options.maxnreg,
        enable_fp_fusion=options.fp_fusion,
        ptx_version=options.ptx_version,
    )
    metadata = {**made.metadata, "threads": 32 * made.metadata["num_warps"]}
    return {"ptx": made.ptx.encode(), "cubin": made.cubin}, metadata


def _hinted(module: Module, hints: Hints) -> Module:
    """The module with the hints as attributes of its kernel's arguments; the body is shared."""
    if not any(hints):
        return module
    function = module.kernel
    attributes = tuple(
        {"tt.divisibility": DIVISOR} if hint and _takes_hint(value.type) else {}
        for value, hint in zip(function.args, hints, strict=True)
    )
    hinted = replace(function, arg_attrs=attributes)
    return Module([hinted if f is function else f for f in module.functions])


def _takes_hint(type_: Type) -> bool:
    return isinstance(type_, PointerType) or (isinstance(type_, DType) and type_.within(INT))


@cache
def share_pool() -> None:
    """Let the machine code of the CPU's thread pool come from the cache too."""
    from teeny.backends.cpu.pool import set_object_source
    from teeny.backends.cpu.target import fingerprint

    def source(text: str, make: Callable[[], bytes]) -> bytes:
        store = default_store()
        name = key({"kind": "pool", "teeny": code_version(*_LAYERS), "text": text, "machine": fingerprint("native")})
        known = store.get(name)
        if known is not None and "object" in known:
            return known["object"]
        code = make()
        store.put(name, {"object": code}, {"kernel": "the thread pool"})
        return code

    set_object_source(source)
