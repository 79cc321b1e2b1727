"""The check of the kernels of a Triton file: types from launches, from stated signatures, or assumed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import KernelError, LaunchError
from teeny.diag.span import SourceFile
from teeny.ir.text import TextError
from teeny.triton.assume import assume, functions_of, guesses, shown
from teeny.triton.certain import Refusal, is_certain
from teeny.triton.extract import Extracted, extract
from teeny.triton.kernel import TritonKernel
from teeny.triton.launches import launches
from teeny.triton.names import unknown_names
from teeny.triton.refusal import refusal_of
from teeny.triton.roles import Roles, roles_of

__all__ = ["CheckedFile", "CheckedKernel", "check_file"]

_LAUNCHES = 4
"""Launches of one kernel that are checked at most."""


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """`origin` says where the types come from, `choices` what they are.

    Not `checked`: Triton refused every guess, and may take another.
    """

    name: str
    origin: str
    choices: Mapping[str, Any]
    findings: tuple[Diagnostic, ...]
    checked: bool = True

    @property
    def summary(self) -> str:
        """What was assumed, in one line."""
        parts = ", ".join(f"{n}={shown(v)}" for n, v in self.choices.items())
        return f"`{self.name}`: {self.origin}: {parts}" if parts else f"`{self.name}`: {self.origin}"


@dataclass(slots=True)
class CheckedFile:
    """The kernels of a file, what of the file was not run, and `unknown`: findings about names that nothing defines."""

    extracted: Extracted
    unknown: list[Diagnostic] = field(default_factory=list[Diagnostic])
    kernels: list[CheckedKernel] = field(default_factory=list[CheckedKernel])


def check_file(path: Path, name: str, stated: Mapping[str, Mapping[str, Any]]) -> CheckedFile:
    """Check each kernel of a file; `stated` has choices by kernel.

    Raises SyntaxError, and what the needed statements of the file raise.
    """
    text = path.read_text("utf-8", "replace")
    found = extract(path, text, name)
    source = SourceFile(str(path), text)
    names = unknown_names(found.tree, source, found.namespace, found.defined, found.open_ended)
    done = CheckedFile(found, names)
    functions = functions_of(found.tree)
    called = {
        _name(n.func)
        for f in found.kernels
        if f in functions
        for n in ast.walk(functions[f])
        if isinstance(n, ast.Call) and not _is_of_triton(n.func, found.namespace)
    }
    parameters = {n: {p.name: p.is_constexpr for p in TritonKernel(fn).jit.params} for n, fn in found.kernels.items()}
    seen = launches(found.tree, parameters, found.namespace)
    for kernel, fn in found.kernels.items():
        launched = [launch for launch in seen if launch.kernel == kernel][:_LAUNCHES]
        node = functions.get(kernel)
        if node is None or (not launched and kernel not in stated and (kernel in called or _returns(node))):
            continue  # a helper
        made = TritonKernel(fn)
        roles = roles_of(node, functions)
        if kernel in stated:
            done.kernels.append(_try(made, roles, stated[kernel], "as stated"))
        elif launched:
            for number, launch in enumerate(launched):
                if launch.values not in [earlier.values for earlier in launched[:number]]:
                    done.kernels.append(_try(made, roles, launch.values, f"launch at line {launch.line}"))
        else:
            done.kernels.append(_try(made, roles, {}, "assumed"))
    return done


def _try(kernel: TritonKernel, roles: Roles, stated: Mapping[str, Any], origin: str) -> CheckedKernel:
    """Check with the first choices that Triton takes; where it takes none, say whether the choices are to blame."""
    made = assume(kernel.fn, kernel.jit, roles, stated)
    first: tuple[dict[str, Any], tuple[Diagnostic, ...]] | None = None
    refusals: list[Refusal] = []
    for choices in guesses(made, roles, stated):
        try:
            return CheckedKernel(kernel.name, origin, choices, tuple(kernel.checked(choices)[1]))
        except (LaunchError, TextError) as error:
            return CheckedKernel(kernel.name, origin, choices, error.diagnostics, False)
        except KernelError as error:
            first = first or (choices, error.diagnostics)
            refusals.append(refusal_of(kernel.jit, error.__cause__ or error))
        if is_certain(refusals[:1], [n for n in made.first if n not in stated], ()):
            break
    assert first is not None
    certain = is_certain(refusals, made.fixed, made.sizes)
    return CheckedKernel(kernel.name, origin, *first, certain)


def _is_of_triton(node: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Whether it is a name in one of Triton's modules."""
    if not isinstance(node, ast.Attribute):
        return False
    inner = node.value
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    held = namespace.get(inner.id) if isinstance(inner, ast.Name) else None
    return isinstance(held, ModuleType) and held.__name__.partition(".")[0] == "triton"


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _returns(node: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
