"""What kernels print, assert and say of themselves, each with its type."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def hinted(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    tl.assume(n > 0)
    tl.assume(BLOCK % 2 == 0)
    size: tl.Tensor[tl.i32] = tl.multiple_of(n, 8)
    lanes: tl.Tensor[tl.i32] = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), BLOCK), [BLOCK])
    ptrs = tl.multiple_of(x_ptr + lanes, 8)
    x: tl.Tensor[D] = tl.max_constancy(tl.load(ptrs, lanes < size, other=0.0), (4,))
    tl.debug_barrier()
    tl.store(ptrs, x, lanes < size)


@tn.kernel
def told(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int], NAME: tl.Const[str]) -> None:
    tl.static_print("BLOCK", BLOCK, x_ptr.dtype, n, sep=", ", end="\n")
    tl.static_assert(BLOCK > 2, f"{NAME} has BLOCK {BLOCK:03d}")
    tl.device_print("n", n, tl.load(x_ptr), x_ptr, 3, 0.5, hex=True)
    tl.device_print(f"{NAME} here")
    tl.device_assert(n > 0, f"n in {NAME}", mask=tl.load(x_ptr) > 0.0)
    assert n < 100, "too many"
    assert BLOCK < 1024


@tn.kernel
def assembly(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    x = tl.load(x_ptr + tl.arange(0, 128))
    y: tl.Tensor[tl.i32] = tl.inline_asm_elementwise(
        "add.s32 $0, $1, $2;", "=r,r,r", [x, n], dtype=tl.i32, is_pure=True, pack=1
    )
    a, b = tl.inline_asm_elementwise("", "=r,=f,r", [x], dtype=(tl.i32, tl.f32), is_pure=False, pack=1)
    tl.store(x_ptr + tl.arange(0, 128), y + a + b.to(tl.i32))
