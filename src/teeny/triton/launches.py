"""Launches of kernels in a file, `kernel[grid](x, y, n, BLOCK=64)`, and what their arguments say about types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

__all__ = ["UNKNOWN", "Launch", "launches"]

UNKNOWN = object()
"""An argument that says nothing."""

_DTYPES = {
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64",
    "double": "fp64", "int8": "i8", "int16": "i16", "int32": "i32", "int": "i32", "int64": "i64", "long": "i64",
    "uint8": "u8", "bool": "u1", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
_MAKERS = frozenset(("empty", "zeros", "ones", "full", "rand", "randn", "tensor", "empty_strided", "eye", "linspace"))
_WHOLE = frozenset(("arange", "randint", "randperm"))
_LIKE = frozenset(("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"))
_SAME = frozenset((
    "contiguous", "view", "reshape", "clone", "cuda", "cpu", "t", "transpose", "permute", "squeeze", "unsqueeze",
    "expand", "flatten", "detach", "requires_grad_", "new_empty", "new_zeros",
))  # fmt: skip
_COUNTS = frozenset(("stride", "numel", "size", "dim", "cdiv", "len", "int", "element_size", "ndim", "storage_offset"))


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch at `line`. `values`: for a parameter a type as Triton writes it, or the value of a literal."""

    kernel: str
    line: int
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])


def launches(
    tree: ast.Module, parameters: Mapping[str, Mapping[str, bool]], constants: Mapping[str, Any]
) -> list[Launch]:
    """The launches of the kernels named in `parameters`: theirs in order, and whether each is a constexpr.

    `constants` are known globals.
    """
    found: list[Launch] = []
    outside = {
        name: value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for name, value in _assigned(statement).items()
    }
    for scope in _scopes(tree):
        made = _assigned(scope)
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
                head = node.func.value
                name = head.id if isinstance(head, ast.Name) else head.attr if isinstance(head, ast.Attribute) else ""
                if name in parameters:
                    reader = _Reader({**outside, **made}, constants)
                    found.append(Launch(name, node.lineno, reader.values(node, parameters[name])))
    unique: dict[tuple[str, int], Launch] = {}
    for launch in found:
        unique.setdefault((launch.kernel, launch.line), launch)
    return sorted(unique.values(), key=lambda launch: launch.line)


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    """Functions, inner ones first, then the module."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    yield from reversed(functions)
    yield tree


def _assigned(scope: ast.AST) -> dict[str, ast.expr]:
    """The last value given to each name."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = node.value
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=False)
                    found |= {t.id: v for t, v in pairs if isinstance(t, ast.Name)}
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Attribute):
                    found |= {t.id: node.value for t in target.elts if isinstance(t, ast.Name)}
    return found


@dataclass(slots=True)
class _Reader:
    made: Mapping[str, ast.expr]
    constants: Mapping[str, Any]
    depth: int = 0

    def values(self, call: ast.Call, names: Mapping[str, bool]) -> dict[str, Any]:
        """What the arguments of a launch say, by parameter."""
        pairs = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        read = {n: (self.constant if names[n] else self.of)(value) for n, value in pairs if n in names}
        return {name: value for name, value in read.items() if value is not UNKNOWN}

    def constant(self, node: ast.expr) -> Any:
        """The value of an argument for a constexpr: of a literal, or a name of the module that has one."""
        if isinstance(node, ast.Name) and node.id in self.made and self.depth < 20:
            self.depth += 1
            return self.constant(self.made[node.id])
        if isinstance(node, ast.Name):
            return self._global(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.constants.get(node.value.id)
            name = getattr(module, "__name__", "")
            found = getattr(module, node.attr, UNKNOWN) if str(name).startswith("triton") else UNKNOWN
            return found if type(found).__name__ == "dtype" else UNKNOWN
        try:
            return _frozen(ast.literal_eval(node))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return UNKNOWN

    def _global(self, name: str) -> Any:
        value = self.constants.get(name, UNKNOWN)
        known = value is None or isinstance(value, bool | int | float | str) or type(value).__name__ == "JITFunction"
        return value if known else UNKNOWN

    def of(self, node: ast.expr) -> Any:
        """The type (a str) or the value (anything else) of an expression."""
        self.depth += 1
        try:
            return UNKNOWN if self.depth > 20 else self._of(node)
        finally:
            self.depth -= 1

    def _of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return UNKNOWN if isinstance(value, str) else value
            case ast.Name(id=name):
                if name in self.made:
                    return self.of(self.made[name])
                value = self.constants.get(name, UNKNOWN)
                return value if isinstance(value, bool | int | float) else UNKNOWN
            case ast.Call():
                return self._call(node)
            case ast.Attribute(attr="shape") | ast.Subscript(value=ast.Attribute(attr="shape")):
                return "i32"
            case ast.Attribute(value=ast.Name(id="torch" | "tl"), attr=attr) if attr in _DTYPES:
                return UNKNOWN
            case ast.BinOp(left=left, op=op, right=right):
                sides = [self.of(left), self.of(right)]
                if any(s == "fp32" or isinstance(s, float) for s in sides) or isinstance(op, ast.Div):
                    return "fp32"
                return "i32" if all(s == "i32" or isinstance(s, int) for s in sides) else UNKNOWN
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case _:
                return UNKNOWN

    def _call(self, node: ast.Call) -> Any:
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        stated = next((self._dtype(k.value) for k in node.keywords if k.arg == "dtype"), None)
        if name in _COUNTS:
            return "i32"
        if name in _MAKERS:
            return f"*{stated or 'fp32'}"
        if name in _WHOLE:
            return f"*{stated or 'i64'}"
        if name in _LIKE and node.args:
            return f"*{stated}" if stated else self.of(node.args[0])
        if name == "to" and isinstance(func, ast.Attribute):
            found = next((d for d in map(self._dtype, node.args) if d), stated)
            return f"*{found}" if found else self.of(func.value)
        if isinstance(func, ast.Attribute) and name in _DTYPES and not node.args:
            return f"*{_DTYPES[name]}"
        if isinstance(func, ast.Attribute) and name in _SAME:
            return self.of(func.value)
        return UNKNOWN

    def _dtype(self, node: ast.expr) -> str | None:
        return _DTYPES.get(node.attr) if isinstance(node, ast.Attribute) else None


def _frozen(value: Any) -> Any:
    """Lists as tuples, which Triton takes."""
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list | tuple) else value
