"""Launches that were seen before, as generated Python: the checks of one specialisation in straight lines.

Two functions are made from text, once a kernel and once a specialisation: one describes the arrays and finds the
specialisation, the other checks the contracts and packs the arguments. Either gives up (None) where anything is not as
before or does not hold; the launch then goes the long way, which finds the words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import LEAVES, integer_range
from teeny.runtime.arguments import const_key
from teeny.runtime.arrays import describe, is_row_major
from teeny.runtime.compilers import DIVISOR, UNIT, Hints
from teeny.runtime.contracts import NAMES, Require
from teeny.runtime.scalars import convert, slot

if TYPE_CHECKING:
    from teeny.frontend.params import Parameter
    from teeny.runtime.grid import Grid
    from teeny.runtime.interface import Interface

Pack = Callable[[tuple[Any, ...], "Grid"], "tuple[int, ...] | None"]
"""`(described arguments and raw scalars in the kernel's order, grid) -> slots`, or None."""
Find = Callable[[Sequence[Any], Mapping[Any, Any]], "tuple[Any, tuple[Any, ...]] | None"]
"""`(given, table) -> (what the table has, described arguments)`, or None where it has nothing."""


def finder(parameters: Sequence[Parameter]) -> Find:
    """Describes the arrays of a launch and looks it up by dtypes, devices and Const values."""
    lines = ["def find(given, table):"]
    names = [f"a{at}" for at in range(len(parameters))]
    lines.append(f"    {''.join(f'{n}, ' for n in names)}= given" if names else "    pass")
    key: list[str] = []
    values: list[str] = []
    for name, parameter in zip(names, parameters, strict=True):
        if parameter.kind == "const":
            exact = all(t.kind in ("int", "bool", "str") for t in parameter.const)
            key += [f"{name}.__class__", name] if exact else [f"const_key({name})"]
            continue
        if parameter.kind == "descriptor":
            found, parts = _descriptor(name, parameter.optional)
            lines += found
            key += parts
            values.append(f"*{name}p")
            continue
        values.append(name)
        if parameter.kind == "pointer":
            absent = f"None if {name} is None else " if parameter.optional else ""
            lines.append(f"    {name} = {absent}describe({name})")
            key += [f"{absent}{name}[1]", f"{absent}{name}[4]"]
    lines.append(f"    found = table.get(({''.join(f'{k}, ' for k in key)}))")
    lines.append(f"    return None if found is None else (found, ({''.join(f'{v}, ' for v in values)}))")
    return _made("find", lines, {"describe": describe, "const_key": const_key, "layout_key": layout_key})


def _descriptor(name: str, optional: bool) -> tuple[list[str], list[str]]:
    """Lines that describe a descriptor's array and collect its numbers, and what tells descriptors apart."""
    lines = [
        f"    {name}b = describe({name}.base)",
        f"    {name}p = ({name}b, *{name}.shape, *{name}.strides[:-1])",
        f"    {name}k = layout_key({name}, {name}b)",
    ]
    if optional:
        inner = ["    " + line for line in lines]
        lines = [f"    if {name} is None:", f"        {name}p, {name}k = (None,), None", "    else:", *inner]
    return lines, [f"{name}k"]


def layout_key(value: Any, info: Any) -> tuple[Any, ...]:
    """What of a descriptor belongs to a specialisation, and what makes it a legal one."""
    padding = getattr(value, "padding", "zero")
    ranks = len(value.shape), len(value.strides), value.strides[-1]
    return info[1], info[4], tuple(value.block_shape), padding, ranks


