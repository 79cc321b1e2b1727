"""What holds of the tree as a whole: no names of one machine or of a package host, fragments and pins in order."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Each is put together here so that this file does not hold what it looks for.
HOSTS = [
    ".".join(words)
    for words in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("conda", "anaconda", "org"),
        ("download", "pytorch", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
        ("deb", "debian", "org"),
    )
]
PLACES = [f"/{name}/" for name in ("work", "root", "home", "Users")]
FORBIDDEN = re.compile(
    "|".join(re.escape(host) for host in HOSTS)
    + "|"
    + "|".join(rf"(?<![\w.$)}}~-]){re.escape(place)}" for place in PLACES)
)
FRAGMENT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")


def text_of(path: Path) -> str:
    """The text of a tracked file; nothing for one that is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_machine_and_no_package_host_is_named(tracked: list[Path]) -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tracked
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if FORBIDDEN.search(line)
    ]
    assert faults == []


@pytest.mark.parametrize("line", [f"see https://{HOSTS[0]}/simple", f"open('{PLACES[0]}x')", f"at {PLACES[1]}.cache"])
def test_a_forbidden_word_is_found(line: str) -> None:
    assert FORBIDDEN.search(line)


@pytest.mark.parametrize("line", ["docs/work/notes.md", "$HOME/work/x", "https://triton-lang.org/main"])
def test_a_harmless_word_passes(line: str) -> None:
    assert not FORBIDDEN.search(line)


def test_fragments_are_named_by_the_rule(tracked: list[Path]) -> None:
    names = [path.name for path in tracked if path.parent.name == "changelog.d" and path.name != "README.md"]
    assert [name for name in names if not FRAGMENT.fullmatch(name)] == []


def test_every_dependency_is_pinned_without_a_url() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line)] == []
    pinned = {normal(line.partition("==")[0]) for line in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + [one for extra in project["optional-dependencies"].values() for one in extra]
    names = {normal(re.split(r"[^A-Za-z0-9_.-]", requirement)[0]) for requirement in wanted}
    assert names - pinned == set()


def normal(name: str) -> str:
    """A distribution's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
