"""Run by Python at its start in a process that `teeny record` watches; a `sitecustomize` of the user's own follows."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _follow() -> None:
    """Run the module that this one hides."""
    rest = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("TEENY_RECORD"):
    try:
        from teeny.triton.recorder import watch

        watch()
    except Exception as error:
        print(f"teeny record: nothing is recorded here: {error!r}", file=sys.stderr)
_follow()