def key_of(parameters: Sequence[Parameter], given: Sequence[Any]) -> tuple[Any, ...]:
    """The key under which `finder` looks for such a launch."""
    key: list[Any] = []
    for parameter, value in zip(parameters, given, strict=True):
        if parameter.kind == "const":
            exact = all(t.kind in ("int", "bool", "str") for t in parameter.const)
            key += (value.__class__, value) if exact else (const_key(value),)
        elif parameter.kind == "descriptor":
            key.append(None if value is None else layout_key(value, describe(value.base)))
        elif parameter.kind == "pointer":
            info = None if value is None and parameter.optional else describe(value)
            key += (None, None) if info is None else (info.dtype, info.device)
    return tuple(key)


def packer(interface: Interface, present: Sequence[int]) -> Pack:
    """Checks outputs and contracts and packs slots. `present`: for each argument, its place among the values given."""
    lines = ["def pack(given, g):"]
    names: list[str] = []
    slots: list[str] = []
    extra: dict[str, Any] = {**NAMES, "dense": is_row_major, "convert": convert, "slot": slot}
    for at, (argument, place) in enumerate(zip(interface.arguments, present, strict=True)):
        name = f"v{at}"
        names.append(name)
        lines.append(f"    {name} = given[{place}]")
        if argument.pointer:
            slots.append(f"{name}[0]")
            if at in interface.stored:
                lines += [f"    if {name}[5]:", "        return None"]
            continue
        leaf = LEAVES[argument.dtype]
        if leaf.kind in ("signed", "unsigned") and argument.dtype != "u64":
            low, high = integer_range(leaf)
            lines += [f"    if {name}.__class__ is not int or not {low} <= {name} <= {high}:"]
            lines += [f"        {name} = convert({name}, {argument.dtype!r})"]
            slots.append(name)
        else:
            lines.append(f"    {name} = convert({name}, {argument.dtype!r})")
            slots.append(f"slot({name}, {argument.dtype!r})")
    lines.append(f"    s = ({''.join(f'{n}, ' for n in names)})")
    for contract in interface.contracts:
        if isinstance(contract, Require):
            condition = f"not {contract.text}"
        elif contract.strides:
            name = f"v{contract.argument}"
            condition = f"not within({contract.sizes}, {contract.strides}, {name}[6], {name}[7])"
        else:
            name = f"v{contract.argument}"
            condition = f"(n := product({contract.sizes})) > 0 and (n > {name}[6] or not dense({name}[2], {name}[3]))"
        lines += [f"    if {condition}:", "        return None"]
    lines.append(f"    return ({''.join(f'{n}, ' for n in slots)}*g,)")
    return _made("pack", lines, extra | {"product": _product, "within": _within})


def _made(name: str, lines: list[str], names: dict[str, Any]) -> Any:
    scope: dict[str, Any] = dict(names)
    exec(compile("\n".join(lines), "<launch>", "exec"), scope)
    return scope[name]


def _within(sizes: tuple[int, ...], strides: tuple[int, ...], after: int, before: int) -> bool:
    """Whether a strided view stays within so many elements from its pointer on, and so many before it."""
    first, last = 0, 1
    for size, stride in zip(sizes, strides, strict=True):
        if size <= 0:
            return True
        if stride < 0:
            first -= (size - 1) * stride
        else:
            last += (size - 1) * stride
    return last <= after and first <= before


def hinter(wholes: Sequence[bool]) -> Callable[[tuple[int, ...]], Hints]:
    """The hints that a launch's slots bring, as one expression. `wholes`: which arguments are integers by value."""
    parts = [
        f"{UNIT} if s[{at}] == 1 else {DIVISOR} * (not s[{at}] % {DIVISOR})"
        if whole
        else f"{DIVISOR} * (not s[{at}] % {DIVISOR})"
        for at, whole in enumerate(wholes)
    ]
    return _made("hints", ["def hints(s):", f"    return ({''.join(f'{p}, ' for p in parts)})"], {})


def _product(sizes: tuple[int, ...]) -> int:
    """The number of elements; 0 where a size is not positive."""
    if len(sizes) == 1:
        return sizes[0]
    total = 1
    for size in sizes:
        if size <= 0:
            return 0
        total *= size
    return total
