"""Assembly formats: the `text` of a schema, compiled once into tokens that the printer and the parser both walk.

The syntax is a part of MLIR's ODS: `$name` (an operand or attribute), `type($name)`, literals in backquotes (`,` and
`:` also bare), `attr-dict`, and optional groups `( ... $anchor^ ...)?`, printed where the anchor is present.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.ir.schema import SchemaError

if TYPE_CHECKING:
    from teeny.ir.schema import OpDef


@dataclass(frozen=True, slots=True)
class Literal:
    """A fixed word or mark. `printed` has the space before it, where one belongs."""

    word: str
    printed: str


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """The operand at `index`; with `many` all from there on."""

    name: str
    index: int
    many: bool


@dataclass(frozen=True, slots=True)
class TypeSlot:
    """The type of the operand (or, with `result`, of the result) at `index`; with `many` of all from there on."""

    name: str
    index: int
    many: bool
    result: bool


@dataclass(frozen=True, slots=True)
class AttrSlot:
    """An attribute written as a bare word."""

    name: str


@dataclass(frozen=True, slots=True)
class AttrDict:
    """The attributes that no slot names, as a dictionary."""

    written: frozenset[str]


@dataclass(frozen=True, slots=True)
class Group:
    """An optional part. Where the anchor is an attribute it is a flag: the part's literals stand for it."""

    tokens: tuple[Token, ...]
    anchor: OperandSlot | AttrSlot


Token = Literal | OperandSlot | TypeSlot | AttrSlot | AttrDict | Group

_TOKEN = re.compile(r"\s*(?:`([^`]+)`|type\(\$(\w+)\)|\$(\w+)(\^?)|(attr-dict)|(\()|(\)\?)|([,:]))")
_formats: dict[OpDef, tuple[Token, ...]] = {}


def format_of(schema: OpDef) -> tuple[Token, ...]:
    """The tokens of a schema whose `text` is a format."""
    found = _formats.get(schema)
    if found is None:
        found = _formats[schema] = _compile(schema)
    return found


def _compile(schema: OpDef) -> tuple[Token, ...]:
    text = schema.text
    if not isinstance(text, str):
        raise SchemaError(f"{schema.name} has no assembly format")
    written = frozenset(re.findall(r"\$(\w+)", text))
    stack: list[list[Token]] = [[]]
    anchors: list[OperandSlot | AttrSlot | None] = [None]
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise SchemaError(f"the assembly format of {schema.name} is wrong at `{text[at:]}`")
        at = match.end()
        literal, type_of, name, anchor, attrs, opened, closed, mark = match.groups()
        if opened:
            stack.append([])
            anchors.append(None)
        elif closed:
            tokens, slot = stack.pop(), anchors.pop()
            if slot is None or not stack:
                raise SchemaError(f"an optional group in the assembly format of {schema.name} has no anchor")
            stack[-1].append(Group(tuple(tokens), slot))
        elif name:
            slot = _slot(schema, name)
            stack[-1].append(slot)
            if anchor:
                anchors[-1] = slot
        elif type_of:
            stack[-1].append(_type_slot(schema, type_of))
        elif attrs:
            stack[-1].append(AttrDict(written))
        else:
            word = literal or mark
            stack[-1].append(Literal(word, word if word == "," else " " + word))
    return tuple(stack.pop())


def _slot(schema: OpDef, name: str) -> OperandSlot | AttrSlot:
    found = _position(schema.operands, name)
    if found is not None:
        return OperandSlot(name, *found)
    if name in schema.attrs or name + "?" in schema.attrs:
        return AttrSlot(name)
    raise SchemaError(f"the assembly format of {schema.name} names ${name}, which it does not have")


def _type_slot(schema: OpDef, name: str) -> TypeSlot:
    found = _position(schema.operands, name)
    if found is not None:
        return TypeSlot(name, *found, result=False)
    found = _position(schema.results, name)
    if found is None:
        raise SchemaError(f"the assembly format of {schema.name} names type(${name}), which it does not have")
    return TypeSlot(name, *found, result=True)


def _position(names: tuple[str, ...], name: str) -> tuple[int, bool] | None:
    for index, declared in enumerate(names):
        if declared.rstrip("?*") == name:
            return index, declared.endswith("*")
    return None
