"""Choosing the overload of a call: the first whose parameters fit wins; else the fault of the one that got furthest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from teeny.frontend.signature import (
    EMPTY,
    LANGUAGE_VARIABLES,
    POINTEES,
    Param,
    Signature,
    Term,
    dtypes_in,
    language_signature,
)
from teeny.frontend.values import Comparison, Condition, Unknown, Unset, is_const, is_faulty, is_tuple
from teeny.ir.dtype import LEAVES, DType
from teeny.ir.poly import Poly
from teeny.ir.types import PointerType, ViewType, pointer
from teeny.ops.function import LanguageFunction, Operand

if TYPE_CHECKING:
    from collections.abc import Mapping

Pin = Callable[[DType], DType]
"""The leaf that a guard pins a dtype variable to (`if x_ptr.dtype == tl.f16`), else the dtype itself."""


Result = DType | PointerType | tuple[Any, ...] | None
"""What a call gives: a dtype, a tuple of results, or nothing."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why an overload does not fit. `rank`: how telling it is among equals (a dtype says more than a kind)."""

    at: int
    rank: int
    kind: str
    param: Param
    value: object
    term: Term | None = None
    bound: DType | None = None


@dataclass(slots=True)
class Match:
    """A fitting overload: the bound arguments, and what its dtype variables stand for."""

    signature: Signature
    arguments: dict[str, Any]
    subst: dict[DType, DType] = field(default_factory=dict[DType, DType])

    def result(self) -> Result:
        """The dtype of the result, None for a function without one; of a tuple those of its elements."""
        return self._result(self.signature.result[0])

    def _result(self, term: Term) -> Result:
        if term.kind == "tuple":
            return tuple(self._result(one) for one in term.inner)
        if term.kind == "ptr" and term.inner:
            return pointer(cast("PointerType", self._result(term.inner[0])))
        if term.kind == "none" or term.dtype is None:
            return None
        dtype = self.subst.get(term.dtype, term.dtype)
        if term.kind in ("ptr", "block", "descriptor"):
            return pointer(dtype)
        return dtype

    def literal(self, param: Param) -> DType:
        """The dtype that a literal passed for `param` takes: that of the tensor beside it."""
        if any(t.kind == "bool" for t in param.terms):
            return LEAVES["bool"]
        own = [t.dtype for t in param.terms if t.dtype is not None]
        if own:  # a variable of no other argument, as in an offset, is free
            return self.subst.get(own[0], LEAVES["i32"] if own[0].is_variable else own[0])
        wanted = dtypes_in(self.signature.result)
        wanted += [t.dtype for p in self.signature.params for t in p.terms if t.dtype is not None]
        for dtype in wanted:
            found = self.subst.get(dtype)
            if found is not None:
                return found
        return next((d for d in dtypes_in(self.signature.result) if not d.is_variable), LEAVES["i32"])


def signatures(function: LanguageFunction) -> list[Signature]:
    """The overloads of a language function, read once."""
    found = function.memo.get("signatures")
    if found is None:
        found = function.memo["signatures"] = [language_signature(f) for f in function.overloads]
    return found


def selecting(function: LanguageFunction) -> frozenset[str]:
    """The parameters whose value picks the overload: `Const[Literal[True]]`."""
    found = function.memo.get("selecting")
    if found is None:
        found = function.memo["selecting"] = frozenset(
            p.name for s in signatures(function) for p in s.params if any(map(_is_literal, p.terms))
        )
    return found


def _is_literal(term: Term) -> bool:
    return term.kind == "literal" or (term.kind == "const" and any(map(_is_literal, term.inner)))


def match(function: LanguageFunction, values: Mapping[str, Any], pin: Pin, plain: bool = False) -> Match | Mismatch:
    """Match the arguments of a call (by parameter name; defaults not yet filled in) against the overloads.

    `plain`: no guard pins a dtype variable. Then the kinds and dtypes of the arguments decide, and are remembered.
    """
    key = _kinds(function, values) if plain else None
    if key is None:
        return _search(function, values, pin)
    table: dict[Any, tuple[Signature, dict[DType, DType]]] = function.memo.setdefault("matches", {})
    known = table.get(key)
    if known is not None:
        signature, subst = known
        return Match(signature, {p.name: values.get(p.name, p.default) for p in signature.params}, subst)
    found = _search(function, values, pin)
    if isinstance(found, Match):
        table[key] = (found.signature, found.subst)
    return found


