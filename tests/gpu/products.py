"""Products on a CUDA device through torch: each check raises where a result is off. No pytest in here."""

from __future__ import annotations

from typing import Any

from teeny.cli.examples import example
from teeny.cli.files import SourcePath, load
from tests.backends.cpu.lower import dots

DTYPES = ("f32", "f16", "bf16")
SIZES = ((128, 128, 128), (100, 90, 70), (1, 1, 1), (257, 65, 130))


def kind(torch: Any, name: str) -> Any:
    return {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[name]


def within(torch: Any, found: Any, a: Any, b: Any, close: float) -> None:
    """The error against the product in f64 is at most `close` times |a| |b|."""
    x, y = a.double(), b.double()
    excess = ((found.double() - x @ y).abs() / ((x.abs() @ y.abs()) + 1e-30)).max().item()
    assert excess <= close, f"{excess} > {close}"


def matmul(torch: Any, dtype: str, sizes: tuple[int, int, int], turned: bool) -> None:
    """The example, on ragged sizes and transposed views. f32 goes through tf32, with 10 bits of the inputs."""
    kernel = load(SourcePath.of(example("matmul.py"))).matmul
    m, n, k = sizes
    torch.manual_seed(0)
    a = torch.randn(m, k, device="cuda").to(kind(torch, dtype))
    b = torch.randn(k, n, device="cuda").to(kind(torch, dtype))
    if turned:
        a, b = a.t().contiguous().t(), b.t().contiguous().t()
    c = torch.full((m, n), 7.0, device="cuda").to(kind(torch, dtype))
    grid = (-(-m // 64) * -(-n // 64),)
    kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), 64, 64, 32, 4)
    within(torch, c, a, b, {"f32": 2.0**-9, "f16": 2.0**-10, "bf16": 2.0**-8}[dtype])


def precise(torch: Any) -> None:
    """`input_precision="ieee"` keeps all bits of f32."""
    torch.manual_seed(0)
    a, b = (torch.randn(64, 64, device="cuda") for _ in range(2))
    c = torch.zeros(64, 64, device="cuda")
    dots.transposed[(1,)](a, b.t().contiguous(), c, False, True, 64, 64, 64)
    within(torch, c, a, b, 64 * 2.0**-23)


def integers(torch: Any) -> None:
    torch.manual_seed(0)
    a, b = (torch.randint(-128, 128, (64, 64), device="cuda").to(torch.int8) for _ in range(2))
    c = torch.randint(-(2**31), 2**31 - 1, (64, 64), device="cuda").to(torch.int32)
    right = (a.cpu().long() @ b.cpu().long() + c.cpu().long()).to(torch.int32)
    dots.integers[(1,)](a, b, c, 64, False, 64, 64, 64)
    assert torch.equal(c.cpu(), right)


def attention(torch: Any, dtype: str, causal: bool) -> None:
    n, d = 200, 64
    torch.manual_seed(0)
    q, k, v = (torch.randn(n, d, device="cuda").to(kind(torch, dtype)) for _ in range(3))
    out = torch.zeros_like(q)
    dots.attention[(-(-n // 64),)](q, k, v, out, n, d**-0.5, causal, 64, 64, d)
    scores = q.double() @ k.double().t() * d**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones(n, n, device="cuda").triu(1).bool(), -float("inf"))
    right = scores.softmax(1) @ v.double()
    error = (out.double() - right).abs().max().item()
    assert error <= {"f32": 1e-2, "f16": 1e-2, "bf16": 4e-2}[dtype], error
