"""Exceptions of the project. Each carries diagnostics; its text is their rendering; all can be pickled."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Self

from teeny import __version__
from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import Location


class TeenyError(Exception):
    """Base of every error that teeny raises on purpose."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        from teeny.diag.render import render_all

        return render_all(self.diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.diagnostics)


class KernelError(TeenyError):
    """A kernel is not in the language or fails a check; raised at definition or specialisation."""


class CompileError(TeenyError):
    """A compiler outside teeny (Triton, ptxas, LLVM) is missing or failed."""


class LaunchError(TeenyError):
    """A launch is refused before anything runs, a driver call failed, or an assertion of the kernel did (L017)."""

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        *,
        kernel: str | None = None,
        argument: str | None = None,
        found: str | None = None,
        needed: str | None = None,
        witness: str | None = None,
        location: Location | None = None,
        help: tuple[str, ...] = (),
    ) -> Self:
        """A launch error with one diagnostic.

        `found` and `needed` describe the value that came and what the kernel asks for; `witness` names the program,
        lane and offset that would go wrong; `location` is the contract or parameter in the kernel, where known.
        """
        named = {"argument": argument, "found": found, "needed": needed, "witness": witness}
        facts = tuple((name, text) for name, text in named.items() if text is not None)
        labels = () if location is None else (at(location),)
        return cls((report(code, message, *labels, help=help, kernel=kernel, facts=facts),))


class InternalError(TeenyError):
    """A fault in teeny itself, never in the user's kernel."""

    def __init__(self, message: str, location: Location | None = None, kernel: str | None = None) -> None:
        python = ".".join(map(str, sys.version_info[:3]))
        labels = () if location is None else (at(location, "while working on this"),)
        notes = (
            "this is a fault in teeny, not in your code; please report it with this text and the kernel",
            f"teeny {__version__}, Python {python} on {sys.platform}",
        )
        super().__init__((report("I001", f"teeny failed: {message}", *labels, notes=notes, kernel=kernel),))


def _rebuild(kind: type[TeenyError], diagnostics: tuple[Diagnostic, ...]) -> TeenyError:
    made = kind.__new__(kind)
    TeenyError.__init__(made, diagnostics)
    return made
