"""Diagnostics as text: source lines with carets, one line, or all of a run with a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teeny.diag.diagnostic import Diagnostic, Edit, Fix, Label
from teeny.diag.display import DisplayLine, Style, Window, clean, paint
from teeny.diag.edits import apply
from teeny.diag.snippet import Snippet, visible
from teeny.diag.span import SourceFile, Span, character_index

_PLURALS = {"error": "errors", "warning": "warnings", "note": "notes"}


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """The full form: headline, source lines with marks, the chain of inlined calls, facts, notes, help, fixes."""
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity, color)
    out = [head + paint(f": {clean(diagnostic.message)}", "bold", color)]

    snippets = [Snippet.of(source, filter(visible, labels)) for source, labels in _files(diagnostic)]
    edited = [edit.span.end_line for fix in diagnostic.fixes for edit in fix.edits]
    last = max((snippet.last_line for snippet in snippets), default=0)
    gutter = len(str(max(last, *edited))) if edited else len(str(max(last, 1)))
    blank = " " * (gutter + 1)

    for snippet, (_, labels) in zip(snippets, _files(diagnostic), strict=True):
        arrow = "-->" if len(out) == 1 else ":::"
        place = next((label for label in labels if label.primary), labels[0]).location.span.position
        out.append(paint(f"{blank}{arrow} ", "frame", color) + clean(place))
        if snippet.lines:
            out.append(paint(f"{blank} |", "frame", color))
            out += snippet.draw(gutter, diagnostic.severity, color)
    if not diagnostic.labels and (place := _placeless(diagnostic)):
        out.append(paint(f"{blank}--> ", "frame", color) + clean(place))

    for kind, text in _remarks(diagnostic):
        bar = paint(f"{blank} = ", "frame", color)
        label = f"{kind}: " if kind else ""
        first, *rest = clean(text).split("\n")
        out.append(f"{bar}{paint(label, 'bold', color)}{first}".rstrip())
        out += [f"{blank}   {' ' * len(label)}{line}".rstrip() for line in rest]
    for fix in diagnostic.fixes:
        if fix.title not in diagnostic.help:
            out.append(paint(f"{blank} = ", "frame", color) + paint("help: ", "bold", color) + clean(fix.title))
        out += _difference(fix, gutter, color)
    return "\n".join(out)


def render_concise(diagnostic: Diagnostic, color: bool = False) -> str:
    """One line: `file:line:column: error[F001]: message`."""
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity, color)
    primary = diagnostic.primary
    place = primary.location.span.position if primary is not None else diagnostic.kernel
    message = " ".join(clean(diagnostic.message).split("\n"))
    return f"{clean(place)}: {head}: {message}" if place else f"{head}: {message}"


def render_all(diagnostics: Iterable[Diagnostic], color: bool = False, concise: bool = False) -> str:
    """All diagnostics by file and line, equal ones once, then a line that counts them; empty for none.

    A single diagnostic stands without the count.
    """
    found = in_order(diagnostics)
    one = render_concise if concise else render
    parts = [one(diagnostic, color) for diagnostic in found]
    if len(found) > 1:
        parts.append(summary(found))
    return ("\n" if concise else "\n\n").join(parts)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file, line and column, equal ones once; those without a place last."""
    return sorted(dict.fromkeys(diagnostics), key=_order)


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """A count by severity, such as `3 errors, 1 warning`; `no findings` for none."""
    parts: list[str] = []
    for severity, plural in _PLURALS.items():
        count = sum(diagnostic.severity == severity for diagnostic in diagnostics)
        if count:
            parts.append(f"{count} {severity if count == 1 else plural}")
    return ", ".join(parts) or "no findings"


def _order(diagnostic: Diagnostic) -> tuple[bool, str, int, int, str, str]:
    primary = diagnostic.primary
    if primary is None:
        return True, diagnostic.kernel or "", 0, 0, diagnostic.code, diagnostic.message
    span = primary.location.span
    return False, span.source.name, span.line, span.column, diagnostic.code, diagnostic.message


def _files(diagnostic: Diagnostic) -> list[tuple[SourceFile, list[Label]]]:
    """The labels by file, the file of the primary label first."""
    groups: dict[SourceFile, list[Label]] = {}
    if diagnostic.primary is not None:
        groups[diagnostic.primary.location.span.source] = []
    for label in diagnostic.labels:
        groups.setdefault(label.location.span.source, []).append(label)
    return list(groups.items())


def _placeless(diagnostic: Diagnostic) -> str:
    """Where a diagnostic without labels belongs: its kernel and argument."""
    argument = dict(diagnostic.facts).get("argument")
    named = (f"kernel `{diagnostic.kernel}`" if diagnostic.kernel else "", f"argument `{argument}`" if argument else "")
    return ", ".join(filter(None, named))


def _remarks(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The lines below the source, each with its kind: what labels in unseen text say, calls, facts, notes, help."""
    remarks = [("", label.text) for label in diagnostic.labels if label.text and not visible(label)]
    chains: dict[str, None] = {}
    for label in diagnostic.labels:
        if label.primary:
            chains |= {
                f"in `{call.name or '<call>'}`, called from {call.span.position}": None
                for call in label.location.frames[1:]
            }
    remarks += [("", text) for text in chains]
    shown_above = "" if diagnostic.labels else "argument"
    remarks += [(name, text) for name, text in diagnostic.facts if name != shown_above]
    remarks += [("note", text) for text in diagnostic.notes]
    remarks += [("help", text) for text in diagnostic.help]
    return remarks


def _difference(fix: Fix, gutter: int, color: bool) -> list[str]:
    """The lines that a fix changes, before and after."""
    out: list[str] = []
    for source, first, last, edits in _regions(fix):
        old = [source.line(line) for line in range(first, last + 1)]
        moved = [_moved(edit, 1 - first) for edit in edits]
        try:
            new = apply(moved, "\n".join(old)).split("\n")
        except ValueError:
            continue
        out.append(paint(f"{' ' * (gutter + 1)} |", "frame", color))
        column = min(character_index(source.line(edit.span.line), edit.span.column) for edit in edits)
        sides: tuple[tuple[str, Style, list[str]], ...] = (("-", "error", old), ("+", "help", new))
        for sign, style, lines in sides:
            for number, line in enumerate(lines, first):
                shown = DisplayLine.of(line)
                window = Window.around(shown.width, *(shown.columns[min(column, len(line))],) * 2)
                text = paint(f"{sign} {window.text(shown)}".rstrip(), style, color)
                out.append(paint(f" {number:>{gutter}} ", "frame", color) + text)
    return out


def _regions(fix: Fix) -> list[tuple[SourceFile, int, int, list[Edit]]]:
    """Runs of neighbouring lines that edits touch: file, first line, last line, the edits. Unseen text is left out."""
    regions: list[tuple[SourceFile, int, int, list[Edit]]] = []
    for edit in sorted(fix.edits, key=lambda e: (e.span.source.name, e.span.line, e.span.column)):
        source, first, last = edit.span.source, edit.span.line, edit.span.end_line
        if not (source.text and 1 <= first <= last <= len(source.lines)):
            continue
        if regions and regions[-1][0] is source and first <= regions[-1][2] + 1:
            _, start, end, edits = regions[-1]
            regions[-1] = (source, start, max(end, last), [*edits, edit])
        else:
            regions.append((source, first, last, [edit]))
    return regions


def _moved(edit: Edit, lines: int) -> Edit:
    span = edit.span
    moved = Span(span.source, span.line + lines, span.column, span.end_line + lines, span.end_column)
    return Edit(moved, edit.replacement)
