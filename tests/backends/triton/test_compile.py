"""Text to PTX, cubin and metadata, without a GPU; and what is said where that fails."""

from __future__ import annotations

import json
import os
import pickle
import re
import struct
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from teeny.backends.triton import ARCHITECTURES, TritonArtifact, compile_module, compile_text, version, wheel
from teeny.backends.triton.older import for_version
from teeny.diag.errors import CompileError
from teeny.diag.span import Location, SourceFile, Span
from teeny.ir.core import walk_function
from teeny.ir.text import parse_module, print_module
from tests.kernels_text import NAMES, load, source

needs_triton = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
EXACT = {75: "sm_75", 80: "sm_80", 86: "sm_86", 87: "sm_87", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 120: "sm_120a"}

COPY = """\
tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %a: f32, %b: f32) {
  %v = tt.load %x : !tt.ptr<f32>
  %p = arith.mulf %v, %a : f32
  %s = arith.addf %p, %b : f32
  tt.store %y, %s : !tt.ptr<f32>
  tt.return
}
"""


def architecture_of(cubin: bytes) -> set[int]:
    """The bytes of an ELF's flags, one of which is the capability (which one depends on the ABI)."""
    (flags,) = struct.unpack_from("<I", cubin, 48)
    return set(struct.pack("<I", flags))


def refused(text: str, arch: int | str = 90, **options: Any) -> str:
    with pytest.raises(CompileError) as caught:
        compile_text(text, arch, **options)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


@needs_triton
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture(arch: int) -> None:
    made = compile_text(source("vector_add"), arch)
    assert made.cubin[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", made.cubin, 18) == (190,)  # EM_CUDA
    assert arch in architecture_of(made.cubin)
    assert re.search(rf"^\.target {EXACT[arch]}$", made.ptx, re.MULTILINE)
    assert made.metadata["arch"] == EXACT[arch]


@needs_triton
def test_softmax() -> None:
    made = compile_text(source("softmax"), "sm_90", num_warps=8, num_stages=2)
    facts = made.metadata
    assert "ex2.approx" in made.ptx
    assert "shfl.sync" in made.ptx
    assert ".reqntid 256" in made.ptx
    assert facts["name"] == "softmax"
    assert (facts["num_warps"], facts["num_stages"], facts["num_ctas"]) == (8, 2, 1)
    assert facts["arguments"] == ["*f32", "*f32", "i32", "i32", "i32"]
    assert facts["params"][:5] == ["u64", "u64", "u32", "u32", "u32"]
    assert facts["hidden"] == len(facts["params"]) - 5 == 2
    assert facts["shared"] >= 8 * 4  # a number for each warp
    assert facts["global_scratch_size"] == facts["profile_scratch_size"] == 0
    assert facts["triton"] == version()
    assert f".version {facts['ptx_version']}\n" in made.ptx
    assert json.loads(json.dumps(facts)) == facts


@needs_triton
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("vector_add", "softmax")])
def test_kernels(name: str) -> None:
    made = compile_module(load(name), 80)
    assert made.metadata["name"] == name
    assert made.cubin[:4] == b"\x7fELF"


@needs_triton
def test_equal_texts_give_equal_code_without_paths() -> None:
    first, second = (compile_text(source("shift"), 90) for _ in range(2))
    assert first == second
    assert ".loc" not in first.ptx
    assert ".ttir" not in first.ptx


@needs_triton
def test_lines_of_a_module_come_into_the_ptx() -> None:
    made = compile_module(load("shift"), 90)
    assert re.search(r'^\s*\.file\s+1 ".*shift\.ttir"', made.ptx, re.MULTILINE)
    store = next(op for op in walk_function(load("shift").kernel) if op.name == "tt.store")
    assert store.loc is not None
    assert re.search(rf"^\s*\.loc\s+1 {store.loc.span.line} 5\b", made.ptx, re.MULTILINE)
    assert "/tmp" not in made.ptx


