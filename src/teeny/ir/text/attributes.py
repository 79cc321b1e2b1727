"""Attributes and numbers as text, both ways. Integers are i32 unless they need i64."""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, Any, cast

from teeny.ir.dtype import DType
from teeny.ir.text.types import read_type
from teeny.ir.types import PointerType, TensorType, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny.ir.text.cursor import Cursor

_PLAIN = re.compile(r"[ !#-\[\]-~]*\Z")
_KEY = re.compile(r"[A-Za-z_][\w$.]*")
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?)")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|[nt"\\])')
_OPAQUE = re.compile(r"#[\w$.]+(?:<(?:[^<>]|<[^<>]*>)*>)?|@[\w$.-]+|dense<[^<>]*> : tensor<[^<>]*>|unit\b")
_ALIAS = re.compile(r"#[\w$]+(?![\w$.<])")
_SYMBOL = re.compile(r"@[\w$.-]+")
_PLAIN_SYMBOL = re.compile(r"[A-Za-z_][\w$.-]*", re.ASCII)
_HINT = re.compile(r"(?:cacheModifier|evictionPolicy)\s*=\s*\w+")
_HINTS = ("cacheModifier", "evictionPolicy")
_CODES: dict[str, tuple[str, str]] = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H")}


class Opaque(str):
    """The text of an attribute of a kind that the IR has no use for; `UNIT` has nothing but its name."""

    __slots__ = ()


UNIT = Opaque("unit")


def cache_policy(modifier: str, eviction: str) -> Opaque:
    """How an access uses the caches: `none` or `cg`, ...; `evict_normal` or `evict_last`, ..."""
    return Opaque(f"#tt.cache_policy<cache_modifier = {modifier}, eviction_policy = {eviction}>")


