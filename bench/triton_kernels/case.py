"""A case: a Triton kernel with arguments, its launch, and what torch makes of the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["CASES", "Case", "Trial", "case", "normal"]


@dataclass(frozen=True)
class Trial:
    """`run` launches on fixed tensors; afterwards `outputs` hold what `wanted` computes with torch, within `tolerance`.

    `reset` brings changed tensors back, for kernels that add to what they find.
    """

    run: Callable[[], Any]
    outputs: list[torch.Tensor]
    wanted: Callable[[], list[torch.Tensor]]
    tolerance: float = 1e-5
    reset: Callable[[], Any] | None = None

    def check(self) -> None:
        """Run once and compare. Raises AssertionError."""
        wanted = [w.clone() for w in self.wanted()]
        self.run()
        assert len(self.outputs) == len(wanted)
        for number, (found, right) in enumerate(zip(self.outputs, wanted, strict=True)):
            assert found.shape == right.shape, f"output {number}: {tuple(found.shape)}, wanted {tuple(right.shape)}"
            tolerance = {"rtol": self.tolerance, "atol": self.tolerance}
            torch.testing.assert_close(found.double(), right.double(), **tolerance)


@dataclass(frozen=True)
class Case:
    """`make(scale)` gives a trial; 1 is a size that an interpreter still manages."""

    name: str
    make: Callable[[int], Trial]


CASES: dict[str, Case] = {}


def case(make: Callable[[int], Trial]) -> Callable[[int], Trial]:
    """Enter a case under the function's name."""
    name = make.__name__
    CASES[name] = Case(name, make)
    return make


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Normally distributed numbers, the same each time."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)
