"""Names of Triton's language that this version lacks."""

from __future__ import annotations

LACKING = frozenset((
    "PropagateNan", "bitonic_merge", "block_type", "const", "constexpr_type",
    "dot_scaled", "dtype", "float8e4b15", "gather", "histogram",
    "load_tensor_descriptor", "make_tensor_descriptor", "pi32_t", "pointer_type", "softmax", "sort",
    "store_tensor_descriptor", "swizzle2d", "tensor_descriptor", "tensor_descriptor_type",
    "topk", "tuple_type", "void",
))  # fmt: skip
"""Names that `triton.language` has. One that teeny.language has too is found there first."""
