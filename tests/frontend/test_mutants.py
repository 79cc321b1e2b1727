"""Kernels with one slip: the front end never breaks, says one thing, and the specialiser agrees with it.

All edits of all accepted kernels are some ten thousand; each run takes a sample, a larger one with TEENY_MUTANTS=all.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import random
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from teeny.diag import Diagnostic, KernelError
from teeny.frontend.lower import Definition, Generic, define, lower_concrete, lower_generic
from teeny.ir.verify import verify
from tests.frontend import corpus
from tests.frontend.mutants import mutant, mutations

FILES = [path for path in corpus.files(faulty=False) if "312" not in path.stem]
SAMPLE = None if os.environ.get("TEENY_MUTANTS") == "all" else 12
DECIDED_LATER = frozenset({"E009", "E013", "E016", "T006", "S002", "S003", "S004", "S007", "S009"})
"""Faults that a specialisation may find in what was accepted in general: they depend on the values of Consts."""


def made(path: Path, kernel: Any, scope: dict[str, Any]) -> Iterator[tuple[str, FunctionType]]:
    """A sample of a kernel's mutants, each with its source where the front end looks for it."""
    tree = kernel.definition.source.tree
    every = mutations(tree)
    chosen = every if SAMPLE is None else random.Random(kernel.name).sample(every, min(SAMPLE, len(every)))
    for number, edit in enumerate(chosen):
        changed = mutant(tree, edit)
        changed.decorator_list = []
        text = ast.unparse(changed) + "\n"
        name = f"<{path.stem} {kernel.name} {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space = dict(scope)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True), space)
        except Exception:  # Python itself refuses it
            continue
        yield f"{kernel.name}:{edit.title}", space[kernel.name]


def check(title: str, fn: FunctionType, values: dict[str, Any]) -> int:
    """The number of faults of a mutant, once all is as it should be."""
    definition, faults = define(fn)
    generic = lower_generic(definition)
    faults.extend(generic.faults)
    assert all(one.code[0] in "ETS" and one.primary is not None for one in faults), title
    if not faults:
        verify(generic.module, concrete=False)
        agree(title, definition, generic, values)
    return len(faults)


def agree(title: str, definition: Definition, generic: Generic, values: dict[str, Any]) -> None:
    for dtypes, constants in islice(corpus.choices(definition, values, dict(generic.exclusions)), 3):
        late = {one.code for one in specialised(definition, dtypes, constants)}
        # beyond twelve conditions, what the sides of an `if` differ in is left to the specialisation
        ok = late <= DECIDED_LATER or generic.table.full
        assert ok, f"{title}: accepted in general, refused for {dtypes} {constants}"


def specialised(definition: Definition, dtypes: dict[Any, Any], constants: dict[str, Any]) -> tuple[Diagnostic, ...]:
    """What a specialisation finds wrong."""
    try:
        module = lower_concrete(definition, dtypes, constants)
    except KernelError as error:
        return error.diagnostics
    verify(module, concrete=True)
    return ()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_mutants(path: Path) -> None:
    module, _ = corpus.load(path)
    values = getattr(module, "VALUES", {})
    rejected: list[tuple[int, str]] = []
    for kernel in corpus.kernels(module):
        for title, fn in made(path, kernel, vars(module)):
            try:
                number = check(title, fn, values)
            except Exception as error:
                raise AssertionError(f"{title}\n{linecache.cache[fn.__code__.co_filename][2]}") from error
            if number:
                rejected.append((number, title))
    assert rejected
    several = [title for number, title in rejected if number > 1]
    assert len(several) <= len(rejected) / 10, several
