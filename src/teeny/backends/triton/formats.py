"""What a GPU has no instruction or library for, or Triton gets wrong there, written out in other operations.

What Triton 3.6 and 3.9 do (seen in the code they make): NVIDIA's GPUs convert to and from f8e4m3 and f8e5m2, rounding
to nearest, from sm_89 on; before, f8e5m2 is read alone, and 3.6 uses the instructions of sm_89 there too once it has
compiled for sm_89 in the same process. f8e5m2 becomes bf16 by a product that loses infinities and NaN. gfx942 converts
the formats without negative zero; its instruction makes NaN of what is too large. The rest they refuse, or do in code
of their own that rounds otherwise. The assemblers of 3.6 are wrong about what is converted to f8e4m3 or f8e5m2 and used
more than once (see `assemble`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from teeny.backends.triton.wheel import release
from teeny.ir.core import uses
from teeny.ir.dtype import BF16, F16, F32, F64, LEAVES, DType, largest
from teeny.ir.schema import dtype_of
from teeny.ir.types import with_element
from teeny.ops.bitcast import reinterpret
from teeny.ops.bits import shli
from teeny.ops.cast import convert, extf, truncf
from teeny.ops.clamp import clampf
from teeny.ops.constant import constant, constant_
from teeny.ops.float8 import bits_of
from teeny.ops.reformat import fp_to_fp
from teeny.ops.written import written_out
from teeny.passes.expand import expand

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.ir.builder import Builder
    from teeny.ir.core import Module, Op, Value
    from teeny.ir.types import Type

E5M2 = LEAVES["f8e5m2"]
_NO_NEGATIVE_ZERO = (LEAVES["f8e4m3fnuz"], LEAVES["f8e5m2fnuz"])
_UNTIL_F32 = (F16, BF16, F32)


_NOT_AMDS = frozenset(f"libdevice.{name}" for name in ("add_rn", "brev", "clz", "ffs", "mul_rn", "popc", "sub_rn"))
"""Functions of NVIDIA's library that AMD's has not."""


def fitted(module: Module, goal: Goal) -> Module:
    """The module itself where the architecture has everything, else a copy with the same meaning."""
    amd = goal.backend == "hip"
    torn: frozenset[Op] = _used_apart(module) if goal.capability and release() < (3, 7) else frozenset()

    def rule(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | None:
        if op in torn or (amd and op.schema.name in _NOT_AMDS):
            return written_out(b, op, operands)
        if op.schema is fp_to_fp:
            return _converted(b, op, operands[0], goal)
        return _constant(b, op) if _is_constant(op) else None

    def concerns(op: Op) -> bool:
        return op.schema is fp_to_fp or _is_constant(op) or (amd and op.schema.name in _NOT_AMDS)

    return expand(module, rule, concerns)


def _used_apart(module: Module) -> frozenset[Op]:
    """Conversions to 8-bit floats whose results go to several operations that are no conversions.

    Equal ones count as one, which they are after Triton's passes.
    """
    users: dict[tuple[Value, Type, object], int] = defaultdict(int)
    made: list[tuple[Op, tuple[Value, Type, object]]] = []
    for function in module.functions:
        for value, places in uses(function).items():
            op = value.op
            if op is None or op.schema is not fp_to_fp or dtype_of(value.type).kind != "float8":
                continue
            alike = (op.operands[0], value.type, op.attrs.get("rounding"))
            users[alike] += sum(user.schema is not fp_to_fp for user, _ in places)
            made.append((op, alike))
    return frozenset(op for op, alike in made if users[alike] > 1)


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
