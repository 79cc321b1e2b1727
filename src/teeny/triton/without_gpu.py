"""Within `teeny record` on a machine without a GPU: PyTorch's `cuda` stands for main memory.

Kernels are not run, so a tensor needs to lie nowhere in particular. Functions that are asked for a device `cuda` give
tensors in main memory; from then on tensors say that they are on `cuda:0`, for programs that look. `torch.cuda` answers
as with one GPU. None of this is done where there is a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import currentframe
from types import SimpleNamespace
from typing import Any

__all__ = ["install", "truly"]

_MEMORY = 80 << 30


def install(torch: Any) -> None:
    """Change a PyTorch that has just been imported; nothing where it has a GPU."""
    if torch.cuda.is_available():
        return

    def available() -> bool:
        """Triton is told the truth, so that it looks for no driver of a GPU."""
        frame = currentframe()
        caller = frame.f_back if frame is not None else None
        return caller is None or not str(caller.f_globals.get("__name__", "")).startswith("triton.")

    for name, value in _answers().items():
        setattr(torch.cuda, name, value)
    torch.cuda.is_available = available
    state = SimpleNamespace(asked=False)
    _default_device(torch, state)
    _mode(torch, state).__enter__()


def truly() -> AbstractContextManager[Any]:
    """Within, tensors say where they are."""
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None or not hasattr(torch, "_C") else torch._C.DisableTorchFunction()


def _default_device(torch: Any, state: SimpleNamespace) -> None:
    before = torch.set_default_device

    def set_default_device(device: Any) -> None:
        before(_moved(torch, device, state))

    torch.set_default_device = set_default_device


def _mode(torch: Any, state: SimpleNamespace) -> Any:
    device, is_cuda = torch.Tensor.device.__get__, torch.Tensor.is_cuda.__get__
    stay = (torch.Tensor.cuda, torch.Tensor.pin_memory)

    class OnCpu(torch.overrides.TorchFunctionMode):
        """Functions of tensors with the CPU in the place of a GPU."""

        def __torch_function__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            named = kwargs or {}
            if func is torch.device:
                return func(*args, **named)
            if func in stay:
                state.asked = True
                return args[0]
            if state.asked and func == is_cuda:
                return True
            if state.asked and func == device:
                found = func(*args)
                return torch.device("cuda", 0) if found.type == "cpu" else found
            given = [_moved(torch, a, state) for a in args]
            return func(*given, **{k: _moved(torch, v, state) for k, v in named.items()})

    return OnCpu()


def _moved(torch: Any, value: Any, state: SimpleNamespace) -> Any:
    """The CPU for a GPU; anything else as it is."""
    is_gpu = value.type == "cuda" if isinstance(value, torch.device) else _is_name(value)
    if not is_gpu:
        return value
    state.asked = True
    return torch.device("cpu")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.partition(":")[0] == "cuda"


class _Moment:
    """A stream, an event or a device of `torch.cuda` where nothing ever is pending."""

    cuda_stream = 0

    def __init__(self, *args: Any, **keywords: Any) -> None:
        """Whatever it is told."""

    def __enter__(self) -> _Moment:
        return self

    def __exit__(self, *args: object) -> None:
        """Nothing changes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing

    def elapsed_time(self, end: object) -> float:
        return 1.0

    def query(self) -> bool:
        return True


def _nothing(*args: Any, **keywords: Any) -> None:
    """Nothing is to be done."""


def _always(value: Any) -> Callable[..., Any]:
    return lambda *args, **keywords: value


def _answers() -> dict[str, Any]:
    """What `torch.cuda` says of one GPU that is not there."""
    properties = SimpleNamespace(
        name="none (teeny record)", major=9, minor=0, multi_processor_count=132, total_memory=_MEMORY, warp_size=32,
        shared_memory_per_multiprocessor=233472, shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
        regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, L2_cache_size=50 << 20,
    )  # fmt: skip
    found: dict[str, Any] = {
        "device_count": _always(1), "current_device": _always(0), "get_device_capability": _always((9, 0)),
        "get_device_name": _always(properties.name), "get_device_properties": _always(properties),
        "mem_get_info": _always((_MEMORY, _MEMORY)), "is_bf16_supported": _always(True),
        "is_initialized": _always(True),
        "current_stream": _always(_Moment()), "default_stream": _always(_Moment()),
    }  # fmt: skip
    for name in ("Stream", "Event", "device", "device_of", "stream"):
        found[name] = type(name, (_Moment,), {})
    idle = (
        "synchronize", "set_device", "empty_cache", "init", "manual_seed", "manual_seed_all", "set_stream",
        "reset_peak_memory_stats", "reset_max_memory_allocated", "ipc_collect",
    )  # fmt: skip
    none = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
    found |= {name: _always(None) for name in idle}  # one function each: PyTorch tells them apart
    return found | {name: _always(0) for name in none}
