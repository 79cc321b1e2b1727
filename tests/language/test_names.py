"""Every name that kernels in Triton use is here, or is listed as lacking with the reason."""

from __future__ import annotations

from importlib import metadata
from types import ModuleType
from typing import Any

import pytest

import teeny.language as tl
from teeny.frontend.triton_names import LACKING

words = str.split
LANGUAGE = words("""
    PropagateNan abs add aggregate_replace arange argmax argmin associative_scan assume atomic_add atomic_and atomic_cas
    atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg atomic_xor bfloat16 bitonic_merge
    block_type broadcast broadcast_to cast cat cdiv ceil clamp condition const constexpr constexpr_type cos cumprod
    cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf exp exp2 expand_dims expect_zero
    extra fdiv flip float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma full
    gather histogram inline_asm_elementwise int1 int16 int32 int64 int8 interleave join load load_tensor_descriptor
    log log2 make_block_ptr make_tensor_descriptor map_elementwise math max max_constancy max_contiguous maximum min
    minimum mul multiple_of num_programs pair_uniform_to_normal permute philox philox_impl pi32_t pointer_type
    program_id rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin
    slice softmax sort split sqrt sqrt_rn squeeze static_assert static_print static_range store
    store_tensor_descriptor str_to_ty sub sum swizzle2d tensor tensor_descriptor tensor_descriptor_type to_tensor topk
    trans tuple tuple_type uint16 uint32 uint64 uint8 uint_to_uniform_float umulhi unsqueeze view void where xor_sum
    zeros zeros_like
""")
"""What `triton.language` of Triton 3.9 has, modules of its own left out; and `advance` of earlier versions."""
MATH = words("abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi")
OLDER_MATH = words("tanh pow log1p round")
"""Names that `triton.language.math` had, and kernels still use."""
LIBDEVICE = words("""
    pow tanh exp erf log1p rsqrt fast_tanhf trunc round rint fast_dividef div_rn fast_expf isfinited finitef isnan exp2
    llrint expm1 log log2 sqrt sin cos floor ceil abs atan atan2 asin isinf fmod ffs sinh cosh fast_logf fast_log2f
    float_as_int
""")
"""What kernels use of libdevice."""
TENSOR = words("""
    T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
    atomic_xchg atomic_xor broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2 expand_dims flip floor gather
    histogram item log log2 logical_and logical_or max min permute ravel reduce reduce_or reshape rsqrt sigmoid sin
    softmax sort split sqrt sqrt_rn store sum to trans view xor_sum dtype shape numel type
""")
"""Methods and attributes of tensors, pointers and block pointers."""
DTYPE = words("""
    is_fp8 is_fp64 is_fp32 is_fp16 is_bf16 is_int is_int8 is_int16 is_int32 is_int64 is_uint8 is_uint16 is_uint32
    is_uint64 is_int_signed is_int_unsigned is_floating is_ptr is_bool primitive_bitwidth itemsize element_ty scalar
""")
"""Methods and attributes of dtypes."""
OTHERWISE: dict[str, str] = {
    "Tensor.logical_and": "of bools written x & y, of scalars `x and y`",
    "Tensor.logical_or": "of bools written x | y, of scalars `x or y`",
}
"""Names of methods, attributes and libdevice that are lacking, and why."""


@pytest.mark.parametrize("name", [*LANGUAGE, "advance"])
def test_language(name: str) -> None:
    assert hasattr(tl, name) != (name in LACKING), f"tl.{name} is neither there nor listed, or it is both"


@pytest.mark.parametrize("name", [*MATH, *OLDER_MATH])
def test_math(name: str) -> None:
    assert hasattr(tl.math, name)


@pytest.mark.parametrize("name", LIBDEVICE)
def test_libdevice(name: str) -> None:
    module: Any = getattr(tl, "libdevice", tl.math)
    assert hasattr(module, name) or f"libdevice.{name}" in OTHERWISE


@pytest.mark.parametrize("name", TENSOR)
def test_methods(name: str) -> None:
    holders = (tl.Tensor, tl.Ptr, getattr(tl, "BlockPtr", tl.Ptr), getattr(tl, "tensor_descriptor", tl.Ptr))
    there = any(name in vars(holder) for holder in holders)
    assert there != (f"Tensor.{name}" in OTHERWISE)


@pytest.mark.parametrize("name", DTYPE)
def test_dtypes(name: str) -> None:
    assert hasattr(tl.f32, name) or f"dtype.{name}" in OTHERWISE


def test_reasons_are_sentences() -> None:
    for name, why in (LACKING | OTHERWISE).items():
        assert len(why) > 15, name


def test_the_table_is_that_of_the_newest_triton() -> None:
    try:
        if not metadata.version("triton").startswith("3.9."):
            pytest.skip("the table is that of Triton 3.9")
    except metadata.PackageNotFoundError:
        pytest.skip("needs Triton")
    import triton.language as theirs

    modules = {name for name in dir(theirs) if isinstance(getattr(theirs, name), ModuleType)} - {"math", "extra"}
    public = {name for name in dir(theirs) if not name.startswith("_") and not name.isupper()} - modules
    assert public - {"TRITON_MAX_TENSOR_NUMEL"} == set(LANGUAGE)
