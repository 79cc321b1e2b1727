"""torch tensors, on the CPU and on CUDA devices, as kernel arguments, in one to two microseconds."""

from __future__ import annotations

from typing import Any

from teeny.runtime.arrays import Adapter, ArrayInfo, NotAnArrayError, make_info

PLAIN = "a dense-layout tensor on the CPU or a CUDA device"

_NAMES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz",
}  # fmt: skip


def adapter(torch: Any) -> Adapter:
    """The function that describes tensors of this torch."""
    dtypes: dict[Any, tuple[str, int]] = {
        getattr(torch, theirs): (ours, getattr(torch, theirs).itemsize)
        for theirs, ours in _NAMES.items()
        if hasattr(torch, theirs)
    }
    strided = torch.strided
    devices: dict[Any, str] = {torch.device("cpu"): "cpu"}

    def device_name(device: Any) -> str:
        if device.type == "cuda":
            name = devices[device] = f"cuda:{device.index}"
            return name
        raise NotAnArrayError(f"a torch tensor on the {device.type} device", PLAIN)

    def describe(x: Any) -> ArrayInfo:
        entry = dtypes.get(x.dtype)
        if entry is None:
            raise NotAnArrayError(f"a torch tensor of {x.dtype}", "a tensor of a real dtype (see torch.view_as_real)")
        dtype, size = entry
        if x.layout is not strided:
            raise NotAnArrayError(f"a torch tensor of layout {x.layout}", "a strided tensor (x.to_dense() makes one)")
        device = devices.get(x.device) or device_name(x.device)
        if x.is_neg():
            raise NotAnArrayError("a torch tensor with a pending negation", "its .resolve_neg()")
        try:
            pointer = x.data_ptr()
            shape, strides, before = tuple(x.shape), x.stride(), x.storage_offset()
            storage = x.untyped_storage()
            after = storage.nbytes() // size - before
            if pointer == 0 and (start := storage.data_ptr()):  # torch gives 0 for views without elements
                pointer = start + before * size
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            raise NotAnArrayError(f"a torch tensor without memory of its own ({reason})", PLAIN) from error
        if pointer % size:
            raise NotAnArrayError(
                f"a torch tensor of {dtype} whose elements do not start at multiples of {size} bytes",
                "an aligned tensor (x.clone() makes one)",
            )
        if pointer == 0:
            if x.numel():
                raise NotAnArrayError("a torch tensor without memory of its own", PLAIN)
            after = before = 0
        return make_info((pointer, dtype, shape, strides, device, False, after, before, x))

    return describe
