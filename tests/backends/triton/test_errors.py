"""What Triton's compiler and ptxas refuse is shown at the line of the kernel, with what helps."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest

import teeny.language as tl
from teeny.backends.triton import compile_module, version
from teeny.backends.triton.advice import advice
from teeny.backends.triton.goal import goal
from teeny.backends.triton.limits import memory_limits
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import CompileError
from tests.backends.triton.kernels import product, total

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")

DOT = "tl.dot(a, b, acc)"


def refused(kernel: Any, arch: int | str, **options: Any) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        compile_module(kernel.module, arch, **options)
    (found,) = caught.value.diagnostics
    assert found.code == "X002"
    assert found.kernel == kernel.name
    return found


def shown(found: Diagnostic) -> str:
    """The code under the primary label, which is in the file of the kernels."""
    assert found.primary is not None
    span = found.primary.location.span
    assert span.source.name.endswith("kernels.py")
    return span.text


def test_too_few_registers_for_an_instruction() -> None:
    found = refused(product.specialize(D=tl.f16, BM=128, BN=128, BK=64), 90, maxnreg=24)
    assert "Insufficient registers (24)" in found.message
    assert shown(found) == DOT
    assert found.help == ("raise maxnreg, or leave it out: this instruction needs that many registers in each thread",)
    assert found.notes == ()


@pytest.mark.parametrize(("arch", "has"), [(75, 65536), ("sm_89", 101376), ("gfx942", 65536)])
def test_too_much_shared_memory(arch: int | str, has: int) -> None:
    kernel = product.specialize(D=tl.f32, BM=128, BN=128, BK=128)
    found = refused(kernel, arch, num_warps=8)
    assert found.message.endswith(f"bytes of shared memory, and a block on {goal(arch).name} has {has}")
    assert shown(found) == DOT
    assert found.help == ("choose smaller blocks, or fewer num_stages: each keeps a loop's tiles once",)


def test_too_much_tensor_memory() -> None:
    kernel = product.specialize(D=tl.f16, BM=64, BN=64, BK=32)
    facts = compile_module(kernel.module, 90).metadata
    assert memory_limits(kernel.module, goal(100), facts) == []
    (found,) = memory_limits(kernel.module, goal(100), {**facts, "tensor_memory": 640})
    assert found.message == "the kernel needs 640 columns of tensor memory, and a block on sm_100 has 512"
    assert shown(found) == DOT


def test_a_reduction_takes_the_blame_where_there_are_no_products() -> None:
    kernel = total.specialize(D=tl.f32, ROWS=64, COLS=64)
    facts = compile_module(kernel.module, 80).metadata
    (found,) = memory_limits(kernel.module, goal(80), {**facts, "shared": 1 << 20})
    assert shown(found).startswith("tl.sum(")


@pytest.mark.parametrize(("dtype", "inner"), [(tl.f16, 8), (tl.f32, 4)])
def test_products_too_small(dtype: Any, inner: int) -> None:
    found = refused(product.specialize(D=dtype, BM=16, BN=16, BK=inner), 80)
    least = 8 if dtype is tl.f32 and version().startswith("3.9.") else 16
    assert found.message.endswith(f"is at least {least}, found {inner}")
    assert shown(found) == DOT


def test_clusters_that_the_oldest_triton_cannot_make() -> None:
    if not version().startswith("3.6."):
        pytest.skip(f"triton {version()} can make them")
    found = refused(total.specialize(D=tl.f32, ROWS=1, COLS=1024), 90, num_ctas=2)
    assert shown(found)
    assert found.help == ("set num_ctas=1: Triton's passes for clusters take fewer kernels",)


def test_a_triton_without_the_compiler_of_amd(monkeypatch: pytest.MonkeyPatch) -> None:
    backends: Any = pytest.importorskip("triton.backends").backends
    monkeypatch.delitem(backends, "amd")
    found = refused(total.specialize(D=tl.f32, ROWS=64, COLS=64), "gfx942")
    assert "compatible backends" in found.message
    assert found.help == (
        "this build of Triton lacks the compiler for this target; Triton's own wheels for Linux have it",
    )


def test_a_stage_that_fails_without_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    backend: Any = pytest.importorskip("triton.backends.nvidia.compiler").CUDABackend

    def fail(*_: Any) -> Any:
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(backend, "make_llir", fail)
    found = refused(total.specialize(D=tl.f32, ROWS=64, COLS=64), 90)
    assert found.message.endswith("it cannot make the form `llir` of the kernel, and does not say why")


SAID = {
    "Feature 'x' requires PTX ISA .version 8.3 or later": "leave ptx_version out, or choose a newer one",
    "Unsupported .version 9.9; current version is '9.4'": "leave ptx_version out, or choose a newer one",
    "Feature 'bf16' requires .target sm_80 or higher": "the operation needs a younger architecture than this target",
    "Maximum allowed number of elements is 1048576, but ...": "choose smaller blocks",
}


@pytest.mark.parametrize("said", SAID)
def test_advice(said: str) -> None:
    assert advice(said, goal(75), 1) == (SAID[said],)
    assert advice("something else", goal(75), 1) == ()
