"""Diagnostics for other programs: JSON with a stable schema, and SARIF 2.1.0.

In both, lines and columns count from 1, columns count characters (Unicode code points), and ends are exclusive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypedDict

from teeny import __version__
from teeny.diag.codes import Severity, code_of
from teeny.diag.diagnostic import Diagnostic, Edit, Fix, Label
from teeny.diag.render import in_order
from teeny.diag.span import Location, SourceFile, Span, byte_column, shown_column

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SpanJson(TypedDict):
    """A span; `file` is the name of the source as it was given."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class FrameJson(TypedDict):
    """A place and the name of what is called there, if known."""

    span: SpanJson
    name: str | None


class LabelJson(TypedDict):
    """A label; `frames` is its place, then the calls that lead to it, innermost first."""

    frames: list[FrameJson]
    text: str
    primary: bool


class EditJson(TypedDict):
    """An edit of the original text."""

    span: SpanJson
    replacement: str


class FixJson(TypedDict):
    """Edits that mend the fault."""

    title: str
    edits: list[EditJson]


class FactJson(TypedDict):
    """A named particular: argument, found, needed, witness."""

    name: str
    text: str


class DiagnosticJson(TypedDict):
    """The schema of `to_json`. Keys may be added, never renamed or removed."""

    code: str
    severity: Severity
    message: str
    kernel: str | None
    labels: list[LabelJson]
    facts: list[FactJson]
    notes: list[str]
    help: list[str]
    fixes: list[FixJson]


def to_json(diagnostic: Diagnostic) -> DiagnosticJson:
    """One diagnostic as a dict that `json` can write."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "kernel": diagnostic.kernel,
        "labels": [
            {
                "frames": [{"span": _span(place.span), "name": place.name} for place in label.location.frames],
                "text": label.text,
                "primary": label.primary,
            }
            for label in diagnostic.labels
        ],
        "facts": [{"name": name, "text": text} for name, text in diagnostic.facts],
        "notes": list(diagnostic.notes),
        "help": list(diagnostic.help),
        "fixes": [
            {
                "title": fix.title,
                "edits": [{"span": _span(edit.span), "replacement": edit.replacement} for edit in fix.edits],
            }
            for fix in diagnostic.fixes
        ],
    }


def from_json(data: DiagnosticJson, source: Callable[[str], SourceFile]) -> Diagnostic:
    """The inverse of `to_json`; `source` gives the file of a name. Raises KeyError when a key is missing."""
    return Diagnostic(
        code=data["code"],
        severity=data["severity"],
        message=data["message"],
        labels=tuple(_read_label(label, source) for label in data["labels"]),
        help=tuple(data["help"]),
        notes=tuple(data["notes"]),
        fixes=tuple(
            Fix(
                fix["title"],
                tuple(Edit(_read_span(edit["span"], source), edit["replacement"]) for edit in fix["edits"]),
            )
            for fix in data["fixes"]
        ),
        kernel=data["kernel"],
        facts=tuple((fact["name"], fact["text"]) for fact in data["facts"]),
    )


def to_sarif(diagnostics: Iterable[Diagnostic]) -> dict[str, object]:
    """A SARIF 2.1.0 log with one run."""
    found = in_order(diagnostics)
    used = sorted({diagnostic.code for diagnostic in found})
    driver: dict[str, object] = {"name": "teeny", "version": __version__, "rules": [_rule(code) for code in used]}
    run: dict[str, object] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, used.index(diagnostic.code)) for diagnostic in found],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _span(span: Span) -> SpanJson:
    source = span.source
    return {
        "file": source.name,
        "line": span.line,
        "column": shown_column(source.line(span.line), span.column),
        "end_line": span.end_line,
        "end_column": shown_column(source.line(span.end_line), span.end_column),
    }


def _read_span(data: SpanJson, source: Callable[[str], SourceFile]) -> Span:
    file = source(data["file"])
    column = byte_column(file.line(data["line"]), data["column"])
    end_column = byte_column(file.line(data["end_line"]), data["end_column"])
    return Span(file, data["line"], column, data["end_line"], end_column)


def _read_label(data: LabelJson, source: Callable[[str], SourceFile]) -> Label:
    *calls, last = reversed(data["frames"])
    location: Location | None = None
    for frame in calls:
        location = Location(_read_span(frame["span"], source), frame["name"], location)
    return Label(Location(_read_span(last["span"], source), last["name"], location), data["text"], data["primary"])


def _rule(code: str) -> dict[str, object]:
    entry = code_of(code)
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "help": {"text": entry.text or entry.title, "markdown": entry.text or entry.title},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, object]:
    details = [f"{name}: {text}" for name, text in diagnostic.facts] + [*diagnostic.notes, *diagnostic.help]
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": "\n".join((diagnostic.message, *details))},
    }
    primary = diagnostic.primary
    if primary is not None:
        result["locations"] = [_place(primary.location.span, "", diagnostic.kernel)]
        others = [(label.location.span, label.text) for label in diagnostic.labels if label is not primary]
        others += [(call.span, f"call of {call.name or 'a function'}") for call in primary.location.frames[1:]]
        related: list[dict[str, object]] = []
        for span, text in others:
            place = _place(span, text, None)
            if place not in related:
                related.append(place)
        result["relatedLocations"] = related
    elif diagnostic.kernel:
        result["locations"] = [{"logicalLocations": [{"name": diagnostic.kernel, "kind": "function"}]}]
    fixes = [_fix(fix) for fix in diagnostic.fixes if fix.edits]
    if fixes:
        result["fixes"] = fixes
    return result


def _place(span: Span, text: str, kernel: str | None) -> dict[str, object]:
    place: dict[str, object] = {"physicalLocation": {"artifactLocation": _artifact(span), "region": _region(span)}}
    if text:
        place["message"] = {"text": text}
    if kernel:
        place["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return place


def _artifact(span: Span) -> dict[str, object]:
    from urllib.parse import quote

    name = span.source.display_name.replace(os.sep, "/")
    return {"uri": f"file://{quote(name)}" if name.startswith("/") else quote(name)}


def _region(span: Span) -> dict[str, object]:
    inside = span.clamped() if span.source.text else span
    line, end_line = max(inside.line, 1), max(inside.end_line, inside.line, 1)
    column = shown_column(inside.source.line(line), inside.column)
    end_column = shown_column(inside.source.line(end_line), inside.end_column)
    if end_line == line:
        end_column = max(end_column, column)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _fix(fix: Fix) -> dict[str, object]:
    changes: dict[SourceFile, dict[str, object]] = {}
    replacements: dict[SourceFile, list[dict[str, object]]] = {}
    for edit in fix.edits:
        source = edit.span.source
        listed = replacements.setdefault(source, [])
        listed.append({"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}})
        changes[source] = {"artifactLocation": _artifact(edit.span), "replacements": listed}
    return {"description": {"text": fix.title}, "artifactChanges": list(changes.values())}
