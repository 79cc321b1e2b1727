"""Names of Triton's language that this version lacks."""

from __future__ import annotations

LACKING = frozenset((
    "PropagateNan", "add", "atomic_add", "atomic_and",
    "atomic_cas", "atomic_load", "atomic_max", "atomic_min", "atomic_or", "atomic_poll", "atomic_store",
    "atomic_xchg", "atomic_xor", "bitonic_merge", "block_type", "broadcast", "cat", "condition", "const",
    "constexpr", "constexpr_type",
    "dot_scaled", "dtype", "flip", "float8e4b15", "gather",
    "histogram", "interleave", "join", "load_tensor_descriptor", "make_block_ptr",
    "make_tensor_descriptor", "mul",
    "pair_uniform_to_normal", "permute", "philox", "pi32_t", "pointer_type", "rand", "rand4x", "randint",
    "randint4x", "randn", "randn4x", "ravel", "softmax", "sort", "split", "squeeze",
    "store_tensor_descriptor", "sub", "swizzle2d", "tensor_descriptor", "tensor_descriptor_type",
    "to_tensor", "topk", "tuple", "tuple_type", "uint_to_uniform_float", "unsqueeze", "view", "void",
    "zeros_like",
))  # fmt: skip
"""Names that `triton.language` has. One that teeny.language has too is found there first."""
