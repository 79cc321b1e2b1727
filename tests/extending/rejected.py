"""What a type checker and the compiler refuse of `softsign`: each line marked, and no other."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from tests.extending.softsign import composed, softsign

N = TypeVar("N", bound=tl.Num)


@tn.kernel
def of_integers(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.f32]) -> None:
    x = tl.load(x_ptr)
    tl.store(y_ptr, softsign(x))  # BAD


@tn.kernel
def of_any_number(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N]) -> None:
    tl.store(y_ptr, softsign(tl.load(x_ptr)))  # BAD


@tn.kernel
def of_another_dtype(x_ptr: tl.Ptr[tl.f16], y_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(y_ptr, softsign(tl.load(x_ptr)))  # BAD


@tn.kernel
def of_nothing(y_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(y_ptr, softsign())  # BAD


@tn.kernel
def composed_of_integers(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(y_ptr, composed(tl.load(x_ptr)))  # BAD
