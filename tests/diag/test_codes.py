"""The catalogue is complete and in order, and each snippet is Python with its fault marked."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import teeny.diag
from teeny.diag import Code, catalogue, code_of, explain
from teeny.diag.codes import FAMILIES

CODES = list(catalogue().values())
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITHOUT_CODE = {"B001", "E017", "L004", "L013", *(f"X00{n}" for n in (1, 2, 3, 4, 5, 6, 8, 9)), "I001"}
PROMISED = (
    [f"E{n:03}" for n in range(1, 18)]
    + [f"T{n:03}" for n in range(1, 14)]
    + [f"S{n:03}" for n in range(1, 10)]
    + [f"F{n:03}" for n in range(1, 8)]
    + [f"L{n:03}" for n in range(1, 16)]
    + [f"X{n:03}" for n in range(1, 6)]
    + ["I001"]
)


def test_no_promised_code_is_gone() -> None:
    assert set(PROMISED) <= set(catalogue())


def test_ids_are_unique_and_in_the_order_of_the_families() -> None:
    headings = re.findall(
        r"^## (.*)$", Path(teeny.diag.__file__).with_name("codes.md").read_text("utf-8"), re.MULTILINE
    )
    assert [heading[:4] for heading in headings] == [code.id for code in CODES]
    order = [(list(FAMILIES).index(code.id[0]), int(code.id[1:])) for code in CODES]
    assert order == sorted(set(order))


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_each_code_explains_itself(code: Code) -> None:
    assert code.title
    assert not code.title.endswith(".")
    assert len(code.text) > 80
    blocks = PYTHON.findall(code.text)
    if code.id in WITHOUT_CODE:
        assert not blocks
        return
    faulty, mended = blocks
    assert f"  # {code.id}\n" in faulty
    assert code.id not in mended
    for block in blocks:
        ast.parse(block)
        assert max(map(len, block.splitlines())) <= 120


def test_only_what_may_be_meant_is_a_warning() -> None:
    assert {code.id for code in CODES if code.severity == "warning"} == {"F003", "X004"}
    assert all(code.severity in ("error", "warning") for code in CODES)


def test_explain() -> None:
    text = explain("f001")
    assert text.startswith("error[F001]: undefined lanes take part in a reduction\n\n")
    assert text.endswith("\n")
    assert "-float" in text
    assert code_of("F001").title in text
    with pytest.raises(KeyError):
        explain("Z001")


def test_importing_reads_no_catalogue_and_no_renderer() -> None:
    program = "import sys, teeny.diag as d, teeny.diag.codes as c; print(c.catalogue.cache_info().misses, *sys.modules)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert out[0] == "0"
    assert not {"teeny.diag.render", "teeny.diag.export", "unicodedata", "json", "pathlib", "importlib.metadata"} & {
        *out
    }
