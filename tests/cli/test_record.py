"""`teeny record`: launches of a program are checked from their arguments, and nothing runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from teeny.cli.main import main

pytest.importorskip("torch")
pytest.importorskip("triton")

SCRIPT = """\
import sys
import torch, triton, triton.language as tl

@triton.jit
def shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i + 1, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x, mask=i < n)

x, y = torch.randn(1000), torch.zeros(1000)
for n in (999, 1000, 1000):
    shift[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
shift[lambda m: (triton.cdiv(500, m["BLOCK"]),)](x, y, 500, BLOCK=64)
assert not y.any()
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_each_distinct_launch_is_checked(script: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "launches.jsonl"
    assert main(["record", "--output", str(kept), "--", sys.executable, str(script), "0"]) == 1
    out = capsys.readouterr().out
    assert out.count("error[B001]") == 1
    assert "`shift` reads outside of `x_ptr`" in out
    assert "element 1000 of `x_ptr`" in out
    assert "1 error in 3 distinct launches" in out
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row["arguments"]["n"] for row in rows] == ["999", "1000", "500"]
    assert [row["place"].rpartition(":")[2] for row in rows] == ["12", "12", "13"]
    assert rows[2]["grid"] == [8, 1, 1]


def test_the_status_of_the_program_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.py"
    path.write_text("import triton, sys\nsys.exit(3)\n")
    assert main(["record", "--", sys.executable, str(path)]) == 3
    assert "no launches of Triton kernels were seen" in capsys.readouterr().out


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record"]) == 2
    assert main(["record", "--", "there-is-no-such-program"]) == 2
    assert "there-is-no-such-program" in capsys.readouterr().err
