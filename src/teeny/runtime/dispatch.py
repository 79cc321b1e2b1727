"""Which dtypes a kernel's type variables may take: the bound's members, less what its operations lack, or as asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from teeny.diag.diagnostic import at, report
from teeny.diag.errors import KernelError
from teeny.diag.span import Location
from teeny.frontend.lower import Definition
from teeny.ir.dtype import DType, members
from teeny.runtime.arguments import leaf_of

Supported = Mapping[str, tuple[DType, ...]]
Allowed = Callable[[DType], Sequence[DType]]


def supported_by(
    definition: Definition, exclusions: Mapping[str, frozenset[str]], asked: Any
) -> dict[str, tuple[DType, ...]]:
    """For each type variable the leaves it may take.

    `asked` is what the decorator's `dtypes=` says: None, a sequence for the one variable, or a mapping by name. Raises
    KernelError T001 for a dtype that the variable cannot be, E005 for a name that is no variable.
    """
    found = {
        v.name: tuple(m for m in members(v) if m.name not in exclusions.get(v.name, ())) for v in definition.variables
    }
    for name, choice in _by_name(definition, asked).items():
        if name not in found:
            known = ", ".join(found) or "none"
            raise _fault(
                definition,
                "E005",
                f"`dtypes` names `{name}`, which is no type variable of the kernel",
                ("variables", known),
            )
        leaves = tuple(leaf_of(one) for one in choice)
        for leaf, one in zip(leaves, choice, strict=True):
            if leaf not in found[name]:
                shown = getattr(one, "__name__", one)
                needed = ", ".join(d.name for d in found[name])
                raise _fault(
                    definition,
                    "T001",
                    f"`{definition.name}` does not work with {name} = {shown}",
                    ("supported", needed),
                )
        found[name] = tuple(leaf for leaf in leaves if leaf is not None)
    return found


def _by_name(definition: Definition, asked: Any) -> dict[str, tuple[Any, ...]]:
    if asked is None:
        return {}
    if isinstance(asked, Mapping):
        return {str(k): _listed(definition, v) for k, v in cast("Mapping[str, Any]", asked).items()}
    names = [v.name for v in definition.variables]
    if len(names) != 1:
        message = f"`dtypes` is one list, and the kernel has {len(names)} type variables"
        raise _fault(definition, "E005", message, ("needed", "a dict: {name: dtypes}"))
    return {names[0]: _listed(definition, asked)}


def _listed(definition: Definition, choice: Any) -> tuple[Any, ...]:
    """A choice of dtypes as a tuple; not empty."""
    if isinstance(choice, tuple | list) and choice:
        return tuple(cast("Sequence[Any]", choice))
    needed = ("needed", "a list or tuple of dtypes, such as (tl.f16, tl.f32)")
    raise _fault(definition, "T010", f"`dtypes` holds {choice!r}", needed)


def _fault(definition: Definition, code: str, message: str, fact: tuple[str, str]) -> KernelError:
    where = at(Location(definition.source.name_span))
    return KernelError((report(code, message, where, kernel=definition.name, facts=(fact,)),))
