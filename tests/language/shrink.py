"""Makes a faulty kernel small: statements and operands go while the same fault stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.language.description import Expr, For, If, Program, Spin, Store, While

Place = tuple[Any, ...]
"""The way from a program to one of its nodes: names of fields and indices."""


def nodes(x: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every part of a program, outer ones first."""
    if isinstance(x, tuple):
        for at, item in enumerate(x):
            yield from nodes(item, (*place, at))
    elif is_dataclass(x) and not isinstance(x, type):
        yield place, x
        for one in fields(x):
            if one.name not in ("kind", "pointers"):
                yield from nodes(getattr(x, one.name), (*place, one.name))


def put(x: Any, place: Place, new: Any) -> Any:
    """A copy with the part at a place replaced; `()` as `new` for a list of statements splices."""
    if not place:
        return new
    head, rest = place[0], place[1:]
    if isinstance(head, str):
        return replace(x, **{head: put(getattr(x, head), rest, new)})
    inner = put(x[head], rest, new)
    if not rest and isinstance(inner, tuple):
        return (*x[:head], *inner, *x[head + 1 :])
    return (*x[:head], inner, *x[head + 1 :])


def smaller(x: Any, place: Place) -> Iterator[Any]:
    """What might stand in place of a node."""
    in_body = bool(place) and isinstance(place[-1], int) and not isinstance(x, Expr)
    if in_body:
        yield ()
        if isinstance(x, For | While | Spin):
            yield x.body
        if isinstance(x, For | Spin):
            yield x.other
            yield replace(x, other=())
        if isinstance(x, If):
            yield x.then
            yield x.other
    if isinstance(x, Store) and x.mask is not None:
        yield replace(x, mask=None)
    if isinstance(x, Expr):
        if x.op == "load" and len(x.args) > 1 and not (x.kind.sure and len(x.args) == 3):
            yield replace(x, args=x.args[:-1])
        same = [a for a in x.args if (a.kind.dtype, a.kind.shape) == (x.kind.dtype, x.kind.shape)]
        yield from (a for a in same if a.op not in ("literal", "const"))
        if x.op not in ("literal", "full", "var", "const", "pointer", "move", "range") and x.kind.dtype != "bool":
            yield Expr("full", x.kind, (), 1)


def shrink(program: Program, faulty: Callable[[Program], bool], budget: int = 600) -> Program:
    """The smallest program found for which `faulty` holds; it is asked at most `budget` times."""
    progress = True
    while progress and budget > 0:
        progress = False
        for place, node in list(nodes(program)):
            for new in smaller(node, place):
                try:
                    candidate = put(program, place, new)
                except (IndexError, AttributeError, TypeError):
                    continue
                budget -= 1
                if budget > 0 and faulty(candidate):
                    program, progress = candidate, True
                    break
            if progress or budget <= 0:
                break
    return program
