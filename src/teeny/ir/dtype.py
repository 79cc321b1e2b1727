"""Data types as interned values.

A `DType` is a leaf (`f32`) or a type variable of a generic kernel (`D`, with the set of leaves it may stand for).
Equal means identical. The members of a dtype are a bit mask, so a bound check is one `&`.

MLIR integers have no sign: `storage` maps `u32` to `i32`. Signedness lives in the language and picks the operation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["bool", "signed", "unsigned", "float", "float8", "variable"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """A leaf dtype, or a type variable (`kind == "variable"`, `bits == 0`)."""

    name: str
    kind: Kind
    bits: int
    mask: int
    mlir: str
    bound: str = ""

    @property
    def is_variable(self) -> bool:
        return self.kind == "variable"

    @property
    def bytes(self) -> int:
        """Bytes an element takes in memory (a bool takes one)."""
        return max(1, self.bits // 8)

    def within(self, mask: int) -> bool:
        """Whether every leaf this dtype may stand for lies in `mask`."""
        return not self.mask & ~mask

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


def _leaves() -> dict[str, DType]:
    rows: tuple[tuple[str, Kind, int, str], ...] = (
        ("bool", "bool", 1, "i1"),
        ("i8", "signed", 8, "i8"), ("i16", "signed", 16, "i16"),
        ("i32", "signed", 32, "i32"), ("i64", "signed", 64, "i64"),
        ("u8", "unsigned", 8, "i8"), ("u16", "unsigned", 16, "i16"),
        ("u32", "unsigned", 32, "i32"), ("u64", "unsigned", 64, "i64"),
        ("f16", "float", 16, "f16"), ("bf16", "float", 16, "bf16"), ("f32", "float", 32, "f32"),
        ("f64", "float", 64, "f64"),
        ("f8e4m3", "float8", 8, "f8E4M3FN"), ("f8e5m2", "float8", 8, "f8E5M2"),
        ("f8e4m3fnuz", "float8", 8, "f8E4M3FNUZ"), ("f8e5m2fnuz", "float8", 8, "f8E5M2FNUZ"),
    )  # fmt: skip
    return {row[0]: DType(row[0], row[1], row[2], 1 << at, row[3]) for at, row in enumerate(rows)}


LEAVES: dict[str, DType] = _leaves()
BOOL = LEAVES["bool"]
I8, I16, I32, I64 = (LEAVES[n] for n in ("i8", "i16", "i32", "i64"))
U8, U16, U32, U64 = (LEAVES[n] for n in ("u8", "u16", "u32", "u64"))
F16, BF16, F32, F64 = (LEAVES[n] for n in ("f16", "bf16", "f32", "f64"))


def _mask(*kinds: str) -> int:
    mask = 0
    for leaf in LEAVES.values():
        if leaf.kind in kinds:
            mask |= leaf.mask
    return mask


SIGNED, UNSIGNED, FLOAT, FLOAT8 = _mask("signed"), _mask("unsigned"), _mask("float"), _mask("float8")
INT = SIGNED | UNSIGNED
NUM = INT | FLOAT
BOOLEAN = BOOL.mask
ALL = NUM | BOOLEAN | FLOAT8
CLASSES: dict[str, int] = {
    "Dtype": ALL, "Num": NUM, "Int": INT, "Signed": SIGNED, "Unsigned": UNSIGNED, "Float": FLOAT, "Float8": FLOAT8,
    "Bool": BOOLEAN, "Bits": INT | BOOLEAN,
}  # fmt: skip

ANY = DType("?", "variable", 0, 0, "?")  # the dtype after a fault: its empty mask lies within every bound
_variables: dict[tuple[str, int], DType] = {}


def variable(name: str, mask: int, bound: str = "") -> DType:
    """The type variable `name` that may stand for the leaves in `mask`; `bound` is the class's name for messages."""
    key = (name, mask)
    found = _variables.get(key)
    if found is None:
        found = _variables[key] = DType(name, "variable", 0, mask, f"!{name}", bound)
    return found


def bound_of(mask: int) -> str:
    """The class of these leaves, or their names, for messages."""
    named = next((name for name, leaves in CLASSES.items() if leaves == mask), None)
    return named or " or ".join(leaf.name for leaf in LEAVES.values() if leaf.mask & mask)


def members(dtype: DType) -> tuple[DType, ...]:
    """The leaves a dtype may stand for, in the table's order."""
    return tuple(leaf for leaf in LEAVES.values() if leaf.mask & dtype.mask)


_STORAGE = {leaf: LEAVES["i" + leaf.name[1:]] for leaf in LEAVES.values() if leaf.kind == "unsigned"}


def storage(dtype: DType) -> DType:
    """The signless dtype the IR carries: `u32` -> `i32`, everything else itself."""
    return _STORAGE.get(dtype, dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer leaf."""
    if dtype.kind == "unsigned":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1


_FORMATS = {F16: (11, 15), BF16: (8, 127), F32: (24, 127), F64: (53, 1023)}
"""By float leaf: the bits of its significand, and the exponent of its largest numbers."""


_LARGEST8 = {"f8e4m3": 448.0, "f8e5m2": 57344.0, "f8e4m3fnuz": 240.0, "f8e5m2fnuz": 57344.0}


def largest(dtype: DType) -> float:
    """The largest finite number of a float leaf."""
    if dtype.kind == "float8":
        return _LARGEST8[dtype.name]
    digits, exponent = _FORMATS[dtype]
    return float(((1 << digits) - 1) << (exponent - digits + 1))


def holds(dtype: DType, value: float) -> bool:
    """Whether a number is in the range of a leaf: for floats, whether a finite one stays finite when it is rounded."""
    if dtype.kind == "float":
        digits, exponent = _FORMATS[dtype]
        limit = ((1 << (digits + 1)) - 1) << (exponent - digits)  # half a unit beyond the largest number
        return abs(value) < limit or (isinstance(value, float) and not math.isfinite(value))
    if dtype.kind == "float8":  # conversions saturate, literals do not; f8e5m2 alone has infinities
        return not abs(value) > _LARGEST8[dtype.name] or (math.isinf(value) and dtype.name == "f8e5m2")
    if dtype.kind in ("signed", "unsigned"):
        low, high = integer_range(dtype)
        return low <= value <= high
    return True
