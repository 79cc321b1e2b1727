"""A kernel with all its dtypes and Consts chosen: concrete IR, its text, and what a launch must check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from teeny.checks.fill import check_fills
from teeny.diag.errors import KernelError
from teeny.frontend import passed_descriptor
from teeny.frontend.lower import Definition, lower_concrete
from teeny.frontend.params import Parameter
from teeny.ir.core import Module, walk_function
from teeny.ir.dtype import DType
from teeny.ir.text import print_module
from teeny.ir.verify import verify
from teeny.ops.descriptor import size_
from teeny.passes.accumulate import accumulate
from teeny.passes.annotate import annotate
from teeny.passes.block_pointers import block_pointers
from teeny.passes.descriptors import descriptors
from teeny.passes.expand import expand
from teeny.passes.widen import widen
from teeny.runtime.alignment import require_alignment
from teeny.runtime.interface import Argument, Interface, interface_of


@dataclass(frozen=True, eq=False)
class Specialization:
    """A kernel with everything chosen, as `kernel.specialize(...)` gives it.

    `name` is the entry symbol of its programs, `id` one text for one choice of dtypes and Consts
    (`softmax__f32__1024`), `arguments` what a launch passes, pointers and scalars in order. `described` is the
    module with its tensor descriptors, for GPUs that have hardware for them, if there are any; `module` has pointers
    instead.
    """

    name: str
    id: str
    module: Module
    arguments: tuple[Argument, ...]
    described: Module | None = None

    @cached_property
    def mlir(self) -> str:
        """The kernel in the Triton dialect, as Triton's compiler takes it, with its assertions. Contains no paths."""
        return print_module(annotate(expand(self.described or self.module), asserts=True), contracts=False)

    @cached_property
    def interface(self) -> Interface:
        """What a launch must bring."""
        return interface_of(self.module.kernel, self.id, self.arguments)

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


def _arguments(parameter: Parameter, dtypes: Mapping[DType, DType], constants: Mapping[str, Any]) -> list[Argument]:
    """What a launch passes for a parameter: nothing for a Const and for what is absent, several for a descriptor."""
    name, known = parameter.name, constants.get(parameter.name)
    if parameter.kind == "const" or (known is None and name in constants):
        return []
    assert parameter.dtype is not None
    dtype = dtypes.get(parameter.dtype, parameter.dtype).name
    first = Argument(name, parameter.kind != "scalar", dtype, parameter.location)
    if parameter.kind != "descriptor":
        return [first]
    layout: Any = known
    rest = passed_descriptor.parts(parameter, layout, dtypes)[1:]
    return [first, *(Argument(word, False, kind.name, parameter.location) for word, _, kind in rest)]


def _asks_sizes(module: Module) -> bool:
    """Whether a kernel asks one of several tensor descriptors for its sizes, which Triton's dialect cannot say."""
    return any(op.schema is size_ for op in walk_function(module.kernel))


def specialize(definition: Definition, dtypes: Mapping[DType, DType], constants: Mapping[str, Any]) -> Specialization:
    """Lower with these values, make 16-bit arithmetic explicit, verify, check the fills. Raises KernelError."""
    described = block_pointers(lower_concrete(definition, dtypes, constants))
    require_alignment(described)
    module = descriptors(described)
    findings = [d for d in check_fills(module.kernel) if d.severity == "error"]
    if findings:
        raise KernelError(findings)
    forms = [module] if described is module or _asks_sizes(described) else [module, described]
    for one in forms:
        widen(one)
        accumulate(one)
        verify(one, concrete=True)
    arguments = [one for p in definition.parameters for one in _arguments(p, dtypes, constants)]
    parts = [definition.name, *(d.name for d in dtypes.values()), *map(canonical, constants.values())]
    return Specialization(definition.name, "__".join(parts), module, tuple(arguments), *forms[1:])
