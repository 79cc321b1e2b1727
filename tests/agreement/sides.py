"""Running the pairs: here on any executor, and in Triton, by its interpreter or on a CUDA device.

`TRITON_INTERPRET=1 python -m tests.agreement.sides FILE` writes what Triton's interpreter gives for every pair.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from teeny.diag.errors import TeenyError
from tests.agreement.lanes import LANES
from tests.agreement.more import MORE
from tests.agreement.order import ORDER
from tests.agreement.pair import Pair, is_float
from tests.language import executors, matrix, outcomes, records, workers
from tests.language.meaning import ulp_errors
from tests.language.same import different, told

PAIRS: dict[str, Pair] = {pair.name: pair for pair in (*LANES, *MORE, *ORDER)}
HEAD = "import triton\nimport triton.language as tl\n\n"
_WORDS = {
    "bf16": ("int16", "bfloat16"),
    "u16": ("int16", "uint16"),
    "u32": ("int32", "uint32"),
    "u64": ("int64", "uint64"),
}
Arrays = dict[str, Any]


def here(pair: Pair, executor: str, folder: Path) -> Arrays:
    """The arrays after a run of our kernel."""
    data = pair.data()
    kernel = executors.kernel_of(pair.in_teeny(), folder)
    executors.launch(kernel, executor, [*data.values(), *pair.scalars.values()], (pair.grid,))
    return data


def to_torch(torch: Any, array: Any, dtype: str, device: str) -> Any:
    """A tensor with the bits of an array."""
    if dtype in _WORDS:
        stored, name = _WORDS[dtype]
        return torch.from_numpy(array.view(stored).copy()).to(device).view(getattr(torch, name))
    return torch.from_numpy(array.copy()).to(device)


def from_torch(torch: Any, tensor: Any, array: Any, dtype: str) -> Any:
    """The bits of a tensor as an array of the dtype of another."""
    if dtype in _WORDS:
        tensor = tensor.view(getattr(torch, _WORDS[dtype][0]))
    return tensor.cpu().numpy().view(array.dtype)


def in_triton(pair: Pair, device: str, folder: Path) -> Arrays:
    """The arrays after a run of Triton's kernel: interpreted, or compiled, as its environment says."""
    torch = importlib.import_module("torch")
    path = folder / f"triton_{pair.name}.py"
    path.write_text(HEAD + pair.in_triton(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    dtypes = {name: dtype for name, dtype, _, _ in pair.parameters}
    data = pair.data()
    tensors = {name: to_torch(torch, array, dtypes[name], device) for name, array in data.items()}
    kernel: Any = module.kernel
    if device == "cuda":  # for descriptors that a kernel makes
        triton: Any = importlib.import_module("triton")

        def allocate(size: int, align: int, stream: object) -> Any:
            return torch.empty(size, dtype=torch.int8, device=device)

        triton.set_allocator(allocate)
    kernel[(pair.grid,)](*tensors.values(), *pair.scalars.values())
    return {name: from_torch(torch, tensors[name], data[name], dtypes[name]) for name in data}


def faults(pair: Pair, found: Arrays, wanted: Arrays, ulp: float | None = None) -> list[str]:
    """Where two runs differ by more than the pair allows."""
    allowed = pair.ulp if ulp is None else ulp
    told_: list[str] = []
    for name, dtype, _, _ in pair.parameters:
        a, b = found[name], wanted[name]
        if name in pair.unordered:
            a, b = np.sort(a), np.sort(b)
        if allowed and is_float(dtype):
            wide = b.astype(np.float64)
            wrong = ulp_errors(a, wide, b) > allowed
        else:
            wrong = different(a, b, free_zero=True)
        if wrong.any():
            told_.append(f"{pair.name}: {name}: {told(a, b, wrong, {})}")
    return told_


def on_gpu(name: str, folder: Path, part: str) -> dict[str, Any]:
    """A job for `workers`: both kernels compiled, on the CUDA device."""
    from teeny.runtime.cuda import cuda_device

    pair = PAIRS[name]
    major, minor = cuda_device(0).capability
    if 10 * major + minor < pair.least:
        return {"hash": "", "outcomes": {"cuda": f"refused: it needs a device of capability {pair.least / 10} or more"}}
    kernel = executors.kernel_of(pair.in_teeny(), folder)
    result: dict[str, Any] = {"hash": outcomes.hash_of([kernel.specialize()])}
    outcome = outcomes.OK
    try:
        mine = here(pair, "cuda", folder)
        wrong = _differs(pair, mine, folder)
        if wrong and not pair.gpu_apart:
            outcome = "failed: " + outcomes.short("; ".join(wrong))
    except Exception as error:
        outcome = "failed: " + outcomes.short(f"{type(error).__name__}: {error}")
    return result | {"outcomes": {"cuda": outcome}, "last": outcome != outcomes.OK}


def _differs(pair: Pair, mine: Arrays, folder: Path) -> list[str]:
    """Where Triton's compiled kernel gives something else, or that it raises."""
    try:
        theirs = in_triton(pair, "cuda", folder)
    except Exception as error:
        return [f"in Triton: {type(error).__name__}: {error}"]
    return faults(pair, mine, theirs)


def hashes() -> dict[str, str]:
    """The hash of each of our kernels as it is now; what is wrong where it has a fault."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, pair in PAIRS.items():
            try:
                made = executors.kernel_of(pair.in_teeny(), Path(folder)).specialize()
                found[name] = outcomes.hash_of([made])
            except TeenyError as error:
                found[name] = outcomes.short(str(error))
    return found


def refresh() -> list[str]:
    """Compare all pairs on the CUDA device and keep what came out; the failures."""
    part = records.Part("agreement", matrix.about("gpu"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TEENY_CACHE_DIR": folder, "TRITON_CACHE_DIR": folder}
        job = "tests.agreement.sides:on_gpu"
        for name, result in workers.run(job, list(PAIRS), environment=environment):
            part.note(name, result)
    part.keep(PAIRS)
    return part.failures(PAIRS)


def interpreted() -> dict[str, Arrays | str]:
    """What Triton's interpreter gives for every pair; an error's text where it raises."""
    found: dict[str, Arrays | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, pair in PAIRS.items():
            try:
                with np.errstate(all="ignore"):
                    found[name] = in_triton(pair, "cpu", Path(folder))
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    assert os.environ.get("TRITON_INTERPRET") == "1"
    with open(sys.argv[1], "wb") as file:
        pickle.dump(interpreted(), file)
