"""The files that kernels are written in, read once a process: text, lines and the sha256 of the bytes."""

from __future__ import annotations

import linecache
import os
import re
import sys
from dataclasses import dataclass
from hashlib import sha256
from types import FunctionType
from typing import Any, NamedTuple, cast

from teeny.diag.span import SourceFile

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")


class FileStamp(NamedTuple):
    """What changes when a file does."""

    time_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file as this process sees it. `digest` is the sha256 of its bytes, empty for text that lies in no file.

    `stamp` tells whether a function made later still stems from the same text.
    """

    file: SourceFile
    digest: str
    stamp: object


_loaded: dict[str, LoadedFile] = {}


def load_file(fn: FunctionType) -> LoadedFile | None:
    """The file that `fn` was compiled from, or None where its text cannot be had.

    Text registered in `linecache` (notebook cells, the interactive prompt, generated code) comes before a file of
    that name. A file is read again only when its module was loaded again, or, for a program that is no imported
    module, when size or time have changed. Raises UnicodeError or LookupError when the file has no valid encoding.
    """
    name = fn.__code__.co_filename
    known = _loaded.get(name)
    stamp = _stamp(fn, name)
    if known is not None and (known.stamp is stamp or (type(stamp) is FileStamp and known.stamp == stamp)):
        return known
    made = _load(fn, name, stamp)
    if made is not None:
        _loaded[name] = made
    return made


def file_digest(fn: FunctionType) -> str | None:
    """The sha256, in hex, of the bytes of the file that `fn` was compiled from; None where it lies in no file."""
    try:
        loaded = load_file(fn)
    except (UnicodeError, LookupError):
        return None
    return loaded.digest or None if loaded is not None else None


def file_named(name: str) -> SourceFile:
    """The file that this process loaded under a name; else the file as it is on disk, empty where it is not there."""
    known = _loaded.get(name)
    return known.file if known is not None else SourceFile(name, (_read(name) or b"").decode("utf-8", "replace"))


def _stamp(fn: FunctionType, name: str) -> object:
    """What changes when the text behind a file name does; None for what can be read only through a loader."""
    registered = _registered(name)
    if registered is not None:
        return registered
    spec = fn.__globals__.get("__spec__")
    if spec is not None and getattr(spec, "origin", None) == name:
        return spec
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return None
    return FileStamp(status.st_mtime_ns, status.st_size, status.st_ino)


def _load(fn: FunctionType, name: str, stamp: object) -> LoadedFile | None:
    registered = _registered(name)
    if registered is not None:
        return LoadedFile(SourceFile(name, "".join(registered)), "", registered)
    content = _read(name)
    if content is not None:
        return LoadedFile(SourceFile(name, _decode(content)), sha256(content).hexdigest(), stamp)
    lines = linecache.getlines(name, fn.__globals__)
    text = "".join(lines) if lines else _command_text(fn, name)
    return LoadedFile(SourceFile(name, text), "", object()) if text else None


def _registered(name: str) -> list[str] | None:
    """The lines of text that a program put into `linecache`: such an entry has no time."""
    entry = cast("tuple[Any, ...] | None", linecache.cache.get(name))
    return entry[2] if entry is not None and len(entry) == 4 and entry[1] is None else None


def _read(name: str) -> bytes | None:
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _decode(content: bytes) -> str:
    """The text by the encoding that the file declares (PEP 263), else utf-8."""
    if content.startswith(b"\xef\xbb\xbf"):
        return content.decode("utf-8")
    rest = content[:400].splitlines()[:2]
    for line in rest:
        cookie = _COOKIE.match(line)
        if cookie is not None:
            return content.decode(cookie[1].decode("ascii"))
        if not _BLANK.match(line):
            break
    return content.decode("utf-8")


def _command_text(fn: FunctionType, name: str) -> str:
    """The program given to `python -c`, for Pythons (before 3.13) that do not register it in `linecache`."""
    if name != "<string>" or fn.__globals__.get("__name__") != "__main__" or sys.argv[:1] != ["-c"]:
        return ""
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        if argument == "--check-hash-based-pycs":
            next(arguments, "")
            continue
        if argument.startswith("--"):
            continue
        for place, letter in enumerate(argument):
            if letter == "c":
                return (argument[place + 1 :] or next(arguments, "")) + "\n"
            if letter in "WX":
                if place == len(argument) - 1:
                    next(arguments, "")
                break
    return ""
