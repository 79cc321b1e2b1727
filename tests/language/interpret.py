"""What a described kernel does, in plain NumPy: no front end, no IR.

Memory is virtual: each array of the launch is the middle of a large field of random elements, and what active lanes
touch of it becomes the real array afterwards. So a kernel may address anything, and any read beyond its lanes shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from tests.language.description import (
    Expr,
    For,
    Helper,
    If,
    Jump,
    Leave,
    Let,
    Pair,
    Program,
    Run,
    Shape,
    Spin,
    Store,
    Tuple,
    Unpack,
    While,
    dims,
)
from tests.language.meaning import MEANING, cast, exact, largest, smallest, total
from tests.language.rounding import DTYPES, NAMES
from tests.language.values import FLOATS, random

HALF = 1 << 14
BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "&": "and_", "|": "or_",
    "^": "xor",
    "<<": "shl", ">>": "shr",
}  # fmt: skip
COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
UNARY = {"-": "neg", "~": "invert", "+": "pos"}
INDEX = {
    ", ".join("None" if at is None else ":" for at in each): each
    for rank in (1, 2, 3)
    for each in product((None, slice(None)), repeat=rank)
}
"""Indices by their text."""
REDUCE = {"sum": total, "max": largest, "min": smallest}


class UnfitError(Exception):
    """The arguments make the kernel race, collide, or run out of the field: nothing says what it should do."""


class LeftError(Exception):
    """The program has returned."""


class JumpError(Exception):
    """A `break` or `continue`, which the loop around catches."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


@dataclass(slots=True)
class Field:
    """Memory of one array of the launch, element `HALF` being where its pointer points."""

    before: Any
    now: Any
    poison: Any = field(init=False)
    touched: Any = field(init=False)
    writer: Any = field(init=False)
    reader: Any = field(init=False)
    """The program that wrote or read an element: -1 none, -2 several (readers)."""

    def __post_init__(self) -> None:
        size = self.now.size
        self.poison, self.touched = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.writer, self.reader = np.full(size, -1), np.full(size, -1)

    def places(self, offsets: Any) -> Any:
        found = offsets + HALF
        if found.size and (found.min() < 0 or found.max() >= self.now.size):
            raise UnfitError("out of the field")
        self.touched[found] = True
        return found

    def load(self, offsets: Any, program: int) -> tuple[Any, Any]:
        at = self.places(offsets)
        if ((self.writer[at] != -1) & (self.writer[at] != program)).any():
            raise UnfitError("a race")
        self.reader[at] = np.where((self.reader[at] == -1) | (self.reader[at] == program), program, -2)
        return self.now[at], self.poison[at]

    def store(self, offsets: Any, values: Any, poison: Any, program: int) -> None:
        at = self.places(offsets)
        if np.unique(at).size != at.size:
            raise UnfitError("two lanes at one place")
        strange = (self.writer[at] != -1) & (self.writer[at] != program)
        strange |= (self.reader[at] != -1) & (self.reader[at] != program)
        if strange.any():
            raise UnfitError("a race")
        self.now[at], self.poison[at], self.writer[at] = values, poison, program


@dataclass(frozen=True, slots=True)
class Lanes:
    """A value and which lanes are undefined; for pointers the offsets, and `base` is the parameter."""

    value: Any
    poison: Any
    base: str = ""


def fields(program: Program, run: Run) -> dict[str, tuple[Field, int]]:
    """The memory behind each pointer, and where in it the pointer points, from its middle."""
    found: dict[str, tuple[Field, int]] = {}
    for at, pointer in enumerate(program.pointers):
        if pointer.name not in run.aliases:
            dtype = run.dtypes.get(pointer.dtype, pointer.dtype)
            content = random(dtype, 2 * HALF, 100 * run.seed + at)
            found[pointer.name] = (Field(content.copy(), content), 0)
    for name, (other, shift) in run.aliases.items():
        found[name] = (found[other][0], shift)
    return found


