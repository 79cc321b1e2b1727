"""Rules on lanes evaluated on arrays of NumPy: the meaning of functions that are defined by how they are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Block
from teeny.ir.dtype import LEAVES, DType
from teeny.ir.lanes import Lane
from teeny.ir.schema import registry
from teeny.ir.types import Type
from teeny.ops.vocabulary import numpy_dtype
from teeny.ops.written import Lanes

__all__ = ["evaluated"]

_NAMES = {"i1": LEAVES["bool"], **{d.mlir: d for d in LEAVES.values() if d.kind in ("signed", "float")}}


def evaluated(rule: Callable[..., Lane]) -> Callable[..., Any]:
    """`(np, *arrays) -> array` for a rule on lanes."""

    def meaning(np: Any, *arrays: Any) -> Any:
        given = np.broadcast_arrays(*arrays)
        lanes = _Arrays(np, given[0].shape)
        with np.errstate(all="ignore"):
            return lanes.array(rule(lanes, *map(lanes.of, given)))

    return meaning


@dataclass(slots=True)
class _Result:
    type: Type


@dataclass(slots=True)
class _Op:
    """As much of an operation as the meanings in the registry ask for."""

    attrs: dict[str, Any]
    results: tuple[_Result, ...]


class _Arrays(Lanes):
    """A `LaneBuilder` that computes at once."""

    def __init__(self, np: Any, shape: tuple[int, ...]) -> None:
        super().__init__(Builder(Block(())), ())
        self._np = np
        self._numbers = shape
        self._arrays: dict[Lane, Any] = {}
        self._dtypes = {numpy_dtype(np, d): name for name, d in _NAMES.items()}

    def of(self, array: Any) -> Lane:
        """An array as a lane."""
        made = Lane("", self._dtypes[array.dtype], 1, self._place)
        self._arrays[made] = array
        return made

    def array(self, lane: Lane) -> Any:
        """The array of a lane."""
        found = self._arrays.get(lane)
        if found is None:
            found = self._arrays[lane] = self._constant(_NAMES[lane.dtype], lane.const)
        return found

    def _constant(self, dtype: DType, value: Any) -> Any:
        np, kind = self._np, numpy_dtype(self._np, dtype)
        if dtype.kind != "signed":
            return np.full(self._numbers, value, kind)
        bits = np.full(self._numbers, int(value) % (1 << dtype.bits), f"u{kind.itemsize}")
        return bits.view(kind)

    def _make(self, name: str, *lanes: Lane, to: str | None = None, **attrs: Any) -> Lane:
        schema: Any = registry()[name]
        result = _Result(_NAMES[to] if to is not None else _NAMES[lanes[0].dtype])
        return self.of(self._np.asarray(schema.numpy(self._np, _Op(attrs, (result,)), *map(self.array, lanes))))

    def bitcast(self, a: Lane, dtype: str, /) -> Lane:
        return a if a.dtype == dtype else self.of(self.array(a).view(numpy_dtype(self._np, _NAMES[dtype])))
