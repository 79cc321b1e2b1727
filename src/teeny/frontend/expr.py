"""Expressions other than operators: names, attributes, literals, tuples, indexing, calls."""

from __future__ import annotations

import ast
import math
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import teeny.language
from teeny.diag.diagnostic import Edit, Fix
from teeny.diag.span import Span
from teeny.frontend.builtins import BUILTINS
from teeny.frontend.call import call_language
from teeny.frontend.combine import COMBINERS, combine
from teeny.frontend.context import Context
from teeny.frontend.contract import CONTRACTS
from teeny.frontend.debug import DEBUG
from teeny.frontend.execute import evaluate
from teeny.frontend.inline import inline
from teeny.frontend.names import Missing, resolve
from teeny.frontend.signature import variable_of
from teeny.frontend.triton_names import LACKING
from teeny.frontend.values import UNKNOWN, Method, Unset, is_faulty, is_tuple, show
from teeny.ir.dtype import DType
from teeny.ir.guard import TRUE
from teeny.ir.poly import Poly, substitute
from teeny.ir.types import PointerType, ViewType, element_of, typed
from teeny.language.tensor import BlockPtr, Ptr, Tensor
from teeny.ops.function import LanguageFunction, Operand, function_of
from teeny.ops.shape import expand_dims_, splat

if TYPE_CHECKING:
    from teeny.frontend.signature import Term
    from teeny.ir.core import Value


def constant(c: Context, node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, int | float | str) or value is None:
        return value
    return c.fault("E001", f"`{c.text(node)}` is outside the language", node)


def name(c: Context, node: ast.Name) -> Any:
    found = c.lookup(node.id, node)
    if c.equal and isinstance(found, Poly):
        return substitute(found, c.equal)
    return _outer(c, node) if found is NotImplemented else found


def _outer(c: Context, node: ast.Name) -> Any:
    """A name that is no local: a function, a module, a dtype, or a global Const."""
    fn = c.frame.fn
    found = Missing.NOT_FOUND if node.id in fn.__code__.co_varnames else resolve(fn, node.id)
    if isinstance(found, Missing):
        return _unknown_name(c, node, found)
    variable = variable_of(found)
    if variable is not None:
        beside = next((n for n, a in c.frame.env.items() if _has_dtype(a[0].value, variable)), "x_ptr")
        return c.fault(
            "E015",
            f"`{node.id}` is a type variable and has no value here",
            node,
            help="use the dtype of a value",
            fix=Fix("use the dtype of a value", (Edit(c.location(node).span, f"{beside}.dtype"),)),
        )
    if isinstance(found, int | float | str | tuple | None) and node.id in fn.__code__.co_freevars:
        return _of_closure(c, node, found)
    if isinstance(found, int | float | str | tuple | None):
        return _global_const(c, node, node.id, fn.__globals__.get("__annotations__", {}), found)
    return outside(c, node, found)


def _of_closure(c: Context, node: ast.Name, value: Any) -> Any:
    parameter = f"{node.id}: tl.Const[{type(value).__name__}]"
    return c.fault(
        "E012",
        f"`{node.id}` is a variable of the function around the kernel, which may change; a kernel reads Consts",
        node,
        help=f"make it a parameter of the kernel, `{parameter}`, and pass it at the launch",
    )


def _unknown_name(c: Context, node: ast.Name, why: Missing) -> Any:
    """Report a name once; from there on it counts as known."""
    name = node.id
    if why is Missing.UNSET:
        return c.undefined(name, f"`{name}` is not assigned yet where the kernel is defined", node, code="E002")
    if name in c.frame.fn.__code__.co_varnames:
        return c.undefined(
            name,
            f"`{name}` is not defined here: it is assigned further down",
            node,
            help=f"give `{name}` a value before",
        )
    from difflib import get_close_matches

    close = get_close_matches(name, [*c.frame.env, *c.frame.fn.__globals__], 1)
    help = f"did you mean `{close[0]}`?" if close else ""
    fix = Fix(help, (Edit(c.location(node).span, close[0]),)) if close else None
    return c.undefined(name, f"`{name}` is not defined", node, help=help, code="E002", fix=fix)


