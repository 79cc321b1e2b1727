"""The blocks of a function that branches between them: successors, dominators."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny.ir.core import Block, Value

__all__ = ["defined", "dominators", "successors"]


def successors(block: Block) -> tuple[int, ...]:
    """The numbers of the blocks that may follow; none after a return."""
    return cast("tuple[int, ...]", block.ops[-1].attrs.get("to", ())) if block.ops else ()


def defined(block: Block) -> Iterator[Value]:
    """What a block defines for the blocks that it dominates."""
    yield from block.args
    for op in block.ops:
        yield from op.results


def dominators(blocks: list[Block]) -> list[set[int]]:
    """For each block those on every way to it from the first, itself too. Of one that is never reached: all."""
    every = set(range(len(blocks)))
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for to in successors(block):
            if to in every:
                before[to].append(number)
    found = [{0}, *(set(every) for _ in blocks[1:])]
    changed = len(blocks) > 1
    while changed:
        changed = False
        for number in range(1, len(blocks)):
            now = set(every)
            for b in before[number]:
                now &= found[b]
            now |= {number}
            changed |= now != found[number]
            found[number] = now
    return found
