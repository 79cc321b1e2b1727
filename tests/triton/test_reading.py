"""Text that the front ends of Triton 3.6 to 3.9 print is read whole and runs; mangled text is an error."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import teeny.language
from teeny.diag.errors import TeenyError
from teeny.ir.text import TextError, parse_module, print_module
from teeny.ir.verify import verify
from teeny.runtime.compilers import native_code
from teeny.triton.read import read_module

assert teeny.language

TEXTS = sorted((Path(__file__).parent / "texts").glob("*/*.mlir"))
NAMES = [f"{path.parent.name}-{path.stem}" for path in TEXTS]


def test_there_are_texts_of_every_version() -> None:
    assert {path.parent.name for path in TEXTS} == {"3.6", "3.7", "3.8", "3.9"}


@pytest.mark.parametrize("path", TEXTS, ids=NAMES)
def test_text_is_read_whole_and_compiles(path: Path) -> None:
    module = read_module(path.read_text(), path.stem)
    assert len(module.functions) == 1
    if path.stem == "assembly":
        with pytest.raises(TeenyError, match="assembly"):
            native_code(module, every=False)
    else:
        assert native_code(module, every=False)[0]["object"]


@pytest.mark.parametrize("path", TEXTS, ids=NAMES)
def test_what_was_read_is_printed_and_read_again(path: Path) -> None:
    text = print_module(read_module(path.read_text(), path.stem))
    again = parse_module(text)
    verify(again, concrete=True)
    assert print_module(again) == text


def test_an_unknown_operation_names_itself_and_its_line() -> None:
    text = "module {\n  tt.func public @k() {\n    tt.brand_new_thing\n    tt.return\n  }\n}\n"
    with pytest.raises(TextError, match=r"tt\.brand_new_thing") as caught:
        parse_module(text, "k.mlir")
    assert "k.mlir:3:5" in str(caught.value)


@pytest.mark.parametrize("seed", range(12))
def test_mangled_text_is_an_error(seed: int) -> None:
    """Characters, words and lines deleted, doubled or swapped."""
    rng = random.Random(seed)
    path = rng.choice([p for p in TEXTS if p.stem in ("control", "memory", "descriptors", "shapes", "products")])
    text = path.read_text()
    for _ in range(15):
        mangled = _mangle(text, rng)
        try:
            module = read_module(mangled, path.stem)
        except TextError:
            continue
        verify(module, concrete=True)


def _mangle(text: str, rng: random.Random) -> str:
    kind = rng.randrange(6)
    at = rng.randrange(len(text))
    if kind == 0:
        return text[:at] + text[at + rng.randrange(1, 9) :]
    if kind == 1:
        return text[:at] + rng.choice('%^#@<>(){}[]:,="-0 xf!?\\\n') + text[at:]
    if kind == 2:
        return text[:at]
    words = text.split(" ")
    first, second = rng.randrange(len(words)), rng.randrange(len(words))
    if kind == 3:
        words[first], words[second] = words[second], words[first]
        return " ".join(words)
    lines = text.split("\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    if kind == 4:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        del lines[first]
    return "\n".join(lines)
