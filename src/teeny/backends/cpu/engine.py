"""LLVM IR text to object bytes, and object bytes to an address.

- `compile_object(ir_text, level) -> bytes`: needs llvmlite; about 10 ms for a small kernel.
- `load(object_bytes, symbol) -> int`: maps the code into this process, for good. On x86-64 Linux without llvmlite.
- `fingerprint(level) -> str` (from `target`): belongs into the key under which objects are kept.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from teeny.backends.cpu import elf
from teeny.backends.cpu.target import Level, fingerprint, is_x86
from teeny.diag import CompileError, InternalError, report

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["compile_assembly", "compile_object", "fingerprint", "load", "load_by_llvm"]

T = TypeVar("T")

_lock = threading.Lock()
_counter = itertools.count()
_kept: list[object] = []
"""Libraries of code that must live as long as the process."""


@functools.cache
def _llvm() -> None:
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        message = f"code for the CPU needs llvmlite, which cannot be imported: {error}"
        raise CompileError([report("X005", message)]) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.cache
def _machine(level: Level) -> llvm.TargetMachine:
    import llvmlite.binding as llvm

    target = llvm.Target.from_triple(llvm.get_process_triple())
    if level == "native" or not is_x86():
        cpu, flags = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    else:
        cpu, flags = level, ""
    return target.create_target_machine(cpu=cpu, features=flags, opt=2, reloc="pic", codemodel="small")


def compile_object(ir_text: str, level: Level = "native") -> bytes:
    """Machine code for a module of LLVM IR as a relocatable object.

    The text must be valid: a text that LLVM rejects is an internal error. Nothing is optimised but by the selection of
    instructions: the builder hoists, folds and shares, and passes over its code made it no faster.
    """
    return _emit(ir_text, level, lambda machine, module: machine.emit_object(module))


def compile_assembly(ir_text: str, level: Level = "native") -> str:
    """The same code as assembly to read."""
    return _emit(ir_text, level, lambda machine, module: machine.emit_assembly(module))


def _emit(ir_text: str, level: Level, emit: Callable[[llvm.TargetMachine, llvm.ModuleRef], T]) -> T:
    _llvm()
    import llvmlite.binding as llvm

    with _lock:
        machine = _machine(level)
        try:
            module = llvm.parse_assembly(ir_text)
            module.verify()
        except RuntimeError as error:
            raise InternalError(f"LLVM rejects the code that was generated: {error}") from error
        module.triple = llvm.get_process_triple()
        # Loop strength reduction takes 40% of the time for kernels with many loops, and their code is slower with it.
        llvm.set_option("teeny", "-disable-lsr=true")
        try:
            return emit(machine, module)
        finally:
            llvm.set_option("teeny", "-disable-lsr=false")


def load(object_bytes: bytes, symbol: str) -> int:
    """The address of a function of an object in this process; its memory is never released."""
    if elf.supported():
        try:
            return elf.load(object_bytes, symbol)
        except elf.NotLoadableError:
            pass
    return load_by_llvm(object_bytes, symbol)


def load_by_llvm(object_bytes: bytes, symbol: str) -> int:
    """The same through LLVM's own linker, on any machine."""
    _llvm()
    import llvmlite.binding as llvm

    with _lock:
        jit = _jit()
        library = f"object{next(_counter)}"
        made = llvm.JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
        tracker = made.export_symbol(symbol).link(jit, library)
        _kept.append(tracker)
        return int(tracker[symbol])


@functools.cache
def _jit() -> llvm.LLJIT:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_machine("native"))
