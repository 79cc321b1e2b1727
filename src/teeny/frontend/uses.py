"""What the check of a function depends on beyond its own file: each outer name it uses, as text that can be compared.

A name of teeny's own counts by its name (teeny's fingerprint covers the rest), a plain value by its `repr`, a type
variable by its bound, a helper by the digest of its file and, in turn, by what it uses.
"""

from __future__ import annotations

import ast
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import NamedTuple, TypeGuard, TypeVar, cast, get_args, get_origin

from teeny.diag.errors import KernelError
from teeny.frontend.files import file_digest
from teeny.frontend.names import Missing, resolve
from teeny.frontend.source import KernelSource, source_of
from teeny.language.constexpr import Held
from teeny.ops.function import function_of

DEFAULTS = "="  # stands for the values of the parameters' defaults, where a use has a name
_KNOWN = ("teeny.", "builtins.", "typing.", "types.")  # modules whose functions and classes are known by name
_PLAIN = (int, float, bool, str, type(None))


_seen: dict[str, object] = {}  # the last object that a text described: the same object need not be described again


class Use(NamedTuple):
    """`name` (dotted) in the function numbered `function` stands for what `text` describes.

    Function 0 is the kernel; a helper of the user has a number of its own, `helper`, which is 0 for everything else.
    """

    function: int
    name: str
    text: str
    helper: int = 0


def uses_of(fn: FunctionType, source: KernelSource) -> list[Use] | None:
    """All outer names that the check of `fn` can depend on; None when one cannot be described, so is not comparable."""
    functions = [fn]
    found: list[Use] = []
    for number, function in enumerate(functions):  # grows while it runs
        try:
            tree = source.tree if number == 0 else source_of(function, "function").tree
        except KernelError:
            return None
        for name, needed in _names(function, tree).items():
            path, value = _follow(function, name)
            text = describe(value)
            if text is None:
                if needed:
                    return None
                continue
            helper = 0
            if _is_helper(value):
                if value not in functions:
                    functions.append(value)
                helper = functions.index(value)
            use = Use(number, path, text, helper)
            if use not in found:
                found.append(use)
    return found


def still_holds(fn: FunctionType, uses: list[Use]) -> bool:
    """Whether each name still stands for what it stood for."""
    functions = {0: fn}
    free, variables, seen = fn.__code__.co_freevars, fn.__globals__, _seen
    for number, path, text, helper in uses:
        if number == helper == 0 and path not in free and path in variables and variables[path] is seen.get(text):
            continue  # nearly always
        value = _look_up(functions[number], path)
        if value is not seen.get(text, functions):
            if describe(value) != text:
                return False
            seen[text] = value
        if helper and functions.setdefault(helper, cast("FunctionType", value)) is not value:
            return False
    return True


def describe(value: object) -> str | None:
    """The value as text that is equal only for what means the same in a kernel; None where that cannot be told."""
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind is ModuleType:
        return f"module {cast('ModuleType', value).__name__}"
    if kind is tuple:
        parts = [describe(part) for part in cast("tuple[object, ...]", value)]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if kind is TypeVar:
        variable = cast("TypeVar", value)
        parts = [describe(part) for part in (variable.__bound__, *variable.__constraints__)]
        return None if None in parts else f"variable {variable.__name__}: {', '.join(map(str, parts))}"
    module = str(getattr(value, "__module__", ""))
    if isinstance(value, (FunctionType, type)) and f"{module}.".startswith(_KNOWN):
        return f"{module}.{value.__qualname__}"
    if isinstance(value, BuiltinFunctionType):
        return f"{module}.{value.__qualname__}"
    operation = function_of(value)
    if operation is not None:
        digest = file_digest(cast("FunctionType", operation.fn))
        return digest and f"operation {operation.fn.__qualname__} {digest}"
    if isinstance(value, FunctionType):
        digest = file_digest(value)
        return digest and f"function {value.__qualname__} {value.__code__.co_firstlineno} {digest}"
    if kind.__name__ == "TypeAliasType":
        return describe(getattr(value, "__value__", Missing.NOT_FOUND))
    if isinstance(value, Held):
        found = describe(value.value)
        return found and f"constexpr {found}"
    origin = get_origin(value)
    if origin is not None:
        named = origin if isinstance(origin, type) else repr(origin)  # `Annotated` is no class in newer Pythons
        return describe((named, *get_args(value)))
    return None


def _is_helper(value: object) -> TypeGuard[FunctionType]:
    """Whether the value is a function whose own uses count too: one of the user's, not of teeny."""
    is_own = f"{getattr(value, '__module__', '')}.".startswith("teeny.")
    return isinstance(value, FunctionType) and not is_own and function_of(value) is None


def _names(fn: FunctionType, tree: ast.FunctionDef) -> dict[str, bool]:
    """Dotted names that the function reads from outside, and whether the check surely depends on each.

    What decorators are called with is kept where it can be described: they need not be teeny's.
    """
    found: dict[str, bool] = {}
    code = fn.__code__
    local = {*code.co_varnames, *code.co_cellvars}

    def visit(node: ast.AST, hidden: set[str], needed: bool, types: bool) -> None:
        name = _dotted(node)
        if name is not None:
            if name.partition(".")[0] not in hidden:
                found[name] = found.get(name, False) or needed
            return
        if types and isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                visit(ast.parse(node.value, mode="eval").body, hidden, needed, types)
            except SyntaxError:
                return
        for child in ast.iter_child_nodes(node):
            visit(child, hidden, needed, types)

    arguments = tree.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    for parameter in parameters:
        if parameter is not None and parameter.annotation is not None:
            visit(parameter.annotation, set(), True, True)
    if tree.returns is not None:
        visit(tree.returns, set(), True, True)
    for decorator in tree.decorator_list:
        visit(decorator, set(), False, False)
    for statement in tree.body:
        visit(statement, local, True, isinstance(statement, ast.AnnAssign))
    if fn.__defaults__ or fn.__kwdefaults__:
        found[DEFAULTS] = True
    return found


def _dotted(node: ast.AST) -> str | None:
    """`a.b.c` for a name or a chain of attributes of a name that is read."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    return ".".join((node.id, *reversed(parts)))


def _follow(fn: FunctionType, name: str) -> tuple[str, object]:
    """The part of a dotted name that leads through modules and classes to a value, and the value.

    What lies in teeny's own modules is not followed.
    """
    if name == DEFAULTS:
        return name, _look_up(fn, name)
    root, *rest = name.split(".")
    value = resolve(fn, root)
    path = root
    for part in rest:
        if not isinstance(value, (ModuleType, type)) or _is_teeny(value):
            break
        value = _member(value, part)
        path = f"{path}.{part}"
    return path, value


def _is_teeny(value: ModuleType | type) -> bool:
    return f"{value.__name__ if isinstance(value, ModuleType) else value.__module__}.".startswith("teeny.")


def _look_up(fn: FunctionType, path: str) -> object:
    if "." not in path:
        if path == DEFAULTS:
            return (fn.__defaults__, *(part for item in sorted((fn.__kwdefaults__ or {}).items()) for part in item))
        return resolve(fn, path)
    root, *rest = path.split(".")
    value = resolve(fn, root)
    for part in rest:
        value = _member(value, part)
    return value


def _member(owner: object, name: str) -> object:
    """An attribute; a plain value of a module comes with its annotation, which says whether it is a Const."""
    found: object = getattr(owner, name, Missing.NOT_FOUND)
    if isinstance(owner, ModuleType) and type(found) in (*_PLAIN, tuple):
        return cast("object", found), repr(vars(owner).get("__annotations__", {}).get(name))
    return found
