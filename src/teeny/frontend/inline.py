"""Helpers: plain typed Python functions, checked against their annotations at the call and inlined."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, get_overloads

from teeny.diag.errors import KernelError
from teeny.diag.span import Location
from teeny.frontend.branch import finish, join_returns, run_body
from teeny.frontend.context import Frame
from teeny.frontend.explain import not_const
from teeny.frontend.overload import Mismatch, fits
from teeny.frontend.signature import (
    LANGUAGE_VARIABLES,
    AnnotationError,
    Param,
    Term,
    dtype_named,
    show_terms,
    terms_of,
)
from teeny.frontend.source import KernelSource, source_of
from teeny.frontend.values import UNKNOWN, is_faulty, show

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.ir.dtype import DType

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
    nodes: tuple[ast.AST, ...], keyword_nodes: dict[str, ast.AST], lenient: bool = False,
) -> Any:  # fmt: skip
    """Lower a helper's body in place of the call and give its result. `lenient`: it may do without annotations."""
    frame: Frame | None = c.frame
    while frame is not None:
        if frame.fn is fn or frame.depth > MAX_DEPTH:
            return c.fault(
                "E011", f"`{fn.__name__}` calls itself; a kernel is inlined whole", node, help="write a loop"
            )
        frame = frame.outer
    try:
        source = helper_source(fn)
    except KernelError as error:
        for one in error.diagnostics:
            c.fault(one.code, one.message, node, *one.labels, help="; ".join(one.help))
        return UNKNOWN
    bound = _bind(c, node, fn, source.tree.args, args, keywords)
    if bound is None:
        return UNKNOWN
    place = c.location(node, fn.__name__)
    frame = Frame(fn, source, place, c.frame, depth=c.frame.depth + 1)
    names = [a.arg for a in (*source.tree.args.posonlyargs, *source.tree.args.args)]
    spots = dict(zip(names, nodes, strict=False)) | keyword_nodes
    if source.tree.args.vararg is not None:
        spots |= {f"{source.tree.args.vararg.arg}[{at}]": one for at, one in enumerate(nodes[len(names) :])}
    if not _check(c, node, frame, bound, spots, lenient) or any(map(is_faulty, bound.values())):
        return UNKNOWN
    return _run(c, frame, place, bound)


def _run(c: Context, frame: Frame, place: Location, bound: dict[str, Any]) -> Any:
    outer, guard, active, facts = c.frame, c.guard, c.active, c.facts
    c.frame = frame
    c.enter(active)
    for name, value in bound.items():
        c.bind(name, value, place)
    run_body(c, frame.source.tree.body)
    if any(one.value is not None for one in frame.returns):
        finish(c, place)
    if frame.dead:
        c.facts = facts
        frame.dead = 0
        c.enter(active)
    found = join_returns(c, frame.returns)[0]
    c.frame = outer
    c.enter(guard)
    if frame.returns or not frame.result or frame.result[0].kind in ("none", "any"):
        return found
    where = Location(frame.source.name_span, None, place)
    return c.fault(
        "E010", f"`{frame.fn.__name__}` returns nothing, and is declared to return {show_terms(frame.result)}", where
    )


def _bind(
    c: Context,
    node: ast.AST,
    fn: FunctionType,
    arguments: ast.arguments,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any] | None:
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    only = [a.arg for a in arguments.kwonlyargs]
    if arguments.kwarg:
        text = f"`{fn.__name__}` has a `**` parameter, which is outside the language"
        c.fault("E001", text, node, help="write the parameters out")
        return None
    rest = args[len(names) :]
    if rest and arguments.vararg is None:
        c.fault(
            "E005",
            f"`{fn.__name__}` takes {len(names)} argument{'' if len(names) == 1 else 's'}, found {len(args)}",
            node,
        )
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
    defaults = dict(zip(names[len(names) - len(fn.__defaults__ or ()) :], fn.__defaults__ or (), strict=True)) | (
        fn.__kwdefaults__ or {}
    )
    for name in (*names, *only):
        if name not in bound:
            if name not in defaults:
                c.fault("E005", f"`{fn.__name__}` needs the argument `{name}`", node)
                return None
            bound[name] = defaults[name]
    made = {name: bound[name] for name in (*names, *only)}
    return made if arguments.vararg is None else made | {arguments.vararg.arg: rest}


def lookup_of(fn: FunctionType) -> Callable[[str], DType | None]:
    """How annotations of `fn` find their dtypes and type variables; the language's own know its variables by name."""
    if str(fn.__module__).startswith("teeny.language."):
        return LANGUAGE_VARIABLES.get
    return lambda name: dtype_named(fn, name)


