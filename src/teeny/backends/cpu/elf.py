"""A loader for the relocatable x86-64 ELF objects that LLVM emits, without LLVM.

All sections that occupy memory go into one anonymous mapping, written first, then made executable and read-only. Each
external function gets a jump through a table at the end, as it may lie out of the reach of a 32-bit distance.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["NotLoadableError", "load", "supported"]

_SHF_ALLOC, _SHF_WRITE = 2, 1
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_R_64, _R_PC32, _R_PLT32, _R_GOTPCREL, _R_32, _R_32S, _R_PC64 = 1, 2, 4, 9, 10, 11, 24
_R_GOTPCRELX, _R_REX_GOTPCRELX = 41, 42
_GOT = (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX)
_JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp *0(%rip): the target's address follows
_JUMP_SIZE = 16


class NotLoadableError(Exception):
    """The object has something that this loader does not handle; LLVM's own linker may."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


def supported() -> bool:
    """True where this loader works: 64-bit x86 Linux."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32


def load(data: bytes, symbol: str) -> int:
    """Map an object and give the address of one of its functions; raises `NotLoadableError`."""
    try:
        return _Object(data).map(symbol)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise NotLoadableError(f"damaged object: {error}") from error


class _Object:
    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
            raise NotLoadableError("not a relocatable x86-64 object")
        table, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
        self.sections: list[_Section] = []
        for index in range(count):
            name, kind, flags, _, offset, length, link, info, align, _ = struct.unpack_from(
                "<IIQQQQIIQQ", data, table + index * size
            )
            self.sections.append(_Section(name, kind, flags, offset, length, link, info, align))
        tables = [section for section in self.sections if section.kind == _SHT_SYMTAB]
        if len(tables) != 1:
            raise NotLoadableError("no symbol table")
        names = self.sections[tables[0].link]
        self.strings = data[names.offset : names.offset + names.size]
        self.symbols = list(struct.iter_unpack("<IBBHQQ", data[tables[0].offset : tables[0].offset + tables[0].size]))

    def _name(self, symbol: int) -> str:
        start = self.symbols[symbol][0]
        return self.strings[start : self.strings.index(b"\0", start)].decode("ascii")

    def map(self, entry: str) -> int:
        data = self.data
        places: dict[int, int] = {}
        size = 0
        for index, section in enumerate(self.sections):
            if section.flags & _SHF_ALLOC and section.size:
                if section.flags & _SHF_WRITE:
                    raise NotLoadableError("writable data")
                align = max(section.align, 1)
                size = (size + align - 1) // align * align
                places[index] = size
                size += section.size
        relocations = [
            (section.info, *relocation)
            for section in self.sections
            if section.kind == _SHT_RELA and section.info in places
            for relocation in struct.iter_unpack("<QQq", data[section.offset : section.offset + section.size])
        ]
        # One slot for each symbol that is reached through a jump or the table of addresses.
        slots: dict[int, int] = {}
        size = (size + 15) // 16 * 16
        for _, _, info, _ in relocations:
            symbol = info >> 32
            outside = self.symbols[symbol][3] == 0
            if (outside or info & 0xFFFFFFFF in _GOT) and symbol not in slots:
                slots[symbol] = size
                size += _JUMP_SIZE
        memory = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
        base = _address(memory)
        for index, place in places.items():
            section = self.sections[index]
            if section.kind != _SHT_NOBITS:
                memory[place : place + section.size] = data[section.offset : section.offset + section.size]

        def value(symbol: int) -> int:
            _, _, _, index, offset, _ = self.symbols[symbol]
            if index in places:
                return base + places[index] + offset
            if index == 0:
                return _external(self._name(symbol))
            raise NotLoadableError(f"symbol in section {index}")

        for symbol, place in slots.items():
            memory[place : place + _JUMP_SIZE] = (_JUMP + struct.pack("<Q", value(symbol))).ljust(_JUMP_SIZE, b"\0")
        for index, offset, info, addend in relocations:
            _relocate(memory, base, places[index] + offset, info, addend, slots, value)
        address = next(
            (value(n) for n, s in enumerate(self.symbols) if s[3] in places and s[0] and self._name(n) == entry), None
        )
        if address is None:
            raise NotLoadableError(f"no symbol {entry}")
        _protect(base, len(memory))
        _mapped.append(memory)
        return address


def _relocate(
    memory: mmap.mmap,
    base: int,
    place: int,
    info: int,
    addend: int,
    slots: dict[int, int],
    value: Callable[[int], int],
) -> None:
    symbol, kind = info >> 32, info & 0xFFFFFFFF
    if kind in _GOT:
        target = base + slots[symbol] + len(_JUMP)
    elif symbol in slots and kind in (_R_PLT32, _R_PC32):
        target = base + slots[symbol]
    else:
        target = value(symbol)
    here = base + place
    try:
        if kind in (_R_PC32, _R_PLT32, *_GOT):
            struct.pack_into("<i", memory, place, target + addend - here)
        elif kind == _R_PC64:
            struct.pack_into("<q", memory, place, target + addend - here)
        elif kind == _R_64:
            struct.pack_into("<Q", memory, place, target + addend)
        elif kind == _R_32:
            struct.pack_into("<I", memory, place, target + addend)
        elif kind == _R_32S:
            struct.pack_into("<i", memory, place, target + addend)
        else:
            raise NotLoadableError(f"relocation of type {kind}")
    except struct.error as error:
        raise NotLoadableError("an address out of reach") from error


_mapped: list[mmap.mmap] = []
"""Mappings with code; they live as long as the process."""
_libraries: list[ctypes.CDLL] = []


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _external(name: str) -> int:
    """The address of a C function of the process, the C library or the library of mathematics."""
    if not _libraries:
        _libraries.append(ctypes.CDLL(None))
        for library in ("libm.so.6", "libc.so.6"):
            try:
                _libraries.append(ctypes.CDLL(library))
            except OSError:
                continue
    for library in _libraries:
        try:
            function = library[name]
        except AttributeError:
            continue
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise NotLoadableError(f"no function {name}")


def _protect(base: int, size: int) -> None:
    protect = _libc_mprotect()
    page = mmap.PAGESIZE
    if protect(base, (size + page - 1) // page * page, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise NotLoadableError("memory cannot be made executable here")


def _libc_mprotect() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    function.restype = ctypes.c_int
    return function
