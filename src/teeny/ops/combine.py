"""Functions of the language that take a function: reductions and scans by any combiner, and maps over elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from teeny.ops.function import language

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.language.typing import Const, D, E, S, Tensor

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["associative_scan", "map_elementwise", "reduce"]

_REDUCED = "Tensors of one shape; of the results the shape without `axis`, or with size 1 there for `keep_dims`."


@overload
def reduce(
    input: Tensor[D], axis: Const[int | None], combine_fn: Callable[[Tensor[D], Tensor[D]], Tensor[D]],
    keep_dims: Const[bool] = False,
) -> Tensor[D]: ...  # fmt: skip
@overload
def reduce(
    input: tuple[Tensor[D], Tensor[E]], axis: Const[int | None],
    combine_fn: Callable[[Tensor[D], Tensor[E], Tensor[D], Tensor[E]], tuple[Tensor[D], Tensor[E]]],
    keep_dims: Const[bool] = False,
) -> tuple[Tensor[D], Tensor[E]]: ...  # fmt: skip
@overload
def reduce(
    input: tuple[Tensor[D], Tensor[E], Tensor[S]], axis: Const[int | None],
    combine_fn: Callable[
        [Tensor[D], Tensor[E], Tensor[S], Tensor[D], Tensor[E], Tensor[S]], tuple[Tensor[D], Tensor[E], Tensor[S]]
    ],
    keep_dims: Const[bool] = False,
) -> tuple[Tensor[D], Tensor[E], Tensor[S]]: ...  # fmt: skip
@overload
def reduce(
    input: tuple[Tensor[D], ...], axis: Const[int | None], combine_fn: Callable[..., tuple[Tensor[D], ...]],
    keep_dims: Const[bool] = False,
) -> tuple[Tensor[D], ...]: ...  # fmt: skip
@language(construct="reduce", shapes=_REDUCED)
def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
    """The reduction along `axis` (of all elements with `axis=None`) by a function that joins two elements.

    `combine_fn(a, b)` takes scalars and gives one of the same dtype (T014); of a tuple of n tensors it takes the n
    scalars so far, then the n next ones, and gives a tuple of n. It should be associative, since elements are not taken
    in order; it cannot read or write memory. Nothing is widened: f16 is joined in f16.
    """
    ...


@overload
def associative_scan(
    input: Tensor[D], axis: Const[int], combine_fn: Callable[[Tensor[D], Tensor[D]], Tensor[D]],
    reverse: Const[bool] = False,
) -> Tensor[D]: ...  # fmt: skip
@overload
def associative_scan(
    input: tuple[Tensor[D], Tensor[E]], axis: Const[int],
    combine_fn: Callable[[Tensor[D], Tensor[E], Tensor[D], Tensor[E]], tuple[Tensor[D], Tensor[E]]],
    reverse: Const[bool] = False,
) -> tuple[Tensor[D], Tensor[E]]: ...  # fmt: skip
@overload
def associative_scan(
    input: tuple[Tensor[D], Tensor[E], Tensor[S]], axis: Const[int],
    combine_fn: Callable[
        [Tensor[D], Tensor[E], Tensor[S], Tensor[D], Tensor[E], Tensor[S]], tuple[Tensor[D], Tensor[E], Tensor[S]]
    ],
    reverse: Const[bool] = False,
) -> tuple[Tensor[D], Tensor[E], Tensor[S]]: ...  # fmt: skip
@overload
def associative_scan(
    input: tuple[Tensor[D], ...], axis: Const[int], combine_fn: Callable[..., tuple[Tensor[D], ...]],
    reverse: Const[bool] = False,
) -> tuple[Tensor[D], ...]: ...  # fmt: skip
@language(construct="associative_scan", shapes="Tensors of one shape, which the results have too.")
def associative_scan(input: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
    """Each element becomes the reduction of all up to it along `axis`, with `reverse` of all from the last down to it.

    `combine_fn` is as for `reduce`: it gets the result so far and then the next element.
    """
    ...


if TYPE_CHECKING:
    # the signature below cannot say that the arguments are what the function takes, nor that the result is its own

    @overload
    def map_elementwise(scalar_fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def map_elementwise(scalar_fn: Callable[..., Any], *args: Tensor[Any] | float, pack: Const[int]) -> Any: ...
    def map_elementwise(scalar_fn: Any, *args: Any, **named: Any) -> Any: ...

else:

    @language(
        construct="map_elementwise",
        shapes="Arguments broadcast together; each result has their common shape.",
        differs="Triton decides branches element by element; here both sides are computed, and chosen from. Which "
        "elements are packed together depends on the layout there.",
    )
    def map_elementwise(scalar_fn: Callable[..., Any], *args: Tensor[Any] | float, pack: Const[int] = 1) -> Any:
        """`scalar_fn` of each element of the arguments: a function of scalars with branches and loops in it.

        It gives a scalar or a tuple of scalars, and cannot read or write memory. With a `pack`, a power of two (S002)
        that the last axis has (S004), it takes as many neighbours of each tensor at once, and gives as many a result.
        """
        ...
