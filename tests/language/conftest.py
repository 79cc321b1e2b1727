"""The kernels of these tests are compiled once a session, into a folder of its own."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    before = os.environ.get("TEENY_CACHE_DIR")
    os.environ["TEENY_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["TEENY_CACHE_DIR"]
    else:
        os.environ["TEENY_CACHE_DIR"] = before
