"""What dtypes say of themselves, under Triton's names: `x.dtype.is_fp16()`, `x.dtype.primitive_bitwidth`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from teeny.ir.dtype import DType

T = TypeVar("T")


class _Own:
    """The dtype itself."""

    def __get__(self, instance: object, owner: type[T]) -> type[T]:
        return owner


class _Number:
    """A number that a leaf has."""

    def __init__(self, of: Callable[[DType], int]) -> None:
        self.of = of

    def __get__(self, instance: object, owner: type[Any]) -> int:
        leaf = getattr(owner, "ir", None)
        if not isinstance(leaf, DType):
            raise AttributeError(f"{owner.__name__} stands for several dtypes")
        return self.of(leaf)


class Asked:
    """The questions. Of a type variable each is a condition, or a number, that the dtype passed decides."""

    ir: ClassVar[DType]
    element_ty = _Own()
    """The dtype itself. In Triton the dtype of a pointer is a pointer type, of which this is the pointee; here it is
    the pointee already."""
    scalar = _Own()
    """The dtype itself, as of Triton's block types."""
    primitive_bitwidth = _Number(lambda leaf: leaf.bits)
    """Bits of an element: 1 for bool."""
    int_bitwidth = primitive_bitwidth
    itemsize = _Number(lambda leaf: leaf.bytes)
    """Bytes that an element takes in memory."""

    @classmethod
    def is_floating(cls) -> bool:
        """A float, of 8 bits too."""
        return cls.ir.kind in ("float", "float8")

    @classmethod
    def is_standard_floating(cls) -> bool:
        """f16, bf16, f32 or f64."""
        return cls.ir.kind == "float"

    @classmethod
    def is_int(cls) -> bool:
        """An integer or bool."""
        return cls.ir.kind in ("signed", "unsigned", "bool")

    @classmethod
    def is_int_signed(cls) -> bool:
        return cls.ir.kind == "signed"

    @classmethod
    def is_int_unsigned(cls) -> bool:
        """u8 to u64, or bool."""
        return cls.ir.kind in ("unsigned", "bool")

    @classmethod
    def is_bool(cls) -> bool:
        return cls.ir.kind == "bool"

    @classmethod
    def is_int1(cls) -> bool:
        return cls.ir.kind == "bool"

    @classmethod
    def is_int8(cls) -> bool:
        return cls.ir.name == "i8"

    @classmethod
    def is_int16(cls) -> bool:
        return cls.ir.name == "i16"

    @classmethod
    def is_int32(cls) -> bool:
        return cls.ir.name == "i32"

    @classmethod
    def is_int64(cls) -> bool:
        return cls.ir.name == "i64"

    @classmethod
    def is_uint8(cls) -> bool:
        return cls.ir.name == "u8"

    @classmethod
    def is_uint16(cls) -> bool:
        return cls.ir.name == "u16"

    @classmethod
    def is_uint32(cls) -> bool:
        return cls.ir.name == "u32"

    @classmethod
    def is_uint64(cls) -> bool:
        return cls.ir.name == "u64"

    @classmethod
    def is_fp16(cls) -> bool:
        return cls.ir.name == "f16"

    @classmethod
    def is_bf16(cls) -> bool:
        return cls.ir.name == "bf16"

    @classmethod
    def is_fp32(cls) -> bool:
        return cls.ir.name == "f32"

    @classmethod
    def is_fp64(cls) -> bool:
        return cls.ir.name == "f64"

    @classmethod
    def is_fp8(cls) -> bool:
        """An 8-bit float of any kind."""
        return cls.ir.kind == "float8"

    @classmethod
    def is_fp8e4nv(cls) -> bool:
        return cls.ir.name == "f8e4m3"

    @classmethod
    def is_fp8e5(cls) -> bool:
        return cls.ir.name == "f8e5m2"

    @classmethod
    def is_fp8e4b8(cls) -> bool:
        return cls.ir.name == "f8e4m3fnuz"

    @classmethod
    def is_fp8e5b16(cls) -> bool:
        return cls.ir.name == "f8e5m2fnuz"

    @classmethod
    def is_ptr(cls) -> bool:
        """Of `x.dtype` and `x.type` in a kernel: whether x is a pointer. A dtype alone is none."""
        return False

    @classmethod
    def is_block(cls) -> bool:
        """Of `x.dtype` and `x.type` in a kernel: whether x has axes. A dtype alone has none."""
        return False


__all__: list[str] = []
