"""`teeny check` on kernels that Triton refuses: what is wrong with any types is a finding, the rest is not checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from teeny.cli.main import main

pytest.importorskip("triton")

HEAD = "import triton\nimport triton.language as tl\n\n\n"
HELPER = "@triton.jit\ndef add(x, y):\n    return x + y\n\n\n"


def checked(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    status = main(["check", str(path), "--format", "json", *options])
    return status, json.loads(capsys.readouterr().out)


def kernel(*lines: str, parameters: str = "x_ptr, n, B: tl.constexpr", head: str = "") -> str:
    body = "".join(f"    {line}\n" for line in ("i = tl.arange(0, B)", *lines))
    return f"{HEAD}{head}{HELPER}@triton.jit\ndef k({parameters}):\n{body}"


CERTAIN = {
    "a name": ("E002", "tl.store(x_ptr + i, unknown)", "unknown"),
    "a name of Triton": ("E002", "tl.store(x_ptr + i, tl.laod(x_ptr + i))", "laod"),
    "a name of a module within": ("E002", "tl.store(x_ptr + i, tl.math.exq(1.0))", "exq"),
    "a name in a branch not taken": ("E002", "if n is None: tl.store(x_ptr + i, unknown)", "unknown"),
    "a method": ("X009", "tl.store(x_ptr + i, i.summ())", "i.summ()"),
    "too few arguments": ("X009", "tl.store(x_ptr + i, tl.arange(0))", "tl.arange(0)"),
    "an unknown keyword": ("X009", "tl.store(x_ptr + i, tl.max(i, axes=0))", "tl.max(i, axes=0)"),
    "too few for a helper": ("X009", "tl.store(x_ptr + i, add(i))", "add(i)"),
    "a list comprehension": ("X009", "y = [j for j in range(4)]", "[j for j in range(4)]"),
    "try": ("X009", "try: y = 1\n    except: y = 2", "try"),
    "break": ("X009", "for j in range(n): break", "break"),
    "with": ("X009", "with n: tl.store(x_ptr + i, 1)", "with n: tl.store(x_ptr + i, 1)"),
    "defined in one branch": ("X009", "if n > 3: y = 1\n    tl.store(x_ptr + i, y)", "y"),
    "a range that is no power of two": ("X009", "j = tl.arange(0, 100)", "tl.arange(0, 100)"),
    "a branch on a block": ("X009", "if i < n: tl.store(x_ptr + i, 1)", "if"),
    "a type that a loop changes": (
        "X009",
        "y = 0\n    for j in range(n): y += tl.load(x_ptr + i).to(tl.float32)",
        "for",
    ),
    "a loop over a block": ("X009", "for j in i: tl.store(x_ptr + j, 1)", "for"),
    "a global": ("X009", "tl.store(x_ptr + i, NUMBER)", "NUMBER"),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_what_is_wrong_with_any_types_is_a_finding(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines, place = CERTAIN[name]
    text = kernel(lines, head="NUMBER = 5\n")
    path = tmp_path / "k.py"
    path.write_text(text)
    status, data = checked(path, capsys)
    assert status == 1
    assert data["unchecked"] == []
    (finding,) = data["findings"]
    assert (finding["code"], finding["severity"]) == (code, "error")
    span = finding["labels"][0]["frames"][0]["span"]
    line = text.splitlines()[int(span["line"]) - 1]
    assert line[int(span["column"]) - 1 :].startswith(place), finding
    assert text[: text.index(lines)].count("\n") < span["line"]


def test_the_nearest_name_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(kernel("tl.store(x_ptr + i, tl.laod(x_ptr + i, mask=i < nn))"))
    _, data = checked(path, capsys)
    assert [(one["code"], one["help"]) for one in data["findings"]] == [
        ("E002", ["did you mean `load`?"]), ("E002", ["did you mean `n`?"]),
    ]  # fmt: skip


GUESSED = {
    "a constant that takes no branch": "if MODE > 5: y = 1\n    tl.store(x_ptr + i, y)",
    "an assertion about a constant": "tl.static_assert(MODE > 100)",
    "sizes that must differ": "tl.static_assert(B >= 1000)",
    "a constant that is something else": "tl.store(x_ptr + i, MODE.thing)",
    "pointers of two kinds": "tl.store(x_ptr + i, tl.exp(tl.load(x_ptr + i)) + (tl.load(y_ptr + i) & 1))",
}


@pytest.mark.parametrize("name", GUESSED)
def test_what_depends_on_a_guess_is_not_checked_and_the_guess_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.py"
    path.write_text(kernel(GUESSED[name], parameters="x_ptr, y_ptr, n, MODE: tl.constexpr, B: tl.constexpr"))
    status, data = checked(path, capsys)
    assert status == 1
    assert data["findings"] == []
    (why,) = data["unchecked"]
    assert "`k`: assumed: x_ptr=*fp32, y_ptr=*fp32, n=i32, MODE=" in why
    assert "state its types: --signature 'k: ...'" in why


def test_with_stated_types_it_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(kernel("tl.static_assert(B > 100)"))
    status, data = checked(path, capsys, "--signature", "k: x_ptr=*fp32, n=i32, B=64")
    assert status == 1
    assert [one["code"] for one in data["findings"]] == ["X009"]
    assert data["unchecked"] == []


@pytest.mark.parametrize(
    "head",
    [
        "from nowhere import *\n",
        "globals()['unknown'] = tl.constexpr(3)\n",
        "try:\n    from nowhere import *\nexcept ImportError:\n    pass\n",
    ],
)
def test_names_that_a_file_may_define_in_other_ways(
    head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.py"
    path.write_text(kernel("if n is None: tl.store(x_ptr + i, unknown)", head=head))
    assert checked(path, capsys)[1]["findings"] == []


@pytest.mark.parametrize("test", ["hasattr(tl, 'not_there')", "THERE"])
def test_what_a_kernel_asks_for_first_may_be_missing(
    test: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.py"
    head = "THERE = tl.constexpr(hasattr(tl, 'not_there'))\n"
    path.write_text(kernel(f"if {test}: tl.not_there(i)", "tl.store(x_ptr + i, i)", head=head))
    status, data = checked(path, capsys)
    assert data["findings"] == []
    assert status == (1 if "hasattr" in test and data["unchecked"] else 0)


def test_names_in_kernels_that_functions_make(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}def make(act):\n    @triton.jit\n    def k(x_ptr, B: tl.constexpr):\n        i = tl.arange(0, B)\n"
        "        tl.store(x_ptr + i, act(tl.laod(x_ptr + i)) + j)\n    return k\n"
    )
    status, data = checked(path, capsys)
    assert status == 1
    assert sorted(one["message"].split("`")[1] for one in data["findings"]) == ["j", "tl.laod"]


def test_branches_of_a_file_may_name_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    head = (
        "if hasattr(tl, 'not_there'):\n    @triton.jit\n    def get(x): return tl.not_there(x)\n"
        "else:\n    @triton.jit\n    def get(x): return x\n"
    )
    path.write_text(kernel("tl.store(x_ptr + i, get(i))", head=head))
    status, data = checked(path, capsys)
    assert (status, data["findings"]) == (0, [])
