"""Random kernels on scalars with all kinds of control flow, and a stand-in for the language to run them in Python."""

from __future__ import annotations
import __future__

import ast
import random
from types import SimpleNamespace
from typing import Any

import numpy as np

HELPERS = """
def clamped(v: tl.Scalar[tl.i32], top: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    if v > top:
        return top
    if v < 0:
        v = 0 - v
        if v > 50:
            return v - 50
    return v + 1


def picked(
    v: tl.Scalar[tl.i32], w: tl.Scalar[tl.i32], FLAG: tl.Const[bool]
) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.i32]]:
    if FLAG:
        if v > w:
            return w, v
        return v, w + 1
    for i in tl.range(2):
        v = v + w - i
    return v, w


"""
HEAD = """def k(
    out: tl.Ptr[tl.i32], a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32],
    F: tl.Const[bool], G: tl.Const[bool], K: tl.Const[int],
) -> None:
    x = a
    y = b
    z = a - b
"""
TAIL = """    tl.store(out, x)
    tl.store(out + 1, y)
    tl.store(out + 2, z)
"""


class Writer:
    """Writes one program. `symbolic`: whether unrolled loops may have a Const for their bound."""

    def __init__(self, rng: random.Random, symbolic: bool) -> None:
        self.rng = rng
        self.symbolic = symbolic
        self.lines: list[str] = []
        self.serial = 0
        self.loops = 0
        self.indices: list[str] = []

    def program(self) -> str:
        for _ in range(self.rng.randint(2, 5)):
            self.statement(1, 3)
        return HELPERS + HEAD + "\n".join(self.lines) + "\n" + TAIL

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def name(self) -> str:
        return self.rng.choice("xyz")

    def expression(self, depth: int = 2) -> str:
        kind = self.rng.randrange(9) if depth else self.rng.randrange(2)
        if kind == 0:
            return str(self.rng.randint(0, 9))
        if kind in (1, 2):
            return self.rng.choice(["x", "y", "z", "a", "b", "K", *self.indices])
        one, other = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 3:
            return f"({one} if {self.condition()} else {other})"
        if kind == 4:
            return f"tl.maximum({self.operand()}, {other})"
        if kind == 5:
            return f"({self.name()} * 3 - 5)"
        return f"({one} {self.rng.choice('+-')} {other})"

    def condition(self) -> str:
        kind = self.rng.randrange(8)
        if kind == 0:
            return self.rng.choice(["F", "not G", "F and G", "F or not G", "K > 2", "K == 3", "K > 2 and F"])
        if kind == 1:
            return f"{self.rng.choice(['F', 'G'])} and {self.name()} > {self.rng.randint(0, 9)}"
        if kind == 2:
            return f"not {self.name()} == {self.rng.randint(0, 9)}"
        if kind == 3:
            return f"{self.name()} < {self.name()} or G"
        if kind == 4:
            return f"0 < {self.name()} < {self.rng.randint(2, 30)}"
        return f"{self.name()} {self.rng.choice(['<', '>=', '!=', '=='])} {self.rng.randint(0, 9)}"

    def block(self, depth: int, budget: int) -> None:
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth, budget)

    def statement(self, depth: int, budget: int) -> None:
        kind = self.rng.randrange(14) if budget else self.rng.randrange(5)
        if kind < 3:
            self.line(depth, f"{self.name()} {self.rng.choice(['=', '=', '+='])} {self.expression()}")
        elif kind == 3:
            self.line(depth, "x, y = y, x + 1")
        elif kind == 4:
            self.line(depth, f"tl.store(out + {self.rng.randint(3, 9)}, tl.load(out + 3) + {self.name()})")
        elif kind < 8:
            self.line(depth, f"if {self.condition()}:")
            self.branch(depth + 1, budget - 1)
            if self.rng.random() < 0.6:
                self.line(depth, self.rng.choice(["else:", f"elif {self.condition()}:"]))
                self.branch(depth + 1, budget - 1)
        elif kind == 8:
            flag, name = self.rng.choice("FG"), self.fresh("t")
            self.line(depth, f"if {flag}:")
            self.line(depth + 1, f"{name} = {self.expression()}")
            self.statement(depth, budget - 1)
            self.line(depth, f"if {flag}:")
            self.line(depth + 1, f"{self.name()} = {name} + 1")
        elif kind == 9:
            self.line(
                depth, f"y, z = picked({self.operand()}, {self.operand()}, {self.rng.choice(['F', 'True', 'not G'])})"
            )
        elif kind == 10:
            self.line(depth, f"x = clamped({self.operand()}, {self.operand()})")
        else:
            self.loop(depth, budget)

    def operand(self) -> str:
        """A value that is a tensor whatever it was before."""
        return f"(a - a + {self.name()})"

    def branch(self, depth: int, budget: int) -> None:
        self.block(depth, budget)
        if not self.loops and self.rng.random() < 0.25:
            self.line(depth, "tl.store(out + 9, x - y)")
            self.line(depth, "return")

    def loop(self, depth: int, budget: int) -> None:
        index = self.fresh("i")
        kind = self.rng.randrange(4)
        self.loops += 1
        if kind == 3:
            self.line(depth, f"{index} = 0")
            self.line(depth, f"while {index} < {self.rng.randint(1, 3)} and {self.name()} != 7:")
            self.line(depth + 1, f"{index} += 1")
            self.block(depth + 1, budget - 1)
        else:
            bound = "K" if self.symbolic else "2"
            header = [
                f"tl.range({self.rng.choice(['3', 'tl.minimum(a, 3)', '1, 5, 2', '3, 0, -1'])})",
                f"range({self.rng.randint(1, 3)})",
                f"tl.static_range({bound})",
            ][kind]
            self.line(depth, f"for {index} in {header}:")
            self.indices.append(index)
            self.block(depth + 1, budget - 1)
            self.indices.pop()
        self.loops -= 1


