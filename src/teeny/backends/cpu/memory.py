"""Loads, stores, shuffles and reductions of the builder.

bool in memory is one byte: callers load and store i8 and convert. Alignments are in bytes and are promises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teeny.backends.cpu.arith import Arithmetic
from teeny.backends.cpu.text import BYTES, llvm_type
from teeny.diag import InternalError
from teeny.ir.lanes import Lane

__all__ = ["Combine", "Memory"]

Combine = Callable[[Lane, Lane], Lane]
_ELEMENT = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


class Memory(Arithmetic):
    """Memory operations and lane movement; subclassed by the builder."""

    _dummy: Lane | None = None

    # Addresses

    def offset(self, ptr: Lane, index: Lane, dtype: str, *, bytes_each: int | None = None) -> Lane:
        """`ptr` plus `index` elements of `dtype` (or of `bytes_each` bytes); a vector of either gives a vector.

        `index` is i64, or i32 and then sign-extended.
        """
        if index.const == 0 and ptr.width >= index.width:
            return ptr
        size = bytes_each or BYTES[dtype]
        if size not in _ELEMENT:
            index = self.mul(self.sext(index, "i64"), self.const("i64", size))
            size = 1
        width = max(ptr.width, index.width)
        pointer, offset = llvm_type("ptr", ptr.width), llvm_type(index.dtype, index.width)
        rhs = f"getelementptr {_ELEMENT[size]}, {pointer} {ptr.text}, {offset} {index.text}"
        return self.pure(rhs, "ptr", width, ptr, index)

    # Plain access

    def _load(self, rhs: str, dtype: str, width: int, *operands: Lane) -> Lane:
        """A load, placed by the region's floor and shared within one epoch."""
        block = self.scopes[-1]
        floor = block.depth if block.region is None else block.region
        kept, block.floor = block.floor, max(block.floor, floor)
        marked = f"{rhs} ; {self.epoch}"
        try:
            return self.pure(marked, dtype, width, *operands)
        finally:
            block.floor = kept

    def load(self, ptr: Lane, dtype: str, width: int = 1, *, align: int | None = None) -> Lane:
        """Load `width` contiguous elements; `align` defaults to the element's size."""
        align = align or BYTES[dtype]
        return self._load(f"load {llvm_type(dtype, width)}, ptr {ptr.text}, align {align}", dtype, width, ptr)

    def store(
        self, ptr: Lane, value: Lane, *, align: int | None = None, nontemporal: bool = False, kills: bool = True
    ) -> None:
        """Store the lanes of `value` contiguously.

        `nontemporal` needs alignment to the whole vector and a `fence` before others may read. `kills=False` vouches
        that no load made later in this epoch can see the store.
        """
        align = align or BYTES[value.dtype]
        hint = ", !nontemporal !0" if nontemporal else ""
        self.line(f"  store {llvm_type(value.dtype, value.width)} {value.text}, ptr {ptr.text}, align {align}{hint}")
        self.epoch += kills

    def fence(self) -> None:
        """Make non-temporal stores visible to other threads."""
        if self.features.x86:
            self.declare("void @llvm.x86.sse.sfence()")
            self.line("  call void @llvm.x86.sse.sfence()")
        else:
            self.line("  fence seq_cst")

    def call(self, function: Lane, arguments: Sequence[Lane]) -> None:
        """Call a function by its address; it gives nothing back, and may read and write any memory."""
        given = ", ".join([f"{llvm_type(a.dtype, a.width)} {a.text}" for a in arguments])
        self.line(f"  call void {function.text}({given})")
        self.epoch += 1

    def prefetch(self, ptr: Lane) -> None:
        """Bring the line at `ptr` into the cache; any address is allowed."""
        self.declare("void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.line(f"  call void @llvm.prefetch.p0(ptr {ptr.text}, i32 0, i32 3, i32 1)")

    # Masked access

    def _dummy_slot(self) -> Lane:
        if self._dummy is None:
            self._dummy = self.slot(64, 64)
        return self._dummy

    def masked_load(
        self, ptr: Lane, mask: Lane, other: Lane, dtype: str, width: int = 1, *, align: int | None = None
    ) -> Lane:
        """Load the lanes where `mask`, take `other` elsewhere; memory of other lanes is not touched.

        `other` has the type `dtype`; `mask` and `other` may be scalars.
        """
        align = align or BYTES[dtype]
        if mask.const is not None:
            return self.load(ptr, dtype, width, align=align) if mask.const else self.splat(other, width)
        if width == 1:
            safe = self.select(mask, ptr, self._dummy_slot())
            return self.select(mask, self.load(safe, dtype, 1, align=align), other)
        mask, other = self.splat(mask, width), self.splat(other, width)
        kind, bits = llvm_type(dtype, width), llvm_type("i1", width)
        name = f"{kind} @llvm.masked.load.{_suffix(dtype, width)}.p0"
        self.declare(f"{name}(ptr, i32, {bits}, {kind})")
        call = f"call {name}(ptr {ptr.text}, i32 {align}, {bits} {mask.text}, {kind} {other.text})"
        return self._load(call, dtype, width, ptr, mask, other)

    def volatile_load(self, ptr: Lane, mask: Lane, other: Lane, dtype: str, *, align: int) -> Lane:
        """A scalar as by `masked_load`, read here and anew."""
        safe = ptr if mask.const else self.select(mask, ptr, self._dummy_slot())
        kind = llvm_type(dtype, 1)
        return self.select(mask, self.effect(f"load volatile {kind}, ptr {safe.text}, align {align}", dtype, 1), other)

    def masked_store(self, ptr: Lane, value: Lane, mask: Lane, *, align: int | None = None, kills: bool = True) -> None:
        """Store the lanes of `value` where `mask`; `kills` as in `store`."""
        align = align or BYTES[value.dtype]
        if mask.const is not None:
            if mask.const:
                self.store(ptr, value, align=align, kills=kills)
            return
        if value.width == 1:
            self.store(self.select(mask, ptr, self._dummy_slot()), value, align=align, kills=kills)
            return
        mask = self.splat(mask, value.width)
        kind, bits = llvm_type(value.dtype, value.width), llvm_type("i1", value.width)
        name = f"void @llvm.masked.store.{_suffix(value.dtype, value.width)}.p0"
        self.declare(f"{name}({kind}, ptr, i32, {bits})")
        self.line(f"  call {name}({kind} {value.text}, ptr {ptr.text}, i32 {align}, {bits} {mask.text})")
        self.epoch += kills

    def gather(self, ptrs: Lane, dtype: str, mask: Lane | None = None, other: Lane | None = None) -> Lane:
        """Load each lane from its own address, where `mask`; elsewhere `other` (default 0)."""
        width = ptrs.width
        mask = self.const("i1", 1) if mask is None else mask
        other = self.const(dtype, 0) if other is None else other
        if width == 1:
            return self.masked_load(ptrs, mask, other, dtype)
        mask, other = self.splat(mask, width), self.splat(other, width)
        kind, bits, pointers = llvm_type(dtype, width), llvm_type("i1", width), llvm_type("ptr", width)
        name = f"{kind} @llvm.masked.gather.{_suffix(dtype, width)}.v{width}p0"
        self.declare(f"{name}({pointers}, i32, {bits}, {kind})")
        operands = f"{pointers} {ptrs.text}, i32 {BYTES[dtype]}, {bits} {mask.text}, {kind} {other.text}"
        return self._load(f"call {name}({operands})", dtype, width, ptrs, mask, other)

    def scatter(self, ptrs: Lane, value: Lane, mask: Lane | None = None, *, kills: bool = True) -> None:
        """Store each lane at its own address, where `mask`; of equal addresses the highest lane wins."""
        mask = self.const("i1", 1) if mask is None else mask
        if ptrs.width == 1:
            self.masked_store(ptrs, value, mask, kills=kills)
            return
        value, mask = self.splat(value, ptrs.width), self.splat(mask, ptrs.width)
        kind, bits = llvm_type(value.dtype, value.width), llvm_type("i1", value.width)
        pointers = llvm_type("ptr", ptrs.width)
        name = f"void @llvm.masked.scatter.{_suffix(value.dtype, value.width)}.v{ptrs.width}p0"
        self.declare(f"{name}({kind}, {pointers}, i32, {bits})")
        operands = f"{kind} {value.text}, {pointers} {ptrs.text}, i32 {BYTES[value.dtype]}, {bits} {mask.text}"
        self.line(f"  call {name}({operands})")
        self.epoch += kills

    # Lanes

    def lane_ids(self, dtype: str, width: int) -> Lane:
        """0, 1, 2, ... in the lanes; the constant 0 for width 1."""
        if width == 1:
            return self.const(dtype, 0)
        kind = llvm_type(dtype, 1)
        return Lane(f"<{', '.join(f'{kind} {i}' for i in range(width))}>", dtype, width, self.scopes[0])

    def ramp(self, base: Lane, width: int, step: int = 1) -> Lane:
        """base, base + step, base + 2*step, ... in the lanes; `base` is a scalar integer."""
        if width == 1:
            return base
        steps = f"<{', '.join(f'{base.dtype} {step * i}' for i in range(width))}>"
        return self.add(self.splat(base, width), Lane(steps, base.dtype, width, self.scopes[0]))

    def prefix_mask(self, count: Lane, width: int) -> Lane:
        """True in the first `count` lanes (a scalar i32 or i64, any value; none if it is negative)."""
        if width == 1:
            return self.icmp("sgt", count, self.const(count.dtype, 0))
        lanes = self.smin(self.smax(count, self.const(count.dtype, 0)), self.const(count.dtype, width))
        return self.icmp("ult", self.lane_ids("i32", width), self.trunc(lanes, "i32"))

    def extract(self, a: Lane, index: int) -> Lane:
        """One lane as a scalar."""
        if a.width == 1:
            return a
        if a.const is not None:
            return self.const(a.dtype, a.const)
        return self.pure(f"extractelement {llvm_type(a.dtype, a.width)} {a.text}, i64 {index}", a.dtype, 1, a)

    def extract_at(self, a: Lane, index: Lane) -> Lane:
        """One lane as a scalar, chosen by an i32 or i64 scalar below the width."""
        if a.width == 1:
            return a
        kind = llvm_type(a.dtype, a.width)
        return self.pure(f"extractelement {kind} {a.text}, {index.dtype} {index.text}", a.dtype, 1, a, index)

    def insert(self, a: Lane, value: Lane, index: int) -> Lane:
        """`a` with lane `index` replaced by a scalar."""
        if a.width == 1:
            return value
        kind, scalar = llvm_type(a.dtype, a.width), llvm_type(a.dtype, 1)
        rhs = f"insertelement {kind} {a.text}, {scalar} {value.text}, i64 {index}"
        return self.pure(rhs, a.dtype, a.width, a, value)

    def shuffle(self, a: Lane, b: Lane, indices: Sequence[int]) -> Lane:
        """Lanes of `a` (0 .. width-1) and `b` (width ..) by number; a single index gives a scalar."""
        if len(indices) == 1:
            return self.extract(a if indices[0] < a.width else b, indices[0] % a.width)
        if a.width == 1:
            raise InternalError("shuffle of scalars")
        kind = llvm_type(a.dtype, a.width)
        mask = f"<{len(indices)} x i32> <{', '.join(f'i32 {i}' for i in indices)}>"
        rhs = f"shufflevector {kind} {a.text}, {kind} {b.text}, {mask}"
        return self.pure(rhs, a.dtype, len(indices), a, b)

    def pack(self, lanes: Sequence[Lane]) -> Lane:
        """A vector of scalars."""
        made = Lane("poison", lanes[0].dtype, len(lanes), self.scopes[0])
        for index, lane in enumerate(lanes):
            made = self.insert(made, lane, index)
        return made

    def reduce(self, combine: Combine, vectors: Sequence[Lane]) -> Lane:
        """A scalar from a power of two of vectors of one width, by the halving tree.

        The vectors together are one sequence of elements; element i meets element i + half of it, then the halves of
        what results meet, and so on: the order is the same however the sequence is cut into vectors.
        """
        lanes = list(vectors)
        if len(lanes) & (len(lanes) - 1):
            raise InternalError(f"reduction of {len(lanes)} vectors")
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [combine(lanes[i], lanes[i + half]) for i in range(half)]
        value = lanes[0]
        while value.width > 1:
            half = value.width // 2
            low = self.shuffle(value, value, range(half))
            high = self.shuffle(value, value, range(half, value.width))
            value = combine(low, high)
        return value


def _suffix(dtype: str, width: int) -> str:
    scalar = {"f16": "i16", "bf16": "i16", "ptr": "p0"}.get(dtype, dtype)
    return f"v{width}{scalar}"
