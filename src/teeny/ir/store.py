"""The cache on disk: results by content hash, and one record a source file.

Native code comes back out of this folder, so it is used only where it is ours and closed to others. Each entry is a
folder named by its sha256 key with the files and a `metadata.json` that holds their checksums; a record is one JSON
file. All are written under another name first and then put in place by `os.replace`. So readers and writers in any
number of processes need no locks: whoever finds a file half there, changed or damaged finds nothing, makes the result
anew, and writes it again. Nothing is ever unpickled.

    <root>/entries/<sha256>/metadata.json, kernel.o, ...
    <root>/records/<sha256 of the name>.json
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

from teeny.diag.diagnostic import report
from teeny.diag.render import render_all

FORMAT = 1  # of everything in the folder; part of every key

Part: TypeAlias = str | int | float | bool | None
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_METADATA = "metadata.json"
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_KEY = re.compile(r"[0-9a-f]{64}")
_SHOWN = 200  # characters of a path in a message
_HEAD, _MIDDLE, _TAIL = b'{"sha256":"', b'","body":', b"}\n"


def key(parts: Mapping[str, Part]) -> str:
    """The sha256, in hex, of named parts in any order; the format of the cache takes part in it."""
    text = json.dumps([FORMAT, dict(parts)], sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """What `put` stored under a key."""

    files: dict[str, bytes]
    metadata: dict[str, Json]


class Store:
    """The cache in one folder. Never raises for what the disk does: reads give None, writes do nothing."""

    __slots__ = ("_writable", "fault", "root")

    def __init__(self, root: Path | None) -> None:
        """Open or make the cache folder `root`. Without one, or where it may not be used, nothing is kept."""
        self.root = root
        self.fault = "there is no home folder to keep it in" if root is None else _prepare(root)
        """Why the folder may not be used; None where it may."""
        self._writable = self.usable

    @property
    def usable(self) -> bool:
        """Whether the folder is there, ours, and closed to others."""
        return self.fault is None

    def get(self, key: str) -> dict[str, bytes] | None:
        """The files stored under `key`; None when there are none or they are damaged."""
        entry = self.entry(key)
        return None if entry is None else entry.files

    def entry(self, key: str) -> Entry | None:
        """The files and the metadata stored under `key`; None when there are none or they are damaged."""
        if not self.usable:
            return None
        folder = self._folder(key)
        try:
            head = _read_json(folder / _METADATA)
            if head is None or head["key"] != key:
                return None
            files: dict[str, bytes] = {}
            for name, checksum in cast("dict[str, str]", head["files"]).items():
                content = (folder / _checked_name(name)).read_bytes()
                if sha256(content).hexdigest() != checksum:
                    return None
                files[name] = content
            return Entry(files, cast("dict[str, Json]", head["metadata"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, files: Mapping[str, bytes], metadata: Mapping[str, Json]) -> None:
        """Store files (plain names) and JSON metadata under `key`, over what is there.

        Raises ValueError for a key that `key` did not make and for file names that are no plain names.
        """
        folder = self._folder(key)
        names = [_checked_name(name) for name in files]
        if not self._writable:
            return
        head: dict[str, Json] = {
            "key": key,
            "files": {name: sha256(files[name]).hexdigest() for name in names},
            "metadata": dict(metadata),
        }
        written = [*((name, files[name]) for name in names), (_METADATA, _json_bytes(head))]
        self._write(folder, written)

    def get_record(self, name: str) -> dict[str, Json] | None:
        """The record of a source file (or anything with a name); None when there is none or it is damaged."""
        if not self.usable:
            return None
        try:
            found = _read_json(self._record(name))
            if found is None or found["name"] != name:
                return None
            return cast("dict[str, Json]", found["record"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put_record(self, name: str, record: Mapping[str, Json]) -> None:
        """Store one JSON record under a name, over what is there."""
        if not self._writable:
            return
        path = self._record(name)
        self._write(path.parent, [(path.name, _json_bytes({"name": name, "record": dict(record)}))])

    def size(self) -> int:
        """Bytes of all files in the cache."""
        if not self.usable:
            return 0
        total = 0
        for folder, _, names in os.walk(self._base()):
            for name in names:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_size
                except FileNotFoundError:  # another process was faster
                    continue
        return total

    def clear(self) -> None:
        """Remove all entries and records; what another process writes meanwhile may stay."""
        if self.usable:
            for part in ("entries", "records"):
                shutil.rmtree(self._base() / part, ignore_errors=True)
            self.fault = _prepare(self._base())
            self._writable = self.usable

    def counts(self) -> tuple[int, int]:
        """How many entries and how many records there are."""
        if not self.usable:
            return 0, 0
        return len(_listed(self._base() / "entries")), len(_listed(self._base() / "records"))

    def _base(self) -> Path:
        assert self.root is not None
        return self.root

    def _folder(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"not a key of the cache: {key!r}")
        return (self.root or Path()) / "entries" / key

    def _record(self, name: str) -> Path:
        return self._base() / "records" / f"{sha256(name.encode()).hexdigest()}.json"

    def _write(self, folder: Path, files: list[tuple[str, bytes]]) -> None:
        """Write files in this order; again, once, where another process removed the folder meanwhile."""
        for last in (False, True):
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
                for name, content in files:
                    _write(folder / name, content)
                return
            except FileNotFoundError:
                if not last and _prepare(self._base()) is None:
                    continue
                self._writable = False
                return
            except OSError as error:
                self._writable = False
                _warn(f"the cache folder {self.root} cannot be written ({error.strerror})")
                return


def default_root() -> Path | None:
    """Where the cache lies: `TEENY_CACHE_DIR`, else `teeny` in the XDG cache folder; None where there is no home."""
    stated = os.environ.get("TEENY_CACHE_DIR")
    if stated:
        return Path(stated).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification says to ignore a relative one
        return Path(xdg) / "teeny"
    try:
        return Path.home() / ".cache" / "teeny"
    except RuntimeError:
        return None


def default_store() -> Store:
    """The cache at `default_root()`, opened once a process and folder."""
    return _open(default_root())


@cache
def _open(root: Path | None) -> Store:
    return Store(root)


def _prepare(root: Path) -> str | None:
    """Make the folders. Why they may not be used, with a warning, where they cannot be made or are not ours alone."""
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for folder in (root, root / "entries", root / "records"):
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                fault = _fault(folder)
                if fault is not None:
                    return _warn(f"the cache folder {folder} {fault}", f"chmod 700 {folder}")
    except OSError as error:
        with suppress(OSError):
            if root.is_dir() and _fault(root) is None:
                return None  # a read-only disk with a cache that was filled before
        return _warn(f"the cache folder {_shown(root)} cannot be made ({error.strerror})")
    return None


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _listed(folder: Path) -> list[str]:
    """The names in a folder, without those that are being written."""
    try:
        return [name for name in os.listdir(folder) if not name.endswith(".tmp")]
    except OSError:
        return []


def _fault(folder: Path) -> str | None:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return "is no folder of its own"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & 0o077:
        return "is open to other users"
    return None


_warned: set[str] = set()


def _warn(why: str, *help: str) -> str:
    """Warn X004, once a process: a cache that fails, fails at every kernel. Gives the reason back."""
    if not _warned:
        _warned.add(why)
        hints = (*help, "set TEENY_CACHE_DIR to a folder of yours to keep results there")
        found = report("X004", f"{why}; results are not kept", help=hints)
        warnings.warn(render_all((found,)), RuntimeWarning, stacklevel=4)
    return why


def _checked_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name) or name == _METADATA:
        raise ValueError(f"not a name for a file in the cache: {name!r}")
    return name


def _write(path: Path, content: bytes) -> None:
    """Write under another name, then put in place; the other name is gone afterwards, also after a fault."""
    temporary = f"{path}.{secrets.token_hex(8)}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _json_bytes(body: dict[str, Json]) -> bytes:
    """A JSON object of the body and the checksum of its text, laid out so that the text can be cut out again."""
    return _framed(json.dumps(body, separators=(",", ":")).encode())


def _framed(text: bytes) -> bytes:
    return b"".join((_HEAD, sha256(text).hexdigest().encode(), _MIDDLE, text, _TAIL))


def _read_json(path: Path) -> dict[str, Any] | None:
    """The body that `_json_bytes` laid out; None when it is damaged. Raises OSError when it cannot be read."""
    with open(path, "rb") as file:
        content = file.read()
    text = content[len(_HEAD) + 64 + len(_MIDDLE) : -len(_TAIL)]
    return json.loads(text) if content == _framed(text) else None
