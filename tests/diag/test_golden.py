"""Renderings beside their input in `golden.md`. TEENY_UPDATE_GOLDEN=1 writes what is rendered now.

A section has fenced blocks: source files (`source NAME`), one `labels` and the expected `text`.
Lines of the labels block:

    error[F001]: message        the headline
    ^ excerpt | text            a primary label on the first place that reads so; `a ... b` runs from a to b
    - excerpt | text            a secondary one; `name.py> excerpt` names the file where there are several
    in name: excerpt            the call that the label above was inlined through
    argument: text              a fact (argument, found, needed, witness); note:, help: and kernel: alike
    fix title: excerpt => new   an edit
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from teeny.diag import Diagnostic, Edit, Fix, Label, Location, SourceFile, Span, report
from teeny.diag.render import render_all
from teeny.diag.span import byte_length

GOLDEN = Path(__file__).with_name("golden.md")
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+) ?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADLINE = re.compile(r"(?:error|warning|note)\[(\w+)\]: (.*)")
FACTS = ("argument", "found", "needed", "witness")


@dataclass
class Draft:
    code: str
    message: str
    labels: list[Label] = field(default_factory=list[Label])
    lists: dict[str, list[str]] = field(default_factory=lambda: {"help": [], "note": [], "kernel": []})
    fixes: list[Fix] = field(default_factory=list[Fix])
    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def done(self) -> Diagnostic:
        return report(
            self.code,
            self.message,
            *self.labels,
            help=tuple(self.lists["help"]),
            notes=tuple(self.lists["note"]),
            fixes=tuple(self.fixes),
            facts=tuple(self.facts),
            kernel=next(iter(self.lists["kernel"]), None),
        )


def span_of(excerpt: str, files: list[SourceFile]) -> Span:
    name, arrow, rest = excerpt.partition("> ")
    file = next(file for file in files if not arrow or file.name == name)
    first, dots, last = (rest if arrow else excerpt).partition(" ... ")
    start = file.text.index(first)
    end = file.text.index(last, start) + len(last) if dots else start + len(first)
    return Span(file, *place(file.text, start), *place(file.text, end))


def place(text: str, index: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, index) + 1
    return text.count("\n", 0, index) + 1, byte_length(text[line_start:index])


def read(body: str) -> list[Diagnostic]:
    blocks = BLOCK.findall(body)
    files = [SourceFile(name, text) for kind, name, text in blocks if kind == "source"]
    drafts: list[Draft] = []
    for line in next(text for kind, _, text in blocks if kind == "labels").splitlines():
        if headline := HEADLINE.fullmatch(line):
            drafts.append(Draft(headline[1], headline[2]))
            continue
        draft = drafts[-1]
        if line[:2] in ("^ ", "- "):
            excerpt, _, text = line[2:].partition(" | ")
            draft.labels.append(Label(Location(span_of(excerpt, files)), text, line[0] == "^"))
        elif line.startswith("in "):
            name, _, excerpt = line[3:].partition(": ")
            label = draft.labels[-1]
            *inner, outermost = label.location.frames
            location = Location(outermost.span, outermost.name, Location(span_of(excerpt, files), name))
            for frame in reversed(inner):
                location = Location(frame.span, frame.name, location)
            draft.labels[-1] = Label(location, label.text, label.primary)
        elif line.startswith("fix "):
            title, _, edit = line[4:].partition(": ")
            excerpt, _, new = edit.partition(" => ")
            draft.fixes.append(Fix(title, (Edit(span_of(excerpt, files), new.replace("\\n", "\n")),)))
        else:
            key, _, text = line.partition(": ")
            if key in FACTS:
                draft.facts.append((key, text))
            else:
                draft.lists[key].append(text.replace("\\n", "\n"))
    return [draft.done() for draft in drafts]


SECTIONS = SECTION.findall(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("title", "body"), SECTIONS, ids=[title for title, _ in SECTIONS])
def test_rendering(title: str, body: str) -> None:
    shown = render_all(read(body)) + "\n"
    if os.environ.get("TEENY_UPDATE_GOLDEN") == "1":
        new = TEXT.sub(lambda _: f"```text\n{shown}```", body)
        GOLDEN.write_text(GOLDEN.read_text(encoding="utf-8").replace(body, new), encoding="utf-8")
        return
    expected = TEXT.search(body)
    assert expected is not None
    assert shown == expected[1]


def test_there_are_sections() -> None:
    assert len(SECTIONS) >= 20
