"""Dtypes that cannot be accumulated in are refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from teeny.diag.errors import KernelError
from tests.language.executors import module_of


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["bool_", "float8e4nv", "float8e5"])
def test_dtypes_without_sums(name: str, dtype: str, tmp_path: Path) -> None:
    text = (
        "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f16]) -> None:\n"
        f"    tl.{name}(tl.load(x + tl.arange(0, 8)), axis=0, dtype=tl.{dtype})\n"
    )
    with pytest.raises(KernelError) as caught:
        module_of(text, tmp_path)
    found = caught.value.diagnostics[0]
    assert found.code == "T012"
    assert found.message.startswith(f"`tl.{name}` does not accumulate in ")