@needs_triton
def test_floating_point_fusion_is_a_choice() -> None:
    assert "fma.rn.f32" in compile_text(COPY, 80, enable_fp_fusion=True).ptx
    assert "fma.rn.f32" not in compile_text(COPY, 80, enable_fp_fusion=False).ptx


@needs_triton
def test_an_older_ptx_can_be_chosen() -> None:
    made = compile_text(COPY, 90, ptx_version=80)
    assert made.metadata["ptx_version"] == "8.0"
    assert "\n.version 8.0\n" in made.ptx
    assert "PTX of version 7.8 has no sm_90; it needs 8.0" in refused(COPY, ptx_version=78)


@needs_triton
def test_contracts_are_no_part_of_the_code() -> None:
    text = COPY.replace("  tt.return", '  %c = arith.cmpf olt, %a, %b : f32\n  teeny.require %c, "a < b"\n  tt.return')
    plain, asked = (compile_module(parse_module(t), 80).ptx for t in (COPY, text))
    assert [line for line in asked.splitlines() if "setp" in line and "f32" in line] == []
    assert len(asked.splitlines()) == len(plain.splitlines())


@needs_triton
@pytest.mark.parametrize("arch", ["sm_90", "sm_90a", "sm90", "90", 90])
def test_spellings_of_an_architecture(arch: int | str) -> None:
    assert compile_text(COPY, arch).metadata["arch"] == "sm_90a"


@pytest.mark.parametrize("arch", ["sm_30", 91, "gfx90a", "", -90])
def test_unknown_architectures(arch: int | str) -> None:
    message = refused(COPY, arch)
    assert message.startswith("error[X002]: code for ")
    assert "the architectures are sm_75, sm_80," in message


@pytest.mark.parametrize("count", [0, 3, 64, -1])
def test_wrong_numbers_of_warps(count: int) -> None:
    assert f"num_warps is {count}, and must be a power of two of at most 32" in refused(COPY, num_warps=count)


def test_wrong_number_of_stages() -> None:
    assert "num_stages is 0, and must be positive" in refused(COPY, num_stages=0)


@needs_triton
def test_a_fault_of_the_text_is_shown_at_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    message = refused(source("vector_add").replace("arith.addf", "tt.foo"), name="v.ttir")
    assert message.splitlines()[:5] == [
        "error[X002]: Triton's compiler failed: custom op 'tt.foo' is unknown",
        "   --> v.ttir:18:10",
        "    |",
        " 18 |     %z = tt.foo %x, %y : tensor<128xf32>",
        "    |          ^^^^^^",
    ]
    assert "/tmp" not in message
    assert capfd.readouterr() == ("", "")


@needs_triton
def test_a_fault_is_shown_at_the_line_of_the_user(tmp_path: Path) -> None:
    file = SourceFile("kernel.py", "def k():\n    x = load(1 << 21)\n")
    lib = SourceFile("lib.py", "def load(n):\n    return tl.arange(0, n)\n")
    inner = Location(Span(lib, 2, 11, 2, 26), None, Location(Span(file, 2, 8, 2, 21), "load"))
    module = parse_module(source("vector_add").replace("128", str(1 << 21)))
    for op in walk_function(module.kernel):
        op.loc = inner
    with pytest.raises(CompileError) as caught:
        compile_module(module, 90)
    (found,) = caught.value.diagnostics
    assert found.message.startswith("Triton's compiler failed: Maximum allowed number of elements is 1048576")
    assert found.primary is not None
    assert found.primary.location == inner


