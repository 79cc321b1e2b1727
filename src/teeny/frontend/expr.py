"""Literals and calls."""

from __future__ import annotations

import ast
from types import BuiltinFunctionType, FunctionType
from typing import Any

import teeny.language
from teeny.diag.diagnostic import Edit, Fix
from teeny.frontend.builtins import BUILTINS, strict_zip
from teeny.frontend.call import call_language
from teeny.frontend.combine import COMBINERS, combine
from teeny.frontend.context import Context
from teeny.frontend.contract import CONTRACTS
from teeny.frontend.debug import DEBUG
from teeny.frontend.execute import evaluate
from teeny.frontend.inline import inline
from teeny.frontend.pointers import POINTERS
from teeny.frontend.sequences import Rest, elements
from teeny.frontend.values import UNKNOWN, Answer, Method, Unset, is_faulty
from teeny.ops.function import LanguageFunction, function_of


def constant(c: Context, node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, int | float | str) or value is None:
        return value
    return c.fault("E001", f"`{c.text(node)}` is outside the language", node)


def call(c: Context, node: ast.Call) -> Any:
    target = evaluate(c, node.func)
    args: list[Any] = []
    nodes: list[ast.AST] = []
    if isinstance(target, Method):
        args.append(target.first)
        target = target.function
        assert isinstance(node.func, ast.Attribute)
        nodes.append(node.func.value)
    given = elements(c, node.args)
    if given is None:
        return UNKNOWN
    args += given[0]
    nodes += given[1]
    keywords: dict[str, Any] = {}
    keyword_nodes: dict[str, ast.AST] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            return c.fault(
                "E001", "`**` arguments are outside the language", keyword.value, help="write the arguments out"
            )
        keywords[keyword.arg] = evaluate(c, keyword.value)
        keyword_nodes[keyword.arg] = keyword.value
    unknown = isinstance(target, Unset) and target.kind is object
    if unknown or is_faulty(target) or any(isinstance(one, Rest) for one in args):
        return UNKNOWN
    function = function_of(teeny.language.device_print if target is print else target)
    if function is not None:
        return _language(c, node, function, tuple(args), keywords, tuple(nodes), keyword_nodes)
    if isinstance(target, FunctionType) and _home(target) != "triton":
        return inline(c, node, target, tuple(args), keywords, tuple(nodes), keyword_nodes)
    if isinstance(target, Answer):
        if args or keywords:
            return c.fault("E005", f"`{c.text(node.func)}` takes no arguments", node)
        return target.value
    if isinstance(target, BuiltinFunctionType | type) and target in BUILTINS:
        return _builtin(c, node, target, args, keywords)
    return _not_callable(c, node.func, target)


def _builtin(c: Context, node: ast.Call, target: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    rule, least, most = BUILTINS[target]
    if target is zip and keywords.keys() == {"strict"} and isinstance(keywords["strict"], bool):
        rule, keywords = (strict_zip if keywords["strict"] else rule), {}
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
    rule = CONTRACTS.get(function.construct) or DEBUG.get(function.construct) or POINTERS.get(function.construct)
    if rule is not None:
        return rule(c, node, function, args, keywords, nodes)
    if function.construct == "index":
        return c.fault("E004", f"{function.display} is written as an index: x[:, None]", node)
    return c.fault("E004", f"{function.display} belongs into a `for` statement", node, help=f"for i in {c.text(node)}:")


def _home(target: Any) -> str:
    """The package that an object comes from."""
    return str(getattr(target, "__module__", "")).partition(".")[0]


def _not_callable(c: Context, node: ast.expr, target: Any) -> Any:
    name = str(getattr(target, "__name__", ""))
    fix: Fix | None = None
    same = getattr(teeny.language, name, None)
    ours = isinstance(same, FunctionType) or function_of(same) is not None
    if hasattr(target, "specialize"):
        help = "a kernel is launched, and not called: write what both do as a plain function with types, and call that"
    elif _home(target) in ("numpy", "torch", "math", "triton"):
        help = "use the function of the same meaning in teeny.language"
        if name == "next_power_of_2":
            help = "use tn.next_power_of_2"
        elif _home(target) == "triton":
            help = "compute what is known before a launch outside, and pass it as a Const parameter"
        if ours:
            instead = next((n for n, v in c.frame.fn.__globals__.items() if v is teeny.language), "tl") + f".{name}"
            help = f"use {instead}"
            fix = Fix(help, (Edit(c.location(node).span, instead),))
    elif _home(target.__class__) == "triton":
        help = "a helper is a plain Python function: leave out `@triton.jit`, and give its parameters types"
    elif target is range:
        help = "it belongs into a `for` statement"
    elif isinstance(target, type):
        help = "a kernel has no objects; pass single values"
    else:
        help = "call language functions, or plain Python functions with a `def`"
    return c.fault("E004", f"`{c.text(node)}` cannot be called in a kernel", node, help=help, fix=fix)
