"""New axes by an index. And `Tensor` and `Ptr`, whose operators and methods are functions under other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, overload

import teeny.language as tl
from teeny.language.dtypes import Bits, Bool, Dtype, Float, Float8, Int, Num, bool_, i32, i64
from teeny.ops import (
    arith,
    atomic,
    atomic_access,
    bits,
    block_pointer,
    cast,
    combine,
    compare,
    descriptor,
    division,
    memory,
    pointer,
    reduce,
    scan,
)
from teeny.ops import flip as flips
from teeny.ops import gather as gathers
from teeny.ops import histogram as histograms
from teeny.ops import join as joins
from teeny.ops import math as functions
from teeny.ops import shape as shapes
from teeny.ops import sort as sorts
from teeny.ops.function import language

__all__ = ["BlockPtr", "Const", "Ptr", "Scalar", "Tensor", "TensorDescriptor"]

D = TypeVar("D", bound=Dtype)
E = TypeVar("E", bound=Dtype)
S = TypeVar("S", bound=Num | Bool)
N = TypeVar("N", bound=Num)
I = TypeVar("I", bound=Int)
J = TypeVar("J", bound=Int)
F = TypeVar("F", bound=Float)
B = TypeVar("B", bound=Bits)
Q = TypeVar("Q", bound=Float8)
P = TypeVar("P", bound=Float8)
X = TypeVar("X", bound="Dtype | Ptr[Any]")
Y = TypeVar("Y", bound="Dtype | Ptr[Any]")
T = TypeVar("T")
Const = Annotated[T, "compile-time"]
Index = slice | None | tuple[slice | None, ...]


@language(construct="index", symbol="[]")
def expand(x: Tensor[D], index: Index) -> Tensor[D]:
    """x with new axes: `x[:, None]` adds one at the end; `:` keeps an axis."""
    ...


@language(construct="index", symbol="[]")
def expand_ptr(ptr: Ptr[X], index: Index) -> Ptr[X]:
    """A block of pointers with new axes."""
    ...


class Transposition:
    """The attribute `x.T`: a tile of two axes with its axes swapped."""

    function = (shapes.transposed,)

    def __get__(self, x: Tensor[E], owner: object = None) -> Tensor[E]:
        raise AttributeError("T")


class Tensor(Generic[D]):
    """A block of lanes of one dtype; rank 0 is a scalar."""

    @property
    def dtype(self) -> type[D]:
        """The dtype, usable where a dtype is asked for: `x.to(y.dtype)`."""
        ...

    @property
    def type(self) -> type[D]:
        """The dtype, as Triton's `x.type.element_ty` and `x.type.scalar` ask for it."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes: Consts."""
        ...

    @property
    def numel(self) -> int:
        """The number of elements: a Const."""
        ...

    T = Transposition()

    def __index__(self: Tensor[I]) -> int: ...

    to = cast.cast
    __getitem__ = expand
    __add__ = __radd__ = arith.add
    __sub__ = arith.sub
    __rsub__ = arith.rsub
    __mul__ = __rmul__ = arith.mul
    __truediv__ = division.truediv
    __rtruediv__ = division.rtruediv
    __floordiv__ = division.floordiv
    __rfloordiv__ = division.rfloordiv
    __mod__ = division.mod
    __rmod__ = division.rmod
    __neg__ = arith.neg
    __pos__ = arith.pos
    __and__ = __rand__ = bits.and_
    __or__ = __ror__ = bits.or_
    __xor__ = __rxor__ = bits.xor
    __invert__ = bits.invert
    __lshift__ = bits.shl
    __rlshift__ = bits.rshl
    __rshift__ = bits.shr
    __lt__ = compare.lt
    __le__ = compare.le
    __gt__ = compare.gt
    __ge__ = compare.ge

    if TYPE_CHECKING:

        def __abs__(self: Tensor[N]) -> Tensor[N]: ...

        # `object` has these two, which keeps checkers from reading an alias: the signatures of `compare.eq` again
        @overload
        def __eq__(self: Tensor[S], other: Tensor[S] | int) -> Tensor[bool_]: ...
        @overload
        def __eq__(self: Tensor[F], other: float) -> Tensor[bool_]: ...
        @overload
        def __eq__(self: Tensor[i32], other: Tensor[i64]) -> Tensor[bool_]: ...
        @overload
        def __eq__(self: Tensor[i64], other: Tensor[i32]) -> Tensor[bool_]: ...
        def __eq__(self, other: Any) -> Any: ...

        @overload
        def __ne__(self: Tensor[S], other: Tensor[S] | int) -> Tensor[bool_]: ...
        @overload
        def __ne__(self: Tensor[F], other: float) -> Tensor[bool_]: ...
        @overload
        def __ne__(self: Tensor[i32], other: Tensor[i64]) -> Tensor[bool_]: ...
        @overload
        def __ne__(self: Tensor[i64], other: Tensor[i32]) -> Tensor[bool_]: ...
        def __ne__(self, other: Any) -> Any: ...

    else:
        __eq__ = compare.eq
        __ne__ = compare.ne

    expand_dims = shapes.expand_dims
    broadcast_to = shapes.broadcast_to
    reshape = shapes.reshape
    view = shapes.view
    ravel = shapes.ravel
    trans = shapes.trans
    permute = shapes.permute
    gather = gathers.gather
    sort = sorts.sort
    histogram = histograms.histogram
    split = joins.split
    item = joins.item
    flip = flips.flip
    sum = reduce.sum
    prod = reduce.prod
    max = reduce.max
    min = reduce.min
    argmax = reduce.argmax
    argmin = reduce.argmin
    xor_sum = reduce.xor_sum
    reduce_or = reduce.reduce_or
    cumsum = scan.cumsum
    cumprod = scan.cumprod
    reduce = combine.reduce
    associative_scan = combine.associative_scan
    exp = functions.exp
    exp2 = functions.exp2
    log = functions.log
    log2 = functions.log2
    sin = functions.sin
    cos = functions.cos
    sqrt = functions.sqrt
    sqrt_rn = functions.sqrt_rn
    rsqrt = functions.rsqrt
    erf = functions.erf
    floor = functions.floor
    ceil = functions.ceil
    abs = arith.abs
    cast = cast.cast

    def softmax(
        self: Tensor[F], dim: Const[int | None] = None, *, keep_dims: Const[bool | None] = None,
        ieee_rounding: Const[bool] = False,
    ) -> Tensor[F]:  # fmt: skip
        """`tl.softmax` of this tile."""
        return tl.softmax(self, dim, keep_dims=keep_dims, ieee_rounding=ieee_rounding)

    def sigmoid(self: Tensor[F]) -> Tensor[F]:
        """`tl.sigmoid` of this tile."""
        return tl.sigmoid(self)

    def cdiv(self: Tensor[I], div: Tensor[I] | int) -> Tensor[I]:
        """`tl.cdiv` of this tile."""
        return tl.cdiv(self, div)


