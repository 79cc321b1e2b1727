"""What Triton's front end says of a kernel that it refuses, as a diagnostic at the line of the kernel."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

from teeny.backends.triton.wheel import load
from teeny.diag.diagnostic import at, report
from teeny.diag.errors import KernelError
from teeny.diag.span import Location
from teeny.triton.certain import Refusal
from teeny.triton.places import expression_at

__all__ = ["refusal_of", "refused"]

_WRAPPED = re.compile(r"(\w+)\((['\"])(.*)\2\)", re.DOTALL)
"""How Triton repeats an exception: `NameError('x is not defined')`."""


def refused(jit: Any, error: BaseException) -> KernelError:
    """The error of a kernel that Triton refuses (X009)."""
    inner = _innermost(error)
    place = _place(jit, inner)
    labels = () if place is None else (at(place),)
    kind, words = _words(inner)
    text = f"Triton refuses `{jit.__name__}`: {f'{kind}: {words}' if kind else words}"
    return KernelError((report("X009", text, *labels, kernel=str(jit.__name__)),))


def refusal_of(jit: Any, error: BaseException) -> Refusal:
    """The parts of what Triton says of a kernel that it refuses."""
    inner = _innermost(error)
    kind, words = _words(inner)
    owner = next((f for f in _reachable(jit) if f.src == getattr(inner, "src", None)), None)
    wrapped = kind or (type(inner.__cause__).__name__ if inner.__cause__ is not None else "")
    function = None if owner is None else owner.parse().body[0]
    return Refusal(type(inner).__name__, wrapped, words, getattr(inner, "node", None), function, owner is jit)


def _words(inner: BaseException) -> tuple[str, str]:
    """The class of an exception that Triton repeats, or "", and the words."""
    message = str(getattr(inner, "error_message", None) or inner).strip() or type(inner).__name__
    last = message.splitlines()[-1]
    said = _WRAPPED.fullmatch(last)
    return (said[1], said[3]) if said else ("", last)


def _innermost(error: BaseException) -> BaseException:
    """The cause that stands deepest: each inlined call wraps the error of what it called."""
    kind = load("compiler.errors").CompilationError
    while error.__cause__ is not None and isinstance(error.__cause__, kind):
        error = error.__cause__
    return error


def _reachable(jit: Any) -> list[Any]:
    """A function and those that it calls by their names, its own and those of modules."""
    kind = load("runtime.jit").JITFunction
    found, stack = list[Any](), [jit]
    while stack:
        one = stack.pop()
        if not isinstance(one, kind) or any(one is f for f in found):
            continue
        found.append(one)
        names = one.fn.__globals__
        values = [names.get(name) for name in one.fn.__code__.co_names]
        modules = [v for v in values if isinstance(v, ModuleType)]
        stack += values + [getattr(m, name, None) for m in modules for name in one.fn.__code__.co_names]
    return found


def _place(root: Any, error: BaseException) -> Location | None:
    """Where the node that an error names stands in its file."""
    node, source = getattr(error, "node", None), getattr(error, "src", None)
    if node is None or not hasattr(node, "lineno"):
        return None
    for jit in _reachable(root):
        if jit.src == source:
            lines = jit.raw_src
            first = next((n for n, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
            indent = len(lines[first]) - len(lines[first].lstrip())
            path = jit.fn.__code__.co_filename
            line = jit.starting_line_number + first + node.lineno - 1
            span = expression_at(path, line, indent + node.col_offset + 1)
            return None if span is None else Location(span)
    return None
