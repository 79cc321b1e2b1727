"""What a `for` runs over: the kind of loop, its bounds, and the hints of `tl.range`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny.frontend.consts import as_condition
from teeny.frontend.execute import evaluate
from teeny.frontend.sequences import Rest, elements
from teeny.frontend.values import Comparison, Condition, Unset, is_faulty, show
from teeny.ir.poly import Poly
from teeny.ir.text.attributes import UNIT, Opaque
from teeny.ops.function import function_of

if TYPE_CHECKING:
    from teeny.frontend.context import Context

_BOUNDS = ("start", "end", "step")
_NUMBERS = ("num_stages", "loop_unroll_factor")
_FLAGS = ("disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm")
NO_MOTION = Opaque("#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>")
"""The attribute `llvm.loop_annotation` of a loop that keeps what no iteration changes."""


class Ranged(NamedTuple):
    """`kind` is the construct, "range" or "static_range"; `attrs` go to the loop's operation."""

    kind: str
    bounds: list[Any]
    attrs: dict[str, object]


def iterator(c: Context, node: ast.expr) -> Ranged | None:
    """What is looped over; None after a fault."""
    target = evaluate(c, node.func) if isinstance(node, ast.Call) else None
    if is_faulty(target):
        return None
    function = function_of(target)
    kind = "range" if target is range else function.construct if function is not None else ""
    if not isinstance(node, ast.Call) or kind not in ("range", "static_range"):
        text = f"a loop runs over tl.range, tl.static_range or a tuple, not over `{c.text(node)}`"
        c.fault("E016", text, node, help="write `for i in tl.range(...)`")
        return None
    if any(k.arg is None for k in node.keywords):
        c.fault("E001", "`**` arguments are outside the language", node, help="write the arguments out")
        return None
    names = (*_BOUNDS, *_NUMBERS, *_FLAGS) if function is not None and kind == "range" else _BOUNDS
    listed = elements(c, node.args)
    if listed is None or any(isinstance(one, Rest) for one in listed[0]):
        return None
    args = listed[0]
    keywords = {str(k.arg): evaluate(c, k.value) for k in node.keywords}
    taken = ("end",) if len(args) == 1 and "end" not in keywords else names[: len(args)]
    twice = [n for n in taken if n in keywords]
    unknown = [k for k in keywords if k not in names]
    if unknown or twice or len(args) > len(names) or not args + list(keywords):
        what = (
            f"has no argument `{unknown[0]}`"
            if unknown
            else f"gets `{twice[0]}` twice"
            if twice
            else f"takes one to {len(names)} arguments"
        )
        c.fault("E005", f"`{c.text(node.func)}` {what}", node)
        return None
    given = dict(zip(names, args, strict=False)) | keywords
    if any(map(is_faulty, given.values())):
        return None
    attrs = _hints(c, node, given)
    return None if attrs is None else Ranged(kind, _bounds(len(args), given), attrs)


def _bounds(count: int, given: dict[str, Any]) -> list[Any]:
    """Start, end and step. One argument alone is the end."""
    step = 1 if given.get("step") is None else given["step"]
    if given.get("end") is None and (count or "start" in given):
        return [0, given.get("start"), step] if count else [given["start"], None, step]
    return [given.get("start", 0), given.get("end"), step]


def _hints(c: Context, node: ast.Call, given: dict[str, Any]) -> dict[str, object] | None:
    attrs: dict[str, object] = {}
    for name in _NUMBERS:
        value = given.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not (
            isinstance(value, int | Poly) or (isinstance(value, Unset) and value.kind is int)
        ):
            return _wrong(c, node, name, "a Const int", value)
        if isinstance(value, int) and value < 0:
            return _wrong(c, node, name, "no negative number", value)
        if not isinstance(value, Unset):
            attrs[f"tt.{name}"] = value
    for name in _FLAGS:
        value = given.get(name, False)
        if not (isinstance(value, bool | Condition | Comparison) or (isinstance(value, Unset) and value.kind is bool)):
            return _wrong(c, node, name, "a Const bool", value)
        if c.truth(as_condition(c, node, value)):
            if name == "disable_licm":
                attrs["llvm.loop_annotation"] = NO_MOTION
            else:
                attrs[f"tt.{name}"] = UNIT
    return attrs


def _wrong(c: Context, node: ast.AST, name: str, needed: str, found: Any) -> None:
    c.fault("T010", f"`{name}` of a loop must be {needed}; found {show(found)}", node)
