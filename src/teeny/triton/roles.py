"""What a kernel's parameters are, by how its body uses them: for kernels whose types nobody states."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Roles", "roles_of"]

_MEMORY = frozenset((
    "load", "store", "make_block_ptr", "make_tensor_descriptor", "atomic_add", "atomic_max", "atomic_min", "atomic_and",
    "atomic_or", "atomic_xor", "atomic_xchg", "atomic_cas", "advance",
))  # fmt: skip
_SHAPED = frozenset(("arange", "zeros", "full", "reshape", "view", "broadcast_to", "static_range"))
_CASTS = frozenset(("to", "cast"))


@dataclass(slots=True)
class Roles:
    """Names of parameters by role; `indices` are pointers to integers.

    `text` holds, for one that is compared with a string, the first such string.
    """

    pointers: set[str] = field(default_factory=set[str])
    indices: set[str] = field(default_factory=set[str])
    sizes: set[str] = field(default_factory=set[str])
    flags: set[str] = field(default_factory=set[str])
    dtypes: set[str] = field(default_factory=set[str])
    text: dict[str, str] = field(default_factory=dict[str, str])


def roles_of(function: ast.FunctionDef, others: Mapping[str, ast.FunctionDef], depth: int = 3) -> Roles:
    """The roles of a function's parameters; `others` are functions that it may call."""
    roles = Roles()
    seen: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            _call(node, roles, seen, others, depth)
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            roles.flags.update(_conditions(node.test))
        elif isinstance(node, ast.Compare):
            _compared(node, roles)
    made = _definitions(function)
    roles.indices.update(_indices(function, made))
    while seen:
        name = seen.pop()
        if name in roles.pointers:
            continue
        roles.pointers.add(name)
        for value in made.get(name, ()):
            base = _base(value)
            if base is not None and base not in roles.pointers:
                seen.add(base)
    return roles


def _call(node: ast.Call, roles: Roles, seen: set[str], others: Mapping[str, ast.FunctionDef], depth: int) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if name in _MEMORY and arguments:
        base = _base(arguments[0])
        if base is not None:
            seen.add(base)
    if name in _SHAPED:
        for argument in arguments:
            roles.sizes.update(_names(argument))
    if name in ("make_block_ptr", "make_tensor_descriptor"):
        for keyword in node.keywords:
            if keyword.arg == "block_shape":
                roles.sizes.update(_names(keyword.value))
    if name in _CASTS and arguments and isinstance(arguments[-1], ast.Name):
        roles.dtypes.add(arguments[-1].id)
    for keyword in node.keywords:
        if keyword.arg in ("dtype", "out_dtype") and isinstance(keyword.value, ast.Name):
            roles.dtypes.add(keyword.value.id)
    called = others.get(name)
    if called is not None and depth:
        inner = roles_of(called, others, depth - 1)
        names = [a.arg for a in called.args.args]
        pairs = [*zip(names, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
        for parameter, argument in pairs:
            if isinstance(argument, ast.Name):
                _inherit(inner, parameter, argument.id, roles, seen)
            elif parameter in inner.pointers and (base := _base(argument)) is not None:
                seen.add(base)


def _inherit(inner: Roles, parameter: str, name: str, roles: Roles, seen: set[str]) -> None:
    if parameter in inner.pointers:
        seen.add(name)
    for group, mine in ((inner.sizes, roles.sizes), (inner.flags, roles.flags), (inner.dtypes, roles.dtypes)):
        if parameter in group:
            mine.add(name)
    if parameter in inner.text:
        roles.text.setdefault(name, inner.text[parameter])


_INTEGER = frozenset(("atomic_cas", "atomic_and", "atomic_or", "atomic_xor"))


def _indices(function: ast.FunctionDef, made: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """Parameters whose elements are compared and swapped, or take part in an address behind another pointer."""
    loads: dict[str, str] = {}
    for name, values in made.items():
        for value in values:
            inner = value
            while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "to":
                inner = inner.func.value
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "load":
                base = _base(inner.args[0]) if inner.args else None
                if base is not None:
                    loads[name] = _root_of(base, made)
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        base = _base(node.args[0])
        if base is None:
            continue
        if node.func.attr in _INTEGER:
            yield _root_of(base, made)
        if node.func.attr in _MEMORY:
            names = set(_names(node.args[0]))
            for name in list(names):
                names.update(n for value in made.get(name, ()) for n in _names(value))
            yield from (loads[name] for name in names if name in loads and name != base)


def _root_of(name: str, made: Mapping[str, list[ast.expr]]) -> str:
    """The name that a pointer was first computed from."""
    for _ in range(10):
        base = next((b for value in made.get(name, ()) if (b := _base(value)) is not None and b != name), None)
        if base is None:
            break
        name = base
    return name


def _base(node: ast.expr) -> str | None:
    """The leftmost name of a sum: where a pointer stands."""
    while True:
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub()):
                node = left
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Attribute(value=value), args=_) if (
                not isinstance(value, ast.Name) or node.args == []
            ):
                node = value
            case ast.Call(args=[first, *_]):
                node = first
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                node = value
            case _:
                return None


def _names(node: ast.expr) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _conditions(node: ast.expr) -> Iterator[str]:
    """Names that stand alone in a condition."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _conditions(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _conditions(value)
        case _:
            return


def _compared(node: ast.Compare, roles: Roles) -> None:
    if isinstance(node.left, ast.Name) and len(node.comparators) == 1:
        other = node.comparators[0]
        if isinstance(other, ast.Constant) and isinstance(other.value, str):
            roles.text.setdefault(node.left.id, other.value)


def _definitions(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found
