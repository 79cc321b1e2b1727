"""The parameters of a kernel: what annotations mean, and the values they start with."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import Location
from teeny.frontend.inline import lookup_of
from teeny.frontend.signature import EMPTY, AnnotationError, Term, terms_of
from teeny.frontend.source import KernelSource
from teeny.ir.dtype import BOOL, I8, I64, DType, storage
from teeny.ir.types import PointerType, Type, pointer


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `dtype`: of the elements or of the scalar, a leaf or a variable; None for a Const.

    A tensor descriptor is passed as several values, see `passed_descriptor`.
    `to`: what the elements of an array of addresses point at, a dtype or a pointer again; their own dtype is i64.
    `const`: what a Const takes: terms of the kinds int, bool, float, str, none, tuple, dtype, function.
    """

    name: str
    kind: Literal["pointer", "scalar", "const", "descriptor"]
    dtype: DType | None
    optional: bool
    const: tuple[Term, ...]
    default: Any
    location: Location
    annotation: str
    to: DType | PointerType | None = None

    def type(self, subst: Mapping[DType, DType]) -> Type:
        """The IR type, with dtype variables replaced."""
        assert self.dtype is not None
        dtype = subst.get(self.dtype, self.dtype)
        if self.kind in ("pointer", "descriptor"):
            return pointer(I8 if dtype is BOOL else storage(dtype))
        return storage(dtype)

    def language_dtype(self, subst: Mapping[DType, DType]) -> DType | PointerType:
        assert self.dtype is not None
        if self.to is not None:
            return pointer(pointer(_replaced(self.to, subst)))
        dtype = subst.get(self.dtype, self.dtype)
        return pointer(dtype) if self.kind in ("pointer", "descriptor") else dtype


def _replaced(element: DType | PointerType, subst: Mapping[DType, DType]) -> DType | PointerType:
    if isinstance(element, PointerType):
        return pointer(_replaced(element.pointee, subst))
    return subst.get(element, element)


def parameters(fn: FunctionType, source: KernelSource) -> tuple[list[Parameter], list[Diagnostic]]:
    """The parameters of a kernel in order, and what is wrong with their annotations."""
    arguments = source.tree.args
    faults: list[Diagnostic] = []

    def fault(code: str, message: str, node: Any, help: str = "") -> None:
        faults.append(
            report(code, message, at(Location(source.span(node))), help=(help,) if help else (), kernel=fn.__name__)
        )

    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            fault("E001", f"`{extra.arg}`: a kernel has no `*` or `**` parameters", extra, "name each parameter")
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(
        zip([a.arg for a in every][len(every) - len(fn.__defaults__ or ()) :], fn.__defaults__ or (), strict=True)
    )
    defaults |= fn.__kwdefaults__ or {}
    found: list[Parameter] = []
    for one in (*every, *arguments.kwonlyargs):
        made = _parameter(fn, source, one, defaults.get(one.arg, EMPTY), fault)
        if made is not None:
            found.append(made)
    said = {p.dtype for p in found}
    for parameter in found:
        inner = _leaf(parameter.to)
        if inner is not None and inner.is_variable and inner not in said:
            text = f"nothing says what {inner.name} is: an array of addresses does not"
            help = f"name the dtype, or give another pointer {inner.name}"
            faults.append(report("E006", text, at(parameter.location), help=(help,), kernel=fn.__name__))
    returns = source.tree.returns
    if returns is not None and not (isinstance(returns, ast.Constant) and returns.value in (None, "None")):
        fault(
            "E010",
            f"a kernel returns nothing; it is annotated `{ast.unparse(returns)}`",
            returns,
            "annotate it `-> None`",
        )
    return found, faults


RESERVED = (
    "num_warps", "num_stages", "num_ctas", "maxnreg", "fp_fusion", "ptx_version", "debug", "stream", "grid", "program",
)  # fmt: skip
"""Keywords of launches and traces."""


def _parameter(fn: FunctionType, source: KernelSource, one: ast.arg, default: Any, fault: Any) -> Parameter | None:
    name = one.arg
    if name in RESERVED:
        fault("E006", f"`{name}` is a keyword of launches, and so no name for a parameter", one, "choose another name")
        return None
    if one.annotation is None:
        if name in ("self", "cls"):
            fault("E001", "a kernel is a plain function, found a method", one, "define it outside the class")
        else:
            fault("E006", f"`{name}` has no annotation", one, "write tl.Ptr[...], tl.Scalar[...] or tl.Const[...]")
        return None
    try:
        terms = terms_of(one.annotation, lookup_of(fn))
    except AnnotationError as error:
        fault("E006", str(error), one.annotation, "write tl.Ptr[...], tl.Scalar[...] or tl.Const[...]")
        return None
    text = source.span(one.annotation).text
    location = Location(source.span(one))
    optional = any(t.kind == "none" for t in terms)
    plain = [t for t in terms if t.kind != "none"]
    if len(plain) == 1 and plain[0].kind == "ptr" and plain[0].inner:
        return Parameter(name, "pointer", I64, optional, (), default, location, text, _pointed(plain[0].inner[0]))
    if len(plain) == 1 and (plain[0].kind == "const" or plain[0].dtype is not None):
        term = plain[0]
        if term.kind == "ptr":
            return Parameter(name, "pointer", term.dtype, optional, (), default, location, text)
        if term.kind == "descriptor":
            return Parameter(name, "descriptor", term.dtype, optional, (), default, location, text)
        if term.kind in ("scalar", "tensor") and not optional:
            return Parameter(name, "scalar", term.dtype, False, (), default, location, text)
        if term.kind == "const" and not optional:
            return Parameter(name, "const", None, False, term.inner, default, location, text)
    fault(
        "E006",
        f"`{name}`: `{text}` is no annotation of a kernel's parameter",
        one.annotation,
        "write tl.Ptr[...], tl.Scalar[...] or tl.Const[...]",
    )
    return None


def _pointed(term: Term) -> DType | PointerType:
    """What `Ptr[...]` points at."""
    if term.inner:
        return pointer(_pointed(term.inner[0]))
    assert term.dtype is not None
    return term.dtype


def _leaf(element: DType | PointerType | None) -> DType | None:
    while isinstance(element, PointerType):
        element = element.pointee
    return element
