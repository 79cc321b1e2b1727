"""Whether what Triton refuses in a kernel is wrong whatever the types and constants are that nobody stated."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from teeny.triton.names import bound_in

__all__ = ["Refusal", "is_certain"]

_ARITY = re.compile(
    r"missing (a|\d+) required|unexpected keyword|takes .*positional|too many positional|multiple values for|"
    r"takes no arguments"
)
_GONE = re.compile(r"(have|has) been removed")
_KIND = re.compile(
    r"object of type|object has no|has no attribute|subscript|iterable|iterate|unpack|cannot index|'func'"
)
"""Words of faults that a parameter of another kind, such as a tuple or a descriptor, might not have."""
_NUMBERS = re.compile(
    r"dimension|shape|static|assertion failed|numel|divisib|multiple of|power of|range|rank|must be|size|elements|"
    r"axis|out of bounds|index|limit",
    re.IGNORECASE,
)
"""Words of faults that other sizes of blocks might not have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Triton says: the class of its error, of the exception that it wraps, the words, and the node of the syntax.

    `function` is the syntax that the node stands in, None where that is not known, and `own` whether it is the kernel
    itself and not a function that it calls.
    """

    kind: str
    wrapped: str
    message: str
    node: ast.AST | None
    function: ast.FunctionDef | None
    own: bool


def is_certain(refusals: Sequence[Refusal], fixed: Collection[str], sizes: Collection[str]) -> bool:
    """Whether the first of some refusals, one a guess, does not come from the guesses.

    `fixed` are parameters that had one assumed value throughout, `sizes` those that had several, as sizes of blocks.
    """
    first = refusals[0]
    guessed = {*fixed, *sizes}
    node, function = first.node, first.function
    if node is None or function is None:
        return not guessed
    if not first.own:  # what of it are parameters of the function that is called may all come from guesses
        fixed = guessed = _names(function.args) if guessed else set[str]()
    if first.wrapped == "NameError":
        return not _defined_by_guess(node, function, guessed)
    if first.wrapped == "AttributeError" and first.message.startswith("module "):
        return True
    if first.wrapped == "TypeError" and _ARITY.search(first.message):
        return isinstance(node, ast.Call) and _root(node.func) not in guessed
    if first.kind == "UnsupportedLanguageConstruct" and first.message.startswith("unsupported AST node"):
        return True
    if _GONE.search(first.message):
        return True
    if any(_passed(first, other) for other in refusals):
        return False
    head = _tests(node) if isinstance(node, ast.If | ast.While | ast.For | ast.With) else _names(node)
    if _KIND.search(first.message) and head & _names(function.args):
        return False  # what a parameter is was assumed
    needed = _parameters(node, function)
    numbers = first.kind == "CompileTimeAssertionFailure" or _NUMBERS.search(first.message) is not None
    return not needed & (guessed if numbers else set(fixed))


def _passed(first: Refusal, other: Refusal) -> bool:
    """Whether another guess came past the first refusal, or failed in its line in another way."""
    if first.function is None or other.function is None or first.function.name != other.function.name:
        return True
    here, there = ((_line(r.node), getattr(r.node, "col_offset", 0), r.kind, r.wrapped) for r in (first, other))
    return there[0] > here[0] or (there[0] == here[0] and there != here and not isinstance(first.node, ast.stmt))


def _names(node: ast.AST) -> set[str]:
    return {n.id if isinstance(n, ast.Name) else n.arg for n in ast.walk(node) if isinstance(n, ast.Name | ast.arg)}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _parameters(node: ast.AST, function: ast.FunctionDef) -> set[str]:
    """The parameters that a part of a function may depend on, through values and conditions."""
    made = list(_definitions(function, ()))
    seen: set[str] = set()
    stack = [*_names(node), *(n for line, names in _conditions(function, ()) if line == _line(node) for n in names)]
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            stack += (n for target, names in made if target == name for n in names)
    return seen & {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}


def _line(node: ast.AST | None) -> int:
    return int(getattr(node, "lineno", 0))


def _tests(node: ast.AST) -> set[str]:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            return _names(test)
        case ast.For(iter=over):
            return _names(over)
        case _:
            return set()


def _definitions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
    """Names that get a value, with the names that the value and the conditions around it are made of."""
    for child in ast.iter_child_nodes(node):
        inside = (*around, *_tests(child))
        if isinstance(child, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For):
            for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                names = _names(child) if not isinstance(child, ast.For) else _names(child.iter)
                for name in _names(target):
                    yield name, {*names, *inside} - {name}
        yield from _definitions(child, inside)


def _conditions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """For each line of statements the names in the conditions around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            for inner in ast.walk(child):
                if hasattr(inner, "lineno"):
                    yield _line(inner), around
            yield from _conditions(child, (*around, *_tests(child)))


def _defined_by_guess(node: ast.AST, function: ast.FunctionDef, guessed: Collection[str]) -> bool:
    """Whether a name that is not defined gets a value in a branch that assumed values did not take."""
    if not isinstance(node, ast.Name) or node.id not in bound_in(function):
        return False
    return any(name == node.id and names & set(guessed) for name, names in _branches(function, ()))


def _branches(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
    """Names that get a value, with the names in the conditions around that."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, set(around)
        yield from _branches(child, (*around, *_tests(child)))
