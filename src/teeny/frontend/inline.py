"""Helpers: plain typed Python functions, checked against their annotations at the call and inlined."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import TYPE_CHECKING, Any, get_overloads

from teeny.diag.errors import KernelError
from teeny.frontend.branch import run_body
from teeny.frontend.context import Frame
from teeny.frontend.names import resolve
from teeny.frontend.overload import Mismatch, fits
from teeny.frontend.signature import LANGUAGE_VARIABLES, AnnotationError, Param, Term, terms_of, variable_of
from teeny.frontend.source import KernelSource, source_of
from teeny.frontend.values import UNKNOWN, is_faulty, show
from teeny.ir.dtype import DType, members

if TYPE_CHECKING:
    from teeny.frontend.context import Context

MAX_DEPTH = 64
_sources: dict[FunctionType, KernelSource] = {}


def helper_source(fn: FunctionType) -> KernelSource:
    """The source of a helper, read once."""
    found = _sources.get(fn)
    if found is None:
        found = _sources[fn] = source_of(fn, "helper")
    return found


def inline(
    c: Context, node: ast.AST, fn: FunctionType, args: tuple[Any, ...], keywords: dict[str, Any],
    nodes: tuple[ast.AST, ...], keyword_nodes: dict[str, ast.AST],
) -> Any:  # fmt: skip
    """Lower a helper's body in place of the call and give its result."""
    frame: Frame | None = c.frame
    while frame is not None:
        if frame.fn is fn or frame.depth > MAX_DEPTH:
            return c.fault("E011", f"`{fn.__name__}` calls itself; a kernel is inlined whole", node, help="write a loop")
        frame = frame.outer
    try:
        source = helper_source(fn)
    except KernelError as error:
        c.faults.extend(d for d in error.diagnostics if d not in c.faults)
        return UNKNOWN
    bound = _bind(c, node, fn, source.tree.args, args, keywords)
    if bound is None or any(map(is_faulty, bound.values())):
        return UNKNOWN
    spots = dict(zip((a.arg for a in (*source.tree.args.posonlyargs, *source.tree.args.args)), nodes, strict=False)) | keyword_nodes
    if not _check(c, node, fn, source, bound, spots):
        return UNKNOWN
    return _run(c, node, fn, source, bound)


def _run(c: Context, node: ast.AST, fn: FunctionType, source: KernelSource, bound: dict[str, Any]) -> Any:
    outer, place = c.frame, c.location(node, fn.__name__)
    guard, active = c.guard, c.active
    c.frame = Frame(fn, source, place, outer, depth=outer.depth + 1)
    c.enter(active)
    for name, value in bound.items():
        c.bind(name, value, place)
    run_body(c, source.tree.body)
    frame = c.frame
    fell = c.active
    c.frame = outer
    c.enter(guard)
    if not frame.returns:
        return None
    if not c.table.is_false(fell) and any(r.value is not None for r in frame.returns):
        return c.fault("E010", f"`{fn.__name__}` returns a value on some paths only", place)
    return _result(c, [(r.guard, r.value) for r in frame.returns])


def _result(c: Context, cases: list[tuple[int, Any]]) -> Any:
    """The value of a helper with several returns under compile-time conditions."""
    if len(cases) == 1:
        return cases[0][1]
    values = [v for _, v in cases]
    if all(isinstance(v, tuple) and len(v) == len(values[0]) for v in values):
        return tuple(c.join(tuple((g, v[at]) for g, v in cases)) for at in range(len(values[0])))
    return c.join(tuple(cases))


