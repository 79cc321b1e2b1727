"""The grid of a launch: how many programs run along each of up to three axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from teeny.diag.errors import LaunchError

Grid = tuple[int, int, int]

LIMITS: Grid = (2**31 - 1, 65535, 65535)  # CUDA's, kept on every device so that a launch works everywhere alike
_NEEDED = "an int, or a tuple of one to three ints, or a function of the Const values that gives one"


def normalise(grid: object, constants: Mapping[str, object], kernel: str) -> Grid:
    """Programs along x, y and z for what a user wrote as `kernel[grid]`.

    `grid` is an int (Python's or numpy's), a tuple or list of one to three, or a function that takes a dict of the
    kernel's Const values, `constants`, and returns one of these. Missing axes are 1. A zero is legal: nothing runs.
    Raises LaunchError L008, naming `kernel`, when an entry is no int, negative, or larger than `LIMITS`.
    """
    if callable(grid):
        grid = _call(grid, constants, kernel)
    whole: object = grid
    entries = tuple(cast("Sequence[object]", grid)) if isinstance(grid, (tuple, list)) else (grid,)
    if len(entries) == 1 and type(entries[0]) is int and 0 <= entries[0] < 2**31:
        return (entries[0], 1, 1)
    if not 1 <= len(entries) <= 3:
        raise _invalid(kernel, "the grid has the wrong number of axes", f"{whole!r}", _NEEDED)
    x, y, z = (_axis(entries[axis], axis, whole, kernel) if axis < len(entries) else 1 for axis in range(3))
    return (x, y, z)


def _call(function: Callable[[dict[str, object]], object], constants: Mapping[str, object], kernel: str) -> object:
    asked = _Constants(constants)
    try:
        return function(asked)
    except TypeError as error:
        if not _takes_one(function):
            message = "the grid function does not take one argument, the dict of Const values"
            raise _invalid(
                kernel, message, _signature(function), "a function such as lambda meta: (n // meta['BLOCK'],)"
            ) from error
        raise
    except KeyError as error:
        if asked.missing is None:
            raise
        known = ", ".join(constants) or "none"
        raise _invalid(
            kernel,
            f"the grid function asks for `{asked.missing}`, which is no Const parameter of the kernel",
            f"{asked.missing!r}",
            f"one of the Const parameters: {known}",
        ) from error


def _takes_one(function: Callable[..., object]) -> bool:
    from inspect import signature

    try:
        signature(function).bind({})
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return True
    return True


def _signature(function: Callable[..., object]) -> str:
    from inspect import signature

    return f"{getattr(function, '__name__', 'a function')}{signature(function)}"


class _Constants(dict[str, object]):
    """The dict a grid function gets; it remembers which name was not there, to tell it from other KeyErrors."""

    missing: object = None

    def __missing__(self, key: object) -> object:
        self.missing = key
        raise KeyError(key)


def _axis(entry: Any, axis: int, grid: object, kernel: str) -> int:
    name, limit = "xyz"[axis], LIMITS[axis]
    index = getattr(entry, "__index__", None)
    if index is None or isinstance(entry, bool):
        hint = "; tn.cdiv(n, block) rounds a division up" if isinstance(entry, float) else ""
        raise _invalid(kernel, f"axis {name} of the grid is no int", _shown(entry, grid), _NEEDED + hint)
    try:
        number: int = index()
    except TypeError as error:  # arrays have __index__ too, which works for a single int only
        raise _invalid(kernel, f"axis {name} of the grid is no int", _shown(entry, grid), _NEEDED) from error
    if number < 0:
        raise _invalid(kernel, f"axis {name} of the grid is negative", _shown(number, grid), f"0 to {limit}")
    if number > limit:
        raise _invalid(kernel, f"axis {name} of the grid is too large", _shown(number, grid), f"at most {limit}")
    return number


def _shown(entry: object, grid: object) -> str:
    kind = type(entry).__name__
    return f"{entry!r} ({kind})" if entry is grid else f"{entry!r} ({kind}) in {grid!r}"


def _invalid(kernel: str, message: str, found: str, needed: str) -> LaunchError:
    return LaunchError.of("L008", message, kernel=kernel, argument="grid", found=found, needed=needed)
