from typing import Any

__version__: str

class _Runtime:
    add_stages_inspection_hook: Any
    debug: bool

class _Knobs:
    runtime: _Runtime

knobs: _Knobs
