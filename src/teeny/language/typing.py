"""The names that signatures are written with. Imported for type checkers alone: signatures are read as text."""

from teeny.language.dtypes import bool_, f16, f32, f64, i8, i32, i64, u8, u32, u64
from teeny.language.tensor import (
    B,
    BlockPtr,
    Const,
    D,
    E,
    F,
    I,
    J,
    N,
    P,
    Ptr,
    Q,
    S,
    Scalar,
    Size,
    Tensor,
    TensorDescriptor,
    Whole,
    X,
    Y,
)

__all__ = [
    "B", "BlockPtr", "Const", "D", "E", "F", "I", "J", "N", "P", "Ptr", "Q", "S", "Scalar", "Size", "Tensor",
    "TensorDescriptor", "Whole", "X", "Y",
    "bool_", "f16", "f32", "f64", "i8", "i32", "i64", "u8", "u32", "u64",
]  # fmt: skip