def attribute_text(value: Any) -> str:
    """One attribute's value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i32" if -(1 << 31) <= value < 1 << 31 else f"{value} : i64"
    if isinstance(value, float):
        return f"{float_text(value, 64)} : f64"
    if isinstance(value, str):
        return value if isinstance(value, Opaque) else quoted(value)
    if isinstance(value, DType | PointerType | TensorType):
        return text(value)
    if isinstance(value, tuple):
        return _tuple_text(cast("tuple[Any, ...]", value))
    return str(value)


def _tuple_text(items: tuple[Any, ...]) -> str:
    if all(isinstance(i, int) and -(1 << 31) <= i < 1 << 31 for i in items):
        return f"array<i32: {', '.join(map(str, items))}>" if items else "array<i32>"
    return f"[{', '.join(hex(i) if isinstance(i, int) else attribute_text(i) for i in items)}]"


def dictionary_text(attrs: Mapping[str, object], written: frozenset[str] = frozenset()) -> str:
    """` {name = value, ...}` in the order of names, without those in `written`; empty where nothing is left."""
    kept = [(k, attrs[k]) for k in sorted(attrs) if k not in written and attrs[k] is not None]
    parts = [k if isinstance(v, Opaque) and v == UNIT else f"{k} = {attribute_text(v)}" for k, v in kept]
    return f" {{{', '.join(parts)}}}" if parts else ""


def quoted(value: str) -> str:
    """A string literal: what is not plain ASCII is written as `\\XX`, a byte of its utf-8 text."""
    if _PLAIN.match(value):
        return f'"{value}"'
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in value.encode()) + '"'


def float_text(value: float, bits: int, name: str = "f64") -> str:
    """A float literal of a dtype: decimal where finite, else the bits in hexadecimal."""
    if math.isfinite(value):
        plain = repr(value)
        return plain.replace("e", ".0e") if "e" in plain and "." not in plain else plain
    return f"0x{_special_bits(value, name):0{bits // 4}X}"


def _special_bits(value: float, name: str) -> int:
    """The bits of an infinity or NaN."""
    negative = math.copysign(1.0, value) < 0
    if name.endswith("fnuz"):
        return 0x80  # has no infinity, and no sign of NaN
    if name in _CODES:
        return struct.unpack(_CODES[name][1], struct.pack(_CODES[name][0], value))[0]
    magnitude, sign = {
        "bf16": (0x7F80 if math.isinf(value) else 0x7FC0, 0x8000),
        "f8e5m2": (0x7C if math.isinf(value) else 0x7E, 0x80),
        "f8e4m3": (0x7F, 0x80),  # has no infinity
    }[name]
    return magnitude | (sign if negative else 0)


def float_of_bits(bits: int, dtype: DType) -> float:
    """The value of a float literal in hexadecimal."""
    name = dtype.name
    if name in _CODES:
        return struct.unpack(_CODES[name][0], struct.pack(_CODES[name][1], bits))[0]
    if name == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if name == "f8e5m2":
        return struct.unpack("<e", struct.pack("<H", bits << 8))[0]
    if bits == 0x80 and name.endswith("fnuz"):
        return math.nan
    digits, bias = {"f8e4m3": (3, 7), "f8e4m3fnuz": (3, 8), "f8e5m2fnuz": (2, 16)}[name]
    sign, exponent, mantissa = (-1.0 if bits & 0x80 else 1.0), (bits & 0x7F) >> digits, bits & ((1 << digits) - 1)
    if name == "f8e4m3" and bits & 0x7F == 0x7F:
        return math.nan
    whole = mantissa + ((1 << digits) if exponent else 0)
    return sign * math.ldexp(whole, max(exponent, 1) - bias - digits)


def read_number(at: Cursor, dtype: DType | None = None) -> float | bool | None:
    """A number or a bool, None where there is none. `dtype`, where known, says what hexadecimal digits mean."""
    if at.accept("true"):
        return True
    if at.accept("false"):
        return False
    word = at.match(_NUMBER)
    if word is None:
        return None
    if "x" in word:
        bits = int(word, 16)
        if dtype is None or not dtype.kind.startswith("float"):
            return bits
        if bits < 0 or bits >> dtype.bits:
            raise at.error(f"{word} is no {dtype.mlir}: it has more than {dtype.bits} bits")
        return float_of_bits(bits, dtype)
    return float(word) if "." in word else int(word)


def read_string(at: Cursor) -> str | None:
    """A string literal, None where there is none."""
    word = at.match(_STRING)
    if word is None:
        return None
    names = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
    raw = _ESCAPE.sub(lambda m: names.get(m[1]) or bytes.fromhex(m[1].decode()), word[1:-1].encode())
    return raw.decode("utf-8", "replace")


def symbol_text(name: str) -> str:
    """`@name`, in quotes where it is no plain word."""
    return f"@{name}" if _PLAIN_SYMBOL.fullmatch(name) else f"@{quoted(name)}"


def read_symbol(at: Cursor) -> str | None:
    """`@name` without the `@`, None where there is none."""
    word = at.match(_SYMBOL)
    if word is not None:
        return word[1:]
    return read_string(at) if at.peek('@"') and at.accept("@") else None


def read_attribute(at: Cursor) -> object:
    """One attribute's value; of a kind that the IR has no use for, its text."""
    number = read_number(at)
    if number is not None:
        if not isinstance(number, bool) and at.accept(":"):
            read_type(at)
        return number
    string = read_string(at)
    if string is not None:
        return string
    if at.accept("array<"):
        at.match(_KEY)
        items: list[object] = []
        if at.accept(":"):
            items.append(read_number(at))
            while at.accept(","):
                items.append(read_number(at))
        at.expect(">")
        return tuple(items)
    if at.accept("["):
        items = []
        while not at.accept("]"):
            items.append(read_attribute(at))
            at.accept(",")
        return tuple(items)
    opaque = at.match(_OPAQUE)
    if opaque is None:
        return read_type(at)
    return Opaque(_ALIAS.sub(lambda alias: at.aliases.get(alias[0], alias[0]), opaque))


def read_dictionary(at: Cursor) -> dict[str, object]:
    """`{name = value, name, ...}`, empty where there is none.

    Hints for the caches of a GPU, which Triton before 3.9 writes ahead of the dictionary, are read as what it writes
    from then on.
    """
    hints: dict[str, str] = {}
    while (word := at.match(_HINT)) is not None:
        name, _, value = word.partition("=")
        hints[name.strip()] = value.strip()
    attrs: dict[str, object] = {}
    if hints:
        modifier, policy = hints.get("cacheModifier", "none"), hints.get("evictionPolicy", "evict_normal")
        attrs["cachePolicy"] = cache_policy(modifier, policy)
    if at.accept("{"):
        _entries(at, attrs, "}")
    return attrs


def read_properties(at: Cursor) -> dict[str, object]:
    """`<{name = value, ...}>` of the generic form."""
    attrs: dict[str, object] = {}
    if at.accept("<{"):
        _entries(at, attrs, "}>")
    return attrs


def _entries(at: Cursor, attrs: dict[str, object], end: str) -> None:
    while not at.accept(end):
        name = at.match(_KEY) or read_string(at)
        if name is None:
            raise at.error("expected the name of an attribute")
        value = read_attribute(at) if at.accept("=") else UNIT if "." in name else True
        if name not in _HINTS:
            attrs[name] = value
        if not at.accept(",") and not at.peek(end):
            raise at.error(f"expected `,` or `{end}`")
