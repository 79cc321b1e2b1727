"""The total order in which tiles are sorted, as an order of signed integers: keys.

-0 comes before 0, and a NaN, of either sign, after everything else. Floats are their bits with the magnitude of
negative ones turned round; integers without sign have their first bit changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType
from teeny.ir.schema import dtype_of
from teeny.ops.bitcast import reinterpret
from teeny.ops.bits import andi, shrsi, xori
from teeny.ops.compare import cmpf, select
from teeny.ops.constant import constant
from teeny.ops.hypercube import as_integers

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.lanes import Lane, LaneBuilder


def largest(bits: int) -> int:
    """The largest key; of floats also the bits of a NaN."""
    return (1 << (bits - 1)) - 1


# In the IR


def key_of(b: Builder, value: Value, *, unsigned: bool) -> Value:
    """The keys of a tile."""
    dtype = dtype_of(value.type)
    found = as_integers(b, value)
    if dtype.kind != "float":
        return b.create(xori, found, constant(b, found.type, -1 - largest(dtype.bits))) if unsigned else found
    nan = b.create(cmpf, value, value, predicate="uno")
    return b.create(select, nan, constant(b, found.type, largest(dtype.bits)), _turned(b, found))


def value_of(b: Builder, keys: Value, dtype: DType, *, unsigned: bool) -> Value:
    """The tile of a dtype that has these keys."""
    if dtype.kind != "float":
        return b.create(xori, keys, constant(b, keys.type, -1 - largest(dtype.bits))) if unsigned else keys
    return reinterpret(b, _turned(b, keys), dtype)


def _turned(b: Builder, bits: Value) -> Value:
    """Bits with the magnitude of negative numbers turned round: its own inverse."""
    width = dtype_of(bits.type).bits
    sign = b.create(shrsi, bits, constant(b, bits.type, width - 1))
    return b.create(xori, bits, b.create(andi, sign, constant(b, bits.type, largest(width))))


# In NumPy


def numpy_key(np: Any, x: Any, *, unsigned: bool) -> Any:
    """The keys of an array."""
    bits = 8 * x.dtype.itemsize
    whole = np.dtype(f"i{x.dtype.itemsize}")
    if x.dtype.kind == "i":
        return x ^ np.asarray(-1 - largest(bits), whole) if unsigned else x
    found = np.ascontiguousarray(x).view(whole).reshape(x.shape)
    return np.where(np.isnan(x), np.asarray(largest(bits), whole), _numpy_turned(np, found))


def numpy_value(np: Any, keys: Any, dtype: Any, *, unsigned: bool) -> Any:
    """The array of a NumPy dtype that has these keys."""
    if dtype.kind == "i":
        return numpy_key(np, keys, unsigned=unsigned)
    return np.ascontiguousarray(_numpy_turned(np, keys)).view(dtype).reshape(keys.shape)


def _numpy_turned(np: Any, bits: Any) -> Any:
    width = 8 * bits.dtype.itemsize
    return bits ^ ((bits >> np.asarray(width - 1, bits.dtype)) & np.asarray(largest(width), bits.dtype))


# On the CPU


def lane_key(b: LaneBuilder, x: Lane, whole: str, *, unsigned: bool) -> Lane:
    """The keys of lanes; `whole` names the integer of their size."""
    bits = int(whole[1:])
    if x.dtype == whole:
        return b.xor(x, b.const(whole, -1 - largest(bits))) if unsigned else x
    turned = _lane_turned(b, b.bitcast(x, whole))
    return b.select(b.fcmp("uno", x, x), b.const(whole, largest(bits)), turned)


def lane_value(b: LaneBuilder, key: Lane, dtype: str, *, unsigned: bool) -> Lane:
    """The lanes of a dtype that have these keys."""
    if key.dtype == dtype:
        return lane_key(b, key, dtype, unsigned=unsigned)
    return b.bitcast(_lane_turned(b, key), dtype)


def _lane_turned(b: LaneBuilder, bits: Lane) -> Lane:
    width = int(bits.dtype[1:])
    sign = b.ashr(bits, b.const(bits.dtype, width - 1))
    return b.xor(bits, b.and_(sign, b.const(bits.dtype, largest(width))))
