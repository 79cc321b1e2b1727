"""Names of Triton's language that are not here, and why."""

from __future__ import annotations

import re

LACKING: dict[str, str] = {
    "aggregate_replace": "aggregates of fields are tuples here: build a new one, (first, new, *rest)",
    "block_type": "the type of a block is written tl.Tensor[dtype], and its sizes are in its .shape",
    "const": "pointers to constant data are written tl.Ptr[dtype] like others",
    "constexpr_type": "a compile-time value is written tl.Const[type]",
    "dtype": "a dtype as a value has the type type[tl.Dtype]; one by its name is a Const parameter of that type",
    "expect_zero": "write tl.device_assert((x == 0) | ~mask)",
    "float8e4b15": "no GPU that teeny compiles for computes with it, and NumPy has no such dtype; use tl.float8e4nv",
    "pi32_t": "the type of a pointer is written tl.Ptr[tl.i32]",
    "slice": "write the colon itself: x[:, None]",
    "str_to_ty": 'a dtype is a Const parameter, tl.Const[type[tl.Float]], and takes names too: D="f32"',
    "tensor_descriptor": "the type of a descriptor is written tl.TensorDescriptor[dtype]",
    "tensor_descriptor_type": "the type of a descriptor is written tl.TensorDescriptor[dtype]",
    "tuple_type": "the type of a tuple is Python's own, tuple[tl.Tensor[tl.f32], ...]",
    "void": "an absent pointer is None: x_ptr: tl.Ptr[D] | None",
}
"""Names that `triton.language` has and teeny.language has not, and what is written instead."""

_LIBDEVICE = "what libdevice has is in `tl` and `tl.math`, under the same names"
INSTEAD: dict[str, str] = {
    "libdevice": _LIBDEVICE,
    "target_info": "pass what depends on the target as a Const parameter",
    "async_task": "write the statements without it; `tl.range(..., warp_specialize=True)` shares work between warps",
}
"""Names under which Triton has what belongs to one target: what to write instead."""
ONE_TARGET = f"{_LIBDEVICE}; an instruction of one kind of GPU is written with tl.inline_asm_elementwise"
"""The same for all of `tl.extra` but libdevice."""

_SPECIAL = frozenset((
    "byte_perm", "hadd", "hiloint2double", "ilogb", "jn", "logb", "mul24", "norm3d", "norm4d", "remainder", "rhadd",
    "rhypot", "rnorm3d", "rnorm4d", "rsqrt_rn", "sad", "yn",
))  # fmt: skip


def library_instead(name: str) -> str:
    """What to write instead of a function of Triton's libdevice that is not here; empty for what is none."""
    if re.fullmatch(r"\w+2\w+_r[nzdu]|double2(?:lo|hi)int", name):
        return "convert with .to(dtype), a float to an integer after rint, floor, ceil or trunc"
    if re.fullmatch(r"(?:add|sub|mul|div|fma|rcp|sqrt)_r[zdu]|rcp64h", name):
        return "arithmetic rounds to nearest here, on every target"
    if name == "scalbn":
        return "it is ldexp"
    return "write it with the functions that there are, or define it: docs/extending.md" if name in _SPECIAL else ""
