"""`FILE:KERNEL` and `NAME=VALUE` on the command line."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from teeny.cli.files import SourcePath, importing, load
from teeny.cli.usage import UsageError, close

if TYPE_CHECKING:
    from teeny.runtime.kernel import Kernel


TARGET_HELP = "a kernel of a file; `:KERNEL` may be left out where it is the only one"


@contextmanager
def kernel_named(target: str) -> Generator[Kernel[Any]]:
    """Import the file of `FILE:KERNEL` and hand out the kernel, while its modules stay importable.

    Without `:KERNEL` the file's only kernel is meant. Raises UsageError, and what the import raises.
    """
    from teeny.runtime.kernel import Kernel

    text, colon, name = target.rpartition(":")
    if not colon:
        text, name = target, ""
    path = Path(text)
    if not path.is_file():
        raise UsageError(f"there is no file `{text}`")
    if path.suffix != ".py":
        raise UsageError(f"`{text}` is no Python file")
    source = SourcePath.of(path)
    with importing(source.root):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            module = load(source)
        kernels = {n: value for n, value in vars(module).items() if isinstance(value, Kernel)}
        yield _choose(kernels, name, text)
    for warning in caught:  # an error, which would have left before, says the same again
        print(str(warning.message).strip(), file=sys.stderr)


def _choose(kernels: Mapping[str, Kernel[Any]], name: str, file: str) -> Kernel[Any]:
    names = ", ".join(kernels)
    if not kernels:
        raise UsageError(f"`{file}` has no kernels")
    if not name:
        if len(kernels) > 1:
            raise UsageError(f"name the kernel, as in `{file}:{next(iter(kernels))}`: the file has {names}")
        return next(iter(kernels.values()))
    found = kernels.get(name)
    if found is None:
        raise UsageError(f"`{file}` has no kernel `{name}`{close(name, list(kernels))}; it has {names}")
    return found


def assignments(words: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE` words as a dict. Raises UsageError for a word that is none, and for a name given twice."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"`{word}` is not of the form NAME=VALUE")
        if name in found:
            raise UsageError(f"`{name}` is given twice")
        found[name] = value
    return found


def value_of(text: str) -> Any:
    """A value as Python writes it (`1024`, `1e-5`, `True`, `None`, `(2, 4)`), a dtype (`f32`), else the text itself."""
    from teeny.ir.dtype import LEAVES

    if text in LEAVES:
        return dtype_class(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def dtype_class(name: str) -> Any:
    """A dtype of the language by its short name."""
    dtypes: ModuleType
    from teeny.language import dtypes

    return getattr(dtypes, "bool_" if name == "bool" else name)