def _has_dtype(value: Any, dtype: DType) -> bool:
    if not isinstance(value, Operand):
        return False
    return value.dtype is dtype or (isinstance(value.dtype, PointerType) and value.dtype.pointee is dtype)


def _global_const(c: Context, node: ast.AST, name: str, declared: dict[str, Any], value: Any) -> Any:
    """A plain value of a module: allowed where it is declared to be constant."""
    annotation = declared.get(name)
    text = annotation if isinstance(annotation, str) else repr(annotation)
    if annotation is not None and any(word in text for word in ("Const", "compile-time", "Final")):
        return value
    kind = type(value).__name__
    return c.fault(
        "E012",
        f"`{c.text(node)}` is a global that may change; a kernel reads only Consts",
        node,
        help=f"declare it in its module as `{name}: tl.Const[{kind}] = ...`, or pass it as a Const parameter",
    )


def _infinite(c: Context, node: ast.AST, value: float) -> Any:
    """`np.inf` and `np.nan`: a kernel says them in Python."""
    text = f'float("{abs(value)}")' if value != -math.inf else '-float("inf")'
    fix = Fix(f"write {text}", (Edit(c.location(node).span, text),))
    return c.fault("E012", f"`{c.text(node)}` is of another module", node, help=fix.title, fix=fix)


def outside(c: Context, node: ast.AST, found: Any) -> Any:
    """A Python object from outside the kernel as a value: a function, a module, a dtype."""
    leaf = getattr(found, "ir", None)
    if isinstance(leaf, DType):
        return leaf
    if isinstance(found, FunctionType | ModuleType | type) or callable(found):
        return found
    return c.fault(
        "E012",
        f"`{c.text(node)}` is a {type(found).__name__}, which a kernel cannot use",
        node,
        help="pass it as a parameter",
    )


def attribute(c: Context, node: ast.Attribute) -> Any:
    base = evaluate(c, node.value)
    if is_faulty(base) and not isinstance(base, Operand):
        return UNKNOWN
    if isinstance(base, Operand):
        return _of_operand(c, node, base)
    if isinstance(base, ModuleType):
        try:
            found: Any = getattr(base, node.attr)
        except AttributeError:
            return _no_member(c, node, base)
        if base is math and isinstance(found, float):
            return found
        if isinstance(found, float) and not math.isfinite(found):
            return _infinite(c, node, found)
        if isinstance(found, int | float | str | tuple):
            return _global_const(c, node, node.attr, getattr(base, "__annotations__", {}), found)
        return outside(c, node, found)
    if isinstance(base, type):
        help = "pass the value as a Const parameter"
        return c.fault("E012", f"`{c.text(node)}` belongs to a class, which a kernel cannot use", node, help=help)
    return c.fault("E001", f"{show(base)} has no attribute `{node.attr}` in a kernel", node)


def _no_member(c: Context, node: ast.Attribute, module: ModuleType) -> Any:
    if module is teeny.language and node.attr in LACKING:
        text = f"`{c.text(node)}` is Triton's, and not in this version of teeny yet"
        return c.fault("E002", text, node, help="`teeny ops` lists what there is")
    from difflib import get_close_matches

    close = get_close_matches(node.attr, [n for n in dir(module) if not n.startswith("_")], 1)
    help = f"did you mean `{close[0]}`?" if close else ""
    source, _, _, line, column = c.location(node).span
    span = Span(source, line, column - len(node.attr.encode()), line, column)
    fix = Fix(help, (Edit(span, close[0]),)) if close else None
    return c.fault("E002", f"`{c.text(node)}` does not exist", node, help=help, fix=fix)


def _of_operand(c: Context, node: ast.Attribute, base: Operand) -> Any:
    if node.attr == "dtype":
        return base.dtype.pointee if isinstance(base.dtype, PointerType) else base.dtype
    if node.attr == "shape" and not base.is_pointer:
        return base.shape
    cls = BlockPtr if isinstance(base.type, ViewType) else Ptr if base.is_pointer else Tensor
    found = vars(cls).get(node.attr)
    if function_of(found) is not None and not node.attr.startswith("_"):
        return Method(found, base)
    return c.fault("E001", f"{show(base)} has no attribute `{node.attr}`", node)


