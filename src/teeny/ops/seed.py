"""The seed of random numbers as the bits that the generator takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import U64, DType, storage
from teeny.ir.types import typed
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, I, Tensor, u64

__all__ = ["philox_key"]


def _shape(s: Shapes, seed: Any) -> tuple[Dim, ...]:
    return seed.shape if isinstance(seed, Operand) else ()


def _emit(b: Builder, shape: tuple[Dim, ...], dtype: Any, seed: Any) -> Value:
    if not isinstance(seed, Operand):
        return constant(b, typed((), storage(U64)), seed)
    assert isinstance(seed.dtype, DType)
    return convert(b, seed.value, seed.dtype, U64)


@overload
def philox_key(seed: Tensor[I]) -> Tensor[u64]: ...
@overload
def philox_key(seed: Const[int]) -> Tensor[u64]: ...
@language(_emit, shape=_shape, shapes="The result has the shape of the seed; a Const gives a scalar.", triton=None)
def philox_key(seed: Any) -> Any:
    """The 64 bits of a seed: an integer of any dtype, extended by its sign, or a Const."""
    ...
