"""Compiled kernels: `tn.compile(kernel, tn.Target("sm_90"))`. No GPU is needed. The cache on disk keeps results."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError, LaunchError
from teeny.ir.build import build as code_version
from teeny.ir.origin import foreign
from teeny.ir.store import default_store, key
from teeny.ir.text import print_module
from teeny.passes.expand import expand
from teeny.runtime.compilers import DIVISOR, LAYERS, UNIT, Hints, compiler, form_for, hinted, kinds
from teeny.runtime.interface import Interface
from teeny.runtime.options import Options, check_options, options_of
from teeny.runtime.specialization import Specialization
from teeny.runtime.target import Target, target_of

_FORMAT = 1
_METADATA = "meta.json"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Program:
    """A kernel compiled for one target.

    `files`: code by kind. For NVIDIA "ttir", "ttgir" (Triton's forms), "llir" (LLVM IR), "ptx", which "asm" is too, and
    "cubin", which portable targets lack; for AMD the same up to "llir", then "asm" and "hsaco"; for the CPU "llir",
    "asm" and "object".
    """

    interface: Interface
    target: Target
    hints: Hints
    files: Mapping[str, bytes]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<program {self.interface.id} for {self.target}>"

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
            message = f"a program for {self.target} has no {kind}; it has {', '.join(self.files)}"
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
            for kind in kinds(self.target):
                if kind in self.files:
                    archive.writestr(kind, self.files[kind])
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
            interface, target = Interface.from_json(about["interface"]), Target(*about["target"])
            return Program(interface, target, tuple(about["hints"]), _with_assembly(files, target), about["metadata"])
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

    Options: see `Options`; those that a target lacks are refused. `hints` names arguments whose address or value is a
    multiple of 16, which makes loads wider, or 1 (a stride); a launch checks them. `force` compiles even where the
    cache has the result.
    Raises CompileError, and LaunchError (L014) for options or hints.
    """
    expect(kernel, Specialization, "tn.compile", "a specialised kernel: kernel.specialize(...)")
    made, chosen = target_of(target), options_of(kernel.name, options)
    check_options(kernel.name, chosen, made)
    return build(kernel, made, chosen, _hints(kernel, hints or {}), force=force, every=True)


def expect(given: object, kind: type, where: str, needed: str) -> None:
    """Refuse what is no `kind`. Raises LaunchError L002."""
    if not isinstance(given, kind):
        name = getattr(given, "__name__", "")
        found = f"a {type(given).__name__}" + (f", `{name}`" if name else "")
        raise LaunchError.of("L002", f"{where} does not take this", found=found, needed=needed)


def _hints(kernel: Specialization, given: Mapping[str, int]) -> Hints:
    arguments = {a.name: a for a in kernel.interface.arguments}
    for name, multiple in given.items():
        fits = multiple == DIVISOR or (multiple == UNIT and name in arguments and arguments[name].whole)
        if name not in arguments or not fits:
            raise LaunchError.of(
                "L014",
                f"`{kernel.name}` cannot take the hint {name}={multiple!r}",
                kernel=kernel.name,
                argument=name,
                found=repr(multiple),
                needed=f"{DIVISOR}, or {UNIT} for an integer, of one of {', '.join(arguments)}",
            )
    return tuple(given.get(name, 0) for name in arguments)


def build(
    kernel: Specialization, target: Target, options: Options, hints: Hints, *, force: bool = False, every: bool = False
) -> Program:
    """The program from the cache, or compiled now; with `every` kind of code, else with what runs.

    The key of a GPU's code holds locations: it has line information.
    """
    named, make = compiler(target)
    parts = {"target": target.name, "portable": target.portable, "compiler": named, **foreign(kernel.module)}
    if target.kind == "cpu":
        parts["text"] = print_module(expand(kernel.module), contracts=False)
    else:
        module = hinted(form_for(kernel, target, hints), hints, asserts=options.asserts)
        parts |= {**options.parts, "text": print_module(module, locations=True, contracts=False)}
    store, name = default_store(), key({"kind": "program", "teeny": code_version(*LAYERS), **parts})
    known = None if force else store.get(name)
    if known is not None and _METADATA in known and (not every or set(kinds(target)) <= set(known)):
        metadata = json.loads(known.pop(_METADATA))
        return Program(kernel.interface, target, hints, _with_assembly(known, target), metadata)
    files, metadata = make(kernel, target, options, hints, every)
    store.put(name, {**files, _METADATA: json.dumps(metadata).encode()}, {"kernel": kernel.id})
    return Program(kernel.interface, target, hints, _with_assembly(files, target), metadata)


def _with_assembly(files: dict[str, bytes], target: Target) -> dict[str, bytes]:
    """The assembly of an NVIDIA GPU is its PTX; files in the order in which they are made."""
    found = {kind: files[kind] for kind in kinds(target) if kind in files}
    return {**found, "asm": found["ptx"]} if "ptx" in found else found