def _bind(
    c: Context, node: ast.AST, fn: FunctionType, arguments: ast.arguments, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any] | None:
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    only = [a.arg for a in arguments.kwonlyargs]
    if arguments.vararg or arguments.kwarg:
        c.fault("E001", f"`{fn.__name__}` has `*` or `**` parameters, which are outside the language", node, help="write the parameters out")
        return None
    if len(args) > len(names):
        c.fault("E005", f"`{fn.__name__}` takes {len(names)} arguments, found {len(args)}", node)
        return None
    bound = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name not in names and name not in only:
            c.fault("E005", f"`{fn.__name__}` has no parameter `{name}`", node)
            return None
        if name in bound:
            c.fault("E005", f"`{fn.__name__}` gets `{name}` twice", node)
            return None
        bound[name] = value
    defaults = dict(zip(names[len(names) - len(fn.__defaults__ or ()) :], fn.__defaults__ or (), strict=True)) | (fn.__kwdefaults__ or {})
    for name in (*names, *only):
        if name not in bound:
            if name not in defaults:
                c.fault("E005", f"`{fn.__name__}` needs the argument `{name}`", node)
                return None
            bound[name] = defaults[name]
    return {name: bound[name] for name in (*names, *only)}


def lookup_of(fn: FunctionType) -> Any:
    """How annotations of `fn` find their type variables."""
    return lambda name: variable_of(resolve(fn, name))


def parameter_terms(fn: FunctionType, node: ast.arg) -> tuple[Term, ...] | None:
    """The terms of a parameter's annotation; None where it has none. Raises `AnnotationError`."""
    return None if node.annotation is None else terms_of(node.annotation, lookup_of(fn))


def _check(
    c: Context, node: ast.AST, fn: FunctionType, source: KernelSource, bound: dict[str, Any], spots: dict[str, ast.AST]
) -> bool:
    """The arguments against the annotations: by overloads where the helper has them, else by its own."""
    variants = get_overloads(fn)
    if not variants:
        return _check_plain(c, fn, source, bound, spots, node)
    for variant in variants:
        assert isinstance(variant, FunctionType)
        if _overload_fits(c, variant, bound):
            return True
    kinds = ", ".join(show(v) for v in bound.values())
    c.fault("T010", f"no overload of `{fn.__name__}` takes {kinds}", node)
    return False


def _overload_fits(c: Context, variant: FunctionType, bound: dict[str, Any]) -> bool:
    subst: dict[DType, DType] = {}
    tree = helper_source(variant).tree if variant.__module__ != "teeny.language.library" else None
    for name, value in bound.items():
        if tree is None:
            terms = terms_of(ast.parse(str(variant.__annotations__[name]), mode="eval").body, LANGUAGE_VARIABLES.get)
        else:
            argument = next(a for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs) if a.arg == name)
            terms = parameter_terms(variant, argument) or (Term("any"),)
        if fits(Param(name, terms), value, subst, c.same_dtype) is not None:
            return False
    return True


def _check_plain(
    c: Context, fn: FunctionType, source: KernelSource, bound: dict[str, Any], spots: dict[str, ast.AST], node: ast.AST
) -> bool:
    subst: dict[DType, DType] = {}
    arguments = source.tree.args
    ok = True
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        try:
            terms = parameter_terms(fn, one)
        except AnnotationError as error:
            c.fault("E006", str(error), c.location(node))
            return False
        if terms is None:
            continue
        value = bound[one.arg]
        wrong = fits(Param(one.arg, terms), value, subst, c.same_dtype)
        if wrong is not None:
            _mismatch(c, fn, one, wrong, spots.get(one.arg, node))
            ok = False
    return ok


def _mismatch(c: Context, fn: FunctionType, parameter: ast.arg, wrong: Mismatch, at: ast.AST) -> None:
    assert parameter.annotation is not None
    needed = ast.unparse(parameter.annotation)
    code = {"bound": "T001", "dtype": "T002", "const": "E008", "rank": "S005"}.get(wrong.kind, "T010")
    note = ""
    if wrong.kind == "dtype" and wrong.bound is not None and wrong.term is not None and wrong.term.dtype is not None:
        note = f" (with {wrong.term.dtype.name} = {wrong.bound.name} from the arguments before)"
    if wrong.kind == "bound" and wrong.term is not None and wrong.term.dtype is not None:
        note = f" (where {wrong.term.dtype.name} is {wrong.term.dtype.bound or ' or '.join(m.name for m in members(wrong.term.dtype))})"
    c.fault(code, f"`{fn.__name__}` needs {needed}{note} for `{parameter.arg}`; `{c.text(at)}` is {show(wrong.value)}", at)