def tuple_(c: Context, node: ast.Tuple) -> Any:
    return tuple(evaluate(c, element) for element in node.elts)


def list_(c: Context, node: ast.List) -> Any:
    """A list display is read as a tuple: shapes are often written so."""
    return tuple(evaluate(c, element) for element in node.elts)


def subscript(c: Context, node: ast.Subscript) -> Any:
    base = evaluate(c, node.value)
    if is_faulty(base) and not is_tuple(base):
        return UNKNOWN
    if is_tuple(base):
        return _element(c, node, base)
    if isinstance(base, Unset) and base.kind is tuple:
        return _unset_element(c, node, base)
    if not isinstance(base, Operand):
        return c.fault("E001", f"{show(base)} cannot be indexed in a kernel", node)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kept: list[bool] = []
    for item in items:
        if isinstance(item, ast.Slice) and item.lower is None and item.upper is None and item.step is None:
            kept.append(True)
        elif isinstance(item, ast.Constant) and item.value is None:
            kept.append(False)
        else:
            return c.fault(
                "E001",
                f"`{c.text(node)}`: a block is indexed with `:` and None alone",
                node,
                help="lanes cannot be picked out; use a mask and a reduction, or load what is needed",
            )
    return _expand(c, node, base, kept)


def _element(c: Context, node: ast.Subscript, base: tuple[Any, ...]) -> Any:
    if isinstance(node.slice, ast.Slice):
        ends = [None if e is None else evaluate(c, e) for e in (node.slice.lower, node.slice.upper, node.slice.step)]
        if all(e is None or isinstance(e, int) for e in ends):
            return base[slice(*ends)]
        return c.fault("E008", "the ends of a slice must be known at compile time", node.slice)
    index = evaluate(c, node.slice)
    if is_faulty(index):
        return UNKNOWN
    if not isinstance(index, int):
        if isinstance(index, Poly | Unset):
            return c.join(tuple((TRUE, one) for one in base)) if len(base) == 1 else UNKNOWN
        return _no_index(c, node, index)
    if not -len(base) <= index < len(base):
        return c.fault("S003", f"index {index} is outside a tuple of {len(base)}", node)
    return base[index]


def _unset_element(c: Context, node: ast.Subscript, base: Unset) -> Any:
    """An element or a slice of a Const tuple whose length is not known yet."""
    term: Term = base.parts[-1]
    text = c.text(node)
    if isinstance(node.slice, ast.Slice):
        ends = [None if e is None else evaluate(c, e) for e in (node.slice.lower, node.slice.upper, node.slice.step)]
        if all(e is None or isinstance(e, int | Poly) for e in ends):
            return Unset(tuple, text, ("slice", base, *ends, term))
        return c.fault("E008", "the ends of a slice must be known at compile time", node.slice)
    index = evaluate(c, node.slice)
    if is_faulty(index):
        return UNKNOWN
    if not isinstance(index, int | Poly | Unset):
        return _no_index(c, node, index)
    kinds = {one.kind for one in (term.inner[0].inner if term.inner[0].kind == "union" else term.inner)}
    parts = ("element", base, index)
    if kinds == {"int"}:
        return c.opaque(text, parts)
    if kinds == {"tuple"} and term.inner[0].many:
        return Unset(tuple, text, (*parts, term.inner[0]))
    kind = {"float": float, "bool": bool, "str": str}.get(kinds.pop()) if len(kinds) == 1 else None
    return UNKNOWN if kind is None else Unset(kind, text, parts)


def _no_index(c: Context, node: ast.Subscript, index: Any) -> Any:
    text = f"an index of a tuple must be a known Const int; `{c.text(node.slice)}` is {show(index)}"
    return c.fault("E008", text, node.slice)


