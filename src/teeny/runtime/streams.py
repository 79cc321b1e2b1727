"""The CUDA stream that a launch goes to: an explicit one, or torch's current one, or the default stream."""

from __future__ import annotations

import sys
from typing import Any

from teeny.diag.errors import LaunchError


def current_stream(ordinal: int) -> int:
    """The raw handle of torch's current stream on a device where torch is loaded with CUDA, else 0, the default one.

    Asks for the raw handle, because `torch.cuda.current_stream()` alone costs more than a launch.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return 0
    ask = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return 0 if ask is None else ask(ordinal)


def stream_handle(stream: object, ordinal: int, kernel: str | None = None) -> int:
    """The raw handle behind what a user passes as `stream`.

    None means `current_stream`; else a raw handle, or a stream of torch (`cuda_stream`), cupy (`ptr`) or any library
    with the `__cuda_stream__` protocol. Raises LaunchError L014 for anything else.
    """
    if stream is None:
        return current_stream(ordinal)
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    handle: object = protocol()[1] if protocol is not None else None
    for name in ("cuda_stream", "ptr"):
        if handle is None:
            handle = getattr(stream, name, None)
    if isinstance(handle, int):
        return handle
    raise LaunchError.of(
        "L014",
        "the stream is none that CUDA knows",
        kernel=kernel,
        argument="stream",
        found=f"{stream!r}",
        needed="a raw handle (an int) or a stream of torch, cupy or another library with __cuda_stream__",
    )
