"""Memory: kernels in place, overlapping and strided arrays, odd places, nothing to do, every dtype of scalar."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch
from tests.language.rounding import DTYPES
from tests.language.same import different
from tests.language.sheet import canary
from tests.language.values import ALL, inputs

D = TypeVar("D", bound=tl.Dtype)
N = TypeVar("N", bound=tl.Num)
both = pytest.mark.parametrize("executor", EXECUTORS)


def equal(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    wrong = different(np.ascontiguousarray(found), np.ascontiguousarray(wanted))
    assert not wrong.any(), f"at {np.flatnonzero(wrong)[:8]}: {found[wrong][:8]} for {wanted[wrong][:8]}"


@tn.kernel
def double(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, at < n) * 2 + 1, at < n)


@tn.kernel
def shift(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, at < n), at < n)


@tn.kernel
def transpose(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], ROWS: tl.Const[int], COLUMNS: tl.Const[int]) -> None:
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x_ptr + r[:, None] * COLUMNS + c[None, :])
    tl.store(y_ptr + c[:, None] * ROWS + r[None, :], tl.trans(tile))


@tn.kernel
def strided(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], x_row: tl.Scalar[tl.i64],
    x_column: tl.Scalar[tl.i32], y_row: tl.Scalar[tl.i32], y_column: tl.Scalar[tl.i64], BM: tl.Const[int],
    BN: tl.Const[int],
) -> None:  # fmt: skip
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (r < m)[:, None] & (c < n)[None, :]
    tile = tl.load(x_ptr + r[:, None] * x_row + c[None, :] * x_column, inside)
    tl.store(y_ptr + (r[:, None] * y_row + c[None, :] * y_column), tile, mask=inside)


@tn.kernel
def several(
    x_ptr: tl.Ptr[tl.f32], half_ptr: tl.Ptr[tl.f16], whole_ptr: tl.Ptr[tl.i64], flag_ptr: tl.Ptr[tl.bool_],
    top_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, at < n, other=-float("inf"))
    tl.store(half_ptr + row * n + at, x.to(tl.f16), at < n)
    tl.store(whole_ptr + row * n + at, x.to(tl.i64), at < n)
    tl.store(flag_ptr + row * n + at, x > 0, at < n)
    tl.store(top_ptr + row, tl.max(x, axis=0))


@both
@pytest.mark.parametrize("dtype", ["f32", "u8", "bf16", "i64"])
@pytest.mark.parametrize("n", [1, 7, 64, 100, 128])
def test_in_place(executor: str, dtype: str, n: int) -> None:
    x = canary(dtype, 160)
    x[:n] = np.arange(n) % 100
    wanted = x.copy()
    wanted[:n] = (np.arange(n) % 100 * 2 + 1).astype(x.dtype)
    launch(double, executor, [x, x, n], (2,), {"BLOCK": 64}, {"N": dtype})
    equal(x, wanted)


@both
@pytest.mark.parametrize("dtype", ["u8", "f16", "i32", "f64"])
@pytest.mark.parametrize("by", [-33, -8, -3, -1, 0, 1, 2, 5, 16, 64])
def test_shifted_in_place(executor: str, dtype: str, by: int) -> None:
    """All lanes are read before any is written."""
    for n in (5, 100, 128):
        x = (np.arange(260) % 119).astype(DTYPES[dtype])
        wanted = x.copy()
        wanted[64 + by : 64 + by + n] = x[64 : 64 + n]
        launch(shift, executor, [x[64:], x[64 + by :], n], (1,), {"BLOCK": 128}, {"D": dtype})
        equal(x, wanted)


@both
@pytest.mark.parametrize("shape", [(16, 16), (4, 32), (32, 2), (1, 8)])
def test_transposed_in_place(executor: str, shape: tuple[int, int]) -> None:
    x = np.arange(shape[0] * shape[1], dtype=np.float32)
    wanted = x.reshape(shape).T.reshape(-1).copy()
    launch(transpose, executor, [x, x], (1,), {"ROWS": shape[0], "COLUMNS": shape[1]}, {"D": "f32"})
    equal(x, wanted)


@both
@pytest.mark.parametrize("dtype", ["f32", "i8", "bool", "bf16"])
@pytest.mark.parametrize(
    "view", ["[:, :]", "[::-1, :]", "[:, ::-1]", "[::2, ::3]", "[::-2, 5:]", "[:, 4:5]", "[3:, 7:30].T", "[4:4]"]
)
def test_views_in_and_out(executor: str, dtype: str, view: str) -> None:
    """Any strides, on either side; what lies between keeps its values."""
    store = inputs(dtype, 23 * 41, 3).reshape(23, 41)
    x = eval(f"store{view}", {"store": store})
    for out in ("plain", "columns", "spread"):
        m, n = x.shape
        memory = canary(dtype, 3 * (m + 2) * (n + 2) + 9)
        y = {"plain": memory[3 : 3 + m * n].reshape(m, n), "columns": memory[1 : 1 + m * n].reshape(n, m).T}.get(out)
        if y is None:
            y = memory[2 : 2 + 2 * m * (n + 1)].reshape(m, 2 * (n + 1))[::-1, : 2 * n : 2]
        wanted = memory.copy()
        again = np.lib.stride_tricks.as_strided(
            wanted[(y.ctypes.data - memory.ctypes.data) // y.itemsize :] if y.size else wanted, y.shape, y.strides
        )
        again[...] = x
        size = x.itemsize
        strides = [s // size for s in (*x.strides, *y.strides)]
        launch(strided, executor, [x, y, m, n, *strides], (3, 2), {"BM": 8, "BN": 32}, {"D": dtype})
        equal(memory, wanted)


@both
@pytest.mark.parametrize("dtype", ALL)
def test_places_off_by_one_element(executor: str, dtype: str) -> None:
    x, memory = inputs(dtype, 200, 5), canary(dtype, 220)
    for first in (1, 2, 3, 5):
        y, wanted = memory.copy(), memory.copy()
        wanted[first : first + 100] = x[first + 1 : first + 101]
        launch(shift, executor, [x[first + 1 :], y[first:], 100], (1,), {"BLOCK": 128}, {"D": dtype})
        equal(y, wanted)


def test_an_unaligned_array_is_refused() -> None:
    x = np.zeros(403, np.uint8)[1:401].view(np.float32)
    with pytest.raises(tn.LaunchError):
        shift[(1,)](x, x, 100, BLOCK=128)


@both
def test_several_outputs(executor: str) -> None:
    x = np.linspace(-3e5, 7e4, 3 * 21).astype(np.float32).reshape(3, 21)
    half, whole, flag, top = (canary(d, 80) for d in ("f16", "i64", "bool", "f32"))
    wanted = [a.copy() for a in (half, whole, flag, top)]
    with np.errstate(over="ignore"):
        for out, values in zip(wanted, (x.astype(np.float16), x.astype(np.int64), x > 0, x.max(axis=1)), strict=True):
            out[: values.size] = values.reshape(-1)
    launch(several, executor, [x, half, whole, flag, top, 21], (3,), {"BLOCK": 32})
    for found, one in zip((half, whole, flag, top), wanted, strict=True):
        equal(found, one)


@both
def test_nothing_to_do(executor: str) -> None:
    """Rows without elements, grids without programs, arrays without elements, blocks far larger than the data."""
    x, empty = np.arange(4, dtype=np.float32), np.empty(0, np.float32)
    y = x.copy()
    outputs = [canary(d, 8) for d in ("f16", "i64", "bool", "f32")]
    launch(double, executor, [x, y, 0], (4,), {"BLOCK": 16}, {"N": "f32"})
    launch(double, executor, [empty, empty, 0], (4,), {"BLOCK": 16}, {"N": "f32"})
    equal(y, x)
    for grid in ((0,), (0, 3), (2, 0, 1)):
        launch(double, executor, [x, y, 4], grid, {"BLOCK": 16}, {"N": "f32"})
    equal(y, x)
    launch(several, executor, [x, *outputs, 0], (2,), {"BLOCK": 4})
    assert list(outputs[3][:2]) == [-np.inf, -np.inf]
    for out, dtype in zip(outputs[:3], ("f16", "i64", "bool"), strict=True):
        equal(out, canary(dtype, 8))
    launch(double, executor, [x, y, 3], (1,), {"BLOCK": 1 << 15}, {"N": "f32"})
    equal(y, np.array([1, 3, 5, 3], np.float32))


@tn.kernel
def far(x_ptr: tl.Ptr[tl.u8], row: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = row.to(tl.i64) * n + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 7)
    beyond = at + 1099511627776 * (tl.arange(0, BLOCK) > 3).to(tl.i64)
    tl.store(x_ptr + beyond, 1, tl.arange(0, BLOCK) <= 3)


@both
def test_offsets_beyond_32_bits(executor: str) -> None:
    """2**31 bytes are asked for; few of them are touched."""
    try:
        x = np.zeros((1 << 31) + 16, np.uint8)
    except MemoryError:
        pytest.skip("there is no room for 2 GiB of zeros")
    launch(far, executor, [x, 1 << 16, 1 << 15], (1,), {"BLOCK": 16})
    assert list(x[-16:]) == [1] * 4 + [7] * 12
    assert not x[:64].any()


@tn.kernel
def wrapped(
    x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + (a * b + at)))
    tl.store(y_ptr + BLOCK + at, tl.load(x_ptr + (at * a * b + at)))
    tl.store(y_ptr + 2 * BLOCK + at, tl.load(x_ptr + (at + b - a - 1), at + b < 8), at + b < 8)
    tl.store(y_ptr + 3 * BLOCK + at, at * b, at * b >= 0)


@both
def test_offsets_wrap_in_their_own_width(executor: str) -> None:
    """i32 arithmetic wraps before it becomes an address or a condition."""
    x, y = np.arange(600, dtype=np.int32), np.full(256, -5, np.int32)
    a, b = 1 << 16, 3 << 16  # a * b is 3 * 2**32: 0 in 32 bits
    at = np.arange(64)
    product = (at * b + 2**31) % 2**32 - 2**31
    wanted = np.concatenate([x[at], x[at], np.full(64, -5), np.where(product >= 0, product, -5)])
    launch(wrapped, executor, [x, y, a, b], (1,), {"BLOCK": 64})
    equal(y, wanted.astype(np.int32))


@tn.kernel
def flags(x_ptr: tl.Ptr[tl.bool_], y_ptr: tl.Ptr[tl.bool_], z_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x)
    tl.store(z_ptr + at, x.to(tl.i32) + (~x).to(tl.i32) * 10)


@both
def test_bools_in_memory(executor: str) -> None:
    """A byte that is not 0 is true, whatever it is; a store writes 0 or 1."""
    bytes_ = np.arange(256, dtype=np.uint8)
    y, z = np.full(256, 77, np.uint8), np.zeros(256, np.int32)
    launch(flags, executor, [bytes_.view(np.bool_), y.view(np.bool_), z], (1,), {"BLOCK": 256})
    equal(y, (bytes_ != 0).astype(np.uint8))
    equal(z, np.where(bytes_ != 0, 1, 10).astype(np.int32))


@tn.kernel
def scalar(x_ptr: tl.Ptr[N], value: tl.Scalar[N], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr, value)
    tl.store(x_ptr + 1 + at, tl.full((BLOCK,), value, value.dtype))
    tl.store(x_ptr + 1 + BLOCK + at, tl.where(at % 2 == 0, value, 1))


@tn.kernel
def scalar_flag(x_ptr: tl.Ptr[tl.bool_], value: tl.Scalar[tl.bool_]) -> None:
    tl.store(x_ptr, value)
    tl.store(x_ptr + 1, ~value)
    tl.store(x_ptr + 2, not value)


@both
@pytest.mark.parametrize("dtype", [d for d in ALL if d != "bool"])
def test_scalars_of_every_dtype(executor: str, dtype: str) -> None:
    kind = DTYPES[dtype]
    if dtype in ("f16", "bf16", "f32", "f64"):
        values: list[Any] = [0.0, -0.0, 1.5, -0.1, float("inf"), float("nan"), 2.0**-20, 300]
    else:
        values = [0, 1, int(np.iinfo(kind).max), int(np.iinfo(kind).min), 100]
    for value in values:
        x = canary(dtype, 40)
        wanted = x.copy()
        one = np.asarray(value).astype(kind)
        wanted[:9] = one
        wanted[9:17] = np.where(np.arange(8) % 2 == 0, one, np.asarray(1).astype(kind))
        launch(scalar, executor, [x, value], (1,), {"BLOCK": 8}, {"N": dtype})
        equal(x, wanted)


@both
@pytest.mark.parametrize("value", [True, False])
def test_bool_scalars(executor: str, value: bool) -> None:
    x = np.zeros(3, np.bool_)
    launch(scalar_flag, executor, [x, value])
    assert list(x) == [value, not value, not value]


@tn.kernel
def order(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    first = tl.load(x_ptr + at)
    tl.store(x_ptr + at, first + 1)
    second = tl.load(x_ptr + (BLOCK - 1 - at))
    tl.store(x_ptr + at // 2, second * 10, at % 2 == 0)
    third = tl.load(x_ptr + at)
    tl.store(y_ptr + at, first + second + third)


@both
@pytest.mark.parametrize("shared", [0, 3, 40])
def test_loads_see_the_stores_before_them(executor: str, shared: int) -> None:
    """In program order, across lanes; also where the output overlaps the input."""
    memory = np.arange(200, dtype=np.int32)
    wanted, at = memory.copy(), np.arange(64)
    first = wanted[at].copy()
    wanted[at] = first + 1
    second = wanted[63 - at].copy()
    wanted[at[::2] // 2] = second[::2] * 10
    wanted[shared : shared + 64] = first + second + wanted[at]
    launch(order, executor, [memory, memory[shared:]], (1,), {"BLOCK": 64})
    equal(memory, wanted)


@tn.kernel
def running(x_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32]) -> None:
    for i in tl.range(1, n):
        tl.store(x_ptr + i, tl.load(x_ptr + i) + tl.load(x_ptr + (i - 1)))


@tn.kernel
def smoothed(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    for i in tl.range(n):
        left, right = tl.load(x_ptr + at + i), tl.load(x_ptr + at + i + 1)
        tl.store(x_ptr + at + i + 1, left * 3 + right)


@both
def test_loops_through_memory(executor: str) -> None:
    """What one iteration writes the next one reads."""
    x = (np.arange(90) % 7).astype(np.uint8)
    wanted = x.copy()
    wanted[:80] = np.cumsum(x[:80], dtype=np.uint8)
    launch(running, executor, [x, 80], (1,), {}, {"N": "u8"})
    equal(x, wanted)
    y = np.arange(40, dtype=np.int32)
    again = y.copy()
    for i in range(5):
        again[i + 1 : i + 17] = again[i : i + 16] * 3 + again[i + 1 : i + 17]
    launch(smoothed, executor, [y, 5], (1,), {"BLOCK": 16})
    equal(y, again)


@tn.kernel
def collide(y_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at // 4, at)


@both
def test_one_of_the_lanes_at_one_place_wins(executor: str) -> None:
    y = np.full(40, -1, np.int32)
    launch(collide, executor, [y], (1,), {"BLOCK": 128})
    assert np.array_equal(y[:32] // 4, np.arange(32))
    assert (y[32:] == -1).all()


@tn.kernel
def weighted(x_ptr: tl.Ptr[tl.f32], w_ptr: tl.Ptr[tl.f32] | None, y_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    if w_ptr is not None:
        x = x * tl.load(w_ptr + at)
    tl.store(y_ptr + at, x)


def test_an_optional_pointer() -> None:
    x, w, y = np.arange(8, dtype=np.float32), np.full(8, 3, np.float32), np.zeros(8, np.float32)
    weighted[(1,)](x, None, y, BLOCK=8)
    equal(y, x)
    weighted[(1,)](x, w, y, BLOCK=8)
    equal(y, x * 3)
