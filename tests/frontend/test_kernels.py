"""Whole kernels: each fault at its line with its code and nothing else; accepted ones specialise without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from teeny.frontend.lower import lower_concrete, lower_generic
from teeny.ir.text import parse_module, print_module
from teeny.ir.verify import verify
from tests.frontend import corpus

ACCEPTED = corpus.files(faulty=False)
FAULTY = corpus.files(faulty=True)


@pytest.mark.parametrize("path", [*ACCEPTED, *FAULTY], ids=lambda p: p.stem)
def test_the_faults_are_the_marked_ones(path: Path) -> None:
    text = path.read_text()
    _, found = corpus.load(path)
    expected, reported = corpus.marks(text), corpus.language_faults(found, str(path))
    shown = "\n".join(f"{d.code} line {d.primary.location.span.line if d.primary else 0}: {d.message}" for d in found)
    assert not expected - reported, f"not reported: {sorted((expected - reported).elements())}\n{shown}"
    assert not reported - expected, f"reported beyond: {sorted((reported - expected).elements())}\n{shown}"


def test_there_are_thirty_of_each() -> None:
    texts = "\n".join(path.read_text() for path in FAULTY)
    assert sum(corpus.marks(texts).values()) >= 30
    assert sum(path.read_text().count("@tn.kernel") for path in ACCEPTED) >= 30


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda p: p.stem)
def test_what_is_accepted_in_general_is_accepted_for_each_choice(path: Path) -> None:
    module, _ = corpus.load(path)
    values = getattr(module, "VALUES", {})
    for kernel in corpus.kernels(module):
        definition = kernel.definition
        generic = lower_generic(definition)
        verify(generic.module, concrete=False)
        assert print_module(generic.module)
        done = 0
        for dtypes, constants in corpus.choices(definition, values, dict(generic.exclusions)):
            made = lower_concrete(definition, dtypes, constants)
            verify(made, concrete=True)
            text = print_module(made)
            if done < 3:
                again = parse_module(text)
                verify(again, concrete=True)
                assert print_module(again) == text
            done += 1
        assert done, kernel.name
