"""Portable PTX, AMD's code, the text of every stage; and what of a target stands in the metadata."""

from __future__ import annotations

import os
import re
import struct
from importlib import metadata
from typing import Any

import pytest

import teeny.language as tl
from teeny.backends.triton import TritonArtifact, compile_module, compile_text
from teeny.backends.triton.amd import for_amd
from teeny.backends.triton.goal import AMD_ARCHITECTURES, ARCHITECTURES
from teeny.diag.errors import CompileError
from teeny.runtime.cuda import runs_on
from tests.backends.triton.descriptors import DOUBLE
from tests.backends.triton.families import FAMILIES
from tests.backends.triton.kernels import copy, product, total

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")

COPY = copy.specialize(D=tl.f32, BLOCK=256)
PRODUCT = product.specialize(D=tl.f16, BM=64, BN=64, BK=32)
NEEDS_ONE = r"wgmma|tcgen05|setmaxnreg|tensormap\.replace"
"""Instructions of one architecture alone."""


def target_of(ptx: str) -> str:
    (found,) = re.findall(r"^\.target (\S+)", ptx, re.MULTILINE)
    return found


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("kernel", [COPY, PRODUCT], ids=["copy", "product"])
def test_portable_ptx(kernel: Any, arch: int) -> None:
    made = compile_module(kernel.module, arch, portable=True)
    assert target_of(made.ptx) == f"sm_{arch}"
    assert not re.search(NEEDS_ONE, made.ptx)
    assert list(made.files) == ["ttir", "ttgir", "llir", "ptx"]
    facts = made.metadata
    assert facts["arch"] == f"sm_{arch}"
    assert runs_on(facts["arch"], (20, 0), ptx=True)
    assert facts["ptx_version"] == {100: "8.6", 120: "8.7"}.get(arch, "8.0")


def test_exact_code_uses_what_portable_code_may_not() -> None:
    exact, portable = (compile_module(PRODUCT.module, 90, portable=p) for p in (False, True))
    assert "wgmma.mma_async" in exact.ptx
    assert "mma.sync" in portable.ptx
    assert (exact.metadata["arch"], portable.metadata["arch"]) == ("sm_90a", "sm_90")
    assert not runs_on(exact.metadata["arch"], (10, 0), ptx=True)
    assert runs_on(portable.metadata["arch"], (10, 0), ptx=True)


def test_tensor_descriptors_become_pointers_in_portable_code() -> None:
    exact, portable = (compile_text(DOUBLE, 90, portable=p) for p in (False, True))
    assert "tensormap.replace" in exact.ptx
    assert exact.metadata["global_scratch_size"] == 2 * 128
    assert "tensormap" not in portable.ptx
    assert portable.metadata["global_scratch_size"] == 0


def test_portable_clusters() -> None:
    made = compile_module(total.specialize(D=tl.f32, ROWS=64, COLS=64).module, 90, portable=True, num_ctas=2)
    assert target_of(made.ptx) == "sm_90"
    assert made.metadata["num_ctas"] == 2
    with pytest.raises(CompileError) as caught:
        compile_module(PRODUCT.module, 90, portable=True, num_ctas=2)
    (found,) = caught.value.diagnostics
    assert found.code == "X002"
    assert "wgmma" in found.message
    assert "not supported on .target 'sm_90'" in found.message
    assert found.primary is not None
    assert found.primary.location.span.text == "tl.dot(a, b, acc)"
    (help_,) = found.help
    assert help_.startswith("portable code has only instructions that younger architectures keep: set num_ctas=1")
    assert all(".ttir" not in note and "line" not in note for note in found.notes)


def test_portable_ptx_of_a_chosen_version() -> None:
    assert compile_module(COPY.module, 80, portable=True, ptx_version=75).metadata["ptx_version"] == "7.5"


