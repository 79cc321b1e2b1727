"""Arguments of Triton's own launches on the CPU: numbers, tuples, functions, descriptors, tensors of any strides."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from teeny.diag.errors import LaunchError, TeenyError


@pytest.fixture(scope="module", autouse=True)
def cpu() -> None:
    from teeny.triton import activate

    activate()


@triton.jit
def put(out_ptr, value):
    tl.store(out_ptr, value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int32", 0),
        ("int32", 1),
        ("int32", -1),
        ("int32", 16),
        ("int32", 2**31 - 1),
        ("int32", -(2**31)),
        ("int64", 2**31),
        ("int64", -(2**40)),
        ("int64", 2**63 - 1),
        ("uint64", 2**63),
        ("uint64", 2**64 - 1),
        ("bool", True),
        ("bool", False),
        ("float32", 1.5),
        ("float32", -0.0),
        ("float32", float("inf")),
        ("float64", 0.25),
        ("float16", 2.0),
        ("bfloat16", 3.0),
    ],
)
def test_numbers(dtype: str, value: Any) -> None:
    out = torch.zeros(1, dtype=getattr(torch, dtype))
    put[(1,)](out, value)
    assert out.tolist() == [value]


def test_a_number_out_of_range() -> None:
    with pytest.raises((OverflowError, ValueError, TypeError)):
        put[(1,)](torch.zeros(1, dtype=torch.int64), 2**64)


@triton.jit(do_not_specialize=["a", "b"], do_not_specialize_on_alignment=["x_ptr"])
def plain(x_ptr, out_ptr, a, b):
    tl.store(out_ptr, tl.load(x_ptr) * a + b)


def test_do_not_specialize() -> None:
    x, out = torch.tensor([3, 4], dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
    for a, b in ((1, 16), (2, 1), (0, 7)):
        plain[(1,)](x[1:], out, a, b)
        assert out.item() == 4 * a + b
    caches = [cache for cache in plain.device_caches.values() for cache in (cache[0],) if cache]
    assert len(caches[0]) == 1


@triton.jit
def annotated(out_ptr, a: tl.int64, b: tl.float64, c: tl.uint8):
    tl.store(out_ptr, a + c)
    tl.store(out_ptr + 1, (b * 2).to(tl.int64))


def test_annotated_parameters() -> None:
    out = torch.zeros(2, dtype=torch.int64)
    annotated[(1,)](out, 5, 2.5, 200)
    assert out.tolist() == [205, 5]


@triton.jit
def optional(x_ptr, bias_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + offs)
    if scale is not None:
        x *= scale
    tl.store(out_ptr + offs, x)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", [None, 2.0])
def test_none(bias: bool, scale: float | None) -> None:
    x, b, out = torch.arange(32.0), torch.full((32,), 0.25), torch.zeros(32)
    optional[(1,)](x, b if bias else None, out, scale, BLOCK=32)
    assert torch.equal(out, (x + (b if bias else 0)) * (scale or 1))


class Shape(NamedTuple):
    rows: int
    cols: int
    scale: float


@triton.jit
def of_tuples(pointers, shape, out_ptr, NAMES: tl.constexpr):
    total = tl.load(pointers[0]) + tl.load(pointers[1]) + shape.rows * 100 + shape.cols * 1000
    tl.store(out_ptr, total * shape.scale)
    tl.store(out_ptr + 1, NAMES[0] + NAMES[1][1])


@pytest.mark.parametrize("kind", [tuple, Shape])
def test_tuples(kind: Any) -> None:
    a, b, out = torch.tensor([3.0]), torch.tensor([4]), torch.zeros(2)
    of_tuples[(1,)]((a, b), Shape(2, 1, 0.5), out, NAMES=(7, (8, 9)))
    assert out.tolist() == [(7 + 200 + 1000) * 0.5, 16]


@triton.jit
def nested(group, out_ptr):
    tl.store(out_ptr, group[0][0] + group[0][1] + tl.load(group[1]))


def test_nested_tuples_with_none() -> None:
    out = torch.zeros(1, dtype=torch.int64)
    nested[(1,)](((16, 1), torch.tensor([5], dtype=torch.int32), None), out)
    assert out.item() == 22


@triton.jit
def double(x):
    return x * 2


@triton.jit
def plus(x, y: tl.constexpr):
    return x + y


@triton.jit
def apply(x_ptr, out_ptr, FN: tl.constexpr, DTYPE: tl.constexpr, EXTRA: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if EXTRA == "more":
        x = plus(x, 5)
    tl.store(out_ptr + offs, FN(x).to(DTYPE))


@pytest.mark.parametrize(("dtype", "torch_dtype"), [(tl.int32, "int32"), (tl.float16, "float16"), (tl.int8, "int8")])
@pytest.mark.parametrize("extra", ["more", None])
def test_functions_dtypes_and_texts_as_constants(dtype: Any, torch_dtype: str, extra: Any) -> None:
    x, out = torch.arange(16.0), torch.zeros(16, dtype=getattr(torch, torch_dtype))
    apply[(1,)](x, out, FN=double, DTYPE=dtype, EXTRA=extra, BLOCK=16)
    assert torch.equal(out, ((x + (5 if extra else 0)) * 2).to(out.dtype))


@triton.jit
def through_descriptors(x_desc, out_desc, BM: tl.constexpr, BN: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    out_desc.store([row, col], x_desc.load([row, col]) * 2)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_descriptors_of_the_host(dtype: str) -> None:
    x = (torch.arange(20 * 48) % 50).reshape(20, 48).to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    x_desc = TensorDescriptor.from_tensor(x, [8, 32])
    out_desc = TensorDescriptor(out, [20, 40], [48, 1], [8, 32])
    through_descriptors[(3, 2)](x_desc, out_desc, BM=8, BN=32)
    assert torch.equal(out[:, :40], (x * 2)[:, :40])
    assert not out[:, 40:].any()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_descriptors_padded_with_nan(dtype: str) -> None:
    x = torch.ones(10, 16).to(getattr(torch, dtype))
    for padding in ("zero", "nan"):
        out = torch.zeros(16, 32).to(x.dtype)
        through_descriptors[(2, 1)](
            TensorDescriptor.from_tensor(x, [8, 32], padding), TensorDescriptor.from_tensor(out, [8, 32]), BM=8, BN=32
        )
        assert torch.equal(out[:10, :16], x * 2)
        for rest in (out[10:], out[:, 16:]):
            assert bool(rest.isnan().all() if padding == "nan" else (rest == 0).all())


def test_a_descriptor_of_a_gpu_tensor_is_refused() -> None:
    class Elsewhere:
        dtype = torch.float32
        device = torch.device("cuda", 0)
        is_cpu = False

        def data_ptr(self) -> int:
            return 0x1000

    out = torch.zeros(8, 32)
    made = TensorDescriptor(Elsewhere(), [8, 32], [32, 1], [8, 32])
    with pytest.raises(LaunchError, match="L004") as caught:
        through_descriptors[(1, 1)](made, TensorDescriptor.from_tensor(out, [8, 32]), BM=8, BN=32)
    assert "`x_desc`" in str(caught.value)


@triton.jit
def strided(x_ptr, out_ptr, m, n, sm, sn, om, on, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    mask = (rows < m) & (cols < n)
    tl.store(out_ptr + rows * om + cols * on, tl.load(x_ptr + rows * sm + cols * sn, mask=mask), mask=mask)


@pytest.mark.parametrize(
    "view", [lambda t: t.T, lambda t: t[::2, 1::3], lambda t: t[3:, 2:], lambda t: t[:1].expand(6, -1)]
)
def test_tensors_of_any_strides(view: Any) -> None:
    x = view(torch.arange(12 * 20, dtype=torch.int16).reshape(12, 20))
    out = torch.zeros(x.shape[::-1], dtype=torch.int16).T
    strided[(1,)](x, out, *x.shape, *x.stride(), *out.stride(), BM=32, BN=32)
    assert torch.equal(out, x)


@triton.jit
def shift_in_place(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(y_ptr + offs, x + 1, mask=mask)


def test_the_same_memory_twice() -> None:
    x = torch.arange(101, dtype=torch.int32)
    shift_in_place[(1,)](x, x, 101, BLOCK=128)
    assert torch.equal(x, torch.arange(1, 102, dtype=torch.int32))
    shift_in_place[(1,)](x, x[1:], 100, BLOCK=128)
    assert x.tolist() == [1, *range(2, 102)]


@triton.jit
def told(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x is", x)


def test_device_print(capfd: pytest.CaptureFixture[str]) -> None:
    told[(2,)](torch.tensor([1.5, 2.5]), BLOCK=2)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("x is" in line for line in lines)
    assert "1.5" in lines[0]
    assert lines[-1].startswith("pid (1, 0, 0)")


@triton.jit
def asserted(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x > 0, "all are positive")


def test_device_assert_counts_with_debug_alone() -> None:
    x = torch.tensor([1.0, -2.0])
    asserted[(1,)](x, BLOCK=2)
    with pytest.raises(TeenyError, match="all are positive") as caught:
        asserted[(1,)](x, BLOCK=2, debug=True)
    assert caught.value.diagnostics[0].code == "L017"
    asserted[(1,)](x.abs(), BLOCK=2, debug=True)


def test_overflow_is_found_with_debug() -> None:
    @triton.jit(debug=True)
    def grow(x_ptr, by):
        tl.store(x_ptr, tl.load(x_ptr) + by)

    x = torch.tensor([2**31 - 5], dtype=torch.int32)
    with pytest.raises(TeenyError, match="overflow"):
        grow[(1,)](x, 7)
    grow[(1,)](x, 4)
    assert x.item() == 2**31 - 1


@pytest.mark.parametrize(
    "dtype", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "uint8", "int8", "uint16", "bool", "float64"]
)
def test_dtypes_of_torch(dtype: str) -> None:
    x = torch.tensor([0, 1, 2, 3] * 8).to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    copy[(1,)](x, out, BLOCK=32)
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


@triton.jit
def copy(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


def test_parameters_of_modules() -> None:
    x, out = torch.nn.Parameter(torch.arange(32.0)), torch.zeros(32)
    copy[(1,)](x, out, BLOCK=32)
    assert torch.equal(out, x.detach())
