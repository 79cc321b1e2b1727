"""The version of the installed distribution, looked up only when a message needs it."""

from __future__ import annotations

DISTRIBUTION = "teenygrad-kernels"


def version() -> str:
    """The installed version, or `unknown` when teeny runs from a folder that was never installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
