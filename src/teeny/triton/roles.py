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
_WORDS = {
    "eviction_policy": "evict_last", "cache_modifier": "", "input_precision": "ieee", "sem": "relaxed", "scope": "gpu",
    "padding_option": "zero", "fp_downcast_rounding": "rtne",
}  # fmt: skip
"""Arguments that take words, and one that each takes."""
_DTYPE_AT = {"zeros": 1, "full": 2}
"""Where functions take a dtype, counted from 0."""


@dataclass(slots=True)
class Roles:
    """Names of parameters by role; `indices` are pointers to integers, `optional` ones are compared with None.

    `literals` holds, for one that is compared with strings, numbers or truth values, those; `sequences` how many
    elements are asked of one that is iterated, subscripted or taken apart (0: any number); `functions` are called;
    `descriptors` load and store themselves, at so many offsets.
    """

    pointers: set[str] = field(default_factory=set[str])
    indices: set[str] = field(default_factory=set[str])
    sizes: set[str] = field(default_factory=set[str])
    flags: set[str] = field(default_factory=set[str])
    dtypes: set[str] = field(default_factory=set[str])
    optional: set[str] = field(default_factory=set[str])
    functions: set[str] = field(default_factory=set[str])
    sequences: dict[str, int] = field(default_factory=dict[str, int])
    descriptors: dict[str, int] = field(default_factory=dict[str, int])
    literals: dict[str, list[str | int | bool]] = field(default_factory=dict[str, list[str | int | bool]])


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
        _sequences(node, roles)
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
    place = _DTYPE_AT.get(name, len(node.args))
    if place < len(node.args) and isinstance(dtype := node.args[place], ast.Name):
        roles.dtypes.add(dtype.id)
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=held), attr="load" | "store"),
            args=[ast.List(elts=offsets) | ast.Tuple(elts=offsets), *_],
        ):
            roles.descriptors[held] = len(offsets)
        case _:
            pass
    if isinstance(node.func, ast.Name) and name not in others:
        roles.functions.add(name)
    for keyword in node.keywords:
        if keyword.arg in ("dtype", "out_dtype") and isinstance(keyword.value, ast.Name):
            roles.dtypes.add(keyword.value.id)
        if keyword.arg in _WORDS and isinstance(keyword.value, ast.Name):
            roles.literals.setdefault(keyword.value.id, []).append(_WORDS[keyword.arg])
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
    groups = (
        (inner.sizes, roles.sizes), (inner.flags, roles.flags), (inner.dtypes, roles.dtypes),
        (inner.optional, roles.optional), (inner.functions, roles.functions),
    )  # fmt: skip
    for group, mine in groups:
        if parameter in group:
            mine.add(name)
    if parameter in inner.literals:
        roles.literals.setdefault(name, []).extend(inner.literals[parameter])
    if parameter in inner.descriptors:
        roles.descriptors[name] = inner.descriptors[parameter]
    if parameter in inner.sequences:
        roles.sequences[name] = max(roles.sequences.get(name, 0), inner.sequences[parameter])


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
    if not isinstance(node.left, ast.Name) or len(node.comparators) != 1:
        return
    name, other = node.left.id, node.comparators[0]
    if isinstance(other, ast.Constant) and other.value is None:
        roles.optional.add(name)
    elif isinstance(other, ast.Attribute) and other.attr in _DTYPES:
        roles.dtypes.add(name)
    elif isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn):
        values = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
        said = [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str | int)]
        roles.literals.setdefault(name, []).extend(said)


_DTYPES = frozenset((
    "float16", "bfloat16", "float32", "float64", "int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "float8e5", "float8e4nv", "float8e4b8", "float8e4b15", "float8e5b16",
))  # fmt: skip


def _sequences(node: ast.AST, roles: Roles) -> None:
    """What is taken for a tuple here: iterated, measured, subscripted with a number, or taken apart."""
    found: tuple[ast.expr, int] | None = None
    match node:
        case ast.For(iter=over) | ast.comprehension(iter=over):
            found = over, 0
        case ast.Call(func=ast.Name(id="len" | "static_len" | "tuple" | "list" | "enumerate"), args=[one]):
            found = one, 0
        case ast.Subscript(value=ast.Name() as value, slice=ast.Constant(value=int(at))):
            found = value, at + 1
        case ast.Subscript(value=ast.Name() as value, slice=ast.Name()):
            found = value, 0
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value):
            found = value, len(parts)
        case _:
            pass
    if found is not None and isinstance(found[0], ast.Name):
        roles.sequences[found[0].id] = max(roles.sequences.get(found[0].id, 0), found[1])


def _definitions(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found
