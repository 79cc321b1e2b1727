"""Names and conditions as the user wrote them."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from teeny.ir.dtype import DType
from teeny.ir.schema import named
from teeny.ir.types import PointerType, element_of
from teeny.ops.compare import CORE

if TYPE_CHECKING:
    from teeny.checks.fill.keys import Keys
    from teeny.ir.core import Op, Value
    from teeny.ir.poly import Dim

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
_OPPOSITE_OF = {"lt": ">=", "le": ">", "gt": "<=", "ge": "<", "eq": "!=", "ne": "=="}
_REPEATS = frozenset(("splat", "broadcast", "expand_dims"))
_MOVES = _REPEATS | {"trans", "reshape"}
_LONGEST = 60
"""Characters of source that a message repeats at most."""
_WORDS = {
    "add": ("sum", "sum"), "mul": ("prod", "product"), "max": ("max", "maximum"), "min": ("min", "minimum"),
    "sort": ("sort", "order"), "histogram": ("histogram", "histogram"),
}  # fmt: skip


def called(op: Op, default: str = "") -> str:
    """How a message names an operation: `tl.max`, else by its kind."""
    name = op.loc.name if op.loc is not None else None
    return f"`{name or default or op.name}`"


def reduction_words(group: str | None) -> tuple[str, str]:
    """The language's name of a reduction ("max") and the noun for it ("maximum")."""
    return _WORDS.get(group or "", ("reduce", "reduction"))


def is_load(op: Op | None) -> bool:
    """Whether it is a load, which may be given an `other`; if not, an atomic operation."""
    return op is None or op.schema.group == "load"


def load_name(load: Op | None) -> str:
    """The variable that a load was assigned to, in backquotes; else what it reads."""
    if load is None:
        return "a masked load"
    name, read = load.results[0].name, _pointer(load).name
    kind = "a load" if is_load(load) else "an atomic operation"
    return (
        f"`{name}`"
        if name
        else f"{kind} of `{read}`"
        if read
        else kind.replace("an atomic", "a masked atomic").replace("a load", "a masked load")
    )


def computed_text(value: Value, load: Op | None, reader: Op) -> str | None:
    """What a value is that was computed from a load, in backquotes; None where it is what was loaded, or not known.

    What stands at the same place as its `reader` was computed by the same function of the language.
    """
    while value.op is not None and value.op is not load and value.op.schema.group in _MOVES:
        value = value.op.operands[0]
    if value.op is None or value.op is load or value.op.loc == reader.loc:
        return None
    text = value.name or _source(value.op) or ""
    return f"`{text}`" if 0 < len(text) <= _LONGEST and text != (load and load.results[0].name) else None


def checked_axes(load: Op) -> bool:
    """Whether the mask of a load is a check of bounds that the load itself asks for (`boundary_check`)."""
    if len(load.operands) < 2:
        return False
    op = load.operands[1].op
    while op is not None and op.schema.group in _REPEATS:
        op = op.operands[0].op
    return op is not None and op.loc is not None and op.loc is load.loc and op.schema.group != "constant"


def outside(key: Dim, keys: Keys) -> str | None:
    """The opposite of a condition in the words of its source, such as `cols >= n_cols`; None where they are unknown."""
    origin = keys.origins.get(key)
    if origin is None or origin.op is None:
        return None
    text = _source(origin.op)
    if text is None:
        return _from_names(origin.op)
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        left, right = (ast.get_source_segment(text, side) for side in (node.left, node.comparators[0]))
        return f"{left} {_OPPOSITE[type(node.ops[0])]} {right}"
    return f"not ({text})" if not isinstance(node, ast.Name) else f"not {text}"


def _source(op: Op) -> str | None:
    if op.loc is None:
        return None
    text = op.loc.span.text
    return text if text and "\n" not in text else None


def _from_names(op: Op) -> str | None:
    """A comparison by the names of its operands, where the text of the source is not at hand."""
    if op.schema.group != "cmp":
        return None
    left, right = (_plain_name(v) for v in op.operands)
    opposite = _OPPOSITE_OF.get(CORE.get(str(op.attrs["predicate"]), ""))
    return f"{left} {opposite} {right}" if left and right and opposite else None


def _plain_name(value: Value) -> str | None:
    while value.name is None and value.op is not None and value.op.schema.group in _REPEATS:
        value = value.op.operands[0]
    if value.name is None and value.op is not None and value.op.schema.group == "constant":
        return str(value.op.attrs["value"])
    return value.name


def mask_text(load: Op) -> str | None:
    """The mask of a load as a variable's name or as its source."""
    mask = named(load, "mask")
    if mask is None:
        return None
    while mask.op is not None and mask.op.schema.group in _REPEATS and mask.op.loc is load.loc:
        mask = mask.op.operands[0]  # the load itself has spread it
    return mask.name or (_source(mask.op) if mask.op is not None else None)


def fill_text(fill: float, filled: Value, load: Op) -> str:
    """A fill of the dtype of `filled` as source; `load` says by which pointer the dtype can be named."""
    element = element_of(filled.type)
    floating = not isinstance(element, DType) or element.kind in ("float", "variable")
    if math.isinf(fill):
        if floating and (not isinstance(element, DType) or element.bound in ("", "Float")):
            return '-float("inf")' if fill < 0 else 'float("inf")'
        return f"tl.{'lowest' if fill < 0 else 'highest'}({_pointer_dtype(load)})"
    if isinstance(element, DType) and element.kind == "signed":
        limit = 1 << (element.bits - 1)
        if fill in (-limit, limit - 1):
            return f"tl.{'lowest' if fill < 0 else 'highest'}({_pointer_dtype(load)})"
    decimal = isinstance(element, DType) and (element.kind == "float" or element.bound == "Float")
    return repr(float(fill)) if decimal else repr(int(fill))


def _pointer_dtype(load: Op) -> str:
    """The dtype of a load as the source can say it: that of the pointer argument it reads through."""
    name = _pointer(load).name
    return f"{name}.dtype" if name else "the dtype"


def _pointer(load: Op) -> Value:
    """The pointer argument that a load reads through."""
    value = load.operands[0]
    while value.op is not None and value.op.operands and isinstance(element_of(value.op.operands[0].type), PointerType):
        value = value.op.operands[0]
    return value


def number_text(value: float) -> str:
    """A number as a message shows it."""
    return f"{value:g}"
