"""Tensor descriptors that a launch passes: teeny's and Triton's, fast path and slow, what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.described import aligned, tile_of

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def product(
    a: tl.TensorDescriptor[D],
    b: tl.TensorDescriptor[D],
    c: tl.TensorDescriptor[tl.f32],
    k: tl.Scalar[tl.i32],
    bias: tl.TensorDescriptor[tl.f32] | None = None,
) -> None:
    BM, BK = a.block_shape
    BN = b.block_shape[1]
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.f32)
    for start in tl.range(0, k, BK):
        total = tl.dot(a.load([i, start]), b.load([start, j]), total)
    if bias is not None:
        total += bias.load([j])[None, :]
    c.store([i, j], total)


@dataclass
class Foreign:
    """A descriptor as `triton.tools.tensor_descriptor` has it."""

    base: Any
    shape: Any
    strides: Any
    block_shape: Any
    padding: str = "zero"


def arrays(m: int, n: int, k: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(m)
    made = [aligned(shape, np.float32) for shape in ((m, k), (k, n), (m, n), (n,))]
    for one in made:
        one[...] = rng.integers(-4, 5, one.shape)
    return tuple(made)


@pytest.mark.parametrize("foreign", [False, True])
def test_products(foreign: bool) -> None:
    make: Any = Foreign if foreign else tn.TensorDescriptor
    for m, n, k in ((37, 44, 72), (16, 20, 8), (37, 44, 72), (0, 4, 4)):
        a, b, c, z = arrays(m, n, k)
        da, db = make(a, a.shape, (k, 1), [16, 16]), make(b, [k, n], [n, 1], (16, 32))
        dc, dz = make(c, (m, n), (n, 1), [16, 32]), make(z, [n], [1], [32])
        for _ in range(2):
            product[(3, 3)](da, db, dc, k)
            np.testing.assert_array_equal(c, a @ b)
            product[(3, 3)](da, db, dc, k, bias=dz)
            np.testing.assert_array_equal(c, a @ b + z)


def test_blocks_belong_to_the_specialisation() -> None:
    a, b, c, _ = arrays(40, 40, 40)
    for size in (16, 32, 16):
        one = tn.TensorDescriptor.from_tensor
        product[(3, 3)](one(a, [size] * 2), one(b, [size] * 2), one(c, [size] * 2), 40)
        np.testing.assert_array_equal(c, a @ b)
    made = product.specialize(D=tl.f16, a=(64, 32), b=(32, 64), c=(64, 64), bias=None)
    assert made.id == "product__f16__((64,32),zero)__((32,64),zero)__((64,64),zero)__none"
    assert [x.name for x in made.interface.arguments][:5] == ["a", "a.shape[0]", "a.shape[1]", "a.strides[0]", "b"]


@tn.kernel
def shifted(x: tl.TensorDescriptor[D], y: tl.Ptr[D], i: tl.Scalar[tl.i32], j: tl.Scalar[tl.i32]) -> None:
    rows, columns = tl.arange(0, x.block_shape[0]), tl.arange(0, x.block_shape[1])
    tl.store(y + rows[:, None] * x.block_shape[1] + columns[None, :], x.load((i, j)))
    tl.store(y, x.shape[0].to(y.dtype))
    tl.store(y + 1, x.strides[0].to(y.dtype))


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_padding_and_sizes(padding: str) -> None:
    x, y = aligned((10, 12), np.float32), np.zeros((8, 16), np.float32)
    x[...] = np.arange(120).reshape(10, 12)
    view = x[2:, 4:]
    shifted[(1,)](tn.TensorDescriptor.from_tensor(view, (8, 16), padding), y, -1, 3)
    wanted = tile_of(view, (-1, 3), (8, 16), 0 if padding == "zero" else np.nan)
    wanted[0, :2] = 8, 12
    np.testing.assert_array_equal(y, wanted)


def test_a_trace_and_the_explicit_path() -> None:
    a, b, c, _ = arrays(20, 24, 28)
    one = tn.TensorDescriptor.from_tensor
    da, db, dc = one(a, [16, 16]), one(b, [16, 16]), one(c, [16, 16])
    np.testing.assert_array_equal(product.trace((2, 2), da, db, dc, 28)["total"].value, (a @ b)[:16, :16])
    device = tn.device("cpu")
    program = tn.compile(product.specialize(D=tl.f32, a=(16, 16), b=(16, 16), c=(16, 16), bias=None), device.target)
    device.launch(program, (2, 2), a=da, b=db, c=dc, k=28)
    np.testing.assert_array_equal(c, a @ b)


def refused(call: Any) -> tuple[str, str, str]:
    with pytest.raises(tn.LaunchError) as caught:
        call()
    (found,) = caught.value.diagnostics
    facts = dict(found.facts)
    return found.code, found.message, str(facts.get("found", ""))


def test_what_is_no_descriptor() -> None:
    a, b, c, _ = arrays(16, 16, 16)
    one = tn.TensorDescriptor.from_tensor
    good = [one(x, [16, 16]) for x in (a, b, c)]
    code, message, found = refused(lambda: product[(1, 1)](a, *good[1:], 16))
    assert (code, message) == ("L002", "`a` of `product` takes a tensor descriptor")
    assert refused(lambda: product[(1, 1)](None, *good[1:], 16))[0] == "L002"
    product[(1, 1)](*good, 16)
    code, message, found = refused(lambda: product[(1, 1)](a, *good[1:], 16))  # after a launch that was right
    assert (code, message) == ("L002", "`a` of `product` takes a tensor descriptor")
    large = tn.TensorDescriptor(a, (17, 16), (16, 1), (16, 16))
    assert refused(lambda: product[(1, 1)](large, *good[1:], 16))[0] == "L007"
    half = one(aligned((16, 16), np.float16), (16, 16))
    assert refused(lambda: product[(1, 1)](half, *good[1:], 16))[0] == "L011"
    readonly = c.copy()
    readonly.flags.writeable = False
    read = Foreign(readonly, (16, 16), (16, 1), (16, 16))
    if readonly.ctypes.data % 16 == 0:
        assert refused(lambda: product[(1, 1)](good[0], good[1], read, 16))[0] == "L005"
    _ = found


@pytest.mark.parametrize(
    ("shape", "strides", "block", "padding", "found"),
    [
        ((16, 16), (1, 16), (16, 16), "zero", "strides (1, 16)"),
        ((16, 14), (14, 1), (16, 16), "zero", "strides (14, 1) of f32"),
        ((16, 16), (16, 1), (16, 12), "zero", "block_shape (16, 12)"),
        ((16, 16), (16, 1), (16, 2), "zero", "block_shape (16, 2) of f32"),
        ((16, 16), (16, 1), (16,), "zero", "shape (16, 16), strides (16, 1), block_shape (16,)"),
        ((-1, 16), (16, 1), (16, 16), "zero", "shape (-1, 16)"),
        ((16, 16), (16, 1), (16, 16), "one", "padding 'one' of f32"),
    ],
)
def test_what_no_gpu_takes(shape: Any, strides: Any, block: Any, padding: str, found: str) -> None:
    x = aligned((16, 16), np.float32)
    code, _, said = refused(lambda: tn.TensorDescriptor(x, shape, strides, block, padding))
    assert (code, said) == ("L002", found)


def test_addresses_and_padding_of_integers() -> None:
    x = aligned((64,), np.int32)
    assert refused(lambda: tn.TensorDescriptor.from_tensor(x[1:], (16,)))[0] == "L002"
    assert refused(lambda: tn.TensorDescriptor.from_tensor(x, (16,), "nan"))[2] == "padding 'nan' of i32"


def test_layouts_are_chosen_with_dtypes() -> None:
    code, message, _ = refused(lambda: product.specialize(D=tl.f32, a=(16, 16), c=(16, 16)))
    assert (code, message) == ("L001", "`product` lacks `b`")
    code, message, _ = refused(lambda: product.specialize(D=tl.f32, a=3, b=(16, 16), c=(16, 16)))
    assert (code, message) == ("L009", "`a` of `product` is a tensor descriptor, of which this is no layout")
