"""Kernels that between them use every operation of Triton's language, for texts of each version of Triton.

`python -m tests.triton.samples FOLDER` writes what the installed Triton's front end makes of them, before its own
passes. Block pointers exist up to 3.8, atomic loads and stores from 3.9 on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.language.extra import libdevice

__all__ = ["SAMPLES", "texts"]


@triton.jit
def early_helper(x, n):
    if n > 3:
        return x + 1
    return x * 2


@triton.jit
def control(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    off = pid * BLOCK + tl.arange(0, BLOCK)
    m = off < n
    x = tl.load(x_ptr + off, mask=m, other=0.0)
    if n > 100:
        if n > 200:
            return
        x = x + 1
    else:
        x = x + 2
    for i in tl.range(0, 4, num_stages=3, loop_unroll_factor=2):
        x = early_helper(x, i)
    for i in range(n, 0, -3):
        if i % 2 == 0:
            x += i
        elif i > 5:
            x -= i
    k = n
    while k > 0:
        k -= 7
        x = x * 0.5 if k > 3 else x
    tl.store(y_ptr + off, x, mask=m)


@triton.jit
def add_fn(a, b):
    return a + b


@triton.jit
def pair_fn(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def larger_fn(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def reductions(x_ptr, i_ptr, y_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + off)
    i = tl.load(i_ptr + off)
    total = tl.sum(x, 0) + tl.max(x, 0) + tl.min(x, 0) + tl.reduce(x, 0, larger_fn)
    best, at = tl.max(x, 0, return_indices=True)
    total += best + tl.argmax(x, 0) + tl.argmin(x, 0, tie_break_left=False) + at + tl.xor_sum(i, 0)
    y = tl.cumsum(x, 0) + tl.cumprod(x, 0, reverse=True) + tl.associative_scan(x, 0, add_fn, reverse=True)
    _, h = tl.associative_scan((x, y), 0, pair_fn)
    wide = tl.reshape(x, (BLOCK // 4, 4))
    y += tl.reshape(tl.softmax(wide), (BLOCK,)) + tl.sort(h, descending=True) + tl.flip(x, 0)
    tl.store(y_ptr + off, y + total)
    tl.store(y_ptr + tl.arange(0, 8), tl.topk(x, 8))
    tl.store(i_ptr + tl.arange(0, 32), tl.histogram(i, 32))
    tl.store(y_ptr + off, tl.gather(x, i, 0))


@triton.jit
def shapes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + off)
    a, b = tl.split(tl.join(x, x + 1))
    both = tl.interleave(a, b)
    pairs = tl.cat(x, b, can_reorder=True)
    square = tl.reshape(x, (8, BLOCK // 8))
    turned = tl.trans(square)
    cube = tl.permute(tl.reshape(x, (4, 2, BLOCK // 8)), (2, 0, 1))
    column = tl.broadcast_to(x[:, None], (BLOCK, 2))
    spread = tl.ravel(tl.zeros_like(square)) + tl.full((BLOCK,), 2.5, tl.float32)
    tl.store(y_ptr + tl.arange(0, 2 * BLOCK), both + pairs)
    tl.store(y_ptr + off, tl.ravel(turned) + tl.view(cube, (BLOCK,)) + tl.sum(column, 1) + spread)


@triton.jit
def memory(x_ptr, i_ptr, l_ptr, n, BLOCK: tl.constexpr):
    off = tl.multiple_of(tl.max_contiguous(tl.max_constancy(tl.arange(0, BLOCK), 1), BLOCK), 8)
    tl.assume(n > 0)
    x = tl.load(x_ptr + off, cache_modifier=".cg", eviction_policy="evict_last")
    v = tl.load(x_ptr + off, mask=off < n, volatile=True)
    tl.store(x_ptr + off, x + v, cache_modifier=".wb", eviction_policy="evict_first")
    old = tl.atomic_add(x_ptr + off, x, mask=off < n, sem="relaxed", scope="cta")
    tl.atomic_max(x_ptr + off, old)
    tl.atomic_min(x_ptr + off, old)
    tl.atomic_max(i_ptr + off, off)
    tl.atomic_min(i_ptr + off, off)
    tl.atomic_and(i_ptr + off, off)
    tl.atomic_or(i_ptr + off, off)
    tl.atomic_xor(i_ptr + off, off)
    tl.atomic_xchg(l_ptr, 1, sem="release")
    while tl.atomic_cas(l_ptr, 0, 1, sem="acquire") == 1:
        pass
    tl.debug_barrier()
    address = x_ptr.to(tl.int64)
    again = address.to(tl.pointer_type(tl.float32))
    as_ints = x_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(again + off, x)
    tl.store(as_ints + off, off)
    chosen = tl.where(n > 3, x_ptr, again)
    tl.store(chosen + off, x)
    tl.device_print("x", x, n)
    tl.device_assert(n > 3, "too small")


@triton.jit
def newer_atomics(l_ptr, n):
    tl.atomic_store(l_ptr, n)
    tl.store(l_ptr + 1, tl.atomic_load(l_ptr))


@triton.jit
def casts(x_ptr, h_ptr, b_ptr, d_ptr, i_ptr, u_ptr, c_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + off)
    h = tl.load(h_ptr + off)
    b = tl.load(b_ptr + off)
    d = tl.load(d_ptr + off)
    i = tl.load(i_ptr + off)
    u = tl.load(u_ptr + off)
    c = tl.load(c_ptr + off)
    s = h.to(tl.float32) + b.to(tl.float32) + i.to(tl.float32) + u.to(tl.float32) + c.to(tl.float32) + d.to(tl.float32)
    s += x.to(tl.float8e5).to(tl.float32) + x.to(tl.int32, bitcast=True).to(tl.float32) + x.to(tl.uint8).to(tl.float32)
    s += x.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32)
    tl.store(x_ptr + off, s)
    tl.store(h_ptr + off, x.to(tl.float16))
    tl.store(b_ptr + off, x.to(tl.bfloat16))
    tl.store(d_ptr + off, x.to(tl.float64))
    tl.store(i_ptr + off, (x.to(tl.int64) // 3 + i % 5) ^ (i << 2) ^ (i >> 1) & ~i | 7)
    tl.store(u_ptr + off, (u // 3 + u % 5) >> 1)
    tl.store(c_ptr + off, x > 0)


@triton.jit
def mathematics(x_ptr, y_ptr, u_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + off)
    y = tl.load(y_ptr + off)
    u = tl.load(u_ptr + off)
    z = tl.exp(x) + tl.exp2(x) + tl.log(x) + tl.log2(x) + tl.sin(x) + tl.cos(x) + tl.sqrt(x) + tl.rsqrt(x)
    z += tl.abs(x) + tl.floor(x) + tl.ceil(x) + tl.erf(x) + tl.fma(x, y, z) + tl.sigmoid(x) + tl.clamp(x, 0.0, 1.0)
    z += tl.fdiv(x, y) + tl.div_rn(x, y) + tl.sqrt_rn(x) + x % y - (-x) + tl.maximum(x, y) + tl.minimum(x, y)
    z += tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL) + tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    z += libdevice.tanh(x) + libdevice.pow(x, y) + libdevice.log1p(x) + libdevice.expm1(x) + libdevice.atan2(x, y)
    z += libdevice.rint(x) + libdevice.trunc(x) + libdevice.sinh(x) + libdevice.fast_expf(x) + libdevice.erf(x)
    z = tl.where((x < y) & (x != y) | ~(x >= y), z, x)
    tl.store(y_ptr + off, z + tl.rand(3, off) + tl.randn(5, off))
    tl.store(u_ptr + off, tl.umulhi(u, u) + tl.abs(off).to(tl.uint32) + tl.randint(7, off))


@triton.jit
def products(a_ptr, h_ptr, i_ptr, q_ptr, s_ptr, out_ptr, B: tl.constexpr):
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    a = tl.load(a_ptr + at)
    h = tl.load(h_ptr + at)
    i = tl.load(i_ptr + at)
    acc = tl.dot(a, a) + tl.dot(a, a, input_precision="ieee") + tl.dot(a, a, input_precision="tf32x3")
    acc = tl.dot(h, h, acc)
    acc += tl.dot(i, i, out_dtype=tl.int32).to(tl.float32)
    q = tl.load(q_ptr + at)
    s = tl.load(s_ptr + r[:, None] * (B // 32) + tl.arange(0, B // 32)[None, :])
    acc = tl.dot_scaled(q, s, "e5m2", q, s, "e5m2", acc)
    acc += tl.dot(q.to(tl.float8e5, bitcast=True), q.to(tl.float8e5, bitcast=True), max_num_imprecise_acc=0)
    cube = tl.dot(tl.reshape(h, (2, B // 2, B)), tl.permute(tl.reshape(h, (2, B // 2, B)), (0, 2, 1)))
    acc += tl.sum(tl.sum(tl.sum(cube, 2), 1), 0)
    tl.store(out_ptr + at, acc)


@triton.jit
def descriptors(x_ptr, y_ptr, i_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    e = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BM, BN])
    g = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    for k in range(0, N, BN):
        e.store([0, k], d.load([0, k]))
    e.atomic_add([0, 0], d.load([0, 0]))
    rows = tl.load(i_ptr + tl.arange(0, BM))
    g.scatter(g.gather(rows, 0), rows, 0)


@triton.jit
def assembly(i_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    k = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [off], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(i_ptr + off, k)


@triton.jit
def compare_fn(a, b):
    if a < b:
        return -1
    return 1


@triton.jit
def mapped(i_ptr, BLOCK: tl.constexpr):
    off = tl.arange(0, BLOCK)
    i = tl.load(i_ptr + off)
    tl.store(i_ptr + off, tl.map_elementwise(compare_fn, i, off))


@triton.jit
def block_pointers(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        tl.store(q, x, boundary_check=(0,))
        p = tl.advance(p, (0, BN))
        q = tl.advance(q, (0, BN))


SAMPLES = {
    "control": (control, "*fp32 *fp32 i32", {"BLOCK": 64}),
    "reductions": (reductions, "*fp32 *i32 *fp32", {"BLOCK": 64}),
    "shapes": (shapes, "*fp32 *fp32", {"BLOCK": 64}),
    "memory": (memory, "*fp32 *i32 *i32 i32", {"BLOCK": 64}),
    "casts": (casts, "*fp32 *fp16 *bf16 *fp64 *i64 *u32 *u1", {"BLOCK": 64}),
    "mathematics": (mathematics, "*fp32 *fp32 *u32", {"BLOCK": 64}),
    "products": (products, "*fp32 *fp16 *i8 *u8 *u8 *fp32", {"B": 64}),
    "descriptors": (descriptors, "*fp16 *fp16 *i32 i32 i32", {"BM": 16, "BN": 64}),
    "assembly": (assembly, "*i32", {"BLOCK": 64}),
    "mapped": (mapped, "*i32", {"BLOCK": 64}),
}
if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9):
    SAMPLES["block_pointers"] = (block_pointers, "*fp16 *fp16 i32 i32", {"BM": 16, "BN": 64})
if hasattr(tl, "atomic_load"):
    SAMPLES["newer_atomics"] = (newer_atomics, "*i32 i32", {})


def texts() -> dict[str, str]:
    """The module of each sample as the front end makes it, of one with the operations for debugging."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    found: dict[str, str] = {}
    for name, (fn, types, constants) in SAMPLES.items():
        options = backend.parse_options({"debug": name == "memory"})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        names = [p.name for p in fn.params if p.name not in constants]
        signature = dict(zip(names, types.split(), strict=True)) | dict.fromkeys(constants, "constexpr")
        source = ASTSource(fn=fn, signature=signature, constexprs=constants)
        implementation = backend.get_codegen_implementation(options)
        module = source.make_ir(target, options, implementation, backend.get_module_map(), context)
        found[name] = str(module).replace(str(Path(__file__).resolve()), "samples.py")
    return found


def main(folder: Path) -> None:
    """Write the texts without places of this machine."""
    library = str(Path(triton.__file__).resolve().parent)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (folder / f"{name}.mlir").write_text(text.replace(library, "triton"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
