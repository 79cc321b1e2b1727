"""`tl.dot_scaled`: what the front end accepts, its text as Triton reads and prints it, special numbers, formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import teeny as tn
import teeny.language as tl
from teeny.backends.reference.dot import elements, powers
from teeny.diag.errors import KernelError
from teeny.ir.text import parse_module, print_module
from tests.backends.cpu.lower.harness import ALL, compile_in, expected, native
from tests.language.test_dot import codes
from tests.triton_text import through_triton


@tn.kernel
def square(
    x: tl.Ptr[tl.u8], s: tl.Ptr[tl.u8], y: tl.Ptr[tl.f32], A: tl.Const[str], B: tl.Const[str], FAST: tl.Const[bool]
) -> None:
    rows, blocks = tl.arange(0, 64), tl.arange(0, 2)
    EA = 2 if A == "e2m1" else 1
    EB = 2 if B == "e2m1" else 1
    a = tl.load(x + rows[:, None] * 64 + tl.arange(0, 64 // EA)[None, :])
    b = tl.load(x + rows[None, :] * 64 + tl.arange(0, 64 // EB)[:, None])
    scales = tl.load(s + rows[:, None] * 2 + blocks[None, :])
    acc = tl.dot_scaled(a, scales, A, b, scales, B, fast_math=FAST)
    tl.store(y + rows[:, None] * 64 + rows[None, :], acc)


@pytest.mark.parametrize(("first", "second"), [("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e5m2", "e2m1"), ("e2m1", "e2m1")])
def test_every_bit_pattern_in_all_modes(first: str, second: str) -> None:
    """Elements of any bits, NaN and infinities too, and small scales: the CPU against the reference and NumPy."""
    random = np.random.default_rng(7)
    x = random.integers(0, 256, (64, 64)).astype(np.uint8)
    x[:40] &= 0x77  # rows and columns without NaN and infinities
    s = random.integers(120, 135, (64, 2)).astype(np.uint8)
    args = [x, s, np.zeros((64, 64), np.float32)]
    module = square.specialize(A=first, B=second, FAST=False).module
    want = expected(module, args, (1, 1, 1))[2]
    factors = np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, axis=1)
    a, b = (decoded(x, format) * factors for format in (first, second))
    with np.errstate(all="ignore"):
        right, bound = a @ b.T, 65 * 2.0**-24 * (np.abs(a) @ np.abs(b.T))
    finite = np.isfinite(right) & np.isfinite(bound)
    assert finite[:40, :40].all()
    for mode in (None, *ALL):
        found = want if mode is None else native(*compile_in(module, mode), args, (1, 1, 1))[2]
        assert np.all(np.abs(found - right)[finite] <= bound[finite]), mode
        assert not np.isfinite(found[~finite]).any(), mode
        if mode is not None and mode.width in (8, 4, 1):  # steps of one product: the reference's bits
            np.testing.assert_array_equal(found, want)


def decoded(bits: Any, format: str) -> Any:
    """The elements of rows of bytes, the first 64, in f64."""
    if format == "e2m1":
        halves = np.stack((bits & 15, bits >> 4), axis=-1).reshape(len(bits), -1)[:, :64]
        return halves.astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    dtype = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[format]
    return bits.view(dtype).astype(np.float64)


@pytest.mark.parametrize("executor", ["reference", "cpu"])
def test_a_scale_of_255_is_nan(executor: str) -> None:
    x, s = np.full((64, 64), 0x38, np.uint8), np.full((64, 2), 127, np.uint8)
    s[3, 1] = 255
    args = [x, s, np.zeros((64, 64), np.float32)]
    if executor == "cpu":
        square[(1,)](*args, "e4m3", "e4m3", False)
        found = args[2]
    else:
        found = expected(square.specialize(A="e4m3", B="e4m3", FAST=False).module, args, (1, 1, 1))[2]
    lost = np.zeros((64, 64), bool)
    lost[3, :] = lost[:, 3] = True
    np.testing.assert_array_equal(np.isnan(found), lost)
    assert (found[~lost] == 64).all()


@given(st.integers(0, 255))
def test_scales(bits: int) -> None:
    (found,) = powers(np.array([bits], np.uint8)).tolist()
    assert np.isnan(found) if bits == 255 else found == 2.0 ** (bits - 127)


@given(st.binary(min_size=4, max_size=4))
def test_two_elements_in_a_byte(data: bytes) -> None:
    """Along either axis, the lower half first (ml_dtypes knows the format by itself)."""
    packed = np.frombuffer(data, np.uint8).reshape(2, 2)
    for along in (-1, -2):
        found = elements(packed, "e2m1", along)
        for at in np.ndindex(2, 2):
            for half in range(2):
                place = (at[0] + (at[0] + half) * (along == -2), at[1] + (at[1] + half) * (along == -1))
                bits = np.uint8(packed[at] >> 4 * half & 15)
                number = np.asarray(bits).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
                assert found[place] == number
                assert np.signbit(found[place]) == np.signbit(number)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("formats", [("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e2m1", "e2m1")])
def test_the_text_is_triton_s(formats: tuple[str, str], fast: bool) -> None:
    pytest.importorskip("triton")
    text = square.specialize(A=formats[0], B=formats[1], FAST=fast).mlir
    types = {"e4m3": "64x64xf8E4M3FN", "e5m2": "64x64xf8E5M2", "e2m1": "64x32xi8"}
    right = types[formats[1]].replace("64x32", "32x64")
    line = (
        rf"tt\.dot_scaled %\S+ scale %\S+, %\S+ scale %\S+, %\S+ lhs = {formats[0]} rhs = {formats[1]} "
        rf"{{fastMath = {str(fast).lower()}}} : tensor<{types[formats[0]]}>, tensor<64x2xi8> \* "
        rf"tensor<{right}>, tensor<64x2xi8> -> tensor<64x64xf32>"
    )
    assert re.search(line, text)
    assert re.search(line, through_triton(text))
    assert through_triton(print_module(parse_module(text))) == through_triton(text)


def test_scales_may_be_missing_in_text() -> None:
    text = """module {
  tt.func public @k(%a: tensor<16x32xbf16>, %b: tensor<32x8xi8>, %t: tensor<16x1xi8>, %c: tensor<16x16xf32>) {
    %d = tt.dot_scaled %a, %b scale %t, %c lhs = bf16 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : TYPES
    tt.return
  }
}
""".replace("TYPES", "tensor<16x32xbf16> * tensor<32x8xi8>, tensor<16x1xi8> -> tensor<16x16xf32>")
    assert print_module(parse_module(text)) == text


def test_operands_and_formats() -> None:
    def unknown(x: tl.Ptr[tl.u8]) -> None:
        a = tl.load(x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
        tl.dot_scaled(a, None, "e3m4", a, None, "e4m3")

    def another(x: tl.Ptr[tl.f8e5m2]) -> None:
        a = tl.load(x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
        tl.dot_scaled(a, None, "e5m2", a, None, "e4m3")

    def signed(x: tl.Ptr[tl.i8]) -> None:
        a = tl.load(x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
        tl.dot_scaled(a, None, "e4m3", a, None, "e4m3")

    def packed(x: tl.Ptr[tl.u8]) -> None:
        a = tl.load(x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
        tl.dot_scaled(a, None, "e4m3", a, None, "e4m3", rhs_k_pack=False)

    def whole(x: tl.Ptr[tl.bf16], s: tl.Ptr[tl.u8]) -> None:
        a = tl.load(x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
        tl.dot_scaled(a, tl.load(s + tl.arange(0, 32)[:, None]), "bf16", a, None, "bf16")

    for kernel in (unknown, another, signed, packed, whole):
        assert codes(kernel) == ["T021"], kernel.__name__
    with pytest.raises(KernelError) as caught:
        tn.kernel(signed)
    (found,) = caught.value.diagnostics
    assert found.message == "`lhs` in the format 'e4m3' is a tensor of u8 or f8e4m3, found i8"
    assert found.help == ("read its bits without a sign: lhs.to(tl.u8, bitcast=True)",)


def _shaped(x: tuple[int, int], s: tuple[int, int] | None, y: tuple[int, int], format: str) -> Callable[..., Any]:
    """A kernel on operands of given shapes."""

    def kernel(p: tl.Ptr[tl.u8], X: tl.Const[int], XK: tl.Const[int], S: tl.Const[int], SK: tl.Const[int],
               Y: tl.Const[int], YK: tl.Const[int], FORMAT: tl.Const[str]) -> None:  # fmt: skip
        a = tl.load(p + tl.arange(0, X)[:, None] * XK + tl.arange(0, XK)[None, :])
        b = tl.load(p + tl.arange(0, YK)[:, None] * Y + tl.arange(0, Y)[None, :])
        if S > 0:
            scale = tl.load(p + tl.arange(0, S)[:, None] * SK + tl.arange(0, SK)[None, :])
            c = tl.dot_scaled(a, scale, FORMAT, b, None, "e4m3")
        else:
            c = tl.dot_scaled(a, None, FORMAT, b, None, "e4m3")
        tl.sum(c)

    made = tn.kernel(kernel)
    rows, blocks = s if s is not None else (0, 1)
    sizes = {"X": x[0], "XK": x[1], "S": rows, "SK": blocks, "Y": y[1], "YK": y[0]}
    return lambda: made.specialize(**sizes, FORMAT=format)


SHAPES = {
    "sizes along k": ((16, 64), None, (32, 16), "e4m3", "equal sizes along k"),
    "packed sizes": ((16, 32), None, (32, 16), "e2m1", "equal sizes along k"),
    "part of a block": ((16, 16), None, (16, 16), "e4m3", "a multiple of 32"),
    "turned scales": ((16, 64), (2, 16), (64, 16), "e4m3", "has the shape (16, 2)"),
    "scales of packed elements": ((16, 32), (16, 1), (64, 16), "e2m1", "has the shape (16, 2)"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes(case: str) -> None:
    x, s, y, format, said = SHAPES[case]
    with pytest.raises(KernelError) as caught:
        _shaped(x, s, y, format)()
    (found,) = caught.value.diagnostics
    assert found.code == "S010"
    assert said in found.message