Scalar = Tensor
"""A rank-0 tensor: a parameter passed by value, a program id, the result of a reduction of all axes."""


Size = Tensor[i32] | int
"""A size or offset of a descriptor: a scalar, or a Const."""
Whole = Tensor[i32] | Tensor[i64] | int
"""A size, stride or offset: a scalar, or a Const."""


class Ptr(Generic[X]):
    """A pointer to elements of one dtype, or a block of such pointers. `Ptr[Ptr[D]]` points at addresses."""

    @property
    def dtype(self) -> type[X]:
        """The dtype of what it points at."""
        ...

    @property
    def type(self) -> type[X]:
        """The dtype of what it points at, as Triton's `ptr.type.element_ty` asks for it."""
        ...

    to = cast.cast
    __add__ = __radd__ = pointer.addptr
    __sub__ = pointer.subptr
    __getitem__ = expand_ptr
    __lt__ = compare.lt
    __le__ = compare.le
    __gt__ = compare.gt
    __ge__ = compare.ge

    if TYPE_CHECKING:

        def __eq__(self, other: Ptr[X]) -> Tensor[bool_]: ...
        def __ne__(self, other: Ptr[X]) -> Tensor[bool_]: ...

    else:
        __eq__ = compare.eq
        __ne__ = compare.ne

    atomic_add = atomic.atomic_add
    atomic_max = atomic.atomic_max
    atomic_min = atomic.atomic_min
    atomic_and = atomic.atomic_and
    atomic_or = atomic.atomic_or
    atomic_xor = atomic.atomic_xor
    atomic_xchg = atomic.atomic_xchg
    atomic_cas = atomic.atomic_cas
    atomic_load = atomic_access.atomic_load
    atomic_store = atomic_access.atomic_store
    atomic_poll = atomic_access.atomic_poll
    load = memory.load
    store = memory.store


class BlockPtr(Generic[D]):
    """A pointer to a block of a strided array, from `make_block_ptr`."""

    @property
    def dtype(self) -> type[D]:
        """The dtype of what it points at."""
        ...

    advance = block_pointer.advance


class TensorDescriptor(Generic[D]):
    """An array in memory that is read and written by tiles, from `make_tensor_descriptor` or passed at the launch."""

    @property
    def dtype(self) -> type[D]:
        """The dtype of its elements."""
        ...

    @property
    def shape(self) -> tuple[Tensor[i32], ...]:
        """The sizes of the array."""
        ...

    @property
    def strides(self) -> tuple[Tensor[i64], ...]:
        """The strides of the array, in elements."""
        ...

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The sizes of a tile: Consts."""
        ...

    load = descriptor.load_tensor_descriptor
    store = descriptor.store_tensor_descriptor
    gather = descriptor.descriptor_gather
    scatter = descriptor.descriptor_scatter
    atomic_add = descriptor.descriptor_atomic_add
    atomic_min = descriptor.descriptor_atomic_min
    atomic_max = descriptor.descriptor_atomic_max
    atomic_and = descriptor.descriptor_atomic_and
    atomic_or = descriptor.descriptor_atomic_or
    atomic_xor = descriptor.descriptor_atomic_xor
