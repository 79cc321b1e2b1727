"""The slots of a launch: what of tuples, descriptors and plain arguments a compiled kernel is passed, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["Slot", "slots_of"]


@dataclass(frozen=True, slots=True)
class Slot:
    """`name` is how messages call it (`x`, `pair[1]`, `desc.shape[0]`), `type` Triton's type of it."""

    name: str
    type: str
    value: Any


def slots_of(name: str, type_: Any, value: Any) -> Iterator[Slot]:
    """The slots of one argument of a Triton type; a tuple's type is a tuple.

    A descriptor of the host is its pointer, sizes, strides, whether padding is NaN, and a bit that CPUs do not need;
    then sizes and strides again, as `descriptors.made_inside` and Triton have them.
    """
    if isinstance(type_, tuple):
        for at, (one, part) in enumerate(zip(cast("tuple[Any, ...]", type_), value, strict=True)):
            yield from slots_of(f"{name}[{at}]", one, part)
    elif type_ == "constexpr":
        return
    elif type_.startswith("tensordesc"):
        yield Slot(name, f"*{type_[type_.index('<') + 1 : type_.index('[')]}", value.base)
        yield from _numbers(f"{name}.shape", value.shape)
        yield from _numbers(f"{name}.strides", value.strides)
        yield Slot(f"{name}.padding", "i1", getattr(value, "padding", "zero") == "nan")
        yield Slot(f"{name}.rounding", "i1", False)
        yield from _numbers(f"{name}.size", value.shape)
        yield from _numbers(f"{name}.stride", value.strides)
    else:
        yield Slot(name, type_, value)


def _numbers(name: str, values: Sequence[Any]) -> Iterator[Slot]:
    for at, value in enumerate(values):
        yield Slot(f"{name}[{at}]", "i64", int(value))
