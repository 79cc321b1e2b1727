"""A kernel with all its dtypes and Consts chosen: concrete IR, its text, and what a launch must check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from teeny.checks.fill import check_fills
from teeny.diag.errors import KernelError
from teeny.frontend.lower import Definition, lower_concrete
from teeny.frontend.params import Parameter
from teeny.ir.core import Module
from teeny.ir.dtype import DType
from teeny.ir.text import print_module
from teeny.ir.verify import verify
from teeny.passes.accumulate import accumulate
from teeny.passes.annotate import annotate
from teeny.passes.expand import expand
from teeny.passes.widen import widen
from teeny.runtime.interface import Argument, Interface, interface_of


@dataclass(frozen=True, eq=False)
class Specialization:
    """`kernel.specialize(...)`. `parameters` are those that a launch passes: pointers and scalars, in order."""

    definition: Definition
    dtypes: Mapping[DType, DType]
    constants: Mapping[str, Any]
    module: Module
    parameters: Sequence[Parameter]

    @property
    def name(self) -> str:
        """The kernel's name, which is the entry symbol of its programs."""
        return self.definition.name

    @cached_property
    def id(self) -> str:
        """One text for one choice of dtypes and Consts: `softmax__f32__1024`."""
        parts = [self.name, *(d.name for d in self.dtypes.values()), *(canonical(v) for v in self.constants.values())]
        return "__".join(parts)

    @cached_property
    def mlir(self) -> str:
        """The kernel in the Triton dialect, as Triton's compiler takes it, with its assertions. Contains no paths."""
        return print_module(annotate(expand(self.module), asserts=True), contracts=False)

    @cached_property
    def interface(self) -> Interface:
        """What a launch must bring."""
        arguments: list[Argument] = []
        for parameter in self.parameters:
            assert parameter.dtype is not None
            dtype = self.dtypes.get(parameter.dtype, parameter.dtype)
            arguments.append(Argument(parameter.name, parameter.kind == "pointer", dtype.name, parameter.location))
        return interface_of(self.module.kernel, self.id, tuple(arguments))

    def __repr__(self) -> str:
        return f"<kernel {self.id}>"


def canonical(value: Any) -> str:
    """The one text of a Const value in an id."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "(" + ",".join(map(canonical, cast("tuple[Any, ...]", value))) + ")"
    leaf = getattr(value, "ir", None)
    if isinstance(leaf, DType):
        return leaf.name
    if callable(value):
        return str(getattr(value, "__qualname__", value))
    return str(value)


def specialize(definition: Definition, dtypes: Mapping[DType, DType], constants: Mapping[str, Any]) -> Specialization:
    """Lower with these values, make 16-bit arithmetic explicit, verify, check the fills. Raises KernelError."""
    module = lower_concrete(definition, dtypes, constants)
    findings = [d for d in check_fills(module.kernel) if d.severity == "error"]
    if findings:
        raise KernelError(findings)
    widen(module)
    accumulate(module)
    verify(module, concrete=True)
    passed = [p for p in definition.parameters if p.kind != "const" and p.name not in constants]
    return Specialization(definition, dtypes, constants, module, passed)
