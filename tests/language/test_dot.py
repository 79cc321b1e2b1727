"""`tl.dot`: what the front end accepts, and its text as Triton reads it, prints it and compiles it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.triton import compile_module, version
from teeny.diag.errors import CompileError, KernelError, LaunchError
from teeny.ir.core import walk_function
from teeny.ir.text import parse_module, print_module
from tests.backends.cpu.lower import dots
from tests.triton_text import through_triton

F = TypeVar("F", bound=tl.Float)


def codes(kernel: Callable[..., Any]) -> list[str]:
    """The codes of the faults at the definition."""
    with pytest.raises(KernelError) as caught:
        tn.kernel(kernel)
    return [d.code for d in caught.value.diagnostics]


def test_inner_sizes_differ() -> None:
    def kernel(x: tl.Ptr[tl.f16]) -> None:
        at = tl.arange(0, 64)[:, None] * 16 + tl.arange(0, 16)[None, :]
        tl.dot(tl.load(x + at), tl.load(x + at))

    assert codes(kernel) == ["S010"]


def test_inner_sizes_that_nothing_says_are_equal() -> None:
    def kernel(x: tl.Ptr[tl.f16], y: tl.Ptr[tl.f32], BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int]) -> None:
        a = tl.load(x + (tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :]))
        b = tl.load(x + (tl.arange(0, BN)[:, None] * BK + tl.arange(0, BK)[None, :]))
        tl.store(y + (tl.arange(0, BM)[:, None] * BN + tl.arange(0, BK)[None, :]), tl.dot(a, b))

    assert codes(kernel) == ["S008"]


def test_sizes_that_an_assertion_makes_equal() -> None:
    @tn.kernel
    def kernel(x: tl.Ptr[tl.f16], y: tl.Ptr[tl.f32], BM: tl.Const[int], BK: tl.Const[int]) -> None:
        tl.static_assert(BM == BK)
        a = tl.load(x + (tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :]))
        tl.store(y + (tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :]), tl.dot(a, a))

    assert kernel.specialize(BM=16, BK=16).module


def test_ranks_and_accumulators() -> None:
    def vectors(x: tl.Ptr[tl.f16]) -> None:
        a = tl.load(x + tl.arange(0, 16))
        tl.dot(a, a)

    def accumulator(x: tl.Ptr[tl.f16]) -> None:
        a = tl.load(x + (tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]))
        tl.dot(a, a, tl.zeros((16, 32), tl.f32))

    def batches(x: tl.Ptr[tl.f16]) -> None:
        a = tl.reshape(tl.load(x + tl.arange(0, 1024)), (4, 16, 16))
        tl.dot(a, tl.reshape(tl.load(x + tl.arange(0, 512)), (2, 16, 16)))

    assert codes(vectors) == ["S005"]
    assert codes(accumulator) == ["S010"]
    assert codes(batches) == ["S010"]


def test_precisions() -> None:
    def unknown(x: tl.Ptr[tl.f32]) -> None:
        a = tl.load(x + (tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]))
        tl.dot(a, a, input_precision="fp32")

    def both(x: tl.Ptr[tl.f32]) -> None:
        a = tl.load(x + (tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]))
        tl.dot(a, a, input_precision="ieee", allow_tf32=False)

    assert codes(unknown) == ["E005"]
    assert codes(both) == ["E005"]


def test_imprecise_sums() -> None:
    """Of 8-bit floats all sums may be imprecise, unless something else is said."""

    @tn.kernel
    def kernel(x: tl.Ptr[tl.f8e4m3], y: tl.Ptr[tl.f32], C: tl.Const[int | None]) -> None:
        at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
        a = tl.load(x + at)
        tl.store(y + at, tl.dot(a, a, max_num_imprecise_acc=C))

    for count, shown in ((None, 1 << 30), (16, 16), (0, None)):
        text = kernel.specialize(C=count).mlir
        assert ("maxNumImpreciseAcc" in text) == (shown is not None)
        assert shown is None or f"{{maxNumImpreciseAcc = {shown} : i32}} :" in text
        assert print_module(parse_module(text)) == text
    for count, said in ((64, "at most the inner size, 32, found 64"), (-1, "a number of products, found -1")):
        with pytest.raises(KernelError) as caught:
            kernel.specialize(C=count)
        (found,) = caught.value.diagnostics
        assert found.code == "E005"
        assert said in found.message


def test_dtypes_that_do_not_go_together() -> None:
    def another(x: tl.Ptr[tl.f8e4m3], y: tl.Ptr[tl.f16]) -> None:
        at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
        tl.dot(tl.load(x + at), tl.load(y + at))

    def rounded(x: tl.Ptr[tl.bf16]) -> None:
        a = tl.load(x + (tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]))
        tl.dot(a, a, out_dtype=tl.bf16)

    def signs(x: tl.Ptr[tl.u8], y: tl.Ptr[tl.i8]) -> None:
        at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
        tl.dot(tl.load(x + at), tl.load(y + at))

    for kernel in (another, rounded, signs):
        (code,) = codes(kernel)
        assert code in ("T001", "T002", "T010"), kernel.__name__


@tn.kernel
def precise(x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32], P: tl.Const[str]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(x + at)
    tl.store(y + at, tl.dot(a, a, input_precision=P))


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"])
def test_a_precision_that_is_a_parameter(precision: str) -> None:
    text = precise.specialize(P=precision).mlir
    assert (f"inputPrecision = {precision} :" in text) == (precision != "ieee")
    pytest.importorskip("triton")
    assert through_triton(text) == through_triton(print_module(parse_module(text)))


def test_an_unknown_precision_is_found_at_specialisation() -> None:
    with pytest.raises(KernelError):
        precise.specialize(P="exact")


def test_f64_is_no_member_of_a_variable() -> None:
    """Its products are of another dtype, and say so."""

    def plain(x: tl.Ptr[tl.f64]) -> None:
        a = tl.load(x + (tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]))
        tl.dot(a, a)

    assert codes(plain) == ["T012"]
    assert dots.matmul.supported_dtypes == {"F": ("f16", "bf16", "f32")}
    with pytest.raises(LaunchError, match="L003"):
        dots.matmul.specialize(F="f64", BM=16, BN=16, BK=16)


def test_the_text_is_triton_s() -> None:
    pytest.importorskip("triton")
    text = dots.matmul.specialize(F="f16", BM=16, BN=32, BK=64).mlir
    line = r"tt\.dot %\w+, %\w+, %\w+, inputPrecision = tf32 : "
    line += r"tensor<16x64xf16> \* tensor<64x32xf16> -> tensor<16x32xf32>"
    assert re.search(line, text)
    assert re.search(line, through_triton(text))


KERNELS: dict[str, Callable[[str], Any]] = {
    "matmul": lambda d: dots.matmul.specialize(F=d, BM=64, BN=32, BK=32),
    "attention": lambda d: dots.attention.specialize(F=d, CAUSAL=True, BM=32, BN=32, D=32),
    "batches": lambda d: dots.batches.specialize(F=d, B=2, M=16, N=16, K=16),
}


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("dtype", dots.DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_gpu_code(name: str, dtype: str, arch: int) -> None:
    pytest.importorskip("triton")
    ptx = compile_module(KERNELS[name](dtype).module, arch).ptx
    assert f".target sm_{arch}" in ptx
    if arch >= 80 and name == "matmul":
        assert re.search(r"w?gmma|mma\.sync", ptx), "no tensor cores"


def test_gpu_code_of_integers() -> None:
    pytest.importorskip("triton")
    module = dots.integers.specialize(TURNED=True, M=32, N=32, K=64).module
    for arch in (80, 90):
        assert ".s32.s8.s8.s32" in compile_module(module, arch).ptx
    assert "cvt.rzi.s32.f32" in compile_module(module, 75).ptx, "made of a product of f16"
    many = dots.integers.specialize(TURNED=True, M=16, N=16, K=2048).module
    with pytest.raises(CompileError, match=r"sm_75 adds up 1024 products of i8 in `tl.dot` at most, found 2048"):
        compile_module(many, 75)


@tn.kernel
def precise_of(x: tl.Ptr[F], y: tl.Ptr[tl.f32], P: tl.Const[str], K: tl.Const[int]) -> None:
    rows, inner = tl.arange(0, 16), tl.arange(0, K)
    a = tl.load(x + (rows[:, None] * K + inner[None, :]))
    b = tl.load(x + (inner[:, None] * 16 + rows[None, :]))
    tl.store(y + (rows[:, None] * 16 + rows[None, :]), tl.dot(a, b, input_precision=P))


@tn.kernel
def doubles(x: tl.Ptr[tl.f64], K: tl.Const[int]) -> None:
    rows, inner = tl.arange(0, 16), tl.arange(0, K)
    a = tl.load(x + (rows[:, None] * K + inner[None, :]))
    b = tl.load(x + (inner[:, None] * 16 + rows[None, :]))
    tl.store(x + (rows[:, None] * 16 + rows[None, :]), tl.dot(a, b, out_dtype=tl.f64))


LEAST = {
    ("f16", "ieee", 8): (16, 16), ("f32", "ieee", 8): (8, 16), ("f32", "ieee", 4): (8, 16),
    ("f32", "bf16x3", 8): (16, 16), ("f64", "", 4): (4, 16), ("f64", "", 2): (4, 16),
}  # fmt: skip
"""By dtype, precision and inner size the least inner sizes of Triton 3.9 and before."""


@pytest.mark.parametrize(("dtype", "precision", "inner"), LEAST)
def test_the_least_inner_size_on_a_gpu(dtype: str, precision: str, inner: int) -> None:
    """Triton 3.9 takes smaller ones than older versions of it; f32 in pieces is a product of bf16."""
    pytest.importorskip("triton")
    new, old = LEAST[dtype, precision, inner]
    least = new if version().startswith("3.9.") else old
    made = doubles.specialize(K=inner) if dtype == "f64" else precise_of.specialize(F=dtype, P=precision, K=inner)
    module = made.module
    if inner >= least:
        assert compile_module(module, 90).ptx
        return
    (op,) = [op for op in walk_function(module.kernel) if op.name == "tt.dot"]
    with pytest.raises(CompileError) as caught:
        compile_module(module, 80)
    (found,) = caught.value.diagnostics
    assert found.message == f"on a GPU the inner size of `tl.dot` of {dtype} is at least {least}, found {inner}"
    assert op.loc is not None
    assert found.primary is not None
    assert found.primary.location.span == op.loc.span
