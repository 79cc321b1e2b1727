"""The check of the kernels of a Triton file: types from launches, from stated signatures, or assumed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import LaunchError
from teeny.ir.text import TextError
from teeny.triton.assume import functions_of, guesses
from teeny.triton.extract import Extracted, extract
from teeny.triton.kernel import TritonKernel
from teeny.triton.launches import launches
from teeny.triton.roles import roles_of

__all__ = ["CheckedFile", "CheckedKernel", "check_file"]

_LAUNCHES = 4
"""Launches of one kernel that are checked at most."""


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """`origin` says where the types come from, `choices` what they are. Not `checked`: Triton refused every guess."""

    name: str
    origin: str
    choices: Mapping[str, Any]
    findings: tuple[Diagnostic, ...]
    checked: bool = True

    @property
    def summary(self) -> str:
        """What was assumed, in one line."""
        parts = ", ".join(f"{n}={_shown(v)}" for n, v in self.choices.items())
        return f"`{self.name}`: {self.origin}: {parts}" if parts else f"`{self.name}`: {self.origin}"


@dataclass(slots=True)
class CheckedFile:
    """The kernels of a file, and what of the file was not run."""

    extracted: Extracted
    kernels: list[CheckedKernel] = field(default_factory=list[CheckedKernel])


def check_file(path: Path, name: str, stated: Mapping[str, Mapping[str, Any]]) -> CheckedFile:
    """Check each kernel of a file; `stated` has choices by kernel.

    Raises SyntaxError, and what the needed statements of the file raise.
    """
    text = path.read_text("utf-8", "replace")
    found = extract(path, text, name)
    done = CheckedFile(found)
    functions = functions_of(found.tree)
    called = {
        _name(n.func)
        for f in found.kernels
        if f in functions
        for n in ast.walk(functions[f])
        if isinstance(n, ast.Call)
    }
    parameters = {n: [p.name for p in TritonKernel(fn).jit.params] for n, fn in found.kernels.items()}
    seen = launches(found.tree, parameters, {})
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


def _try(kernel: TritonKernel, roles: Any, stated: Mapping[str, Any], origin: str) -> CheckedKernel:
    """Check with the first choices that Triton takes."""
    first: tuple[dict[str, Any], list[Diagnostic]] | None = None
    for choices in guesses(kernel.jit, roles, stated):
        try:
            findings = kernel.check(**choices)
        except (LaunchError, TextError) as error:
            return CheckedKernel(kernel.name, origin, stated, error.diagnostics, False)
        if not any(d.code == "X009" for d in findings):
            return CheckedKernel(kernel.name, origin, choices, tuple(findings))
        if first is None:
            first = choices, findings
    assert first is not None
    return CheckedKernel(kernel.name, origin, first[0], tuple(first[1]), False)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _returns(node: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
