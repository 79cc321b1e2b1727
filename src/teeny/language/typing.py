"""The names that signatures are written with. Imported for type checkers alone: signatures are read as text."""

from teeny.language.dtypes import bool_, f32, i8, i32, i64
from teeny.language.tensor import B, Const, D, E, F, I, N, Ptr, S, Scalar, Tensor

__all__ = ["B", "Const", "D", "E", "F", "I", "N", "Ptr", "S", "Scalar", "Tensor", "bool_", "f32", "i8", "i32", "i64"]
