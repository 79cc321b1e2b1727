"""The text of the Triton dialect to IR: what teeny prints, and what Triton 3.6 to 3.9 print for the same operations."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, cast

from teeny.diag.diagnostic import at as label
from teeny.diag.diagnostic import report
from teeny.diag.span import SourceFile
from teeny.ir.builder import Builder
from teeny.ir.calls import LibraryCall
from teeny.ir.core import Block, Function, Module, Op, Region, Value
from teeny.ir.schema import SchemaError, registry, verify_op
from teeny.ir.text.attributes import Opaque, read_attribute, read_dictionary, read_symbol
from teeny.ir.text.cursor import Cursor, TextError
from teeny.ir.text.extern import CALL, read_call
from teeny.ir.text.flow import LABEL, numbered
from teeny.ir.text.format import AttrDict, AttrSlot, Group, Literal, OperandSlot, TypeSlot, format_of
from teeny.ir.text.kinds import reader_of
from teeny.ir.text.parts import Parts
from teeny.ir.text.places import Places
from teeny.ir.text.regions import read_generic
from teeny.ir.text.types import read_type, read_types
from teeny.ir.types import text
from teeny.ir.verify import faults_of

if TYPE_CHECKING:
    from teeny.ir.schema import Infer, OpDef
    from teeny.ir.text.format import Token
    from teeny.ir.text.places import Resolve
    from teeny.ir.types import Type

_VALUE = re.compile(r"%[\w$.-]+", re.ASCII)
_NUMBER = re.compile(r"[0-9]+")
_NAME = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", re.ASCII)
_QUOTED = re.compile(r'"([A-Za-z_][\w$.]*)"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_ALIAS = re.compile(r"#[\w$.-]+")
MISFITS = (SchemaError, LookupError, TypeError, ValueError, AttributeError)
"""What the type rules raise for operands and attributes of another kind than they expect."""


def parse_module(source: str, name: str = "<text>", resolve: Resolve | None = None) -> Module:
    """Read a module (with or without the `module { }` around it).

    Every operation's location is its place in `source`, which messages call `name`; with `resolve` it is the place that
    the text states. Raises `TextError`. The operations known are those of the registry: import `teeny.language` first.
    Functions may have several blocks (`passes.structure` makes one of them).
    """
    at = Cursor(SourceFile(name, source))
    places = Places(source, resolve)
    _aliases(at, places)
    wrapped = at.accept("module")
    if wrapped:
        read_symbol(at)
        if at.accept("attributes"):
            read_dictionary(at)
        at.expect("{")
    functions: list[Function] = []
    while not at.done and not at.peek("}"):
        if at.peek("#"):
            _aliases(at, places)
        else:
            functions.append(_function(at, places))
    if wrapped:
        at.expect("}")
        places.after(at)
    _aliases(at, places)
    if not at.done:
        raise at.error(f"expected the end of the text, found `{at.next_word()}`")
    if not functions:
        raise at.error("there is no function in the text")
    module = Module(functions)
    faults = faults_of(module, concrete=True, structured=False)
    if faults:
        raise TextError(report("X006", wrong, *(() if place is None else (label(place),))) for wrong, place in faults)
    return module


def _aliases(at: Cursor, places: Places) -> None:
    """Read definitions such as `#loc1 = loc(...)`."""
    while at.peek("#"):
        name = at.match(_ALIAS)
        if name is None:
            raise at.error("expected the name of an alias")
        at.expect("=")
        if at.peek("loc"):
            places.after(at)
            continue
        value = read_attribute(at)
        if not isinstance(value, Opaque):
            raise at.error("of aliases teeny knows those of locations and of attributes that it passes over")
        at.aliases[name] = value


def _function(at: Cursor, places: Places) -> Function:
    start = at.pos
    if not at.accept("tt.func"):
        raise at.error(f"expected `tt.func`, found `{at.next_word()}`")
    public = not at.accept("private")
    at.accept("public")
    name = read_symbol(at)
    if name is None:
        raise at.error("expected the name of the function, such as `@kernel`")
    parser = Parser(at, places)
    args, arg_attrs = _parameters(parser)
    results: tuple[Type, ...] = ()
    if at.accept("->"):
        results = read_types(at)
    attrs = read_dictionary(at) if at.accept("attributes") else {}
    at.expect("{")
    place = at.location(start, len("tt.func"))
    blocks = parser.blocks(args)
    return Function(name, Region(blocks), results, public, arg_attrs, attrs, parser.places.after(at).location or place)


def _parameters(parser: Parser) -> tuple[tuple[tuple[str, Type], ...], tuple[dict[str, object], ...]]:
    at = parser.at
    args: list[tuple[str, Type]] = []
    attrs: list[dict[str, object]] = []
    at.expect("(")
    while not at.accept(")"):
        name = parser.name()
        at.expect(":")
        args.append((name, read_type(at)))
        attrs.append(read_dictionary(at))
        parser.places.after(at)
        if not at.accept(",") and not at.peek(")"):
            raise at.error("expected `,` or `)`")
    return tuple(args), tuple(attrs) if any(attrs) else ()


class Parser:
    """Reads one function: the values that are visible, and the operations."""

    __slots__ = ("_end", "_values", "at", "places")

    def __init__(self, at: Cursor, places: Places) -> None:
        self.at = at
        self.places = places
        self._end = at.pos
        self._values: dict[str, tuple[Value, ...]] = {}

    def name(self) -> str:
        """`%name` where it is defined, without the `%`."""
        word = self.at.match(_VALUE)
        if word is None:
            raise self.at.error(f"expected the name of a value, such as `%x`, found `{self.at.next_word()}`")
        return word[1:]

    def value(self) -> Value:
        """`%name` or `%name#1` where it is read."""
        at, start = self.at, self.at.pos
        name = self.name()
        number = int(at.match(_NUMBER) or 0) if at.accept("#") else 0
        group = self._values.get(name)
        if group is None:
            close = difflib.get_close_matches(name, self._values, 1)
            raise at.error(
                f"%{name} is not defined here", start, len(name) + 1, (f"did you mean %{close[0]}?",) if close else ()
            )
        if number >= len(group):
            raise at.error(f"%{name} has {len(group)} results, and none with number {number}", start, len(name) + 1)
        return group[number]

    def values(self) -> tuple[Value, ...]:
        """One value or more, with commas."""
        found = [self.value()]
        while self.at.accept(","):
            found.append(self.value())
        return tuple(found)

    def expect_type(self, value: Value) -> None:
        """Read the type of a value, and complain where it is another than the value has."""
        start = self.at.pos
        type_ = read_type(self.at)
        if value.type is not type_:
            name = f"%{value.name}" if value.name else "the operand"
            raise self.at.error(f"{name} has the type {text(value.type)}, and the text says {text(type_)}", start)

    def function_type(self, operands: tuple[Value, ...]) -> tuple[Type, ...]:
        """`: (types) -> types`; the results' types."""
        at = self.at
        at.expect(":")
        at.expect("(")
        for number, value in enumerate(operands):
            if number:
                at.expect(",")
            self.expect_type(value)
        at.expect(")")
        at.expect("->")
        return read_types(at)

    def block(self, args: tuple[tuple[str, Type], ...]) -> Block:
        """A block with these arguments, up to the `}` that closes it. What it defines is seen in it alone."""
        outer = dict(self._values)
        block = self._straight(args)
        self._end = self.at.pos
        self.at.expect("}")
        self._values = outer
        return block

    def _straight(self, args: tuple[tuple[str, Type], ...]) -> Block:
        """A block with these arguments, up to a `}` or a label."""
        block = Block(tuple(t for _, t in args), tuple(_own_name(n) for n, _ in args))
        for (name, _), value in zip(args, block.args, strict=True):
            self._define(name, (value,), self.at.pos)
        while not self.at.peek("}") and not self.at.peek("^"):
            if self.at.done:
                raise self.at.error("expected `}`, found the end")
            if block.ops and block.ops[-1].schema.terminator:
                raise self.at.error(f"{block.ops[-1].name} ends its block, and something follows it")
            self._operation(block)
        return block

    def blocks(self, args: tuple[tuple[str, Type], ...]) -> list[Block]:
        """The blocks of a function, up to the `}` that closes it."""
        blocks, labels = [self._straight(args)], ["^bb0"]
        while (label_ := self.at.match(LABEL)) is not None:
            if label_ in labels:
                raise self.at.error(f"two blocks have the label {label_}")
            args = _parameters(self)[0] if self.at.peek("(") else ()
            self.at.expect(":")
            blocks.append(self._straight(args))
            labels.append(label_)
        self._end = self.at.pos
        self.at.expect("}")
        self._values = {}
        numbered(blocks, labels)
        if len(blocks) == 1:
            self.close(blocks[0], "tt.return")
        return blocks

    def labelled_block(self) -> Block:
        """A block whose arguments stand in a label: `^bb0(%a: f32):`."""
        args: tuple[tuple[str, Type], ...] = ()
        if self.at.match(LABEL) is not None:
            if self.at.peek("("):
                args, _ = _parameters(self)
            self.at.expect(":")
        return self.block(args)

    def close(self, block: Block, name: str) -> None:
        """Complain where the block read last does not end in the terminator `name`; an empty one is understood."""
        if not block.ops or not block.ops[-1].schema.terminator:
            if name == "scf.condition":
                raise self.at.error("the first part of scf.while ends in scf.condition", self._end)
            block.append(Op(registry()[name], (), loc=self.at.location(self._end)))
        elif block.ops[-1].name != name:
            raise self.at.error(f"this block ends in {name}, found {block.ops[-1].name}", self._end)

    def _define(self, name: str, values: tuple[Value, ...], pos: int) -> None:
        if name in self._values:
            raise self.at.error(f"%{name} is defined twice", pos, len(name) + 1)
        self._values[name] = values

    def _operation(self, block: Block) -> None:
        at, start = self.at, self.at.pos
        groups: list[tuple[str, int]] = []
        if at.peek("%"):
            groups.append(self._group())
            while at.accept(","):
                groups.append(self._group())
            at.expect("=")
        place = at.pos
        name, quoted = self._operation_name()
        if name == CALL and not quoted:
            schema, parts = read_call(self, place)
            if isinstance(schema, LibraryCall):
                self._written(block, schema, parts, groups, place)
                return
        else:
            schema, parts = self._body(name, quoted, place)
        types = parts.types if parts.types is not None else self._inferred(schema, parts, place)
        op = Op(schema, parts.operands, types, parts.attrs, parts.regions, at.location(place, len(name) + 2 * quoted))
        try:
            wrong = verify_op(op)
        except MISFITS as error:
            wrong = f"{name}: {error}"
        if wrong is not None:
            raise at.error(wrong, place, len(name) + 2 * quoted)
        stated = self.places.after(at)
        op.loc = stated.location or op.loc
        block.append(op)
        if sum(count for _, count in groups) != len(op.results):
            raise at.error(f"{name} has {len(op.results)} results", start)
        first = 0
        for name_, count in groups:
            values = op.results[first : first + count]
            values[0].name = stated.name or _own_name(name_)
            self._define(name_, values, start)
            first += count

    def _written(
        self, block: Block, call: LibraryCall, parts: Parts, groups: list[tuple[str, int]], place: int
    ) -> None:
        """A function of a library, as the operations that it means."""
        stated = self.places.after(self.at)
        b = Builder(block, stated.location or self.at.location(place, len(CALL)))
        value = call.write(b, parts.operands)
        if [count for _, count in groups] not in ([], [1]):
            raise self.at.error(f"{CALL} has 1 results", place)
        for name, _ in groups:
            if value not in parts.operands:
                value.name = stated.name or _own_name(name)
            self._define(name, (value,), place)

    def _body(self, name: str, quoted: bool, place: int) -> tuple[OpDef, Parts]:
        """What follows the name of an operation."""
        schema = registry().get(name)
        if schema is None:
            close = difflib.get_close_matches(name, registry(), 1)
            help_ = (f"did you mean {close[0]}?",) if close else ()
            raise self.at.error(f"teeny has no operation {name}", place, len(name) + 2 * quoted, help_)
        if quoted:
            return schema, read_generic(self, schema)
        if isinstance(schema.text, str):
            return schema, self._walked(schema, place)
        return schema, reader_of(schema.text.kind)(self, schema)

    def _group(self) -> tuple[str, int]:
        """`%a` or `%a:2`."""
        name = self.name()
        return name, int(self.at.match(_NUMBER) or 1) if self.at.accept(":") else 1

    def _operation_name(self) -> tuple[str, bool]:
        at, start = self.at, self.at.pos
        quoted = at.match(_QUOTED)
        if quoted is not None:
            return quoted[1:-1], True
        name = at.match(_NAME)
        if name is None:
            raise at.error(f"expected an operation, found `{at.next_word()}`", start)
        return name, False

    def _inferred(self, schema: OpDef, parts: Parts, place: int) -> tuple[Type, ...]:
        """The results' types where the text does not say them."""
        try:
            return cast("Infer", schema.types)(tuple(v.type for v in parts.operands), parts.attrs or {})
        except MISFITS as error:
            raise self.at.error(f"{schema.name}: {error}", place, len(schema.name)) from None

    def _walked(self, schema: OpDef, place: int) -> Parts:
        """Read by the assembly format."""
        operands: dict[int, tuple[Value, ...]] = {}
        results: dict[int, tuple[Type, ...]] = {}
        attrs: dict[str, Any] = {}
        self._walk(format_of(schema), operands, results, attrs)
        flat = tuple(v for index in sorted(operands) for v in operands[index])
        types = tuple(t for index in sorted(results) for t in results[index])
        if types and schema.inferred and len(types) < len(schema.results):
            stated, types = types, self._inferred(schema, Parts(flat, attrs), place)
            if types[: len(stated)] != stated:
                raise self.at.error(f"{schema.name} gives {types[0]}, found {stated[0]}", place, len(schema.name))
        return Parts(flat, attrs, types if results else None if schema.inferred else ())

    def _walk(
        self,
        tokens: tuple[Token, ...],
        operands: dict[int, tuple[Value, ...]],
        results: dict[int, tuple[Type, ...]],
        attrs: dict[str, Any],
    ) -> None:
        at = self.at
        for token in tokens:
            if isinstance(token, Literal):
                at.expect(token.word)
            elif isinstance(token, OperandSlot):
                operands[token.index] = self.values() if token.many else (self.value(),)
            elif isinstance(token, TypeSlot):
                self._type_slot(token, operands, results)
            elif isinstance(token, AttrDict):
                attrs |= read_dictionary(at)
            elif isinstance(token, AttrSlot):
                word = at.match(_WORD)
                if word is None:
                    raise at.error(f"expected the {token.name}, a word, found `{at.next_word()}`")
                attrs[token.name] = word
            else:
                self._optional(token, operands, results, attrs)

    def _type_slot(
        self, slot: TypeSlot, operands: dict[int, tuple[Value, ...]], results: dict[int, tuple[Type, ...]]
    ) -> None:
        count = len(operands.get(slot.index, ())) if slot.many and not slot.result else 1
        for number in range(count):
            if number:
                self.at.expect(",")
            if slot.result:
                results[slot.index] = (read_type(self.at),)
            else:
                self.expect_type(operands[slot.index][number])

    def _optional(
        self,
        group: Group,
        operands: dict[int, tuple[Value, ...]],
        results: dict[int, tuple[Type, ...]],
        attrs: dict[str, Any],
    ) -> None:
        """An optional group is there if its first token comes next."""
        first = group.tokens[0]
        if not self.at.peek(first.word if isinstance(first, Literal) else "%"):
            return
        if isinstance(group.anchor, AttrSlot):
            attrs[group.anchor.name] = True
            self._walk(tuple(t for t in group.tokens if t is not group.anchor), operands, results, attrs)
        else:
            self._walk(group.tokens, operands, results, attrs)


def _own_name(name: str) -> str | None:
    """Numbers are no names."""
    return None if name.isdigit() else name
