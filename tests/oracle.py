"""Running one program on two executors and comparing what they leave in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.same import assert_same, reference

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.state import Options
    from teeny.backends.cpu.target import Level
    from tests.strategies import Sample


def word(value: Any) -> int:
    """An argument as the CPU's entry takes it: an address, or the bits of a scalar."""
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    return int(np.asarray(value).view(f"u{value.itemsize}")) if isinstance(value, np.generic) else int(value)


def native(sample: Sample, seed: int = 0, level: Level = "native", options: Options | None = None) -> list[Any]:
    """The arguments after a run of native code."""
    from teeny.backends.cpu.kernel import compile_module

    kernel = compile_module(sample.module, level, options=options)
    arguments = sample.arguments(seed)
    kernel.launch([word(a) for a in arguments], sample.grid)
    return arguments


def assert_agree(sample: Sample, seeds: tuple[int, ...] = (0,), level: Level = "native") -> None:
    """Native code and the reference leave the same bits in every element that is defined."""
    for seed in seeds:
        expected, undefined = reference(sample, seed=seed)
        assert_same(native(sample, seed, level), expected, undefined)