_BY_CLASS = frozenset({int, bool, float, str, type(None), Poly, Condition, Comparison})


def _kinds(function: LanguageFunction, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """What decides the overload of a call; None where values themselves do, or are no plain ones."""
    if selecting(function):
        return None
    found: list[Any] = []
    for name, value in values.items():
        kind = value.__class__
        if kind is Operand:
            form = value.value.type
            found.append((name, value.dtype, form.kind if isinstance(form, ViewType) else form.__class__))
        elif kind in _BY_CLASS:
            found.append((name, kind))
        elif kind is DType:
            found.append((name, value))
        else:
            return None
    return tuple(found)


def _search(function: LanguageFunction, values: Mapping[str, Any], pin: Pin) -> Match | Mismatch:
    best: Mismatch | None = None
    for signature in signatures(function):
        found = _fit(signature, values, pin, function.exclude)
        if isinstance(found, Match):
            return found
        if best is None or (found.at, found.rank) > (best.at, best.rank):
            best = found
    assert best is not None
    return best


def _fit(
    signature: Signature, values: Mapping[str, Any], pin: Pin, exclude: dict[str, tuple[str, ...]]
) -> Match | Mismatch:
    arguments: dict[str, Any] = {}
    made = Match(signature, arguments)
    for at, param in enumerate(signature.params):
        value = values.get(param.name, EMPTY)
        if value is EMPTY:
            if param.default is EMPTY:
                return Mismatch(at, 0, "missing", param, None)
            arguments[param.name] = param.default
            continue
        wrong = fits(param, value, made.subst, pin, at)
        if wrong is not None:
            return wrong
        arguments[param.name] = value
    unknown = [n for n in values if n not in arguments]
    if unknown:
        return Mismatch(len(signature.params), 0, "surplus", Param(unknown[0], ()), values[unknown[0]])
    for name, leaves in exclude.items():
        dtype = made.subst.get(LANGUAGE_VARIABLES[name])
        if dtype is not None and not dtype.is_variable and dtype.name in leaves:
            at = len(signature.params) + 1
            return Mismatch(at, 3, "excluded", signature.params[0], values[signature.params[0].name], bound=dtype)
    return made


_RANK = {"kind": 0, "const": 1, "rank": 2, "bound": 2, "dtype": 3}


def fits(param: Param, value: object, subst: dict[DType, DType], pin: Pin, at: int = 0) -> Mismatch | None:
    """Whether a value fits one of a parameter's terms; binds dtype variables in `subst`."""
    if is_faulty(value):
        return None
    kind, term = "kind", None
    for one in param.terms:
        wrong = _fits_term(one, value, subst, pin)
        if wrong is None:
            return None
        if term is None or _RANK[wrong] > _RANK[kind]:
            kind, term = wrong, one
    bound = subst.get(term.dtype) if term is not None and term.dtype is not None else None
    leaf = kind == "dtype" and term is not None and term.dtype is not None and not term.dtype.is_variable
    return Mismatch(at, 1 if leaf else _RANK[kind], kind, param, value, term, bound)


_VIEWS = {"block": "block pointer", "descriptor": "descriptor"}


def _fits_term(term: Term, value: object, subst: dict[DType, DType], pin: Pin) -> str | None:
    kind = term.kind
    if kind == "any" or isinstance(value, Unknown):
        return None
    if kind in ("tensor", "scalar", "ptr"):
        if not isinstance(value, Operand):
            return "kind"
        dtype = value.dtype
        if (kind == "ptr") != isinstance(dtype, PointerType) or isinstance(value.type, ViewType):
            return "kind"
        if isinstance(dtype, PointerType):
            return _fits_pointer(term, dtype, subst, pin)
        wrong = None if term.dtype is None else _unify(term.dtype, dtype, subst, pin)
        return wrong or ("rank" if kind == "scalar" and value.shape else None)
    if kind in _VIEWS:
        if not isinstance(value, Operand) or not isinstance(value.type, ViewType) or value.type.kind != _VIEWS[kind]:
            return "kind"
        assert isinstance(value.dtype, PointerType)
        assert isinstance(value.dtype.pointee, DType)
        return _unify(term.dtype, value.dtype.pointee, subst, pin)
    if kind == "dtype" and term.inner:
        return _fits_pointer(term.inner[0], value, subst, pin) if isinstance(value, PointerType) else "kind"
    if kind == "dtype":
        return _unify(term.dtype, value, subst, pin) if isinstance(value, DType) else "kind"
    if kind == "const":
        if not is_const(value):
            return "const"
        return _any_of(term.inner, value, subst, pin)
    if kind == "union":
        return _any_of(term.inner, value, subst, pin)
    if kind == "tuple":
        return _fits_tuple(term, value, subst, pin)
    if kind == "literal":
        return None if type(value) is type(term.value) and value == term.value else "kind"
    return "kind" if isinstance(value, Operand) or not _is_plain(kind, value) else None


def _fits_pointer(term: Term, type_: PointerType, subst: dict[DType, DType], pin: Pin) -> str | None:
    """Whether a pointer's type is the one that `Ptr[...]` says."""
    pointee = type_.pointee
    if term.inner:
        return _fits_pointer(term.inner[0], pointee, subst, pin) if isinstance(pointee, PointerType) else "kind"
    if term.dtype is None or isinstance(pointee, DType):
        return None if term.dtype is None else _unify(term.dtype, cast("DType", pointee), subst, pin)
    if term.dtype not in POINTEES:
        return "bound" if term.dtype.is_variable else "dtype"
    found = cast("Any", subst).setdefault(term.dtype, pointee)
    return None if found is pointee else "dtype"


def _any_of(terms: tuple[Term, ...], value: object, subst: dict[DType, DType], pin: Pin) -> str | None:
    wrong = "kind"
    for one in terms:
        found = _fits_term(one, value, subst, pin)
        if found is None:
            return None
        wrong = max(wrong, found, key=_RANK.__getitem__)
    return wrong


def _fits_tuple(term: Term, value: object, subst: dict[DType, DType], pin: Pin) -> str | None:
    if not is_tuple(value):
        return None if isinstance(value, Unset) and value.kind is tuple else "kind"
    parts = cast("tuple[object, ...]", value)
    wanted = term.inner * len(parts) if term.many else term.inner
    if len(wanted) != len(parts):
        return "kind"
    wrong = [w for one, part in zip(wanted, parts, strict=True) if (w := _fits_term(one, part, subst, pin)) is not None]
    return max(wrong, key=_RANK.__getitem__) if wrong else None


def _is_plain(kind: str, value: object) -> bool:
    if kind == "int":
        return isinstance(value, Poly) or (isinstance(value, int) and not isinstance(value, bool))
    if kind == "float":
        return (isinstance(value, Poly | int | float) and not isinstance(value, bool)) or _unset(value, float)
    if kind == "bool":
        return isinstance(value, bool | Condition | Comparison) or _unset(value, bool)
    if kind == "str":
        return isinstance(value, str) or _unset(value, str)
    if kind == "none":
        return value is None
    return kind == "function" and (callable(value) or _unset(value, object))


def _unset(value: object, kind: type) -> bool:
    return isinstance(value, Unset) and value.kind is kind


def _unify(wanted: DType | None, found: DType, subst: dict[DType, DType], pin: Pin) -> str | None:
    assert wanted is not None
    if not wanted.is_variable:
        return None if wanted is found or wanted is pin(found) else "dtype"
    bound = subst.get(wanted)
    if isinstance(bound, PointerType):
        return "dtype"
    if bound is None:
        if not found.within(wanted.mask):
            leaf = pin(found)
            if not leaf.within(wanted.mask):
                return "bound"
            found = leaf
        subst[wanted] = found
        return None
    return None if bound is found or pin(bound) is pin(found) else "dtype"