@needs_triton
def test_a_place_in_a_file_that_only_the_text_knows(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("x = 1\nyy = arange(4)\n")
    text = print_module(parse_module(source("vector_add").replace("128", str(1 << 21))))
    text = text.replace("\n", f' loc("{file}":2:6)\n', 6).replace(f'{{ loc("{file}":2:6)', "{")
    message = refused(text)
    assert "kernel.py:2:6" in message
    assert "yy = arange(4)" in message
    assert "     ^^^^^^" in message


@needs_triton
def test_an_error_without_a_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    backend: Any = pytest.importorskip("triton.backends.nvidia.compiler").CUDABackend
    said = (
        "/tmp/a.ttir:1:1: error: Failures have been detected while processing an MLIR pass pipeline\n"
        "/tmp/a.ttir:1:1: note: Pipeline failed while executing [`Convert`]: reproducer generated at `std::errs`\n"
        "<unknown>:0: error: failed to legalize operation 'arith.foo' that was explicitly marked illegal\n"
    )

    def fail(*_: Any) -> Any:
        os.write(2, said.encode())
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(backend, "make_ttgir", staticmethod(fail))
    what = "failed to legalize operation 'arith.foo' that was explicitly marked illegal"
    assert refused(COPY) == f"error[X002]: Triton's compiler failed: {what}\n  --> kernel `copy`"


@needs_triton
def test_negation_in_every_version() -> None:
    text = COPY.replace("arith.addf %p, %b", "arith.negf %p")
    assert for_version(text, "3.8.0") == text
    old = for_version(text, "3.7.1")
    assert len(old.splitlines()) == len(text.splitlines())
    assert "arith.constant -0.0 : f32 %s = arith.subf %negative.zero.s, %p : f32\n" in old
    assert compile_text(old, 80).ptx == compile_text(text, 80).ptx
    tile = "%7 = arith.negf %x#1 : tensor<8xf16> loc(#loc3)"
    assert for_version(tile, "3.6.0") == (
        "%negative.zero.7 = arith.constant dense<-0.0> : tensor<8xf16> loc(#loc3) "
        "%7 = arith.subf %negative.zero.7, %x#1 : tensor<8xf16> loc(#loc3)"
    )


@needs_triton
def test_what_ptxas_says_is_told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    backend: Any = pytest.importorskip("triton.backends.nvidia.compiler").CUDABackend
    make = backend.make_cubin
    monkeypatch.setattr(
        backend, "make_cubin", lambda self, ptx, *rest: make(self, ptx.replace("ret;", "retch;"), *rest)
    )
    message = refused(COPY)
    assert re.match(r"error\[X002\]: Triton's compiler failed: .*'?retch'?", message), message
    assert "kernel `copy`" in message
    assert capfd.readouterr() == ("", "")


@needs_triton
def test_what_others_write_meanwhile_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    backend: Any = pytest.importorskip("triton.backends.nvidia.compiler").CUDABackend
    make = backend.make_ttgir

    def noisy(*args: Any) -> Any:
        os.write(2, b"said\n")
        return make(*args)

    monkeypatch.setattr(backend, "make_ttgir", staticmethod(noisy))
    assert isinstance(compile_text(COPY, 80), TritonArtifact)
    assert capfd.readouterr() == ("", "said\n")


def test_a_missing_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    message = refused(COPY)
    assert message.startswith("error[X001]: the package `triton` is not installed")
    assert "pip install" in message


@pytest.mark.parametrize("found", ["3.5.1", "3.10.0", "2.1.0", "4.0"])
def test_an_unsupported_triton(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: found)
    with pytest.raises(
        CompileError, match=rf"X001\]: triton {re.escape(found)} is installed, and teeny works with 3.6 to 3.9"
    ):
        version()


@pytest.mark.parametrize("found", ["3.6.0", "3.7.1", "3.8.0", "3.9.0", "3.9.0+git1234"])
def test_supported_versions(found: str) -> None:
    assert wheel.supported(found)


@needs_triton
def test_a_triton_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    wheel.load.cache_clear()
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setitem(sys.modules, "triton.compiler.compiler", None)
    try:
        assert re.match(r"error\[X001\]: triton \S+ cannot be imported: ", refused(COPY))
    finally:
        wheel.load.cache_clear()


@needs_triton
def test_the_version_is_had_without_importing_triton() -> None:
    code = "import sys; from teeny.backends import triton; print(triton.version()); print('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [version(), "False"]
