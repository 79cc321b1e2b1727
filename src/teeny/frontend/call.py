"""Calls of language functions: arguments bound and matched, shapes checked, operations emitted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.diag.errors import InternalError
from teeny.frontend.dims import CallShapes
from teeny.frontend.explain import explain
from teeny.frontend.guards import guard_of
from teeny.frontend.overload import Match, match, selecting, signatures
from teeny.frontend.signature import LANGUAGE_VARIABLES, dtypes_in
from teeny.frontend.values import UNKNOWN, Comparison, Condition, Unset, is_faulty, is_tuple, show_number
from teeny.ir.dtype import I32, I64, LEAVES, DType, holds, integer_range, largest, members, storage
from teeny.ir.poly import Dim, Poly
from teeny.ir.schema import SchemaError
from teeny.ir.types import TensorType, typed
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.function import LanguageFunction, Operand
from teeny.ops.shape import broadcast_value

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.frontend.signature import Term

Nodes = tuple[ast.AST, ...]


def bind(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any] | None:
    """Arguments by parameter name; None after a fault."""
    positional, names = _positional(function), _names(function)
    starred = _starred(function)
    if starred >= 0 and len(args) > starred and not (len(args) == starred + 1 and _is_sequence(args[-1])):
        args = (*args[:starred], args[starred:])
    if len(args) > len(positional):
        c.fault("E005", f"{function.display} takes {_count(len(positional))}, found {len(args)}", node)
        return None
    values = dict(zip(positional, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            c.fault(
                "E005",
                f"{function.display} has no argument `{name}`",
                node,
                help=f"it takes {', '.join(p.name for p in signatures(function)[0].params)}",
            )
            return None
        if name in values:
            c.fault("E005", f"{function.display} gets `{name}` twice", node)
            return None
        values[name] = value
    return values


def _positional(function: LanguageFunction) -> list[str]:
    """The parameters that take positional arguments: those of the overload that has most."""
    found = function.memo.get("positional")
    if found is None:
        each = ([p.name for p in s.params if not p.keyword_only] for s in signatures(function))
        found = function.memo["positional"] = max(each, key=len)
    return found


def _names(function: LanguageFunction) -> frozenset[str]:
    """All parameters of all overloads."""
    found = function.memo.get("names")
    if found is None:
        found = function.memo["names"] = frozenset(p.name for s in signatures(function) for p in s.params)
    return found


def _starred(function: LanguageFunction) -> int:
    """The place of the parameter that takes the arguments left (`*shape`), which may come as one tuple; -1: none."""
    found = function.memo.get("starred")
    if found is None:
        places = [at for s in signatures(function) for at, p in enumerate(s.params) if p.starred]
        found = function.memo["starred"] = places[0] if places else -1
    return found


def _is_sequence(value: Any) -> bool:
    return is_tuple(value) or (isinstance(value, Unset) and value.kind is tuple)


def _count(number: int) -> str:
    return f"{number or 'no'} argument{'' if number == 1 else 's'}"


def call_language(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any],
    arg_nodes: Nodes, keyword_nodes: dict[str, ast.AST],
) -> Any:  # fmt: skip
    """Call a language function on values; the nodes are where they stem from."""
    values = bind(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    if c.generic and not _selected(c, function, values):
        return UNKNOWN
    found = match(function, values, c.pin, not c.pinned)
    if not isinstance(found, Match) or any(map(is_faulty, values.values())):
        if isinstance(found, Match):
            return UNKNOWN
        return explain(c, node, function, found, values, _nodes(function, arg_nodes, keyword_nodes))
    if function.exclude:
        _exclude(c, function, found)
    if not _literals(c, function, found, arg_nodes, keyword_nodes) or not _known(c, found):
        return UNKNOWN
    return _emit(c, node, function, found)


def _nodes(function: LanguageFunction, arg_nodes: Nodes, keyword_nodes: dict[str, ast.AST]) -> dict[str, ast.AST]:
    return dict(zip(_positional(function), arg_nodes, strict=False)) | keyword_nodes


def _exclude(c: Context, function: LanguageFunction, found: Match) -> None:
    """Members that a variable's class admits and the operation lacks: they leave the kernel's supported dtypes."""
    for name, leaves in function.exclude.items():
        dtype = found.subst.get(LANGUAGE_VARIABLES[name])
        if dtype is not None and dtype.is_variable:
            lacking = {
                leaf for leaf in leaves if LEAVES[leaf].mask & dtype.mask and not _ruled_out(c, dtype, LEAVES[leaf])
            }
            if lacking:
                c.exclusions.setdefault(dtype.name, set()).update(lacking)


_SYMBOLIC = frozenset({"start", "end", "shape", "block_shape", "values", "k", "num_bins", "seed"})
"""Const arguments that may be symbolic; the others decide what is emitted."""


def _known(c: Context, found: Match) -> bool:
    """Whether the Const arguments are known as far as the lowering needs them: flags are, case by case.

    Where an axis is not known yet, the result is not known either, and the specialisation checks the call.
    """
    if not c.generic:
        return True
    for param in found.signature.params:
        value = found.arguments[param.name]
        if param.terms[0].kind != "const":
            continue
        if isinstance(value, Condition | Comparison):
            guard = guard_of(c, value)
            if guard is None:
                return False
            found.arguments[param.name] = c.settle(Condition(guard))
        elif isinstance(value, Unset) or (param.name not in _SYMBOLIC and _is_symbolic(value)):
            return False
    return True


def _selected(c: Context, function: LanguageFunction, values: dict[str, Any]) -> bool:
    """Settle, case by case, the flags that pick the overload; whether they are known."""
    for name in selecting(function):
        value = values.get(name)
        if isinstance(value, Condition | Comparison):
            guard = guard_of(c, value)
            if guard is None:
                return False
            values[name] = c.settle(Condition(guard))
        elif isinstance(value, Unset | Poly):
            return False
    return True


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Poly) or (is_tuple(value) and any(map(_is_symbolic, value)))


def _ruled_out(c: Context, dtype: DType, leaf: DType) -> bool:
    """Whether the current guard says that a variable is not this leaf."""
    key = ("dtype", dtype, leaf)
    atom = c.table.atom(key, "") if key in c.table.keys else None
    if atom is not None:
        return c.table.is_false(c.active & atom)
    return not c.pin(dtype).mask & leaf.mask


def _literals(
    c: Context, function: LanguageFunction, found: Match, arg_nodes: Nodes, keyword_nodes: dict[str, ast.AST]
) -> bool:
    """Check the range of literals against the dtype they take; of a variable, one of its members must hold it."""
    for param in found.signature.params:
        value = found.arguments[param.name]
        if value.__class__ is not int and value.__class__ is not float:
            continue
        if all(t.kind == "const" for t in param.terms):
            continue
        wrong = _range_fault(c.pin(found.literal(param)), value)
        if wrong:
            nodes = _nodes(function, arg_nodes, keyword_nodes)
            help = "use True, False or a comparison" if "bool" in wrong else ""
            if "at most" in wrong:
                help = 'it would be infinite: write float("inf") if that is meant, or compute in a wider dtype'
            c.fault("T006", wrong, nodes[param.name], help=help)
            return False
    return True


def _range_fault(dtype: DType, value: float) -> str:
    """Why a literal does not fit a dtype; empty where it does."""
    leaves = [leaf for leaf in members(dtype) if leaf.kind != "bool"]
    if not leaves:
        return f"the int literal {value} does not fit a bool"
    if any(holds(leaf, value) for leaf in leaves):
        return ""
    text = f"the literal {show_number(value)} does not fit {dtype.name}"
    floats = [largest(leaf) for leaf in leaves if leaf.kind.startswith("float")]
    if floats:
        return f"{text}, which holds at most {max(floats):.8g}"
    ranges = [integer_range(leaf) for leaf in leaves]
    return f"{text}, which holds {min(r[0] for r in ranges)} to {max(r[1] for r in ranges)}"


def _emit(c: Context, node: ast.AST, function: LanguageFunction, found: Match) -> Any:
    name = function.written
    place = c.location(node, name)
    c.b.loc = place
    arguments = _pinned(c, found) if c.pinned else found.arguments
    dtype = found.result()
    if function.elementwise:
        shapes = [
            v.value.type.shape if isinstance(v.value.type, TensorType) else ()
            for v in arguments.values()
            if isinstance(v, Operand)
        ]
        shape = shapes[0] if shapes else ()
        if any(one != shape for one in shapes):
            rules = CallShapes(c, node, name)
            shape = rules.broadcast(*shapes)
            if rules.failed:
                return UNKNOWN
        arguments = _lanes(c, found, arguments, shape)
        if is_tuple(dtype):
            shape = (shape,) * len(dtype)
    else:
        assert function.shape is not None
        rules = CallShapes(c, node, name)
        shape = function.shape(rules, **arguments)
        if rules.failed:
            return UNKNOWN
    assert function.emit is not None
    try:
        value = function.emit(c.b, shape, dtype, **arguments)
    except SchemaError as error:
        raise InternalError(f"{function.display}: {error}", place, c.kernel) from error
    return _operands(value, dtype)


def _operands(value: Any, dtype: Any) -> Any:
    """The result of a call: an operand, a tuple of them, or None."""
    if is_tuple(dtype):
        return tuple(_operands(one, of) for one, of in zip(value, dtype, strict=True))
    return value if value is None or isinstance(value, Operand) else Operand(value, dtype)


def _pinned(c: Context, found: Match) -> dict[str, Any]:
    """The arguments, where a guard makes a variable and a leaf one: converted to the one that the overload chose."""
    made = dict(found.arguments)
    for param in found.signature.params:
        made[param.name] = _as_chosen(c, found, param.terms, made[param.name])
    return made


def _as_chosen(c: Context, found: Match, terms: tuple[Term, ...], value: Any) -> Any:
    if is_tuple(value):
        for term in terms:
            if term.kind == "tuple" and term.inner:
                inner = term.inner * len(value) if term.many else term.inner
                return tuple(_as_chosen(c, found, (t,), one) for t, one in zip(inner, value, strict=False))
        return value
    if not isinstance(value, Operand) or not isinstance(value.dtype, DType):
        return value
    for dtype in dtypes_in(terms):
        wanted = found.subst.get(dtype, dtype)
        if wanted is not value.dtype and c.pin(wanted) is c.pin(value.dtype):
            return Operand(convert(c.b, value.value, value.dtype, wanted), wanted)
    return value


def _lanes(c: Context, found: Match, arguments: dict[str, Any], shape: tuple[Dim, ...]) -> dict[str, Any]:
    """The arguments of an elementwise function at the common shape: i32 widened beside i64, literals made constants."""
    wide = {v.dtype for v in arguments.values() if isinstance(v, Operand)} >= {I32, I64}
    made: dict[str, Any] = {}
    for param in found.signature.params:
        value = arguments[param.name]
        if isinstance(value, Operand):
            if wide and value.dtype is I32:
                value = Operand(convert(c.b, value.value, I32, I64), I64)
            made[param.name] = Operand(broadcast_value(c.b, value.value, shape), value.dtype)
        elif all(t.kind == "const" for t in param.terms):
            made[param.name] = value
        else:
            dtype = I64 if wide and found.literal(param) is I32 else found.literal(param)
            made[param.name] = Operand(constant(c.b, typed(shape, storage(dtype)), value), dtype)
    return made
