"""The kernel that is measured: the softmax of the examples."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from teeny.cli.examples import example
from teeny.cli.files import SourcePath, load

if TYPE_CHECKING:
    from teeny.runtime.kernel import Kernel


@cache
def softmax() -> Kernel[Any]:
    """The kernel, defined once a process."""
    return load(SourcePath.of(example("softmax.py"))).softmax


@cache
def softmax_function() -> Any:
    """The Python function behind the kernel, to define it again."""
    return softmax().definition.fn
