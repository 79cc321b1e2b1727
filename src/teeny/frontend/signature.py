"""Signatures as the compiler reads them: annotation text to terms, once a text.

The grammar is the one that type checkers see: `Tensor[N] | int`, `Ptr[D]`, `Const[int | None]`, `type[E]`, `f32`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, Literal, NamedTuple

from teeny.frontend.names import resolve
from teeny.ir.dtype import BOOLEAN, CLASSES, LEAVES, NUM, DType, variable

EMPTY: Any = inspect.Parameter.empty
Kind = Literal[
    "tensor", "scalar", "ptr", "block", "descriptor", "const", "dtype", "int", "float", "bool", "str", "none", "tuple",
    "function", "any", "union", "literal",
]  # fmt: skip


class Term(NamedTuple):
    """One alternative of an annotation.

    `dtype`: the leaf or variable inside `Tensor[...]`, `Ptr[...]`, `type[...]`; None inside `Tensor[Any]`.
    `inner`: the alternatives inside `Const[...]` and of a union; the elements of a tuple, where `many` says that the
    one element stands for any number (`tuple[int, ...]`); the pointer in `Ptr[Ptr[...]]` and `type[Ptr[...]]`.
    `value`: that of a `Literal[...]`.
    """

    kind: Kind
    dtype: DType | None = None
    inner: tuple[Term, ...] = ()
    many: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. `starred`: it takes the positional arguments that are left, as a tuple (`*shape`)."""

    name: str
    terms: tuple[Term, ...]
    default: Any = EMPTY
    keyword_only: bool = False
    starred: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    params: tuple[Param, ...]
    result: tuple[Term, ...]


class AnnotationError(Exception):
    """An annotation that is none of the language; the text says why."""


LANGUAGE_VARIABLES: dict[str, DType] = {
    "D": variable("D", CLASSES["Dtype"], "Dtype"), "E": variable("E", CLASSES["Dtype"], "Dtype"),
    "N": variable("N", NUM, "Num"), "I": variable("I", CLASSES["Int"], "Int"),
    "J": variable("J", CLASSES["Int"], "Int"),
    "F": variable("F", CLASSES["Float"], "Float"), "B": variable("B", CLASSES["Bits"], "Bits"),
    "S": variable("S", NUM | BOOLEAN, "Num or Bool"), "Q": variable("Q", CLASSES["Float8"], "Float8"),
    "P": variable("P", CLASSES["Float8"], "Float8"), "X": variable("X", CLASSES["Dtype"], "Dtype"),
    "Y": variable("Y", CLASSES["Dtype"], "Dtype"),
}  # fmt: skip
POINTEES = (LANGUAGE_VARIABLES["X"], LANGUAGE_VARIABLES["Y"])
"""Variables that may stand for pointers too: what a pointer points at."""
_LEAF_NAMES: dict[str, DType] = {
    **LEAVES, "bool_": LEAVES["bool"], "int1": LEAVES["bool"], "bfloat16": LEAVES["bf16"],
    **{f"int{b}": LEAVES[f"i{b}"] for b in (8, 16, 32, 64)}, **{f"uint{b}": LEAVES[f"u{b}"] for b in (8, 16, 32, 64)},
    **{f"float{b}": LEAVES[f"f{b}"] for b in (16, 32, 64)},
    "float8e4nv": LEAVES["f8e4m3"], "float8e5": LEAVES["f8e5m2"], "float8e4b8": LEAVES["f8e4m3fnuz"],
    "float8e5b16": LEAVES["f8e5m2fnuz"],
}  # fmt: skip
del _LEAF_NAMES["bool"]
_PLAIN: dict[str, Kind] = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "Any": "any",
    "Callable": "function",
}

Lookup = Callable[[str], DType | None]
"""The dtype variable of that name, if there is one."""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _dtype(node: ast.expr, lookup: Lookup) -> DType:
    name = _last(node)
    found = lookup(name) or _LEAF_NAMES.get(name)
    if found is None:
        help = f"; bound a type variable by {name}" if name in CLASSES else ""
        raise AnnotationError(
            f"`{ast.unparse(node)}` is no dtype of the language and no type variable with a bound{help}"
        )
    return found