def _expand(c: Context, node: ast.AST, base: Operand, kept: list[bool]) -> Any:
    if isinstance(base.type, ViewType):
        return c.fault("T005", f"{show(base)} cannot be indexed", node, help="load its block first")
    rank = len(base.shape)
    if sum(kept) > rank or (rank and sum(kept) < rank):
        return c.fault(
            "S005",
            f"`{c.text(node)}` names {sum(kept)} axes with `:`, and {show(base)} has {rank}",
            node,
            help="write one `:` an axis and None where a new axis goes",
        )
    c.b.loc = c.location(node, "[]")
    value: Value = base.value
    if not rank:
        value = c.b.create(splat, value, type=typed((1,) * len(kept), element_of(value.type)))
    else:
        for axis, keep in enumerate(kept):
            if not keep:
                value = c.b.create(expand_dims_, value, axis=axis)
    return Operand(value, base.dtype)


def call(c: Context, node: ast.Call) -> Any:
    target = evaluate(c, node.func)
    args: list[Any] = []
    nodes: list[ast.AST] = []
    if isinstance(target, Method):
        args.append(target.first)
        target = target.function
        assert isinstance(node.func, ast.Attribute)
        nodes.append(node.func.value)
    for one in node.args:
        if isinstance(one, ast.Starred):
            return c.fault("E001", "a starred argument is outside the language", one, help="write the arguments out")
        args.append(evaluate(c, one))
        nodes.append(one)
    keywords: dict[str, Any] = {}
    keyword_nodes: dict[str, ast.AST] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            return c.fault(
                "E001", "`**` arguments are outside the language", keyword.value, help="write the arguments out"
            )
        keywords[keyword.arg] = evaluate(c, keyword.value)
        keyword_nodes[keyword.arg] = keyword.value
    if is_faulty(target) or (isinstance(target, Unset) and target.kind is object):
        return UNKNOWN
    function = function_of(target)
    if function is not None:
        return _language(c, node, function, tuple(args), keywords, tuple(nodes), keyword_nodes)
    if isinstance(target, FunctionType):
        return inline(c, node, target, tuple(args), keywords, tuple(nodes), keyword_nodes)
    if isinstance(target, BuiltinFunctionType | type) and target in BUILTINS:
        return _builtin(c, node, target, args, keywords)
    return _not_callable(c, node.func, target)


def _builtin(c: Context, node: ast.Call, target: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    rule, least, most = BUILTINS[target]
    if keywords or not least <= len(args) <= most:
        return c.fault("E005", f"`{target.__name__}` does not take these arguments in a kernel", node)
    return UNKNOWN if any(map(is_faulty, args)) else rule(c, node, *args)


def _language(
    c: Context, node: ast.Call, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any],
    nodes: tuple[ast.AST, ...], keyword_nodes: dict[str, ast.AST],
) -> Any:  # fmt: skip
    if not function.construct:
        return call_language(c, node, function, args, keywords, nodes, keyword_nodes)
    if function.construct in COMBINERS:
        return combine(c, node, function, args, keywords, nodes, keyword_nodes)
    rule = CONTRACTS.get(function.construct) or DEBUG.get(function.construct)
    if rule is not None:
        return rule(c, node, function, args, keywords, nodes)
    if function.construct == "index":
        return c.fault("E004", f"{function.display} is written as an index: x[:, None]", node)
    return c.fault("E004", f"{function.display} belongs into a `for` statement", node, help=f"for i in {c.text(node)}:")


def _not_callable(c: Context, node: ast.expr, target: Any) -> Any:
    name = str(getattr(target, "__name__", ""))
    fix: Fix | None = None
    if target is print:
        help = "run the kernel on the reference executor to see its values"
    elif str(getattr(target, "__module__", "")).partition(".")[0] in ("numpy", "torch", "math"):
        help = "use the function of the same meaning in teeny.language"
        if function_of(getattr(teeny.language, name, None)) is not None:
            ours = next((n for n, v in c.frame.fn.__globals__.items() if v is teeny.language), "tl") + f".{name}"
            help = f"use {ours}"
            fix = Fix(help, (Edit(c.location(node).span, ours),))
    elif isinstance(target, type):
        help = "a kernel has no objects; pass single values"
    else:
        help = "call language functions, or plain Python functions with a `def`"
    return c.fault("E004", f"`{c.text(node)}` cannot be called in a kernel", node, help=help, fix=fix)