def amd_flags(code: bytes) -> tuple[int, int]:
    """The machine of an ELF, and its processor in the low byte of the flags."""
    return struct.unpack_from("<H", code, 18)[0], code[48]


@pytest.mark.parametrize("arch", AMD_ARCHITECTURES)
@pytest.mark.parametrize("kernel", [COPY, PRODUCT], ids=["copy", "product"])
def test_amd(kernel: Any, arch: str) -> None:
    made = compile_module(kernel.module, arch, num_warps=8)
    assert list(made.files) == ["ttir", "ttgir", "llir", "asm", "hsaco"]
    machine, processor = amd_flags(made.files["hsaco"])
    assert made.files["hsaco"][:4] == b"\x7fELF"
    assert (machine, processor) == (224, {"gfx942": 0x4C, "gfx950": 0x4F}[arch])  # EM_AMDGPU, EF_AMDGPU_MACH
    asm = made.files["asm"].decode()
    assert re.search(rf'^\s*\.amdgcn_target ".*-{arch}"', asm, re.MULTILINE)
    assert ".max_flat_workgroup_size: 512" in asm
    facts = made.metadata
    assert (facts["arch"], facts["threads"], facts["num_stages"], facts["ptx_version"]) == (arch, 8 * 64, 2, "")
    assert facts["name"] == kernel.name
    pointers = {"copy": 2, "product": 3}[kernel.name]
    assert facts["params"] == [*["u64"] * pointers, "u32", "u64", "u64"]
    assert facts["hidden"] == 2
    assert ("v_mfma_f32" in asm) is (kernel is PRODUCT)


def test_amd_refuses_what_it_lacks() -> None:
    with pytest.raises(CompileError, match="num_warps is 32, and must be a power of two of at most 16"):
        compile_module(COPY.module, "gfx942", num_warps=32)


def test_amd_has_products_of_any_size() -> None:
    small = product.specialize(D=tl.f16, BM=16, BN=16, BK=8)
    assert compile_module(small.module, "gfx950").metadata["arch"] == "gfx950"
    with pytest.raises(CompileError, match="inner size"):
        compile_module(small.module, 90)


HERE = os.path.dirname(os.path.abspath(__file__))
STAGES = {"ttir": "tt.load", "ttgir": "#ttg.blocked", "llir": "define"}


@pytest.mark.parametrize("arch", ["sm_80", "gfx942"])
def test_every_stage_is_kept(arch: str) -> None:
    made: TritonArtifact = compile_module(COPY.module, arch)
    for stage, sign in STAGES.items():
        text = made.files[stage].decode()
        assert sign in text
        assert "/tmp" not in text.replace(HERE, "")
    assert "#ttg" not in made.files["ttir"].decode()


@pytest.mark.parametrize("type_", ["bf16", "tensor<8x4xbf16>"])
def test_bf16_becomes_f64_by_way_of_f32(type_: str) -> None:
    wide, single = type_.replace("bf16", "f64"), type_.replace("bf16", "f32")
    text = f"  %y = arith.extf %x#1 : {type_} to {wide} loc(#loc)\n  %z = arith.extf %x : {type_} to {single}\n"
    assert for_amd(text) == (
        f"  %by.f32.y = arith.extf %x#1 : {type_} to {single} loc(#loc)"
        f" %y = arith.extf %by.f32.y : {single} to {wide} loc(#loc)\n  %z = arith.extf %x : {type_} to {single}\n"
    )


def test_functions_of_a_library_have_the_names_of_its_vendor() -> None:
    kernel = FAMILIES["elementary"]
    for dtype, said in (("f32", "f32"), ("f64", "f64"), ("bf16", "f32")):
        text = kernel.specialize(dtype).mlir
        amd = for_amd(text)
        assert "__nv_tanh" in text
        assert "__nv_" not in amd
        assert f'symbol = "__ocml_tanh_{said}"' in amd
        assert f'symbol = "__ocml_pow_{said}"' in amd