def terms_of(node: ast.expr, lookup: Lookup) -> tuple[Term, ...]:
    """The alternatives of an annotation. Raises `AnnotationError`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return tuple(dict.fromkeys(terms_of(node.left, lookup) + terms_of(node.right, lookup)))
    if isinstance(node, ast.Constant):
        if node.value is None:
            return (Term("none"),)
        if isinstance(node.value, str):
            return _quoted(node.value, lookup)
    if isinstance(node, ast.Subscript):
        return _subscript(_last(node.value), node, lookup)
    name = _last(node)
    if name == "constexpr":
        return (Term("const", None, (Term("any"),)),)
    if name in _PLAIN:
        return (Term(_PLAIN[name]),)
    if name in _ALIASES:
        return _quoted(_ALIASES[name], lookup)
    if name == "tuple":
        return (Term("tuple", None, (Term("any"),), many=True),)
    raise AnnotationError(f"`{ast.unparse(node)}` is no annotation of the language")


def _quoted(text: str, lookup: Lookup) -> tuple[Term, ...]:
    try:
        return terms_of(ast.parse(text, mode="eval").body, lookup)
    except SyntaxError:
        raise AnnotationError(f"`{text}` is no annotation of the language") from None


_OF_DTYPE: dict[str, Kind] = {
    "Tensor": "tensor", "Scalar": "scalar", "Ptr": "ptr", "BlockPtr": "block", "TensorDescriptor": "descriptor",
}  # fmt: skip
_ALIASES = {"Size": "Scalar[i32] | int", "Whole": "Scalar[i32] | Scalar[i64] | int"}
"""Names of the language that stand for several alternatives."""


def _subscript(name: str, node: ast.Subscript, lookup: Lookup) -> tuple[Term, ...]:
    if name in ("Ptr", "type") and isinstance(node.slice, ast.Subscript) and _last(node.slice.value) == "Ptr":
        return (Term("ptr" if name == "Ptr" else "dtype", None, _subscript("Ptr", node.slice, lookup)),)
    if name in _OF_DTYPE:
        free = _last(node.slice) == "Any"
        return (Term(_OF_DTYPE[name], None if free else _dtype(node.slice, lookup)),)
    if name == "type":
        last = _last(node.slice)
        if lookup(last) is None and last in CLASSES:
            return (Term("dtype", variable(last, CLASSES[last], last)),)
        return (Term("dtype", _dtype(node.slice, lookup)),)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Const":
        return (Term("const", None, terms_of(node.slice, lookup)),)
    if name == "Optional":
        return (*terms_of(node.slice, lookup), Term("none"))
    if name == "Union":
        return tuple(t for e in items for t in terms_of(e, lookup))
    if name == "tuple":
        many = len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is ...
        return (Term("tuple", None, tuple(_one(e, lookup) for e in (items[:1] if many else items)), many),)
    if name == "list":  # a list display is read as a tuple
        return (Term("tuple", None, (_one(items[0], lookup),), many=True),)
    if name == "Callable":
        return (Term("function"),)
    if name == "Literal":
        return tuple(_literal(one) for one in items)
    if name in ("Iterator", "Iterable"):
        return (Term("any"),)
    raise AnnotationError(f"`{ast.unparse(node)}` is no annotation of the language")


def _literal(node: ast.expr) -> Term:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | str):
        return Term("literal", value=node.value)
    raise AnnotationError(f"`{ast.unparse(node)}` is no literal of the language")


def _one(node: ast.expr, lookup: Lookup) -> Term:
    """The element of a tuple, its alternatives as one term."""
    found = terms_of(node, lookup)
    return found[0] if len(found) == 1 else Term("union", None, found)


@cache
def _language_terms(text: str) -> tuple[Term, ...]:
    return terms_of(ast.parse(text, mode="eval").body, LANGUAGE_VARIABLES.get)


def language_signature(fn: Callable[..., Any]) -> Signature:
    """The signature of a language function's overload, whose annotations are text (they are not evaluated)."""
    code, annotations, defaults = fn.__code__, fn.__annotations__, fn.__defaults__ or ()
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    params: list[Param] = []
    for at, name in enumerate(names):
        keyword = at >= count
        default = (fn.__kwdefaults__ or {}).get(name, EMPTY) if keyword else EMPTY
        if not keyword and at >= count - len(defaults):
            default = defaults[at - (count - len(defaults))]
        params.append(Param(name, _language_terms(annotations[name]), default, keyword))
    if code.co_flags & inspect.CO_VARARGS:
        name = code.co_varnames[len(names)]
        params.insert(count, Param(name, _starred(_language_terms(annotations[name])), (), starred=True))
    return Signature(tuple(params), _language_terms(annotations["return"]))


