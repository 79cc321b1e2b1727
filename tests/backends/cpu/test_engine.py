"""Objects: compiled for a level, loaded by the ELF loader and by LLVM; what the loader refuses."""

from __future__ import annotations

import ctypes
import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest

from teeny.backends.cpu import elf
from teeny.backends.cpu.builder import KERNEL_PARAMETERS, Builder, Module
from teeny.backends.cpu.engine import compile_object, load, load_by_llvm
from teeny.backends.cpu.pool_ir import pool_text
from teeny.backends.cpu.target import LEVELS, Features, features, fingerprint, host_features, supported_levels
from teeny.diag import InternalError
from teeny.ir.lanes import Lane
from teeny.ops import vecmath
from tests.backends.cpu.harness import NUMPY, elementwise

needs_elf = pytest.mark.skipif(not elf.supported(), reason="64-bit x86 Linux only")


def rich(b: Builder, x: Lane) -> Lane:
    """Constants in several sections, and calls of library functions (fmodf; fmaf where there is no instruction)."""
    y = b.fadd(vecmath.exp(b, x), vecmath.log(b, b.fabs(x)))
    return b.frem(b.fma(y, x, b.ffloor(y)), b.const("f32", 3.0))


def rich_object(level: str, width: int) -> bytes:
    assert level in LEVELS
    module = Module(level)
    b = Builder(module, "kernel", KERNEL_PARAMETERS, width)
    elementwise(rich, ["f32"], "f32", width)(b)
    b.finish()
    return compile_object(module.text(), level)


def results(address: int, width: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    x = np.linspace(-20, 20, 1600).astype(np.float32)
    out = np.zeros_like(x)
    args = (ctypes.c_int64 * 2)(x.ctypes.data, out.ctypes.data)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(address)
    kernel(ctypes.addressof(args), 0, x.size // width, 0)
    return out


@needs_elf
@pytest.mark.parametrize("level", supported_levels())
def test_elf_loader_equals_llvm(level: str) -> None:
    reference = results(load_by_llvm(rich_object("native", 16), "kernel"), 16)
    assert np.isfinite(reference).all()
    for width in (1, 16):
        code = rich_object(level, width)
        for address in (elf.load(code, "kernel"), load_by_llvm(code, "kernel"), load(code, "kernel")):
            np.testing.assert_array_equal(results(address, width).view(np.int32), reference.view(np.int32))


@needs_elf
def test_several_functions_that_call_each_other() -> None:
    code = compile_object(
        """
        define i64 @twice(i64 %x) noinline { %y = mul i64 %x, 2
          ret i64 %y }
        define i64 @thrice_and_copy(i64 %x, ptr %to, ptr %from) {
          call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %x, i1 false)
          %d = call i64 @twice(i64 %x)
          %y = add i64 %d, %x
          ret i64 %y }
        declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
        """
    )
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    source, target = np.arange(100, dtype=np.uint8), np.zeros(100, np.uint8)
    for loader in (elf.load, load_by_llvm):
        target[:] = 0
        assert call(loader(code, "thrice_and_copy"))(99, target.ctypes.data, source.ctypes.data) == 297
        np.testing.assert_array_equal(target[:99], source[:99])
        assert target[99] == 0


@needs_elf
def test_code_is_not_writable() -> None:
    address = elf.load(compile_object("define i32 @f() { ret i32 7 }"), "f")
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            low, high = (int(part, 16) for part in line.split()[0].split("-"))
            if low <= address < high:
                assert line.split()[1].startswith("r-x")
                return
    raise AssertionError("the code is not mapped")


@needs_elf
def test_loader_refuses_what_it_does_not_know() -> None:
    good = compile_object("define i32 @f() { ret i32 7 }")
    for bad in (b"", b"\x7fELF", good[:200], good[:18] + b"\xb7\x00" + good[20:], b"\0" * 500):
        with pytest.raises(elf.NotLoadableError):
            elf.load(bad, "f")
    with pytest.raises(elf.NotLoadableError, match="no symbol"):
        elf.load(good, "g")
    unknown = compile_object(
        "declare i32 @surely_not_there()\ndefine i32 @f() { %x = call i32 @surely_not_there()\n ret i32 %x }"
    )
    with pytest.raises(elf.NotLoadableError, match="surely_not_there"):
        elf.load(unknown, "f")


def test_writable_data_falls_back_to_llvm() -> None:
    code = compile_object(
        """
        @counter = internal global i32 5
        define i32 @f() { %x = load i32, ptr @counter
          %y = add i32 %x, 1
          store i32 %y, ptr @counter
          ret i32 %y }
        """
    )
    if elf.supported():
        with pytest.raises(elf.NotLoadableError, match="writable"):
            elf.load(code, "f")
    function = ctypes.CFUNCTYPE(ctypes.c_int32)(load(code, "f"))
    assert [function(), function()] == [6, 7]


def test_invalid_text_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="LLVM rejects"):
        compile_object("define void @f() { ret i32 %nothing }")


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-darwin", "riscv64-unknown-linux-gnu"])
def test_code_for_other_machines_compiles(triple: str) -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip("this LLVM has no such target")
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    module = Module()
    module.features = Features(x86=False, half=True, fma=True, scalef=False, lanes=4)
    b = Builder(module, "kernel", KERNEL_PARAMETERS, 4)
    elementwise(lambda b, x: b.fptrunc(rich(b, b.fpext(x, "f32")), "f16"), ["f16"], "f16", 4)(b)
    b.fence()
    b.finish()
    arch, linux = triple.split("-")[0], "linux" in triple
    for text in (module.text(), pool_text(arch, futex=linux)):
        parsed = llvm.parse_assembly(text)
        parsed.triple = triple
        parsed.verify()
        assert len(machine.emit_object(parsed)) > 200
    assert ("teeny_launch" in pool_text(arch, futex=linux)) == (arch == "aarch64")


def test_compilation_is_deterministic() -> None:
    assert rich_object("native", 16) == rich_object("native", 16)


def test_fingerprint_tells_levels_apart() -> None:
    prints = {fingerprint(level) for level in LEVELS}
    assert len(prints) == len(LEVELS)
    assert all(f"llvmlite {importlib.metadata.version('llvmlite')}" in text for text in prints)
    if host_features():
        assert next(iter(host_features())) in fingerprint("native")


def test_features_of_levels() -> None:
    if not features().x86:
        pytest.skip("x86 only")
    assert [features(level).lanes for level in LEVELS[:4]] == [4, 4, 8, 16]
    assert [features(level).fma for level in LEVELS[:4]] == [False, False, True, True]
    assert [features(level).scalef for level in LEVELS[:4]] == [False, False, False, True]
    assert "native" in supported_levels()
    assert set(NUMPY) >= {"f16", "bf16"}


def test_loading_and_fingerprint_need_no_llvmlite() -> None:
    if not elf.supported():
        pytest.skip("64-bit x86 Linux only")
    code = compile_object("define i32 @f() { ret i32 7 }")
    script = f"""
import sys
from teeny.backends.cpu import engine, pool
import ctypes
assert ctypes.CFUNCTYPE(ctypes.c_int)(engine.load({code!r}, "f"))() == 7
engine.fingerprint("native")
assert "llvmlite" not in sys.modules and "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
