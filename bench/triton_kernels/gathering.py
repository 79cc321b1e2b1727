"""Kernels that sort, scan, count and scatter: routing, recurrences, convolutions, embeddings, ragged rows."""

import torch
import triton
import triton.language as tl

from bench.triton_kernels.case import Trial, case, normal


@triton.jit
def router_kernel(
    logits_ptr, weight_ptr, index_ptr, experts, TOP: tl.constexpr, BLOCK: tl.constexpr, NORMALISE: tl.constexpr
):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * experts + offs, mask=offs < experts, other=-float("inf"))
    p = tl.exp(x - tl.max(x, axis=0))
    p = p / tl.sum(p, axis=0)
    slots = tl.arange(0, TOP)
    weights = tl.zeros((TOP,), dtype=tl.float32)
    chosen = tl.zeros((TOP,), dtype=tl.int32)
    for slot in tl.static_range(TOP):
        best, where = tl.max(p, axis=0, return_indices=True)
        weights = tl.where(slots == slot, best, weights)
        chosen = tl.where(slots == slot, where, chosen)
        p = tl.where(offs == where, -1.0, p)
    if NORMALISE:
        weights = weights / tl.sum(weights, axis=0)
    tl.store(weight_ptr + row * TOP + slots, weights)
    tl.store(index_ptr + row * TOP + slots, chosen)


@case
def top_k_routing(scale):
    rows, experts, top = 100 * scale, 60, 4
    logits = normal(rows, experts)
    weights, index = torch.empty(rows, top), torch.empty(rows, top, dtype=torch.int32)

    def wanted():
        values, places = torch.softmax(logits, 1).topk(top, 1)
        return [values / values.sum(1, keepdim=True), places.int()]

    return Trial(
        lambda: router_kernel[(rows,)](logits, weights, index, experts, TOP=top, BLOCK=64, NORMALISE=True),
        [weights, index],
        wanted,
    )


@triton.jit
def sort_kernel(x_ptr, out_ptr, top_ptr, BLOCK: tl.constexpr, TOP: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + offs)
    tl.store(out_ptr + row * BLOCK + offs, tl.sort(x))
    tl.store(top_ptr + row * TOP + tl.arange(0, TOP), tl.topk(x, TOP))


@case
def sort_and_top_k(scale):
    rows, n, top = 8 * scale, 128, 8
    x, out, best = normal(rows, n), torch.empty(rows, n), torch.empty(rows, top)
    return Trial(
        lambda: sort_kernel[(rows,)](x, out, best, BLOCK=n, TOP=top),
        [out, best],
        lambda: [x.sort(1).values, x.topk(top, 1).values],
    )


@triton.jit
def argmax_kernel(x_ptr, high_ptr, low_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    high = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
    low = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=float("inf"))
    tl.store(high_ptr + row, tl.argmax(high, axis=0))
    tl.store(low_ptr + row, tl.argmin(low, axis=0))


@case
def arg_extremes(scale):
    rows, cols = 80 * scale, 300
    x = normal(rows, cols)
    high, low = torch.empty(rows, dtype=torch.int64), torch.empty(rows, dtype=torch.int64)
    return Trial(
        lambda: argmax_kernel[(rows,)](x, high, low, cols, BLOCK=512), [high, low], lambda: [x.argmax(1), x.argmin(1)]
    )