def _starred(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """What the tuple of starred arguments is: `*shape: Const[int]` takes what `shape: Const[tuple[int, ...]]` takes."""
    const = len(terms) == 1 and terms[0].kind == "const"
    inner = terms[0].inner if const else terms
    many = (Term("tuple", None, (inner[0] if len(inner) == 1 else Term("union", None, inner),), many=True),)
    return (Term("const", None, many),) if const else many


def dtype_named(fn: FunctionType, name: str) -> DType | None:
    """The dtype that a name in an annotation of `fn` stands for: a type variable, or a leaf under another name."""
    found = resolve(fn, name)
    leaf = getattr(found, "ir", None)
    return leaf if isinstance(leaf, DType) else variable_of(found)


def variable_of(thing: object) -> DType | None:
    """The dtype variable behind a `TypeVar` whose bound (or constraints) are dtype classes, if it is one."""
    name = getattr(thing, "__name__", None)
    if name is None or type(thing).__name__ != "TypeVar":
        return None
    bound: Any = getattr(thing, "__bound__", None)
    constraints: tuple[Any, ...] = getattr(thing, "__constraints__", ())
    classes = constraints or getattr(bound, "__args__", None) or (() if bound is None else (bound,))
    mask = 0
    for one in classes:
        mask |= class_mask(one)
    if not mask:
        return None
    return variable(name, mask, " or ".join(c.__name__ for c in classes))


def class_mask(one: Any) -> int:
    """The leaves that a dtype class of the language stands for; 0 for anything else."""
    leaf = getattr(one, "ir", None)
    if isinstance(leaf, DType):
        return leaf.mask
    if getattr(one, "__module__", "") == "teeny.language.dtypes":
        return CLASSES.get(one.__name__, 0)
    return 0


def dtypes_in(terms: tuple[Term, ...]) -> list[DType]:
    """The leaves and variables in an annotation, those in its tuples and unions too, in order."""
    found: list[DType] = []
    for term in terms:
        if term.dtype is not None:
            found.append(term.dtype)
        if term.kind in ("tuple", "union", "ptr", "dtype"):
            found += dtypes_in(term.inner)
    return found


def show_terms(terms: tuple[Term, ...]) -> str:
    """What an annotation asks for, in words: `a tensor of Float or a compile-time int`."""
    return " or ".join(dict.fromkeys(_show_term(t) for t in terms if t.kind != "none")) or "another value"


_WORDS: dict[str, str] = {
    "tensor": "a tensor", "scalar": "a scalar", "ptr": "a pointer", "block": "a block pointer",
    "descriptor": "a tensor descriptor", "dtype": "a dtype", "int": "an int",
    "any": "a value",
}  # fmt: skip


def _show_term(term: Term) -> str:
    dtype = term.dtype
    if term.kind == "const":
        return "a compile-time " + " or ".join(
            _show_term(t).removeprefix("a ").removeprefix("an ") for t in term.inner if t.kind != "none"
        )
    if term.kind == "union":
        return show_terms(term.inner)
    if term.kind == "literal":
        return repr(term.value)
    if term.kind == "tuple":
        if term.many:
            one = term.inner[0]
            return f"a tuple, each {show_terms(one.inner)}" if one.kind == "union" else f"a tuple of {one.kind}s"
        return f"a tuple ({', '.join(map(_show_term, term.inner))})"
    if term.kind in ("ptr", "dtype") and term.inner:
        pointed = _show_term(term.inner[0]).removeprefix("a ")
        return f"a pointer to a {pointed}" if term.kind == "ptr" else f"the type of a {pointed}"
    shown = "" if dtype is None else f" of {dtype.bound}" if dtype.is_variable else f" of {dtype.name}"
    return _WORDS.get(term.kind, f"a {term.kind}") + shown.replace(" of Dtype", "")
