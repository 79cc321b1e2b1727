"""Names of Triton's language that this version lacks."""

from __future__ import annotations

LACKING = frozenset((
    "block_type", "const", "constexpr_type",
    "dtype", "float8e4b15", "gather",
    "pi32_t",
    "tensor_descriptor", "tensor_descriptor_type",
    "tuple_type", "void",
))  # fmt: skip
"""Names that `triton.language` has. One that teeny.language has too is found there first."""

_LIBDEVICE = "what libdevice has is in `tl` and `tl.math`, under the same names"
INSTEAD: dict[str, str] = {
    "extra": f"{_LIBDEVICE}; an instruction of one kind of GPU is written with tl.inline_asm_elementwise",
    "libdevice": _LIBDEVICE,
    "target_info": "pass what depends on the target as a Const parameter",
    "async_task": "write the statements without it; `tl.range(..., warp_specialize=True)` shares work between warps",
}
"""Names under which Triton has what belongs to one target: what to write instead."""
