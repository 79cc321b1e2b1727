"""`teeny record` on programs of many kinds: pytest, processes, autotuning, gradients, `cuda` without a GPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teeny.cli.main import main

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

without_gpu = pytest.mark.skipif(
    bool(torch.cuda.is_available()), reason="PyTorch's cuda is replaced without a GPU alone"
)
HEAD = """\
import sys
import torch, triton, triton.language as tl

@triton.jit
def fill(x_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x_ptr + i, 1.0, mask=i < n)

"""

Record = Callable[..., tuple[int, str, list[dict[str, Any]]]]


@pytest.fixture
def record(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Record:
    def run(text: str, *before: str, name: str = "program.py") -> tuple[int, str, list[dict[str, Any]]]:
        path, kept = tmp_path / name, tmp_path / "launches.jsonl"
        path.write_text(HEAD + text)
        status = main(["record", "--output", str(kept), "--", sys.executable, *before, str(path)])
        out, err = capfd.readouterr()
        return status, out + err, [json.loads(line) for line in kept.read_text().splitlines()]

    return run


def test_under_pytest_what_fails_for_results_is_said(record: Record) -> None:
    text = "def test_it():\n    x = torch.zeros(4)\n    fill[(1,)](x, 4, B=4)\n    assert x.sum() == 4\n"
    status, out, rows = record(text, "-m", "pytest", "-q", "-p", "no:cacheprovider", name="test_it.py")
    assert (status, len(rows)) == (1, 1)
    assert "1 failed" in out
    assert "1 distinct launches: no findings" in out
    assert "kernels were not run, so what fails for their results says nothing" in out


def test_an_exception_after_launches(record: Record) -> None:
    status, out, rows = record("fill[(1,)](torch.zeros(4), 5, B=8)\nraise RuntimeError('boom')\n")
    assert (status, len(rows)) == (1, 1)
    assert "element 4 of `x_ptr`" in out
    assert "boom" in out


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(record: Record, method: str) -> None:
    text = f"""
import multiprocessing
def work(n):
    fill[(1,)](torch.zeros(n), n + (n == 7), B=8)
if __name__ == "__main__":
    made = [multiprocessing.get_context("{method}").Process(target=work, args=(n,)) for n in (5, 7, 5)]
    for one in made: one.start()
    for one in made: one.join()
    sys.exit(max(one.exitcode for one in made))
"""
    status, out, _ = record(text)
    assert status == 1
    assert "element 7 of `x_ptr`" in out
    assert "1 error in 2 distinct launches" in out


TUNED = """
@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b in (256, 32, 64) for w in (2, 4)], key=["n"])
@triton.heuristics({"EVEN": lambda a: a["n"] % a["B"] == 0})
@triton.jit
def tuned(x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(B < 256)
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x_ptr + i, 1.0, mask=i < n)

x = torch.zeros(100)
for _ in range(2):
    tuned[lambda meta: (triton.cdiv(100, meta["B"]),)](x, 100)
assert tuned.best_config.kwargs["B"] == 32
calls = []
assert triton.testing.do_bench(lambda: calls.append(0)) == 1.0
assert triton.testing.do_bench(lambda: calls.append(0), quantiles=[0.5, 0.2, 0.8]) == [1.0, 1.0, 1.0]
assert len(calls) == 2
"""


def test_autotuning_launches_each_configuration_once(record: Record) -> None:
    status, out, rows = record(TUNED)
    assert status == 0, out
    assert [row["arguments"]["B"] for row in rows] == ["256", "32", "64"]
    assert rows[0]["note"].startswith("left out by the autotuner")
    assert "leaked" not in out


GRADIENT = """
class Fill(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert x.is_cuda and x.device.type == "cuda"
        y = torch.empty_like(x)
        with torch.cuda.device(x.device):
            fill[(1,)](y, y.numel(), B=16)
        return y
    @staticmethod
    def backward(ctx, g):
        out = torch.empty(g.shape, device=g.device)
        fill[(1,)](out, out.numel() + 1, B=16)
        return out

assert torch.cuda.is_available()
torch.manual_seed(0)
layer = torch.nn.Linear(3, 10).cuda().to(torch.device("cuda:0"))
x = torch.randn(1, 3, device="cuda", requires_grad=True)
Fill.apply(layer(x)).sum().backward()
torch.set_default_device("cuda")
torch.zeros(3) + torch.ones(3, device=torch.device("cuda", 0))
torch.cuda.synchronize()
event = torch.cuda.Event(enable_timing=True)
event.record()
assert event.elapsed_time(event) > 0
torch.optim.AdamW(layer.parameters()).step()
assert x.cpu().tolist() and x.shape == (1, 3)
"""


@without_gpu
def test_gradients_and_cuda_without_a_gpu(record: Record) -> None:
    status, out, rows = record(GRADIENT)
    assert len(rows) == 2, out
    assert status == 1
    assert "element 10 of `x_ptr`" in out
    assert "the program ended" not in out


DESCRIPTORS = """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def copy(desc, outs, sizes, M: tl.constexpr, N: tl.constexpr):
    x = desc.load([tl.program_id(0) * M, 0])
    made = tl.make_tensor_descriptor(outs[0], [sizes[0], sizes[1]], [sizes[1], 1], [M, N])
    made.store([tl.program_id(0) * M, 0], x)
    tl.store(outs[1] + tl.program_id(0) * N + tl.arange(0, N), tl.max(x, 0))

x, y, z = torch.randn(30, 32), torch.empty(30, 32), torch.empty(3, 32)
for programs in (3, 4):
    copy[(programs,)](TensorDescriptor.from_tensor(x, [8, 32]), (y, z), (30, 32), M=8, N=32)
copy[(3,)](TensorDescriptor.from_tensor(x, [16, 32]), (y, z), (30, 32), M=16, N=32)
"""


def test_tuples_and_descriptors(record: Record) -> None:
    status, out, rows = record(DESCRIPTORS)
    assert status == 1
    assert [row["note"] for row in rows] == ["3 programs run", "2 programs run", "3 programs run"]
    assert out.count("error[B001]") == 1
    assert "`copy` writes outside of `outs[1]`" in out
    assert "desc=descriptor of float32[30, 32] in blocks of [8, 32], outs=(float32[30, 32], float32[3, 32])" in out


def test_grids_that_are_none(record: Record) -> None:
    status, out, rows = record("for grid in ((-1,), (1, 1, 1, 1), (0,)):\n    fill[grid](torch.zeros(4), 4, B=4)\n")
    assert status == 1
    assert out.count("error[L008]") == 2
    assert rows[2]["note"] == "not run: the grid is empty"


def test_arguments_that_triton_does_not_take_raise_in_the_program(record: Record) -> None:
    status, out, rows = record("fill[(1,)]([1], 4, B=4)\n")
    assert (status, rows) == (1, [])
    assert "TypeError" in out


def test_tensors_without_memory(record: Record) -> None:
    status, out, rows = record("fill[(1,)](torch.zeros(4, device='meta'), 4, B=4)\n")
    assert status == 0, out
    assert rows[0]["note"] == "not run: tensors on `meta` have no memory"