def _check(
    c: Context, node: ast.AST, frame: Frame, bound: dict[str, Any], spots: dict[str, ast.AST], lenient: bool
) -> bool:
    """The arguments against the annotations: by overloads where the helper has them, else by its own."""
    fn = frame.fn
    variants = get_overloads(fn)
    if not variants:
        return _check_plain(c, node, frame, bound, spots, lenient)
    for variant in variants:
        terms = _overload(variant) if isinstance(variant, FunctionType) else None
        if terms is None:
            continue
        subst: dict[DType, DType] = {}
        if all(fits(Param(name, terms[name]), value, subst, c.pin) is None for name, value in bound.items()):
            frame.result, frame.subst = terms["return"], subst
            return True
    kinds = ", ".join(show(v) for v in bound.values())
    c.fault("T010", f"no overload of `{fn.__name__}` takes {kinds}", node)
    return False


@cache
def _overload(variant: FunctionType) -> dict[str, tuple[Term, ...]] | None:
    """The annotations of an overload, `return` among them; None where one is not understood."""
    library = variant.__module__.startswith("teeny.language.")
    lookup = lookup_of(variant)
    try:
        if library:
            written = {k: ast.parse(str(v), mode="eval").body for k, v in variant.__annotations__.items()}
        else:
            tree = helper_source(variant).tree
            written = {a.arg: a.annotation for a in every_argument(tree.args)} | {"return": tree.returns}
        return {name: (Term("any"),) if one is None else terms_of(one, lookup) for name, one in written.items()}
    except (KernelError, AnnotationError):
        return None


def every_argument(arguments: ast.arguments) -> list[ast.arg]:
    """The named parameters, in order."""
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _check_plain(
    c: Context, node: ast.AST, frame: Frame, bound: dict[str, Any], spots: dict[str, ast.AST], lenient: bool
) -> bool:
    ok = True
    fn, source, tree = frame.fn, frame.source, frame.source.tree
    for one in (*every_argument(tree.args), *([tree.args.vararg] if tree.args.vararg else [])):
        if one.annotation is None:
            if lenient:
                continue
            place = Location(source.span(one), None, frame.call)
            c.fault("E006", f"`{one.arg}` of `{fn.__name__}` has no annotation", place, help=_ANNOTATIONS)
            ok = False
            continue
        terms = _terms(c, frame, one.annotation, one)
        if terms is None:
            ok = False
            continue
        several = enumerate(bound[one.arg]) if one is tree.args.vararg else ((-1, bound[one.arg]),)
        for at, value in several:
            wrong = fits(Param(one.arg, terms), value, frame.subst, c.pin) if ok else None
            if wrong is not None:
                _mismatch(c, fn, one, wrong, spots.get(one.arg if at < 0 else f"{one.arg}[{at}]", node))
                ok = False
    if tree.returns is not None:
        terms = _terms(c, frame, tree.returns, tree.returns)
        frame.result = terms or ()
        ok = ok and terms is not None
    return ok


_ANNOTATIONS = "write tl.Tensor[...], tl.Scalar[...], tl.Ptr[...] or tl.Const[...]"


def _terms(c: Context, frame: Frame, annotation: ast.expr, at: ast.arg | ast.expr) -> tuple[Term, ...] | None:
    """What an annotation of the helper asks for; None after a fault."""
    found = c.annotations.get(annotation)
    if found is not None:
        return found
    try:
        found = c.annotations[annotation] = terms_of(annotation, lookup_of(frame.fn))
        return found
    except AnnotationError as error:
        c.fault("E006", str(error), Location(frame.source.span(at), None, frame.call), help=_ANNOTATIONS)
        return None


def _mismatch(c: Context, fn: FunctionType, parameter: ast.arg, wrong: Mismatch, at: ast.AST) -> None:
    assert parameter.annotation is not None
    needed = ast.unparse(parameter.annotation)
    if wrong.kind == "const":
        not_const(c, at, f"`{parameter.arg}` of `{fn.__name__}`", wrong.value)
        return
    code = {"bound": "T001", "dtype": "T002", "rank": "S005"}.get(wrong.kind, "T010")
    note = ""
    dtype = wrong.term.dtype if wrong.term is not None else None
    if wrong.kind == "dtype" and wrong.bound is not None and dtype is not None:
        note = f" (with {dtype.name} = {wrong.bound.name} from the arguments before)"
    if wrong.kind == "bound" and dtype is not None:
        note = f" (where {dtype.name} is {dtype.bound})"
    c.fault(
        code, f"`{fn.__name__}` needs {needed}{note} for `{parameter.arg}`; `{c.text(at)}` is {show(wrong.value)}", at
    )
