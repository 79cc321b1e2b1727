"""A copy of a module in which values of some types are several values each: their parts.

What carries a value carries its parts: loops, branches, calls, joins of compile-time branches, selections. What makes
or reads such a value is written by the rule of its operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from teeny.diag.errors import InternalError
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value
from teeny.ir.types import Type

Parts = tuple[Value, ...]
Split = Callable[[Type], "tuple[tuple[str, Type], ...] | None"]
"""The parts of a type, each with a word for its name; None for a type that stays."""
Rule = Callable[[Builder, Op, "tuple[Parts, ...]"], Parts]
"""`(b, op, parts of the operands) -> parts of the result`: writes an operation through the builder."""
_PARTWISE = frozenset(("phi", "select"))
"""Groups of operations that give one of several values of one type: they do so part by part."""


@dataclass(slots=True)
class Unpacker:
    """`values`: what stands for each value of the original."""

    split: Split
    rules: Mapping[str, Rule]
    values: dict[Value, Parts] = field(default_factory=dict[Value, Parts])

    def module(self, module: Module) -> Module:
        return Module([self.function(f) for f in module.functions])

    def function(self, function: Function) -> Function:
        counts = [len(self.types(a.type)) for a in function.args]
        attrs = function.arg_attrs
        if attrs:
            attrs = tuple(one for one, n in zip(attrs, counts, strict=True) for one in (one, *({},) * (n - 1))[:n])
        results = tuple(t for r in function.result_types for _, t in self.types(r))
        body = Region([self.block(block) for block in function.body.blocks])
        return replace(function, body=body, result_types=results, arg_attrs=attrs, attrs=dict(function.attrs))

    def types(self, type_: Type) -> tuple[tuple[str, Type], ...]:
        return self.split(type_) or (("", type_),)

    def block(self, source: Block) -> Block:
        """A copy of a block, its arguments unpacked."""
        parts = [(a, word, type_) for a in source.args for word, type_ in self.types(a.type)]
        made = Block(tuple(t for _, _, t in parts), tuple(_name(a, word) for a, word, _ in parts))
        self._take(source.args, made.args)
        for op in source.ops:
            self._op(op, made)
        return made

    def _take(self, olds: Iterable[Value], news: Iterable[Value]) -> None:
        """Let the parts of old values be the next of the new ones."""
        left = iter(news)
        for old in olds:
            self.values[old] = tuple([next(left) for _ in self.types(old.type)])

    def _op(self, op: Op, block: Block) -> None:
        operands = tuple([self.values[v] for v in op.operands])
        rule = self.rules.get(op.name)
        split = [self.split(v.type) is not None for v in (*op.operands, *op.results)]
        if rule is not None and any(split):
            b = Builder(block, op.loc)
            b.guard = op.guard
            parts = rule(b, op, operands)
            for old in op.results:
                self.values[old] = parts
                for (word, _), part in zip(self.types(old.type), parts, strict=True):
                    part.name = part.name or _name(old, word)
        elif any(split) and op.schema.group in _PARTWISE:
            self.values[op.results[0]] = self._partwise(op, operands, block)
        elif not any(split) or op.regions or op.schema.terminator or op.name == "tt.call":
            self._carrying(op, operands, block)
        else:
            raise InternalError(f"no rule says what {op.name} does with {op.operands[0].type}", op.loc)

    def _carrying(self, op: Op, operands: tuple[Parts, ...], block: Block) -> None:
        """An operation that hands values on as they are, or has none that are unpacked."""
        regions = tuple([Region([self.block(b) for b in region.blocks]) for region in op.regions])
        parts = [(r, word, type_) for r in op.results for word, type_ in self.types(r.type)]
        flat = tuple([v for one in operands for v in one])
        made = Op(op.schema, flat, tuple([t for _, _, t in parts]), dict(op.attrs), regions, op.loc)
        made.guard = op.guard
        block.append(made)
        for (old, word, _), new in zip(parts, made.results, strict=True):
            new.name = _name(old, word)
        self._take(op.results, made.results)

    def _partwise(self, op: Op, operands: tuple[Parts, ...], block: Block) -> Parts:
        found: list[Value] = []
        for at, (word, type_) in enumerate(self.types(op.results[0].type)):
            first = 1 if op.schema.group == "select" else 0
            values = tuple([one[at] for one in operands[first:]])
            chosen = (*[v for one in operands[:first] for v in one], *values)
            if all(v is values[0] for v in values):
                found.append(values[0])
                continue
            made = Op(op.schema, chosen, (type_,), dict(op.attrs), (), op.loc)
            made.guard = op.guard
            block.append(made)
            made.results[0].name = _name(op.results[0], word)
            found.append(made.results[0])
        return tuple(found)


def _name(value: Value, word: str) -> str | None:
    return value.name if not word or value.name is None else f"{value.name}.{word}"
