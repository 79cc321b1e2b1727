"""Which dtypes a kernel's type variables may take: the bound's members, less what its operations lack, or as asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, cast

from teeny.diag.diagnostic import at, report
from teeny.diag.errors import KernelError, LaunchError
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

    `asked` is what the decorator's `dtypes=` says: None, a sequence for the one variable, a mapping by name, or a
    sequence of mappings: the combinations. Raises KernelError T001 for a dtype that the variable cannot be, E005 for a
    name that is no variable, and for a combination that lacks one.
    """
    found = {
        v.name: tuple(m for m in members(v) if m.name not in exclusions.get(v.name, ())) for v in definition.variables
    }
    rows = _rows(asked)
    if rows is not None:
        return _columns(definition, found, rows)
    for name, choice in _by_name(definition, asked).items():
        if name not in found:
            known = ", ".join(found) or "none"
            raise _fault(
                definition,
                "E005",
                f"`dtypes` names `{name}`, which is no type variable of the kernel",
                ("variables", known),
            )
        found[name] = tuple(_supported(definition, found, name, one) for one in choice)
    return found


def _supported(definition: Definition, found: Supported, name: str, one: Any) -> DType:
    """A dtype that was asked for, which the variable may be. Raises KernelError T001."""
    leaf = leaf_of(one)
    if leaf is None or leaf not in found[name]:
        shown, needed = getattr(one, "__name__", one), ", ".join(d.name for d in found[name])
        text = f"`{definition.name}` does not work with {name} = {shown}"
        raise _fault(definition, "T001", text, ("supported", needed))
    return leaf


def _rows(asked: Any) -> list[Mapping[str, Any]] | None:
    """The mappings of a sequence of such; None for anything else."""
    if not isinstance(asked, tuple | list) or not asked:
        return None
    rows = list(cast("Sequence[Any]", asked))
    return rows if all(isinstance(row, Mapping) for row in rows) else None


def asks_for_combinations(asked: Any) -> bool:
    """Whether a decorator's `dtypes=` lists combinations."""
    return _rows(asked) is not None


def _columns(definition: Definition, found: Supported, rows: list[Mapping[str, Any]]) -> dict[str, tuple[DType, ...]]:
    """For each variable the leaves that some combination gives it, in order."""
    each = combinations(definition, found, rows)
    return {name: tuple(dict.fromkeys(row[name] for row in each)) for name in found}


def combinations(definition: Definition, found: Supported, asked: Any) -> tuple[dict[str, DType], ...]:
    """The dtypes that the variables may have together: the combinations asked for, else every one.

    In a combination a variable may have a list of dtypes: it stands for one combination each.
    """
    rows = _rows(asked)
    if rows is None:
        return tuple(dict(zip(found, leaves, strict=True)) for leaves in product(*found.values()))
    made: list[dict[str, DType]] = []
    for row in rows:
        wrong = next((name for name in (*row, *found) if name not in row or name not in found), None)
        if wrong is not None:
            text = f"names `{wrong}`, which is no type variable" if wrong in row else f"lacks `{wrong}`"
            needed = ("variables", ", ".join(found) or "none")
            raise _fault(definition, "E005", f"a combination in `dtypes` {text} of the kernel", needed)
        choices = [
            _listed(definition, row[name] if isinstance(row[name], tuple | list) else [row[name]]) for name in found
        ]
        leaves = [[_supported(definition, found, n, one) for one in c] for n, c in zip(found, choices, strict=True)]
        made += [dict(zip(found, one, strict=True)) for one in product(*leaves)]
    return tuple(made)


def check_combination(name: str, rows: Sequence[Mapping[str, DType]], dtypes: Mapping[DType, DType]) -> None:
    """Refuse dtypes that are not asked for together. Raises LaunchError L003."""
    given = {variable.name: leaf for variable, leaf in dtypes.items()}
    if any(all(row[n] is leaf for n, leaf in given.items() if n in row) for row in rows):
        return
    shown = [", ".join(f"{n} = {leaf.name}" for n, leaf in row.items()) for row in rows[:8]]
    raise LaunchError.of(
        "L003",
        f"`{name}` does not take these dtypes together",
        kernel=name,
        argument=", ".join(given),
        found=", ".join(f"{n} = {leaf.name}" for n, leaf in given.items()),
        needed="one of: " + "; ".join([*shown, "..."] if len(rows) > 8 else shown),
    )


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
