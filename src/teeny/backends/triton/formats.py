"""What a GPU has no instruction or library for, or Triton gets wrong there, written out in other operations.

What Triton 3.6 and 3.9 do (seen in the code they make): NVIDIA's GPUs convert to and from f8e4m3 and f8e5m2, rounding
to nearest, from sm_89 on; before, f8e5m2 is read alone, and 3.6 uses the instructions of sm_89 there too once it has
compiled for sm_89 in the same process. f8e5m2 becomes bf16 by a product that loses infinities and NaN. gfx942 converts
the formats without negative zero; its instruction makes NaN of what is too large. The rest they refuse, or do in code of
their own that rounds otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.dtype import BF16, F16, F32, F64, LEAVES, DType, largest
from teeny.ir.schema import dtype_of
from teeny.ir.types import element_of, pointer, with_element
from teeny.ops.bitcast import bitcast_, reinterpret
from teeny.ops.bits import shli
from teeny.ops.cast import convert, extf, truncf
from teeny.ops.clamp import clampf
from teeny.ops.constant import constant, constant_
from teeny.ops.float8 import bits_of
from teeny.ops.memory import store_
from teeny.ops.reformat import fp_to_fp
from teeny.ops.written import written_out
from teeny.passes.expand import expand

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.ir.builder import Builder
    from teeny.ir.core import Module, Op, Value

E5M2 = LEAVES["f8e5m2"]
_NO_NEGATIVE_ZERO = (LEAVES["f8e4m3fnuz"], LEAVES["f8e5m2fnuz"])
_UNTIL_F32 = (F16, BF16, F32)


_NOT_AMDS = frozenset(f"libdevice.{name}" for name in ("add_rn", "brev", "clz", "ffs", "mul_rn", "popc", "sub_rn"))
"""Functions of NVIDIA's library that AMD's has not."""


def fitted(module: Module, goal: Goal) -> Module:
    """The module itself where the architecture has everything, else a copy with the same meaning."""
    amd = goal.backend == "hip"

    def rule(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | tuple[Value, ...] | None:
        if _stores_float8(op):
            at, value, *mask = operands
            b.op(store_, (_as_bytes(b, at), reinterpret(b, value, LEAVES["i8"]), *mask), dict(op.attrs))
            return ()
        if op.schema is fp_to_fp:
            return _converted(b, op, operands[0], goal)
        if amd and op.schema.name in _NOT_AMDS:
            return written_out(b, op, operands)
        return _constant(b, op) if _is_constant(op) else None

    def concerns(op: Op) -> bool:
        return op.schema is fp_to_fp or _is_constant(op) or _stores_float8(op) or (amd and op.schema.name in _NOT_AMDS)

    return expand(module, rule, concerns)


def _stores_float8(op: Op) -> bool:
    """Whether it stores 8-bit floats: Triton 3.6 mixes them up where it changes their layout before, and not bytes."""
    return op.schema is store_ and isinstance(e := element_of(op.operands[1].type), DType) and e.kind == "float8"


def _as_bytes(b: Builder, pointers: Value) -> Value:
    return b.create(bitcast_, pointers, type=with_element(pointers.type, pointer(LEAVES["i8"])))


def _is_constant(op: Op) -> bool:
    return op.schema is constant_ and dtype_of(op.results[0].type).kind == "float8"


def _constant(b: Builder, op: Op) -> Value:
    """Triton cannot lower constants of 8-bit floats."""
    type_ = op.results[0].type
    dtype = dtype_of(type_)
    bits = bits_of(float(str(op.attrs["value"])), dtype.name)
    return reinterpret(b, constant(b, with_element(type_, LEAVES["i8"]), bits), dtype)


def _converted(b: Builder, op: Op, x: Value, goal: Goal) -> Value | None:
    source, target = dtype_of(op.operands[0].type), dtype_of(op.results[0].type)
    rounding = op.attrs.get("rounding")
    if source is E5M2 and 0 < goal.capability < 89:
        return convert(b, _as_f16(b, x), F16, target)
    by_f32 = target is F64 or (target is BF16 and source is E5M2)
    if source.kind == "float8" and by_f32 and _reads(source, goal):
        single = b.create(fp_to_fp, x, type=with_element(x.type, F32))
        return b.create(extf if target is F64 else truncf, single, type=op.results[0].type)
    if source.kind == "float8" and target in _UNTIL_F32 and _reads(source, goal):
        return None
    if target.kind == "float8" and source in _UNTIL_F32 and rounding == "rtne" and _writes(target, goal):
        return _held(b, op, x, largest(target)) if target in _NO_NEGATIVE_ZERO else None
    if source is F32 and target is F16 and rounding == "rtz" and goal.capability:
        return None
    return written_out(b, op, (x,))


def _reads(source: DType, goal: Goal) -> bool:
    """Whether Triton's own conversion of an 8-bit float to f16 and f32 is right."""
    return source is E5M2 or _writes(source, goal)


def _as_f16(b: Builder, x: Value) -> Value:
    """A number of f8e5m2, whose bits are the first 8 of those as f16."""
    bits = convert(b, reinterpret(b, x, LEAVES["u8"]), LEAVES["u8"], LEAVES["u16"])
    return reinterpret(b, b.create(shli, bits, constant(b, bits.type, 8)), F16)


def _writes(target: DType, goal: Goal) -> bool:
    """Whether there is an instruction that rounds to an 8-bit float."""
    return goal.name == "gfx942" if target in _NO_NEGATIVE_ZERO else goal.capability >= 89


def _held(b: Builder, op: Op, x: Value, limit: float) -> Value:
    """The conversion of what is in range; a NaN stays."""
    low, high = (constant(b, x.type, end) for end in (-limit, limit))
    held = b.create(clampf, x, low, high, propagateNan="all")
    return b.create(fp_to_fp, held, type=op.results[0].type, rounding="rtne")
