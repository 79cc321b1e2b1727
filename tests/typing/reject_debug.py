"""Debugging and hints that neither a type checker nor the compiler takes."""

import teeny as tn
import teeny.language as tl


@tn.kernel
def wrong(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.multiple_of(x, 8)  # BAD
    tl.max_contiguous(n, n)  # BAD
    tl.assume(n)  # BAD
    tl.device_print(n)  # BAD
    tl.device_print("n", n, base=16)  # BAD
    tl.device_assert(x, "positive")  # BAD
    tl.device_assert(x > 0.0, 3)  # BAD
    tl.static_assert(n > 0)  # BAD
    tl.inline_asm_elementwise("", "=r", [x], tl.f32, True)  # BAD
    tl.store(x_ptr + tl.arange(0, BLOCK), x)
