"""What the language has, in words: each function with its signatures, dtypes, accuracy, and Triton's name for it.

Everything comes from the registry: `teeny ops` and the pages of reference are written from this.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, get_overloads

from teeny.frontend.overload import signatures
from teeny.frontend.signature import (
    LANGUAGE_VARIABLES,
    AnnotationError,
    Param,
    Signature,
    dtypes_in,
    language_signature,
)
from teeny.ir.builder import Builder
from teeny.ir.core import Block
from teeny.ir.dtype import BOOL, LEAVES, DType, members, storage
from teeny.ir.poly import Dim
from teeny.ir.schema import Ulp, registry
from teeny.language import dtypes
from teeny.language.tensor import Ptr, Tensor, TensorDescriptor, Transposition
from teeny.ops.function import LanguageFunction, Operand, function_of, functions

_PROBES = ("f32", "i32", "u32", "bool")
"""Leaves that an elementwise function is tried with, to see which operations it becomes."""
_WRITTEN = {found for name in dtypes.__all__ if isinstance(found := getattr(getattr(dtypes, name), "ir", None), DType)}
"""The leaves that the language has a name for."""
_ORDER = (
    "program", "arith", "division", "math", "elementary", "whole", "clamp", "compare", "bits", "bit_counts", "fast",
    "cast", "memory", "reduce", "combine", "dot",
    "dot_scaled", "shape", "tensor", "control", "contracts", "debug", "hints", "inline_asm",
)  # fmt: skip
"""Families in the order of pages; others follow by name, what is written in the language itself last."""
_LIBRARY = "libdevice."
"""What names of functions of `teeny.language.extra.libdevice` begin with."""
_CALLS = ("tl.", "x.", "desc.", _LIBRARY)
"""What the forms begin with that are no operators."""
_BROADCAST = "Arguments broadcast together; the result has their common shape."
_UNARY = "The result has the shape of the argument."


@dataclass(frozen=True, slots=True)
class Description:
    """One function or operator of the language.

    `written`: how code calls it, the main form first. `dtypes`: the leaves that each dtype variable of the signatures
    stands for. `operations`: the dialect operations it becomes, by leaf (elementwise functions alone). `ulp`: the
    accuracy, where it becomes one operation on floats. `codes`: of faults in single arguments. `triton`: the name
    there; None where Triton has nothing such.
    """

    name: str
    module: str
    written: tuple[str, ...]
    signatures: tuple[str, ...]
    does: str
    shapes: str
    dtypes: Mapping[str, tuple[str, ...]]
    operations: Mapping[str, tuple[str, ...]]
    ulp: Ulp | None
    codes: Mapping[str, str]
    triton: str | None
    differs: str
    composite: bool

    @property
    def family(self) -> str:
        """The last part of the module that defines it."""
        return self.module.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """The first sentence of what it does."""
        return first_sentence(self.does)

    @property
    def main(self) -> str:
        """The main form, its optional arguments left out: `tl.sum(x, ...)`."""
        call, _, rest = self.written[0].partition("(")
        parts = rest.removesuffix(")").split(", ")
        needed = [part for part in parts if "=" not in part]
        more = ["..."] if len(needed) < len(parts) else []
        return f"{call}({', '.join(needed + more)})" if rest else call

    def facts(self) -> list[tuple[str, tuple[str, ...]]]:
        """What is known beside the text, each under a label."""
        found = [("signatures", self.signatures)]
        found += [(name, (", ".join(leaves),)) for name, leaves in self.dtypes.items()]
        if self.shapes:
            found.append(("shapes", (self.shapes,)))
        if self.ulp is not None:
            found.append(("accuracy", (accuracy(self.ulp),)))
        if self.operations:
            found.append(("becomes", (_by_leaf(self.operations),)))
        if self.composite:
            found.append(("becomes", ("what its source says: it is written in the language",)))
        found += [
            ("errors", (errors,)) for errors in [", ".join(f"{c} for `{p}`" for p, c in self.codes.items())] if errors
        ]
        found.append(("in Triton", (". ".join(filter(None, (self.triton or "nothing such", self.differs))),)))
        return found

    def to_json(self) -> dict[str, Any]:
        """As a dict that `json` can write."""
        return {**asdict(self), "family": self.family, "summary": self.summary}


def accuracy(ulp: Ulp) -> str:
    """The bounds in words."""
    if ulp == Ulp():
        return "exact, or rounded correctly"
    cpu = "rounded correctly" if not ulp.cpu else f"{ulp.cpu:g} ulp"
    gpu = [f"{name} {_bound(bound)}" for name, bound in (("f32", ulp.cuda_f32), ("f64", ulp.cuda_f64))]
    return f"on the CPU {cpu}; on NVIDIA's GPUs {', '.join(gpu)}"


def _bound(ulp: float | None) -> str:
    return "without a known bound" if ulp is None else f"{ulp:g} ulp" if ulp else "rounded correctly"


def _by_leaf(operations: Mapping[str, tuple[str, ...]]) -> str:
    """`arith.addf (f32), arith.addi (i32, u32)`."""
    leaves: dict[str, list[str]] = {}
    for leaf, names in operations.items():
        leaves.setdefault(" ".join(n for n in names if n != "arith.constant") or "nothing", []).append(leaf)
    return ", ".join(f"{names} ({', '.join(of)})" for names, of in leaves.items())


def first_sentence(text: str) -> str:
    """The text up to its first full stop, which dots in a row are none of."""
    flat = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<!\.)\.(?: |$)", flat, maxsplit=1)[0]


def families() -> dict[str, str]:
    """The families in the order of the language, each with the first sentence about it."""
    found = {d.family: d.module for d in descriptions().values()}
    return {family: first_sentence(_doc(sys.modules[module])) for family, module in found.items()}


def descriptions() -> dict[str, Description]:
    """All functions and operators by name, family by family. Operators with a literal on the left are one with those
    without."""
    language = import_module("teeny.language")
    forms = _forms(language)
    found: dict[str, Description] = {}
    for name, function in functions().items():
        if function.fn.__module__.startswith("teeny.") and name in forms:
            found[name] = _described(function, forms[name])
    for module in map(import_module, ("teeny.language.library", "teeny.language.random")):
        for name in module.__all__:
            found[name] = _composite(name, getattr(module, name))
    return dict(sorted(found.items(), key=lambda item: _place(item[1].family)))


def _place(family: str) -> tuple[int, str]:
    """Where a family stands: the order in which modules were imported may be any."""
    return (_ORDER.index(family) if family in _ORDER else len(_ORDER), family)


def named(name: str) -> Description | None:
    """The description behind what somebody typed: `exp`, `tl.exp`, `add`, `+`, `.to`."""
    known = descriptions()
    plain = name.removeprefix("tl.").removeprefix("x").removeprefix(".") or name
    for key in (name, plain, f"{_LIBRARY}{plain}", f"{_LIBRARY}{plain.removeprefix('math.')}"):
        if key in known:
            return known[key]
    for one in known.values():
        symbol = functions()[one.name].symbol if one.name in functions() else ""
        if (name and name == symbol) or any(form.split("(")[0] in (name, f"x.{plain}") for form in one.written):
            return one
    return None


def _doc(thing: object) -> str:
    return inspect.cleandoc(getattr(thing, "__doc__", None) or "")


def _forms(language: ModuleType) -> dict[str, tuple[str, ...]]:
    """For each function that code can reach, how: `tl.sum(x, ...)`, `x.sum(...)`, `x + y`."""
    found: dict[str, list[str]] = {}
    for name, function in _public(language):
        found.setdefault(function.name, []).append(name if "." in name else f"tl.{name}")
    for own in (vars(Tensor), vars(Ptr)):
        for name, value in own.items():
            function = function_of(value)
            if function is None or (name.startswith("__r") and f"__{name[3:]}" in own):
                continue  # the second is an operator with its operands swapped
            form = _operator(function) if name.startswith("__") else f"x.{name}"
            found.setdefault(function.name, []).append(form)
    for name, value in vars(TensorDescriptor).items():
        if (function := function_of(value)) is not None:
            found.setdefault(function.name, []).append(f"desc.{name}")
    for name, value in vars(Tensor).items():
        if isinstance(value, Transposition) and (function := function_of(value.function[0])) is not None:
            found.setdefault(function.name, []).append(f"x.{name}")
    # operators stand before functions of the same meaning: x + y, tl.add(x, y)
    return {name: tuple(sorted(forms, key=lambda f: f.startswith(_CALLS))) for name, forms in found.items()}


def _public(language: ModuleType) -> Iterator[tuple[str, LanguageFunction]]:
    for name in dir(language):
        function = function_of(getattr(language, name))
        if function is not None and function.name == name:
            yield name, function
    for name in language.extra.libdevice.__all__:
        function = function_of(getattr(language.extra.libdevice, name))
        if function is not None and function.name == f"{_LIBRARY}{name}":
            yield function.name, function


def _operator(function: LanguageFunction) -> str:
    names = list(inspect.signature(function.overloads[0]).parameters)
    if function.symbol == "[]":
        return f"{names[0]}[:, None]"
    return f"{function.symbol}{names[0]}" if len(names) == 1 else f"{names[0]} {function.symbol} {names[1]}"


def _described(function: LanguageFunction, forms: tuple[str, ...]) -> Description:
    read = _read(function.overloads)
    operations = dict(_operations(function)) if function.elementwise else {}
    main = forms[0]
    operator = not main.startswith(_CALLS)
    name = function.name if "." in function.name else f"tl.{function.name}"
    written = forms if operator else tuple(_call(form, function.overloads[0]) for form in forms)
    return Description(
        name=function.name,
        module=function.fn.__module__,
        written=written,
        signatures=tuple(_signature(f, main, function.symbol if operator else "") for f in function.overloads),
        does=_doc(function.fn),
        shapes=function.shapes or ((_BROADCAST if len(_tensors(read)) > 1 else _UNARY) if function.elementwise else ""),
        dtypes=_dtypes(read, function.exclude),
        operations=operations,
        ulp=None if read and fullest(read).result[0].dtype is BOOL else _ulp(operations),
        codes=function.codes,
        triton=(name if main.startswith(("tl.", _LIBRARY)) else main) if function.triton == "" else function.triton,
        differs=function.differs,
        composite=False,
    )


def _composite(name: str, fn: Callable[..., Any]) -> Description:
    overloads = list(get_overloads(fn)) or [fn]
    read = _read([f for f in overloads if not _plain(f)])
    return Description(
        name=name,
        module=fn.__module__,
        written=(_call(f"tl.{name}", overloads[-1]),),
        signatures=tuple(_signature(f, f"tl.{name}", "") for f in overloads),
        does=_doc(fn),
        shapes=_BROADCAST if len(_tensors(read)) > 1 else _UNARY,
        dtypes=_dtypes(read, {}),
        operations={},
        ulp=None,
        codes={},
        triton=f"tl.{name}",
        differs="",
        composite=True,
    )


def _read(overloads: Iterable[Callable[..., Any]]) -> list[Signature]:
    """The signatures of tensors; none for a construct that takes more than a signature can say."""
    try:
        return [language_signature(f) for f in overloads]
    except AnnotationError:
        return []


def _plain(fn: Callable[..., Any]) -> bool:
    """Whether a signature is one of Python numbers alone, for Consts."""
    return not any("[" in text for text in fn.__annotations__.values())


def _call(form: str, fn: Callable[..., Any]) -> str:
    """`tl.sum(x, axis=None)`; of a method without the tensor itself."""
    parameters = inspect.signature(fn).parameters.values()
    if form == "x.T":
        return form
    parts = [_starred(p) if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    own = form.startswith(("x.", "desc."))
    return f"{form}({', '.join(parts[1:] if own else parts)})"


def _starred(parameter: inspect.Parameter) -> str:
    return f"*{parameter.name}" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name


def _signature(fn: Callable[..., Any], name: str, symbol: str) -> str:
    """A signature as the stub of the function has it; of an operator `(x: Tensor[N]) + (y: Tensor[N]) -> Tensor[N]`."""
    signature = inspect.signature(fn)
    if not symbol:
        return f"{name}{_text(signature)}"
    operands = [f"({parameter.name}: {parameter.annotation})" for parameter in signature.parameters.values()]
    if symbol == "[]":
        return f"{operands[0]}[{operands[1][1:-1]}] -> {signature.return_annotation}"
    joined = f"{symbol}{operands[0]}" if len(operands) == 1 else f" {symbol} ".join(operands)
    return f"{joined} -> {signature.return_annotation}"


def _text(signature: inspect.Signature) -> str:
    """Annotations are text already and stand without quotes."""
    parts: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parts.append(f"{_starred(parameter)}: {parameter.annotation}{default}")
    return f"({', '.join(parts)}) -> {signature.return_annotation}"


def _tensors(read: list[Signature]) -> list[str]:
    """The parameters that take tensors, pointers or numbers beside them, not Consts."""
    return [p.name for p in (fullest(read).params if read else ()) if _takes_tensor(p)]


def _takes_tensor(param: Param) -> bool:
    return any(t.kind in ("tensor", "scalar", "ptr") for t in param.terms)


def fullest(read: list[Signature]) -> Signature:
    """The first of the signatures in which most parameters take tensors."""
    return max(read, key=lambda s: sum(map(_takes_tensor, s.params)))


def _dtypes(read: list[Signature], exclude: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    used = {t.name for s in read for terms in (*(p.terms for p in s.params), s.result) for t in dtypes_in(terms)}
    return {
        name: tuple(
            leaf.name for leaf in members(variable) if leaf in _WRITTEN and leaf.name not in exclude.get(name, ())
        )
        for name, variable in LANGUAGE_VARIABLES.items()
        if name in used
    }


def _operations(function: LanguageFunction) -> Iterator[tuple[str, tuple[str, ...]]]:
    """By trying: the function's emitter on scalars of each leaf that the signature with most tensors admits."""
    signature = fullest(signatures(function))
    for name in _PROBES:
        leaf = LEAVES[name]
        kinds = [_probe(p.terms, leaf, function.exclude) for p in signature.params]
        if all(kind is None for kind in kinds) or any(kind is _NONE for kind in kinds):
            continue
        block = Block(tuple(storage(kind) for kind in kinds if isinstance(kind, DType)))
        values = iter(block.args)
        arguments = {
            p.name: Operand(next(values), kind) if isinstance(kind, DType) else p.default
            for p, kind in zip(signature.params, kinds, strict=True)
        }
        of = signature.result[0]
        shape: tuple[Dim, ...] = ()
        assert function.emit is not None
        if of.kind == "tuple":
            kinds = tuple(t.dtype if t.dtype and not t.dtype.is_variable else leaf for t in of.inner)
            function.emit(Builder(block), (shape,) * len(kinds), kinds, **arguments)
        else:
            function.emit(Builder(block), shape, leaf, **arguments)
        yield name, tuple(op.name for op in block.ops)


_NONE = object()


def _probe(terms: tuple[Any, ...], leaf: DType, exclude: Mapping[str, tuple[str, ...]]) -> object:
    """What to pass where `leaf` is tried: a dtype for a tensor, None for a Const, `_NONE` where it does not fit."""
    for term in terms:
        if term.kind == "ptr":
            return _NONE
        if term.kind in ("tensor", "scalar"):
            if not term.dtype.is_variable:
                return term.dtype
            fits = leaf.within(term.dtype.mask) and leaf.name not in exclude.get(term.dtype.name, ())
            return leaf if fits else _NONE
    return None


def _ulp(operations: Mapping[str, tuple[str, ...]]) -> Ulp | None:
    found = operations.get("f32", ())
    return registry()[found[0]].ulp if len(found) == 1 else None
