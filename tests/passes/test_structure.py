"""Functions of several blocks, and calls, made structured: the same results as a walk from block to block."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import teeny.language
from teeny.backends.reference import run
from teeny.ir.text import TextError, parse_module, print_module
from teeny.ir.verify import verify
from teeny.passes.inline import inline
from teeny.passes.structure import structure

assert teeny.language

KERNEL = """\
module {{
  tt.func public @kernel(%out: !tt.ptr<i32>, %n: i32) {{
{body}  }}
}}
"""


@dataclass
class Graph:
    """A random function without loops: what each block adds and where it leads. Values are ints; `n` comes first."""

    aims: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    bits: list[int] = field(default_factory=list[int])
    added: list[int] = field(default_factory=list[int])

    def walk(self, n: int) -> list[int]:
        """What is stored: a cell for each block that runs and returns nothing later, in the order of a walk."""
        number, value, out = 0, n, [-1] * len(self.aims)
        while True:
            out[number] = value
            value += self.added[number]
            aims = self.aims[number]
            if not aims:
                return out
            number = aims[0] if len(aims) == 1 or n >> self.bits[number] & 1 else aims[1]

    def text(self) -> str:
        lines: list[str] = []
        for number, aims in enumerate(self.aims):
            if number:
                lines.append(f"  ^bb{number}(%v{number}: i32):")
            value = f"%v{number}" if number else "%n"
            lines += [
                f"    %at{number} = arith.constant {number} : i32",
                f"    %p{number} = tt.addptr %out, %at{number} : !tt.ptr<i32>, i32",
                f"    tt.store %p{number}, {value} : !tt.ptr<i32>",
                f"    %a{number} = arith.constant {self.added[number]} : i32",
                f"    %w{number} = arith.addi {value}, %a{number} : i32",
            ]
            hand = f"(%w{number} : i32)"
            if not aims:
                lines.append("    tt.return")
            elif len(aims) == 1:
                lines.append(f"    cf.br ^bb{aims[0]}{hand}")
            else:
                lines += [
                    f"    %b{number} = arith.constant {1 << self.bits[number]} : i32",
                    f"    %c{number} = arith.andi %n, %b{number} : i32",
                    f"    %z{number} = arith.constant 0 : i32",
                    f"    %d{number} = arith.cmpi ne, %c{number}, %z{number} : i32",
                    f"    cf.cond_br %d{number}, ^bb{aims[0]}{hand}, ^bb{aims[1]}{hand}",
                ]
        return KERNEL.format(body="\n".join(lines) + "\n")


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    made = Graph()
    count = draw(st.integers(1, 9))
    for number in range(count):
        later = list(range(number + 1, count))
        kind = draw(st.sampled_from(("one", "two", "two", "end"))) if later else "end"
        near = later[:3]
        made.aims.append(
            () if kind == "end" else tuple(draw(st.sampled_from(near)) for _ in range(1 if kind == "one" else 2))
        )
        made.bits.append(draw(st.integers(0, 3)))
        made.added.append(draw(st.integers(1, 100)))
    return made


@given(graphs())
def test_a_function_of_blocks_does_what_a_walk_does(graph: Graph) -> None:
    module = structure(parse_module(graph.text()))
    verify(module, concrete=True)
    for n in range(16):
        out = np.full(len(graph.aims), -1, np.int32)
        run(module, (out, n), (1, 1, 1))
        assert out.tolist() == graph.walk(n)


def test_ifs_of_structured_programs_copy_nothing() -> None:
    """Ten ifs in a row, each with a return under a further if: as many stores as blocks."""
    graph = Graph()
    for _ in range(10):
        first = len(graph.aims)
        graph.aims += [(first + 1, first + 3), (first + 2, first + 4), (), (first + 4,), (first + 5,)]
    graph.aims.append(())
    rng = random.Random(1)
    graph.bits = [rng.randrange(4) for _ in graph.aims]
    graph.added = [rng.randrange(100) for _ in graph.aims]
    module = structure(parse_module(graph.text()))
    assert print_module(module).count("tt.store") == len(graph.aims)
    for n in range(16):
        out = np.full(len(graph.aims), -1, np.int32)
        run(module, (out, n), (1, 1, 1))
        assert out.tolist() == graph.walk(n)


CALLS = """\
module {
  tt.func public @kernel(%out: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.for %i = %zero to %n step %one iter_args(%a = %n) -> (i32)  : i32 {
      %q:2 = tt.call @outer(%a, %i) : (i32, i32) -> (i32, i32)
      %s = arith.addi %q#0, %q#1 : i32
      scf.yield %s : i32
    }
    tt.store %out, %r : !tt.ptr<i32>
    tt.return
  }
  tt.func private @outer(%x: i32, %y: i32) -> (i32, i32) attributes {noinline = false} {
    %three = arith.constant 3 : i32
    %c = arith.cmpi sgt, %y, %three : i32
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %h = tt.call @inner(%x) : (i32) -> i32
    tt.return %h, %y : i32, i32
  ^bb2:  // pred: ^bb0
    cf.br ^bb4
  ^bb3:  // no predecessors
    cf.br ^bb4
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %m = arith.muli %x, %y : i32
    tt.return %m, %x : i32, i32
  }
  tt.func private @inner(%x: i32) -> i32 {
    %two = arith.constant 2 : i32
    %d = arith.subi %x, %two : i32
    tt.return %d : i32
  }
}
"""


@pytest.mark.parametrize("n", [0, 1, 3, 5, 7])
def test_calls_are_inlined(n: int) -> None:
    module = inline(structure(parse_module(CALLS)))
    verify(module, concrete=True)
    assert len(module.functions) == 1
    out = np.zeros(1, np.int32)
    run(module, (out, n), (1, 1, 1))
    value = n
    for i in range(n):
        value = (value - 2 + i) if i > 3 else value * i + value
    assert out[0] == np.int64(value).astype(np.int32)


def test_text_of_several_blocks_comes_back() -> None:
    module = parse_module(CALLS)
    assert print_module(parse_module(print_module(module))) == print_module(module)


def test_a_loop_of_branches_is_refused() -> None:
    text = "  cf.br ^bb1\n  ^bb1:\n  cf.br ^bb2\n  ^bb2:\n  cf.br ^bb1\n"
    with pytest.raises(TextError, match="loop made of branches"):
        structure(parse_module(KERNEL.format(body=text)))


def test_recursion_is_refused() -> None:
    text = CALLS.replace("tt.call @inner(%x) : (i32) -> i32", "tt.call @again(%x) : (i32) -> i32").replace(
        "@inner(", "@again("
    ).replace("%d = arith.subi %x, %two : i32", "%d = tt.call @again(%x) : (i32) -> i32")  # fmt: skip
    with pytest.raises(TextError, match="again calls itself"):
        inline(structure(parse_module(text)))


def test_labels_that_do_not_exist() -> None:
    with pytest.raises(TextError, match="no block \\^bb7"):
        parse_module(KERNEL.format(body="    cf.br ^bb7\n"))


def test_a_value_of_another_way_is_not_defined() -> None:
    body = (
        "    %z = arith.constant true\n    cf.cond_br %z, ^bb1, ^bb2\n  ^bb1:\n    %a = arith.constant 1 : i32\n"
        "    cf.br ^bb2\n  ^bb2:\n    tt.store %out, %a : !tt.ptr<i32>\n    tt.return\n"
    )
    with pytest.raises(TextError, match="not defined before it"):
        parse_module(KERNEL.format(body=body))
