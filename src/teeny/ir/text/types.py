"""Reading types: scalars, `!tt.ptr<...>`, `tensor<...>` and `!tt.tensordesc<...>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.dtype import LEAVES, DType
from teeny.ir.types import Element, TensorType, Type, ViewType, pointer, typed, view

if TYPE_CHECKING:
    from teeny.ir.text.cursor import Cursor

_SCALARS: dict[str, DType] = {d.mlir: d for d in LEAVES.values() if d.kind != "unsigned"} | {"f8E4M3": LEAVES["f8e4m3"]}
_HEAD = re.compile(r"!?[A-Za-z][\w.]*<?")
_TENSOR = re.compile(r"tensor<((?:[1-9][0-9]*x)+)(.+)>")
_POINTER = re.compile(r"!tt\.ptr<(.+?)(?:, *1)?>")
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<(?:tensor<)?((?:[1-9][0-9]*x)+)([us]?)(i[0-9]+|[a-zA-Z]\w+)>?>")
"""Up to Triton 3.7 with `tensor<...>` inside."""
_known: dict[str, Type | None] = {}


def parse_type(word: str) -> Type | None:
    """The type that `word` writes, None where it is none."""
    if word in _known:
        return _known[word]
    found = _known[word] = _parse(word)
    return found


def _parse(word: str) -> Type | None:
    scalar = _SCALARS.get(word)
    if scalar is not None:
        return scalar
    match = _POINTER.fullmatch(word)
    if match is not None:
        return _pointer(parse_type(match[1]))
    match = _DESCRIPTOR.fullmatch(word)
    if match is not None:
        return _descriptor(_shape(match[1]), *match.group(2, 3))
    match = _TENSOR.fullmatch(word)
    if match is None:
        return None
    element: Type | None = parse_type(match[2])
    return None if element is None or isinstance(element, TensorType | ViewType) else _tile(_shape(match[1]), element)


def _shape(sizes: str) -> tuple[int, ...]:
    return tuple(map(int, sizes[:-1].split("x")))


def _pointer(pointee: Type | None) -> Type | None:
    if isinstance(pointee, TensorType):
        element = pointee.element
        return view("block pointer", pointee.shape, element) if isinstance(element, DType) else None
    return None if pointee is None or isinstance(pointee, ViewType) else pointer(pointee)


def _descriptor(shape: tuple[int, ...], sign: str, element: str) -> Type | None:
    found = LEAVES.get(f"u{element[1:]}") if sign == "u" and element[0] == "i" else _SCALARS.get(element)
    return None if found is None else view("descriptor", shape, found)


def _tile(shape: tuple[int, ...], element: Element) -> Type:
    return typed(shape, element)


def read_short_type(at: Cursor, kind: str) -> Type:
    """A type that may lack the name of its kind, as MLIR omits it where it is known: `<tensor<16x32xf32>>`."""
    start = at.pos
    if not at.peek("<"):
        return read_type(at)
    depth, end = 1, start + 1
    while depth and end < len(at.text):
        depth += {"<": 1, ">": -1}.get(at.text[end], 0)
        end += 1
    word = "".join(at.text[start:end].split())
    found = parse_type(f"!tt.{kind}{word}")
    if found is None:
        raise at.error(f"`{word}` is no type that teeny has", start, end - start)
    at.move(end)
    return found


def read_type(at: Cursor) -> Type:
    """The type that comes next, or an error."""
    start = at.pos
    head = _HEAD.match(at.text, start)
    if head is None:
        raise at.error(f"expected a type, found `{at.next_word()}`")
    end = head.end()
    if head[0].endswith("<"):
        depth = 1
        while depth and end < len(at.text):
            depth += {"<": 1, ">": -1}.get(at.text[end], 0)
            end += 1
    word = " ".join(at.text[start:end].split())
    found = parse_type(word)
    if found is None:
        raise at.error(f"`{word}` is no type that teeny has", start, end - start)
    at.move(end)
    return found


def read_types(at: Cursor) -> tuple[Type, ...]:
    """One type, or a list of types in parentheses."""
    if not at.accept("("):
        return (read_type(at),)
    found: list[Type] = []
    while not at.accept(")"):
        found.append(read_type(at))
        if not at.accept(",") and not at.peek(")"):
            raise at.error("expected `,` or `)`")
    return tuple(found)
