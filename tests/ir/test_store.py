"""The cache on disk: round trips, damage, folders that may not be used, and many processes at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from teeny.ir import store as module
from teeny.ir.store import Store, default_root, default_store, key

KEY = key({"ir": "module {}"})
FILES = {"kernel.o": bytes(range(256)) * 40, "kernel.ll": b"define void @f()"}
METADATA: dict[str, Any] = {"target": "cpu", "warps": 4, "hints": [16, None, 0.5]}


@pytest.fixture(autouse=True)
def _fresh_warnings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "_warned", set())
    yield
    module._open.cache_clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def entry_file(root: Path, name: str) -> Path:
    return root / "entries" / KEY / name


def test_keys() -> None:
    assert key({"a": 1, "b": "x"}) == key({"b": "x", "a": 1})
    parts = [{"a": 1}, {"a": "1"}, {"a": True}, {"a": None}, {"a": 1.0}, {"b": 1}, {}, {"a": 1, "b": 1}]
    assert len({key(part) for part in parts}) == len(parts)
    assert len(KEY) == 64


def test_round_trip(root: Path) -> None:
    store = Store(root)
    assert store.get(KEY) is None
    store.put(KEY, FILES, METADATA)
    assert store.get(KEY) == FILES
    again = Store(root).entry(KEY)
    assert again is not None
    assert again.files == FILES
    assert again.metadata == METADATA


def test_one_folder_a_key_closed_to_others(root: Path) -> None:
    old = os.umask(0)
    try:
        Store(root).put(KEY, FILES, METADATA)
        Store(root).put_record("a.py", {})
    finally:
        os.umask(old)
    assert sorted(path.name for path in (root / "entries").iterdir()) == [KEY]
    assert sorted(path.name for path in (root / "entries" / KEY).iterdir()) == [
        "kernel.ll",
        "kernel.o",
        "metadata.json",
    ]
    for path in [root, *root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert json.loads(entry_file(root, "metadata.json").read_bytes())["body"]["metadata"] == METADATA


def test_an_entry_without_files(root: Path) -> None:
    Store(root).put(KEY, {}, {"failed": True})
    assert Store(root).get(KEY) == {}


def test_put_again_replaces(root: Path) -> None:
    store = Store(root)
    store.put(KEY, FILES, METADATA)
    store.put(KEY, {"kernel.ptx": b"x"}, {})
    assert store.get(KEY) == {"kernel.ptx": b"x"}


@pytest.mark.parametrize("name", ["kernel.o", "kernel.ll", "metadata.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "remove", "folder"])
def test_damage_is_a_miss_and_is_mended(root: Path, name: str, damage: str) -> None:
    store = Store(root)
    store.put(KEY, FILES, METADATA)
    path = entry_file(root, name)
    content = path.read_bytes()
    if damage == "flip":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "cut":
        path.write_bytes(content[:-1])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        if damage == "folder":
            path.mkdir()
    assert store.get(KEY) is None
    if damage == "folder":
        path.rmdir()
    store.put(KEY, FILES, METADATA)
    assert store.get(KEY) == FILES


def test_every_flipped_byte_of_the_metadata_is_seen(root: Path) -> None:
    store = Store(root)
    store.put(KEY, {"a": b"1"}, {"n": 1})
    path = entry_file(root, "metadata.json")
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
        assert store.get(KEY) is None, at


def test_an_entry_moved_to_another_key_is_a_miss(root: Path) -> None:
    store = Store(root)
    store.put(KEY, FILES, METADATA)
    other = key({"ir": "another"})
    (root / "entries" / KEY).rename(root / "entries" / other)
    assert store.get(other) is None


def test_names_stay_inside_the_folder(root: Path) -> None:
    store = Store(root)
    for name in ("../x", "/x", "a/b", ".hidden", "", "metadata.json", "a\n"):
        with pytest.raises(ValueError, match="not a name"):
            store.put(KEY, {name: b""}, {})
    for bad in ("", "../" + KEY[3:], KEY.upper(), KEY + "0"):
        with pytest.raises(ValueError, match="not a key"):
            store.get(bad)


def test_records(root: Path) -> None:
    store = Store(root)
    assert store.get_record("kernels/k.py") is None
    record: dict[str, Any] = {"hash": "ab", "kernels": {"softmax": {"line": 3, "warnings": []}}}
    store.put_record("kernels/k.py", record)
    assert Store(root).get_record("kernels/k.py") == record
    store.put_record("kernels/k.py", {"hash": "cd"})
    assert store.get_record("kernels/k.py") == {"hash": "cd"}
    assert store.get_record("kernels/other.py") is None
    (path,) = (root / "records").iterdir()
    path.write_bytes(path.read_bytes().replace(b"cd", b"ce"))
    assert store.get_record("kernels/k.py") is None
    path.write_bytes(b"\x80\x04.")
    assert store.get_record("kernels/k.py") is None


def test_size_and_clear(root: Path) -> None:
    store = Store(root)
    assert store.size() == 0
    store.put(KEY, FILES, METADATA)
    store.put_record("a.py", {"x": 1})
    files = [path for path in root.rglob("*") if path.is_file()]
    assert store.size() == sum(path.stat().st_size for path in files) > 10_000
    store.clear()
    assert store.size() == 0
    assert store.get(KEY) is None
    store.put(KEY, FILES, METADATA)
    assert store.get(KEY) == FILES


def test_clear_leaves_other_things_alone(root: Path) -> None:
    store = Store(root)
    (root / "notes.txt").write_text("mine")
    store.clear()
    assert (root / "notes.txt").read_text() == "mine"


def test_a_folder_removed_meanwhile_is_made_again(root: Path) -> None:
    import shutil

    store = Store(root)
    shutil.rmtree(root)
    assert store.get(KEY) is None
    store.put(KEY, FILES, METADATA)
    assert store.get(KEY) == FILES
    shutil.rmtree(root)
    store.put_record("a.py", {"x": 1})
    assert store.get_record("a.py") == {"x": 1}


def unusable(root: Path) -> str:
    """The single warning of a store at `root` that keeps nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = Store(root)
        store.put(KEY, FILES, METADATA)
        store.put_record("a.py", {"x": 1})
        Store(root)
    assert not store.usable
    assert store.get(KEY) is None
    assert store.get_record("a.py") is None
    assert store.size() == 0
    store.clear()
    (warning,) = caught
    assert "X004" in str(warning.message)
    assert "TEENY_CACHE_DIR" in str(warning.message)
    return str(warning.message)


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o777])
def test_a_folder_open_to_others_is_not_used(root: Path, mode: int) -> None:
    root.mkdir()
    root.chmod(mode)
    message = unusable(root)
    assert "is open to other users" in message
    assert f"chmod 700 {root}" in message
    assert list(root.iterdir()) == []


