"""The kernels whose results are measured: a function of the language on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)


@tn.kernel
def of_one(
    x: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], function: tl.Const[Callable[..., Any]], BLOCK: tl.Const[int]
) -> None:
    """out = function(x), of n elements."""
    tl.extent(x, n)
    tl.extent(out, n)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, function(tl.load(x + at, inside)), inside)


@tn.kernel
def of_two(
    x: tl.Ptr[F],
    y: tl.Ptr[F],
    out: tl.Ptr[F],
    n: tl.Scalar[tl.i32],
    function: tl.Const[Callable[..., Any]],
    BLOCK: tl.Const[int],
) -> None:
    """out = function(x, y), of n elements."""
    tl.extent(x, n)
    tl.extent(y, n)
    tl.extent(out, n)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, function(tl.load(x + at, inside), tl.load(y + at, inside)), inside)
