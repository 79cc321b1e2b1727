"""A small kernel whose body is the same text in Triton and here, with its arrays and what may differ."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import spelled
from tests.language.values import FLOATS, inputs, random


def whole(dtype: str, count: int, seed: int) -> Any:
    """Small whole numbers, of which sums and products are exact in every order."""
    low = 0 if dtype.startswith("u") or dtype == "bool" else -8
    high = 2 if dtype == "bool" else 9
    return np.random.default_rng([seed, count]).integers(low, high, count).astype(DTYPES[dtype])


def positive(dtype: str, count: int, seed: int) -> Any:
    """From 1 on."""
    return np.random.default_rng([seed, count]).integers(1, 30, count).astype(DTYPES[dtype])


def index(dtype: str, count: int, seed: int) -> Any:
    """Numbers below 32."""
    return np.random.default_rng([seed, count]).integers(0, 32, count).astype(DTYPES[dtype])


def moderate(dtype: str, count: int, seed: int) -> Any:
    """Ordinary floats from -4 to 4, without specials."""
    return (np.random.default_rng([seed, count]).random(count) * 8 - 4).astype(np.float32).astype(DTYPES[dtype])


def above(dtype: str, count: int, seed: int) -> Any:
    """Floats from 0.1 to 8."""
    return (np.random.default_rng([seed, count]).random(count) * 7.9 + 0.1).astype(np.float32).astype(DTYPES[dtype])


def ties(dtype: str, count: int, seed: int) -> Any:
    """Few values, so that extremes come many times."""
    return np.random.default_rng([seed, count]).integers(0, 4, count).astype(DTYPES[dtype])


def nans(dtype: str, count: int, seed: int) -> Any:
    """Moderate floats, some NaN."""
    found = moderate(dtype, count, seed)
    found[::7] = np.nan
    return found


MAKERS: dict[str, Callable[[str, int, int], Any]] = {
    "any": inputs, "random": random, "whole": whole, "positive": positive, "index": index, "moderate": moderate,
    "above": above, "ties": ties, "nans": nans, "zero": lambda d, n, s: np.zeros(n, DTYPES[d]),
    "lanes": lambda d, n, s: np.arange(n).astype(DTYPES[d]),
    "ordered": lambda d, n, s: np.random.default_rng(s).permutation(n).astype(DTYPES[d]),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """`arrays`: `"x: f32 256 any, out: f32 256 zero"`; every array may be written, and all are compared.

    `here`: the body in this language where Triton's words differ. `helper`: functions before the kernel, with `JIT`
    where Triton has its decorator, and `here_helper` for those with types. `ulp`: what floats may be off.
    `apart`: why Triton's interpreter gives something else, and the GPU alone decides. `gpu_apart`: why compiled
    Triton differs or fails.
    """

    name: str
    arrays: str
    body: str
    here: str = ""
    helper: str = ""
    here_helper: str = ""
    grid: int = 1
    ulp: float = 0.0
    apart: str = ""
    gpu_apart: str = ""
    scalars: dict[str, int] = field(default_factory=dict[str, int])
    unordered: tuple[str, ...] = ()
    """Arrays that are compared as multisets."""
    least: int = 0
    """The compute capability that it needs."""

    @property
    def parameters(self) -> list[tuple[str, str, int, str]]:
        """Name, dtype, size and maker of each array."""
        found: list[tuple[str, str, int, str]] = []
        for part in self.arrays.split(","):
            name, rest = part.strip().split(": ")
            dtype, size, maker = rest.split()
            found.append((name, dtype, int(size), maker))
        return found

    def data(self) -> dict[str, Any]:
        """The arrays, the same at every call."""
        return {
            name: np.ascontiguousarray(MAKERS[maker](dtype, size, at + 1), DTYPES[dtype])
            for at, (name, dtype, size, maker) in enumerate(self.parameters)
        }

    def in_triton(self) -> str:
        """The source for Triton."""
        names = [name for name, _, _, _ in self.parameters] + list(self.scalars)
        helper = textwrap.dedent(self.helper).replace("JIT", "@triton.jit")
        return f"{helper}\n@triton.jit\ndef kernel({', '.join(names)}):\n{self._body(self.body)}"

    def in_teeny(self) -> str:
        """The source here, with types."""
        names = [f"{name}: tl.Ptr[tl.{spelled(dtype)}]" for name, dtype, _, _ in self.parameters]
        names += [f"{name}: tl.Scalar[tl.i32]" for name in self.scalars]
        helper = textwrap.dedent(self.here_helper)
        return f"{helper}\n@tn.kernel\ndef kernel({', '.join(names)}) -> None:\n{self._body(self.here or self.body)}"

    def _body(self, text: str) -> str:
        return textwrap.indent(textwrap.dedent(text).strip("\n"), "    ") + "\n"


def is_float(dtype: str) -> bool:
    return dtype in FLOATS