class Pointer:
    """Memory from a place on."""

    def __init__(self, memory: Any, place: int = 0) -> None:
        self.memory = memory
        self.place = place

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.memory, self.place + int(offset))


class Number(int):
    """An int that raises OverflowError where it leaves 32 bits: Python's ints do not wrap."""

    def __new__(cls, value: int) -> Number:
        if not -(1 << 31) <= value < 1 << 31:
            raise OverflowError
        return super().__new__(cls, value)

    def __add__(self, other: int) -> Number:
        return Number(int(self) + int(other))

    def __sub__(self, other: int) -> Number:
        return Number(int(self) - int(other))

    def __rsub__(self, other: int) -> Number:
        return Number(int(other) - int(self))

    def __mul__(self, other: int) -> Number:
        return Number(int(self) * int(other))

    def __neg__(self) -> Number:
        return Number(-int(self))

    __radd__, __rmul__ = __add__, __mul__


class _Checked(ast.NodeTransformer):
    """Integers of a program become `Number`s."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is not int:
            return node
        return ast.copy_location(ast.Call(ast.Name("Number", ast.Load()), [node], []), node)


def checked(text: str) -> Any:
    """Code that raises OverflowError where a number leaves 32 bits."""
    tree = ast.fix_missing_locations(_Checked().visit(ast.parse(text)))
    return compile(tree, "<checked>", "exec", __future__.annotations.compiler_flag, dont_inherit=True)


def _load(pointer: Pointer) -> Number:
    return Number(int(pointer.memory[pointer.place]))


def _store(pointer: Pointer, value: int) -> None:
    pointer.memory[pointer.place] = np.int32(value)


def stand_in() -> SimpleNamespace:
    """What a program reads as `tl` when Python itself runs it."""
    return SimpleNamespace(load=_load, store=_store, range=range, static_range=range, maximum=max, minimum=min)
