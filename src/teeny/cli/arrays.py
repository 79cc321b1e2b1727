"""Arrays on the command line: `f32[4,7]` with random numbers, `FILE.npy`, and files to keep them in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from teeny.cli.usage import UsageError, close

_ARRAY = re.compile(r"(\w+)\[(.*)")
_SIZE = re.compile(r"[+-]?\d+")


def array_of(name: str, text: str, random: Any) -> Any:
    """The array that a word says, or None where it says none. Raises UsageError for one that cannot be made."""
    if text.endswith(".npy"):
        return _read(text)
    found = _ARRAY.fullmatch(text)
    return None if found is None else _random(f"{name}={text}", found[1], found[2], random)


def _read(file: str) -> Any:
    import numpy

    from teeny.runtime.numpy_array import numpy_dtype

    try:
        array = numpy.load(file)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"`{file}` cannot be read as an array: {error}") from error
    except MemoryError as error:
        raise UsageError(f"`{file}` does not fit in memory") from error
    # .npy files have no name for bf16: NumPy writes it as two bytes without a meaning, and nothing else so
    return array.view(numpy_dtype("bf16")) if array.dtype.str[1:] == "V2" else array


def _random(word: str, dtype: str, rest: str, random: Any) -> Any:
    from teeny.ir.dtype import LEAVES
    from teeny.runtime.numpy_array import numpy_dtype

    if dtype not in LEAVES:
        near = close(dtype, list(LEAVES))
        raise UsageError(f"`{word}`: there is no dtype `{dtype}`{near}; there are {', '.join(LEAVES)}")
    shape = _shape(word, dtype, rest)
    kind = numpy_dtype(dtype)
    _check_memory(word, shape, kind.itemsize)
    try:
        if dtype == "bool":
            return random.integers(0, 2, shape).astype(bool)
        if dtype.startswith(("i", "u")):
            return random.integers(0, 100, shape).astype(kind)
        return random.standard_normal(shape).astype(kind)
    except (MemoryError, ValueError) as error:
        raise UsageError(f"`{word}` cannot be made: {error}") from error


def _shape(word: str, dtype: str, rest: str) -> tuple[int, ...]:
    if not rest.endswith("]"):
        raise UsageError(f"`{word}`: an array ends with a bracket, as in {dtype}[4,7]")
    parts = [part.strip() for part in rest[:-1].split(",")]
    if not parts[-1]:
        parts.pop()
    for part in parts:
        if not _SIZE.fullmatch(part):
            raise UsageError(f"`{word}`: `{part}` is no size; an array is written as in {dtype}[4,7]")
        if int(part) < 0:
            raise UsageError(f"`{word}`: a size cannot be negative, and {part} is")
    return tuple(map(int, parts))


def _check_memory(word: str, shape: tuple[int, ...], size: int) -> None:
    """Refuse what cannot fit: random numbers are made with 8 bytes each, then converted, then kept for comparison."""
    elements = 1
    for extent in shape:
        elements *= extent
    there = _memory()
    if there is not None and elements * (8 + 2 * size) > there:
        held, whole = _bytes(elements * size), _bytes(there)
        raise UsageError(f"`{word}` holds {held}, which is too much for the {whole} of memory of this machine")


def _memory() -> int | None:
    """Bytes of this machine's memory, where it says."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _bytes(count: int) -> str:
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB")):
        if count >= 1024**power:
            return f"{count / 1024**power:.1f} {unit}"
    return f"{count} bytes"


def check_writable(file: str) -> None:
    """Raises UsageError where a file surely cannot be written: known before anything runs."""
    path = Path(file)
    try:
        if not path.parent.is_dir():
            raise UsageError(f"--save: there is no folder `{path.parent}`")
        if path.is_dir():
            raise UsageError(f"--save: `{file}` is a folder")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise UsageError(f"--save: `{file}` cannot be written")
    except (OSError, ValueError) as error:
        raise UsageError(f"--save: `{file[:80]}` cannot be written: {error}") from error


def save(file: str, array: Any) -> None:
    """Write an array as .npy, under exactly this name. Raises UsageError where that fails."""
    import numpy

    try:
        with open(file, "wb") as opened:
            numpy.save(opened, array)
    except OSError as error:
        raise UsageError(f"--save: `{file}` cannot be written: {error.strerror}") from error
