"""Triton's own `kernel[grid](...)` on CPU tensors through the backend plugin: grids, options, tuning, hooks."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
import triton
import triton.language as tl
from triton import knobs

from teeny.diag.errors import LaunchError


@pytest.fixture(scope="module", autouse=True)
def cpu() -> None:
    from teeny.triton import activate

    activate()


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) + tl.load(y_ptr + offs, mask=mask), mask=mask)


@triton.jit
def where_am_i(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out_ptr + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nx + 10000 * ny + 100000 * nz)


def numbers(n: int = 1000) -> tuple[Any, Any, Any]:
    return torch.arange(n, dtype=torch.float32), torch.full((n,), 0.5), torch.zeros(n)


# grids


@pytest.mark.parametrize(
    "grid", [(8,), [8], (8, 1), [8, 1, 1], lambda meta: (triton.cdiv(1000, meta["BLOCK"]),), (torch.tensor(8).item(),)]
)
def test_grids(grid: Any) -> None:
    x, y, out = numbers()
    add[grid](x, y, out, 1000, BLOCK=128)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize("grid", [(3,), (3, 4), (3, 4, 5), [2, 1, 3]])
def test_programs_know_their_place(grid: Any) -> None:
    nx, ny, nz = (*grid, 1, 1)[:3]
    out = torch.zeros(nx * ny * nz, dtype=torch.int32)
    where_am_i[grid](out)
    wanted = [
        x + 10 * y + 100 * z + 1000 * nx + 10000 * ny + 100000 * nz
        for z in range(nz)
        for y in range(ny)
        for x in range(nx)
    ]
    assert out.tolist() == wanted


@pytest.mark.parametrize("grid", [(0,), (0, 4), (3, 0), (1, 1, 0), (0, 0, 0)])
def test_empty_grids_run_nothing(grid: tuple[int, ...]) -> None:
    x, y, out = numbers()
    add[grid](x, y, out, 1000, BLOCK=128)
    assert not out.any()
    many = torch.zeros(1, dtype=torch.int32)
    where_am_i[grid](many)
    assert not many.any()


def test_a_large_grid() -> None:
    out = torch.zeros(300_000, dtype=torch.int32)
    where_am_i[(300_000,)](out)
    assert torch.equal(out, torch.arange(300_000, dtype=torch.int32) + 1000 * 300_000 + 110_000)


@pytest.mark.parametrize("grid", [(1.5,), (100.5, 3), (2**40, 2**20, 2**20), (1, 70_000)])
def test_grids_that_cannot_be(grid: Any) -> None:
    x, y, out = numbers()
    with pytest.raises(LaunchError, match="L008"):
        add[grid](x, y, out, 1000, BLOCK=128)


def test_a_number_is_no_grid() -> None:
    x, y, out = numbers()
    with pytest.raises(TypeError):
        add[8](x, y, out, 1000, BLOCK=128)


# options of a launch


@pytest.mark.parametrize(
    "options",
    [
        {"num_warps": 8},
        {"num_stages": 5},
        {"num_ctas": 1},
        {"num_ctas": 2},
        {"maxnreg": 64},
        {"num_warps": 1, "num_stages": 1, "enable_fp_fusion": False},
        {"launch_cooperative_grid": True},
        {"launch_pdl": True},
        {"waves_per_eu": 2, "matrix_instr_nonkdim": 16, "kpack": 2},
        {"extern_libs": {}},
        {"debug": True},
        {"sanitize_overflow": True},
    ],
    ids=str,
)
def test_options_of_gpus_are_taken(options: dict[str, Any]) -> None:
    x, y, out = numbers()
    add[(8,)](x, y, out, 1000, BLOCK=128, **options)
    assert torch.equal(out, x + y)


def test_an_unknown_option_is_refused_by_triton() -> None:
    x, y, out = numbers()
    with pytest.raises(KeyError, match="no_such_option"):
        add[(8,)](x, y, out, 1000, BLOCK=128, no_such_option=3)


def test_missing_arguments() -> None:
    x, y, out = numbers()
    with pytest.raises(TypeError, match="n"):
        add[(8,)](x, y, out, BLOCK=128)


# tuning


def tuned(**options: Any) -> Any:
    configs = [triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((32, 1), (64, 2), (128, 4))]
    return triton.autotune(configs=configs, key=["n"], **options)


@triton.jit
def accumulate(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(out_ptr + offs, mask=mask) + tl.load(x_ptr + offs, mask=mask), mask=mask)


def grid_of(n: int) -> Any:
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


def test_autotune_with_values_restored() -> None:
    kernel = tuned(restore_value=["out_ptr"])(accumulate)
    x, _, out = numbers()
    out += 3
    kernel[grid_of(1000)](x, out, 1000)
    assert torch.equal(out, x + 3)
    assert kernel.best_config.kwargs["BLOCK"] in (32, 64, 128)
    kernel[grid_of(1000)](x, out, 1000)
    assert torch.equal(out, 2 * x + 3)


def test_autotune_with_values_set_to_zero() -> None:
    kernel = tuned(reset_to_zero=["out_ptr"])(accumulate)
    x, _, out = numbers(500)
    kernel[grid_of(500)](x, out, 500)
    assert torch.equal(out, x)


def test_autotune_with_pruned_configurations() -> None:
    seen: list[int] = []

    def early(configs: list[Any], arguments: dict[str, Any], **rest: Any) -> list[Any]:
        seen.append(arguments["n"])
        return [c for c in configs if c.kwargs["BLOCK"] != 32]

    def model(BLOCK: int, num_warps: int, **rest: Any) -> float:
        return float(BLOCK)

    prune = {"early_config_prune": early, "perf_model": model, "top_k": 1}
    kernel = tuned(prune_configs_by=prune, restore_value=["out_ptr"])(accumulate)
    x, _, out = numbers(500)
    kernel[grid_of(500)](x, out, 500)
    assert torch.equal(out, x)
    assert seen == [500]
    assert kernel.best_config.kwargs["BLOCK"] == 64


def test_autotune_with_hooks() -> None:
    before: list[Any] = []

    def hook(arguments: dict[str, Any]) -> None:
        before.append(arguments["n"])
        arguments["out_ptr"].zero_()

    configs = [triton.Config({"BLOCK": b}, pre_hook=hook) for b in (32, 64)]
    kernel = triton.autotune(configs=configs, key=["n"])(accumulate)
    x, _, out = numbers(200)
    kernel[grid_of(200)](x, out, 200)
    assert torch.equal(out, x)
    assert len(before) > 2


def test_autotune_with_results_on_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    x, _, out = numbers(200)
    kernel = tuned(restore_value=["out_ptr"], cache_results=True)(accumulate)
    kernel[grid_of(200)](x, out, 200)
    again = tuned(restore_value=["out_ptr"], cache_results=True)(accumulate)
    again[grid_of(200)](x, out, 200)
    assert torch.equal(out, 2 * x)
    assert list(tmp_path.rglob("*.autotune.json"))
    assert again.best_config.kwargs == kernel.best_config.kwargs


def test_heuristics_within_autotune() -> None:
    @triton.jit
    def even(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(out_ptr + offs, tl.load(x_ptr + offs) + 1)
        else:
            tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 2, mask=offs < n)

    kernel = tuned()(triton.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})(even))
    for n, added in ((1280, 1), (1000, 2)):
        x, _, out = numbers(n)
        kernel[grid_of(n)](x, out, n)
        assert torch.equal(out, x + added)


def test_do_bench() -> None:
    x, y, out = numbers()
    took = triton.testing.do_bench(lambda: add[(8,)](x, y, out, 1000, BLOCK=128), warmup=1, rep=5)
    assert 0 < took < 100
    low, high = triton.testing.do_bench(
        lambda: add[(8,)](x, y, out, 1000, BLOCK=128), warmup=1, rep=5, quantiles=[0.2, 0.8]
    )
    assert 0 < low <= high


# what a launch gives back, and hooks


def test_a_compiled_kernel_is_launched_again() -> None:
    x, y, out = numbers()
    compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
    assert compiled.name == "add"
    assert compiled.metadata.num_warps == 4
    assert compiled.n_spills == 0
    assert compiled.metadata.shared == 0
    out.zero_()
    compiled[(8, 1, 1)](x, y, out, 1000, 128)
    assert torch.equal(out, x + y)


def test_texts_of_a_compiled_kernel() -> None:
    x, y, out = numbers()
    compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
    assert "tt.func public @add" in compiled.asm["ttir"]
    assert builtins.bytes(compiled.asm["object"])[1:4] == b"ELF"
    assert compiled.asm["source"]


def test_warmup_compiles_and_does_not_run() -> None:
    x, y, out = numbers()
    compiled = add.warmup(x, y, out, 1000, BLOCK=64, grid=(16,))
    assert not out.any()
    from_types = add.warmup(torch.float32, torch.float32, torch.float32, 1000, BLOCK=64, grid=(16,))
    assert from_types.asm["ttir"]
    add[(16,)](x, y, out, 1000, BLOCK=64)
    assert torch.equal(out, x + y)
    out.zero_()
    compiled[(16, 1, 1)](x, y, out, 1000, 64)
    assert torch.equal(out, x + y)


def test_run_of_a_function() -> None:
    x, y, out = numbers()
    add.run(x, y, out, 1000, BLOCK=128, grid=(8,), warmup=False)
    assert torch.equal(out, x + y)


@pytest.fixture
def hooks() -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []
    before = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook

    def enter(metadata: Any) -> None:
        seen.append(("enter", metadata.get()))

    def leave(metadata: Any) -> None:
        seen.append(("exit", metadata.get()))

    chains = [knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook]
    if all(hasattr(c, "add") for c in chains):
        chains[0].add(enter)
        chains[1].add(leave)
        yield seen
        chains[0].remove(enter)
        chains[1].remove(leave)
    else:
        knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook = enter, leave
        yield seen
        knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook = before


def describe(grid: Any, metadata: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"copy of {arguments['n']}", "grid": tuple(grid), "warps": metadata.num_warps}


@triton.jit(launch_metadata=describe)
def described(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def test_hooks_of_launches(hooks: list[tuple[str, Any]]) -> None:
    x, _, out = numbers(100)
    described[(1,)](x, out, 100, BLOCK=128, num_warps=2)
    assert torch.equal(out, x)
    assert [name for name, _ in hooks] == ["enter", "exit"]
    assert hooks[0][1]["name"] == "copy of 100"
    assert hooks[0][1]["grid"] == (1,)
    assert hooks[0][1]["warps"] == 2


def test_hooks_of_empty_grids(hooks: list[tuple[str, Any]]) -> None:
    x, y, out = numbers(100)
    add[(0,)](x, y, out, 100, BLOCK=128)
    assert [name for name, _ in hooks] == ["enter", "exit"]


def test_hook_before_runs() -> None:
    @triton.jit
    def put(out_ptr, value):
        tl.store(out_ptr, value)

    seen: list[Any] = []
    put.add_pre_run_hook(lambda *args, **rest: seen.append(args[1]))
    out = torch.zeros(1)
    put[(1,)](out, 2.5)
    assert seen == [2.5]
    assert out.item() == 2.5


def test_stages_may_be_inspected(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(knobs.runtime, "add_stages_inspection_hook"):
        pytest.skip("this Triton has no such hook")
    seen: list[list[str]] = []

    def hook(
        backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None
    ) -> tuple[str, str]:
        if stages is not None:
            seen.append(list(stages))
        return "key", "hash"

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", hook)
    x, y, out = numbers()
    add[(4,)](x, y, out, 1000, BLOCK=256)
    assert torch.equal(out, x + y)
    assert seen == [["ttir", "object"]]


# what cannot be


class Elsewhere:
    """A tensor on a GPU as far as a launch looks at it."""

    dtype = torch.float32
    device = torch.device("cuda", 0)
    is_cpu = False

    def data_ptr(self) -> int:
        return 0x1000


def test_tensors_on_a_gpu_are_refused() -> None:
    x, _, out = numbers()
    with pytest.raises(LaunchError) as caught:
        add[(8,)](x, Elsewhere(), out, 1000, BLOCK=128)
    assert caught.value.diagnostics[0].code == "L004"
    assert "`y_ptr`" in str(caught.value)
    assert "cuda:0" in str(caught.value)


def test_numpy_arrays_are_refused_by_triton() -> None:
    x, _, out = numbers()
    with pytest.raises(TypeError, match="ndarray"):
        add[(8,)](x, x.numpy(), out, 1000, BLOCK=128)