class Interpreter:
    """One launch."""

    def __init__(self, program: Program, run: Run) -> None:
        self.program = program
        self.run = run
        self.fields = fields(program, run)
        self.helpers = {h.name: h for h in program.helpers}
        self.id = (0, 0, 0)
        self.env: dict[str, Lanes | int] = {}
        self.tuples: dict[str, tuple[Lanes, ...]] = {}
        self.steps = 0

    def launch(self) -> None:
        gx, gy, gz = self.run.grid
        with np.errstate(all="ignore"):
            for z, y, x in product(range(gz), range(gy), range(gx)):
                self.id = (x, y, z)
                self.env = {
                    name: Lanes(np.asarray(self.run.scalars[name], DTYPES[dtype]), np.False_)
                    for name, dtype in self.program.scalars.items()
                }
                try:
                    self.block(self.program.body)
                except LeftError:
                    continue

    @property
    def number(self) -> int:
        x, y, z = self.id
        return x + self.run.grid[0] * (y + self.run.grid[1] * z)

    # Statements

    def block(self, body: tuple[Any, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, s: Any) -> None:
        self.steps += 1
        if self.steps > 3000:
            raise UnfitError("too long")
        match s:
            case Let(name, value, op):
                old = self.env.get(name)
                beside = "" if not op or not isinstance(old, Lanes) else "i32" if old.base else NAMES[old.value.dtype]
                found = self.lanes(value, beside)
                if isinstance(old, Lanes) and op:
                    found = self.moved(old, found) if old.base else self.apply(MEANING[BINARY[op]], old, found)
                self.env[name] = found
            case Pair(names, values):
                self.env.update(zip(names, [self.lanes(v) for v in values], strict=True))
            case Store(pointer, value, mask):
                self.store(pointer, value, mask)
            case For(name, _, bounds, body, other):
                numbers = [b if isinstance(b, int) else self.constant(b) for b in bounds]
                wide = any(isinstance(b, Expr) and b.kind.dtype == "i64" for b in bounds)
                for i in range(*numbers):
                    static = s.loop == "tl.static_range"
                    index = np.asarray(i, np.int64 if wide else np.int32)
                    self.env[name] = i if static else Lanes(index, np.False_)
                    if not self.iteration(body):
                        break
                else:
                    self.block(other)
            case Spin(name, limit, condition, _, body, other):
                while (condition is None or bool(self.lanes(condition).value)) and self.count(name) < limit:
                    self.env[name] = Lanes(np.asarray(self.count(name) + 1, np.int32), np.False_)
                    if not self.iteration(body):
                        return
                if not s.forever:
                    self.block(other)
            case Jump(word):
                raise LeftError if word == "return" else JumpError(word)
            case Tuple(name, values):
                self.tuples[name] = tuple(self.lanes(v) for v in values)
            case Unpack(names, helper, args):
                self.env.update(
                    zip(names, self.results(self.helpers[helper], [self.lanes(a) for a in args]), strict=True)
                )
            case While(name, limit, condition, body):
                # both sides of `and` are evaluated, so the condition comes first
                while (condition is None or bool(self.lanes(condition).value)) and self.count(name) < limit:
                    self.block(body)
                    self.env[name] = Lanes(np.asarray(self.count(name) + 1, np.int32), np.False_)
            case If(condition, then, other):
                if isinstance(condition, str):
                    known = {n: v for n, v in self.env.items() if isinstance(v, int)}
                    taken = bool(eval(condition, {}, {**self.run.constants, **known}))
                else:
                    taken = bool(self.lanes(condition).value)
                self.block(then if taken else other)
            case Leave(condition):
                if self.lanes(condition).value:
                    raise LeftError
            case _:
                raise AssertionError(s)

    def iteration(self, body: tuple[Any, ...]) -> bool:
        """One iteration; whether the loop goes on."""
        try:
            self.block(body)
        except JumpError as jump:
            return jump.word == "continue"
        return True

    def count(self, name: str) -> int:
        found = self.env[name]
        assert isinstance(found, Lanes)
        return int(found.value)

    def constant(self, e: Expr) -> int:
        if e.op == "literal":
            return int(e.at)
        if e.op == "const":
            return int(self.const(e.at))
        return int(self.lanes(e).value)

    def store(self, pointer: Expr, value: Expr, mask: Expr | None) -> None:
        at = self.lanes(pointer)
        given = self.lanes(value, self.leaf(pointer.kind.dtype))
        active = np.True_ if mask is None else self.lanes(mask).value
        shape = np.broadcast_shapes(at.value.shape, active.shape)
        active = np.broadcast_to(active, shape)
        memory, shift = self.fields[at.base]
        memory.store(
            np.broadcast_to(at.value, shape)[active] + shift, np.broadcast_to(given.value, shape)[active],
            np.broadcast_to(given.poison, shape)[active], self.number,
        )  # fmt: skip

    # Expressions

    def leaf(self, dtype: str) -> str:
        return self.run.dtypes.get(dtype, dtype)

    def const(self, name: str) -> Any:
        found = self.env.get(name)
        return self.run.constants[name] if found is None else found

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return dims(shape, self.run.constants)

    def lanes(self, e: Expr, beside: str = "") -> Lanes:
        """An expression's value; a literal takes the dtype of the tensor `beside` it."""
        if e.op in ("literal", "const") and (e.op == "literal" or not isinstance(self.const(e.at), Lanes)):
            number = e.at if e.op == "literal" else self.const(e.at)
            wide = np.asarray(float(number)) if beside in FLOATS else np.asarray(number)
            return Lanes(cast(wide, beside) if beside in FLOATS else wide.astype(DTYPES[beside]), np.False_)
        found = self.evaluate(e)
        if not found.base:
            wanted = DTYPES[self.leaf(e.kind.dtype)]
            assert found.value.dtype == wanted, f"{e.op} {e.at}: {found.value.dtype} for {wanted}"
        assert found.value.shape == self.shape(e.kind.shape), f"{e.op} {e.at}: {found.value.shape} for {e.kind.shape}"
        return found

    def apply(self, f: Any, *xs: Lanes) -> Lanes:
        poison = np.False_
        for x in xs:
            poison = poison | x.poison
        return Lanes(np.asarray(f(*(x.value for x in xs))), poison)

    def moved(self, x: Lanes, offset: Lanes) -> Lanes:
        return Lanes(np.asarray(x.value + offset.value.astype(np.int64)), np.False_, x.base)

    def operands(self, e: Expr) -> list[Lanes]:
        """Operands of an elementwise operation: literals take the dtype of the first tensor."""
        tensor = next(a for a in e.args if a.op not in ("literal", "const"))
        return [self.lanes(a, self.leaf(tensor.kind.dtype)) for a in e.args]

    def evaluate(self, e: Expr) -> Lanes:
        at = e.at
        match e.op:
            case "item":
                return self.tuples[at[0]][at[1]]
            case "var":
                found = self.env[at]
                assert isinstance(found, Lanes)
                return found
            case "pointer":
                return Lanes(np.asarray(0, np.int64), np.False_, at)
            case "binary" | "compare":
                return self.apply(MEANING[(BINARY if e.op == "binary" else COMPARE)[at]], *self.operands(e))
            case "chain":
                x, y, z = self.operands(e)
                first, second = self.apply(MEANING[COMPARE[at[0]]], x, y), self.apply(MEANING[COMPARE[at[1]]], y, z)
                return self.apply(np.logical_and, first, second)
            case "logic":
                return self.apply(np.logical_and if at == "and" else np.logical_or, *map(self.lanes, e.args))
            case "not":
                return self.apply(np.logical_not, self.lanes(e.args[0]))
            case "unary":
                return self.apply(MEANING[UNARY[at]], self.lanes(e.args[0]))
            case "call" if at in MEANING:
                return self.apply(MEANING[at], *self.operands(e))
            case "call":
                return self.apply(lambda x: exact(at, x)[1], self.lanes(e.args[0]))
            case "helper":
                return self.helper(self.helpers[at], [self.lanes(a) for a in e.args])
            case "cast":
                to = self.leaf(e.kind.dtype)
                return self.apply(lambda x: cast(x, to), self.lanes(e.args[0]))
            case "ternary" if loads(e.args[1]) or loads(e.args[2]):
                condition = self.lanes(e.args[0])
                if condition.poison.any():
                    raise UnfitError("an undefined branch")
                return self.lanes(e.args[1 if condition.value else 2], self.leaf(e.kind.dtype))
            case "where" | "ternary":
                condition = self.lanes(e.args[0])
                x, y = (self.lanes(a, self.leaf(e.kind.dtype)) for a in e.args[1:])
                return Lanes(
                    MEANING["where"](condition.value, x.value, y.value),
                    np.where(condition.value, x.poison, y.poison) | condition.poison,
                )
            case "reduce":
                return self.reduce(e)
            case "index":
                return self.each(lambda v: v[INDEX[at]], self.lanes(e.args[0]))
            case "broadcast":
                return self.each(lambda v: np.broadcast_to(v, self.shape(e.kind.shape)), self.lanes(e.args[0]))
            case "reshape":
                return self.each(
                    lambda v: np.ascontiguousarray(v).reshape(self.shape(e.kind.shape)), self.lanes(e.args[0])
                )
            case "trans":
                return self.each(lambda v: np.transpose(v, at), self.lanes(e.args[0]))
            case "full":
                number = self.lanes(Expr("literal", e.kind, (), at), self.leaf(e.kind.dtype))
                return Lanes(np.full(self.shape(e.kind.shape), number.value), np.False_)
            case "range":
                return Lanes(np.arange(self.shape((at,))[0], dtype=np.int32), np.False_)
            case "program_id" | "num_programs":
                return Lanes(np.asarray((self.id if e.op == "program_id" else self.run.grid)[at], np.int32), np.False_)
            case "move":
                return self.moved(self.lanes(e.args[0]), self.lanes(e.args[1], "i32"))
            case "load":
                return self.load(e)
            case _:
                raise AssertionError(e.op)

    def each(self, f: Any, x: Lanes) -> Lanes:
        """A move of lanes; undefined ones move alike."""
        return Lanes(f(x.value), f(np.broadcast_to(x.poison, x.value.shape)), x.base)

    def reduce(self, e: Expr) -> Lanes:
        name, axis, keep, dtype = e.at
        x = self.lanes(e.args[0])
        more = (self.leaf(dtype),) if dtype else ()
        poison = np.broadcast_to(x.poison, x.value.shape).any(axis=axis, keepdims=keep)
        return Lanes(REDUCE[name](x.value, axis, keep, *more), np.asarray(poison))

    def load(self, e: Expr) -> Lanes:
        at = self.lanes(e.args[0])
        leaf = self.leaf(e.kind.dtype)
        mask = self.lanes(e.args[1]).value if len(e.args) > 1 else np.True_
        shape = np.broadcast_shapes(at.value.shape, mask.shape)
        active = np.broadcast_to(mask, shape)
        value, poison = np.zeros(shape, DTYPES[leaf]), np.ones(shape, np.bool_)
        if len(e.args) > 2:
            other = self.lanes(e.args[2], leaf)
            value = np.array(np.broadcast_to(other.value, shape))
            poison = np.array(np.broadcast_to(other.poison, shape))
        memory, shift = self.fields[at.base]
        value[active], poison[active] = memory.load(np.broadcast_to(at.value, shape)[active] + shift, self.number)
        return Lanes(value, poison)

    def helper(self, h: Helper, args: list[Lanes]) -> Lanes:
        return self.results(h, args)[0]

    def results(self, h: Helper, args: list[Lanes]) -> list[Lanes]:
        outer, self.env = self.env, {name: x for (name, _), x in zip(h.parameters, args, strict=True)}
        for s in h.body:
            self.statement(s)
        found = [h.result] if h.second is None else [h.result, h.second]
        if h.early is not None and self.lanes(h.early[0]).value:
            found = list(h.early[1:])
        made = [self.lanes(e) for e in found]
        self.env = outer
        return made


def loads(e: Expr) -> bool:
    """Whether an expression reads memory."""
    return e.op == "load" or any(map(loads, e.args))
