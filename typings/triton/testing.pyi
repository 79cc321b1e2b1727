from collections.abc import Callable, Sequence
from typing import Any

def do_bench(fn: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **options: Any) -> Any: ...