@triton.jit
def step(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence_kernel(a_ptr, b_ptr, out_ptr, seq, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < seq
    a = tl.load(a_ptr + row * seq + offs, mask=mask, other=1.0)
    b = tl.load(b_ptr + row * seq + offs, mask=mask, other=0.0)
    _, h = tl.associative_scan((a, b), 0, step)
    tl.store(out_ptr + row * seq + offs, h, mask=mask)


@case
def linear_recurrence(scale):
    rows, seq = 50 * scale, 200
    a, b = torch.sigmoid(normal(rows, seq)), normal(rows, seq, seed=1)
    out = torch.empty(rows, seq)

    def wanted():
        h, found = torch.zeros(rows), []
        for t in range(seq):
            h = a[:, t] * h + b[:, t]
            found.append(h)
        return [torch.stack(found, 1)]

    return Trial(lambda: recurrence_kernel[(rows,)](a, b, out, seq, BLOCK=256), [out], wanted, 1e-4)


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, back_ptr, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    offs_n = tl.program_id(0) * BN + tl.arange(0, BN)
    carried = tl.zeros((BN,), dtype=tl.float32)
    for start in range(0, rows, BM):
        offs_m = start + tl.arange(0, BM)
        mask = (offs_m[:, None] < rows) & (offs_n[None, :] < cols)
        x = tl.load(x_ptr + offs_m[:, None] * cols + offs_n[None, :], mask=mask, other=0.0)
        tl.store(out_ptr + offs_m[:, None] * cols + offs_n[None, :], tl.cumsum(x, axis=0) + carried[None, :], mask=mask)
        tl.store(back_ptr + offs_m[:, None] * cols + offs_n[None, :], tl.cumsum(x, axis=0, reverse=True), mask=mask)
        carried += tl.sum(x, axis=0)


@case
def column_cumsum(scale):
    rows, cols, bm = 100, 90 * scale, 32
    x = normal(rows, cols)
    out, back = torch.empty_like(x), torch.empty_like(x)

    def wanted():
        parts = [part.flip(0).cumsum(0).flip(0) for part in x.split(bm)]
        return [x.cumsum(0), torch.cat(parts)]

    return Trial(
        lambda: cumsum_kernel[(triton.cdiv(cols, 64),)](x, out, back, rows, cols, BM=bm, BN=64),
        [out, back],
        wanted,
        1e-4,
    )


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, out_ptr, dim, seq, WIDTH: tl.constexpr, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr
):
    pid = tl.program_id(0)
    channel = pid % dim
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(WIDTH):
        at = offs - (WIDTH - 1) + tap
        x = tl.load(x_ptr + pid * seq + at, mask=(at >= 0) & (at < seq), other=0.0)
        acc += x * tl.load(w_ptr + channel * WIDTH + tap)
    if HAS_BIAS:
        acc += tl.load(bias_ptr + channel)
    tl.store(out_ptr + pid * seq + offs, acc * tl.sigmoid(acc), mask=offs < seq)


@case
def causal_convolution(scale):
    batch, dim, seq, width = 2 * scale, 8, 300, 4
    x, w, bias = normal(batch, dim, seq), normal(dim, width, seed=1), normal(dim, seed=2)
    out = torch.empty_like(x)

    def wanted():
        right = torch.nn.functional.conv1d(x, w[:, None], bias, padding=width - 1, groups=dim)[..., :seq]
        return [torch.nn.functional.silu(right)]

    return Trial(
        lambda: conv_kernel[(batch * dim, triton.cdiv(seq, 128))](
            x, w, bias, out, dim, seq, WIDTH=width, BLOCK=128, HAS_BIAS=bias is not None
        ),
        [out],
        wanted,
        1e-4,
    )


@triton.jit
def embedding_kernel(table_ptr, index_ptr, out_ptr, dim, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.load(index_ptr + row)
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * dim + offs, tl.load(table_ptr + index * dim + offs, mask=offs < dim), mask=offs < dim)


@triton.jit
def embedding_grad_kernel(grad_ptr, index_ptr, table_grad_ptr, dim, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.load(index_ptr + row)
    offs = tl.arange(0, BLOCK)
    grad = tl.load(grad_ptr + row * dim + offs, mask=offs < dim)
    tl.atomic_add(table_grad_ptr + index * dim + offs, grad, mask=offs < dim)


def _embedding(scale):
    vocab, tokens, dim = 50, 300 * scale, 40
    index = torch.randint(0, vocab, (tokens,), generator=torch.Generator().manual_seed(0))
    return vocab, tokens, dim, index


@case
def embedding(scale):
    vocab, tokens, dim, index = _embedding(scale)
    table, out = normal(vocab, dim), torch.empty(tokens, dim)
    return Trial(lambda: embedding_kernel[(tokens,)](table, index, out, dim, BLOCK=64), [out], lambda: [table[index]])


@case
def embedding_gradient(scale):
    vocab, tokens, dim, index = _embedding(scale)
    grad, found = normal(tokens, dim), torch.zeros(vocab, dim)

    def run():
        found.zero_()
        embedding_grad_kernel[(tokens,)](grad, index, found, dim, BLOCK=64)

    return Trial(run, [found], lambda: [torch.zeros(vocab, dim).index_add_(0, index, grad)], 1e-3)


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    counts = tl.histogram(x, BINS)
    missing = tl.sum((offs >= n).to(tl.int32), axis=0)
    bins = tl.arange(0, BINS)
    counts = tl.where(bins == 0, counts - missing, counts)
    tl.atomic_add(out_ptr + bins, counts)


@case
def histogram(scale):
    n, bins = 5000 * scale, 64
    x = torch.randint(0, bins, (n,), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    out = torch.zeros(bins, dtype=torch.int32)

    def run():
        out.zero_()
        histogram_kernel[(triton.cdiv(n, 512),)](x, out, n, BINS=bins, BLOCK=512)

    return Trial(run, [out], lambda: [torch.bincount(x.long(), minlength=bins).int()])


@triton.jit
def jagged_sum_kernel(values_ptr, offsets_ptr, out_ptr, dim, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    start = tl.load(offsets_ptr + row)
    end = tl.load(offsets_ptr + row + 1)
    acc = tl.zeros((BN,), dtype=tl.float32)
    for at in range(start, end, BM):
        lines = at + tl.arange(0, BM)
        mask = (lines[:, None] < end) & (offs_n[None, :] < dim)
        acc += tl.sum(tl.load(values_ptr + lines[:, None] * dim + offs_n[None, :], mask=mask, other=0.0), axis=0)
    tl.store(out_ptr + row * dim + offs_n, acc, mask=offs_n < dim)


@case
def jagged_sum(scale):
    rows, dim = 30 * scale, 50
    lengths = torch.randint(0, 40, (rows,), generator=torch.Generator().manual_seed(0))
    offsets = torch.cat((torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)))
    values, out = normal(int(offsets[-1]), dim), torch.empty(rows, dim)

    def wanted():
        pairs = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return [torch.stack([values[a:b].sum(0) for a, b in pairs])]

    return Trial(
        lambda: jagged_sum_kernel[(rows, triton.cdiv(dim, 32))](values, offsets, out, dim, BM=16, BN=32),
        [out],
        wanted,
        1e-4,
    )


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + offs)
    tl.store(out_ptr + row * N + offs, tl.gather(x, tl.load(index_ptr + row * N + offs), 0))


@case
def row_gather(scale):
    rows, n = 40 * scale, 64
    x = normal(rows, n)
    index = torch.randint(0, n, (rows, n), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    out = torch.empty_like(x)
    return Trial(lambda: gather_kernel[(rows,)](x, index, out, N=n), [out], lambda: [x.gather(1, index.long())])


@triton.jit
def pool_kernel(x_ptr, out_ptr, height, width, out_width, total, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < total
    row, column = offs // out_width, offs % out_width
    best = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for i in range(SIZE):
        for j in range(SIZE):
            at = (row * SIZE + i) * width + column * SIZE + j
            best = tl.maximum(best, tl.load(x_ptr + at, mask=mask, other=-float("inf")))
    tl.store(out_ptr + offs, best, mask=mask)


@case
def max_pooling(scale):
    height, width, size = 60 * scale, 90, 3
    x, out = normal(height, width), torch.empty(height // size, width // size)
    total = out.numel()
    return Trial(
        lambda: pool_kernel[(triton.cdiv(total, 128),)](
            x, out, height, width, width // size, total, SIZE=size, BLOCK=128
        ),
        [out],
        lambda: [torch.nn.functional.max_pool2d(x[None, None], size)[0, 0]],
    )
