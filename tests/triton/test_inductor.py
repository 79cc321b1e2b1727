"""`torch.compile` on the CPU through this backend: Inductor's Triton kernels for CPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys, traceback, warnings
warnings.simplefilter("ignore")
import torch
import torch._inductor.config as config
import torch.nn.functional as F
config.cpu_backend = "triton"
config.compile_threads = 1
torch.manual_seed(0)


class Perceptron(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = torch.nn.Linear(64, 128), torch.nn.Linear(128, 10), torch.nn.LayerNorm(128)

    def forward(self, x):
        return torch.softmax(self.second(self.norm(F.gelu(self.first(x)))), -1)


def block(x, w, b):
    return F.layer_norm(torch.softmax(x * 2.0, -1), (x.shape[-1],), w, b)


def reduce(x):
    return x.var(1), x.argmax(1), x.amin(0), (x > 0).any(1), x.cumsum(1)


def move(x, i):
    return x[i], x.roll(1, 1).T.contiguous(), torch.cat((x, x + 1), 1), F.pad(x, (1, 2))


x, w, b = torch.randn(32, 64), torch.randn(64), torch.randn(64)
i = torch.randint(0, 32, (20,))
CASES = {
    "perceptron": (Perceptron(), (x,)),
    "block": (block, (x, w, b)),
    "reduce": (reduce, (x,)),
    "move": (move, (x, i)),
    "pointwise": (lambda x: (x.sigmoid() * x.tanh() + x.exp().log1p()).clamp(-3, 3), (x,)),
    "embedding": (lambda t, i: F.embedding(i, t).sum(1), (x, i[:10].view(5, 2))),
}
for name, (fn, args) in CASES.items():
    try:
        if name == "perceptron":
            compiled = torch.compile(fn)
            y = compiled(*args)
            y.square().sum().backward()
            grads = [p.grad.clone() for p in fn.parameters()]
            fn.zero_grad()
            right = fn(*args)
            right.square().sum().backward()
            torch.testing.assert_close(y, right, rtol=1e-4, atol=1e-5)
            for found, p in zip(grads, fn.parameters(), strict=True):
                torch.testing.assert_close(found, p.grad, rtol=1e-3, atol=1e-4)
        else:
            torch.testing.assert_close(torch.compile(fn)(*args), fn(*args), rtol=1e-4, atol=1e-5)
    except Exception:
        print("failed", name, flush=True)
        print(f"{name}: {traceback.format_exc()}", file=sys.stderr)
    else:
        print("ok", name, flush=True)
"""
NAMES = ("perceptron", "block", "reduce", "move", "pointwise", "embedding")


@dataclass(frozen=True)
class Done:
    """What one process printed, and the code that Inductor wrote in it."""

    lines: list[str]
    errors: str
    code: str


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("inductor")
    environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TORCHINDUCTOR_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    code = "".join(path.read_text() for path in folder.rglob("*.py"))
    return Done(done.stdout.splitlines(), done.stderr, code)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_functions_match(name: str, done: Done) -> None:
    assert f"ok {name}" in done.lines, done.errors[-6000:]


def test_the_code_is_of_triton(done: Done) -> None:
    assert "triton_heuristics" in done.code
