"""What is reported: a diagnostic with labelled places, help, and edits that mend the source."""

from __future__ import annotations

from dataclasses import dataclass

from teeny.diag.codes import Severity, code_of
from teeny.diag.span import Location, Span


@dataclass(frozen=True, slots=True)
class Label:
    """A marked place. `text` continues the message for that place and may be empty.

    The primary label (`^^^^`) is where the fault shows; the others (`----`) say where it comes from.
    """

    location: Location
    text: str = ""
    primary: bool = True


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of `span` in the original text; an empty span inserts."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that together mend the fault; `title` says what they do."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` is one plain sentence that stands alone, without a full stop.

    `facts` are named particulars in the order they are shown: argument, found, needed, witness.
    """

    code: str
    severity: Severity
    message: str
    labels: tuple[Label, ...] = ()
    help: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    kernel: str | None = None
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def primary(self) -> Label | None:
        """The label that the headline names: the first primary one, else the first."""
        return next((label for label in self.labels if label.primary), self.labels[0] if self.labels else None)


def at(location: Location, text: str = "") -> Label:
    """A primary label."""
    return Label(location, text, primary=True)


def also(location: Location, text: str = "") -> Label:
    """A secondary label: where the other type, the mask, the earlier definition was born."""
    return Label(location, text, primary=False)


def report(
    code: str,
    message: str,
    *labels: Label,
    help: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    fixes: tuple[Fix, ...] = (),
    kernel: str | None = None,
    facts: tuple[tuple[str, str], ...] = (),
    severity: Severity | None = None,
) -> Diagnostic:
    """A diagnostic with the severity that the catalogue gives to `code`, unless stated.

    Raises KeyError for a code that is not in the catalogue.
    """
    chosen = severity or code_of(code).severity
    return Diagnostic(code, chosen, message, labels, help, notes, fixes, kernel, facts)