def test_an_entries_folder_open_to_others_is_not_used(root: Path) -> None:
    Store(root)
    (root / "entries").chmod(0o777)
    assert "is open to other users" in unusable(root)


def test_a_folder_of_another_user_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "belongs to another user" in unusable(root)


def test_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    root.symlink_to(tmp_path / "elsewhere")
    assert "is no folder of its own" in unusable(root)


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be made" in unusable(tmp_path / "file" / "cache")
    (tmp_path / "other").write_text("")


def test_a_full_disk_is_warned_about_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(root)
    store.put(KEY, FILES, METADATA)
    other = key({"ir": "other"})

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        store.put(other, FILES, METADATA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put(other, FILES, METADATA)
        store.put_record("a.py", {})
    assert store.get(KEY) == FILES
    assert store.get(other) is None
    assert not list(root.rglob("*.tmp"))


def test_a_read_only_disk_still_gives_what_is_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(root).put(KEY, FILES, METADATA)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    store = Store(root)
    assert store.get(KEY) == FILES
    with pytest.warns(RuntimeWarning, match="Read-only file system"):
        store.put(KEY, FILES, METADATA)
    assert store.get(KEY) == FILES


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "stated"))
    assert default_root() == tmp_path / "stated"
    monkeypatch.delenv("TEENY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_root() == tmp_path / "xdg" / "teeny"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_root() == tmp_path / "home" / ".cache" / "teeny"


def test_the_default_store_is_opened_once_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "a"))
    first = default_store()
    assert first is default_store()
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "b"))
    assert default_store() is not first
    assert default_store().root == tmp_path / "b"


def test_without_a_home_nothing_is_kept() -> None:
    store = Store(None)
    store.put(KEY, FILES, METADATA)
    assert store.get(KEY) is None
    assert store.size() == 0
    store.clear()


def content(writer: int) -> dict[str, bytes]:
    return {"kernel.o": bytes([writer]) * 50_000, "kernel.ll": bytes([writer]) * 1000}


def work(root: Path, writer: int, rounds: int, failures: Any) -> None:
    """Write and read a few keys that all processes share, each with content of its own."""
    store = Store(root)
    for turn in range(rounds):
        name = key({"n": turn % 3})
        if writer == 0 and turn % 10 == 9:
            store.clear()
        store.put(name, content(writer), {"writer": writer})
        entry = store.entry(name)
        if entry is not None and entry.files != content(int(str(entry.metadata["writer"]))):
            failures.put(f"mixed entry, written by {entry.metadata}")
        store.put_record("shared.py", {"writer": writer, "long": "x" * 5000})
        record = store.get_record("shared.py")
        if record is not None and (len(str(record["long"])) != 5000 or record["writer"] not in range(4)):
            failures.put("mixed record")


def test_many_processes_at_once(root: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    workers = [context.Process(target=work, args=(root, n, 60, failures)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    with suppress(Exception):
        assert failures.get(timeout=0.2) is None
    assert failures.empty()
    store = Store(root)
    name = key({"n": 0})
    store.put(name, content(9), {"writer": 9})
    assert store.get(name) == content(9)
    assert not list(root.rglob("*.tmp"))


def test_a_path_that_is_too_long_is_a_warning(tmp_path: Path) -> None:
    for root in (tmp_path / ("a" * 5000), tmp_path.joinpath(*["a" * 200] * 30)):
        module._warned.clear()
        with pytest.warns(RuntimeWarning, match=r"warning\[X004\]: .*cannot be made .*results are not kept") as caught:
            store = Store(root)
        assert len(str(caught[0].message)) < 500
        assert not store.usable
        store.put(KEY, FILES, METADATA)
        assert (store.get(KEY), store.size(), store.counts()) == (None, 0, (0, 0))
