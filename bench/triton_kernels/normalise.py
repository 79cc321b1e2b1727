"""Kernels that reduce rows: softmax, the norms, cross-entropy, divergences, their gradients."""

import torch
import triton
import triton.language as tl

from bench.triton_kernels.case import Trial, case, normal


@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * cols + offs, e / tl.sum(e, axis=0), mask=offs < cols)


@case
def fused_softmax(scale):
    rows, cols = 100 * scale, 781
    x, out = normal(rows, cols), torch.empty(rows, cols)
    return Trial(lambda: softmax_kernel[(rows,)](x, out, cols, BLOCK=1024), [out], lambda: [torch.softmax(x, 1)])


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols)
        tl.store(out_ptr + row * cols + offs, tl.exp(x - top) / total, mask=offs < cols)


@case
def online_softmax(scale):
    rows, cols = 30 * scale, 1700
    x, out = normal(rows, cols), torch.empty(rows, cols)
    return Trial(lambda: online_softmax_kernel[(rows,)](x, out, cols, BLOCK=256), [out], lambda: [torch.softmax(x, 1)])


@triton.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * cols
    out_ptr += row * cols
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offs, mask=offs < cols, other=0.0)
    mean = tl.sum(acc, axis=0) / cols
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < cols, other=0.0)
        d = tl.where(offs < cols, x - mean, 0.0)
        acc += d * d
    rstd = 1 / tl.sqrt(tl.sum(acc, axis=0) / cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < cols
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        w = tl.load(w_ptr + offs, mask=mask)
        b = tl.load(b_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, (x - mean) * rstd * w + b, mask=mask)


def _layer_norm_inputs(scale):
    rows, cols = 40 * scale, 600
    return rows, cols, normal(rows, cols), normal(cols, seed=1), normal(cols, seed=2)


@case
def layer_norm_forward(scale):
    rows, cols, x, w, b = _layer_norm_inputs(scale)
    out, mean, rstd = torch.empty_like(x), torch.empty(rows), torch.empty(rows)

    def wanted():
        right = torch.nn.functional.layer_norm(x, (cols,), w, b, 1e-5)
        return [right, x.mean(1), 1 / (x.var(1, unbiased=False) + 1e-5).sqrt()]

    return Trial(
        lambda: layer_norm_kernel[(rows,)](x, w, b, out, mean, rstd, cols, 1e-5, BLOCK=256),
        [out, mean, rstd],
        wanted,
    )


@triton.jit
def layer_norm_backward_kernel(
    dx_ptr,
    dy_ptr,
    dw_ptr,
    db_ptr,
    x_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    lock_ptr,
    cols,
    GROUPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0)
    dy = tl.load(dy_ptr + row * cols + offs, mask=mask, other=0)
    w = tl.load(w_ptr + offs, mask=mask, other=0)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    hat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(hat * wdy, axis=0) / cols
    c2 = tl.sum(wdy, axis=0) / cols
    tl.store(dx_ptr + row * cols + offs, (wdy - (hat * c1 + c2)) * rstd, mask=mask)
    group = row % GROUPS
    lock_ptr += group
    count_ptr = lock_ptr + GROUPS
    dw_ptr = dw_ptr + group * cols + offs
    db_ptr = db_ptr + group * cols + offs
    dw = dy * hat
    db = dy
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dw += tl.load(dw_ptr, mask=mask)
        db += tl.load(db_ptr, mask=mask)
    tl.store(dw_ptr, dw, mask=mask)
    tl.store(db_ptr, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def column_sum_kernel(part_ptr, out_ptr, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, rows, BLOCK_M):
        lines = start + tl.arange(0, BLOCK_M)
        mask = (lines[:, None] < rows) & (columns[None, :] < cols)
        total += tl.load(part_ptr + lines[:, None] * cols + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + columns, tl.sum(total, axis=0), mask=columns < cols)


@case
def layer_norm_backward(scale):
    rows, cols, x, w, b = _layer_norm_inputs(scale)
    dy, groups = normal(rows, cols, seed=5), 8
    mean, rstd = x.mean(1), 1 / (x.var(1, unbiased=False) + 1e-5).sqrt()
    dx, dw, db = torch.empty_like(x), torch.empty(cols), torch.empty(cols)
    part_w, part_b = torch.empty(groups, cols), torch.empty(groups, cols)
    locks = torch.zeros(2 * groups, dtype=torch.int32)

    def run():
        locks.zero_()
        layer_norm_backward_kernel[(rows,)](
            dx, dy, part_w, part_b, x, w, mean, rstd, locks, cols, GROUPS=groups, BLOCK=1024
        )
        grid = (triton.cdiv(cols, 128),)
        column_sum_kernel[grid](part_w, dw, groups, cols, BLOCK_M=8, BLOCK_N=128)
        column_sum_kernel[grid](part_b, db, groups, cols, BLOCK_M=8, BLOCK_N=128)

    def wanted():
        leaves = [t.clone().requires_grad_() for t in (x, w, b)]
        torch.nn.functional.layer_norm(leaves[0], (cols,), leaves[1], leaves[2], 1e-5).backward(dy)
        return [leaf.grad for leaf in leaves]

    return Trial(run, [dx, dw, db], wanted, 1e-4)


@triton.jit
def rms_norm_kernel(x_ptr, w_ptr, out_ptr, stride, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * stride + offs, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / cols + eps)
    w = tl.load(w_ptr + offs, mask=mask, eviction_policy="evict_last")
    tl.store(out_ptr + row * stride + offs, (x * rstd * w).to(out_ptr.dtype.element_ty), mask=mask)


@case
def rms_norm(scale):
    rows, cols = 60 * scale, 900
    x, w = normal(rows, cols, dtype=torch.bfloat16), normal(cols, seed=1)
    out = torch.empty_like(x)

    def wanted():
        wide = x.float()
        return [(wide * torch.rsqrt((wide * wide).mean(1, keepdim=True) + 1e-6) * w).bfloat16()]

    return Trial(lambda: rms_norm_kernel[(rows,)](x, w, out, x.stride(0), cols, 1e-6, BLOCK=1024), [out], wanted, 1e-2)


@triton.jit
def group_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, pixels, per, groups, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    group = pid % groups
    base = pid * per * pixels
    size = per * pixels
    first = tl.zeros((BLOCK,), tl.float32)
    second = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + offs, mask=offs < size, other=0.0)
        first += x
        second += x * x
    mean = tl.sum(first) / size
    rstd = tl.rsqrt(tl.sum(second) / size - mean * mean + eps)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        channel = group * per + offs // pixels
        mask = offs < size
        w = tl.load(w_ptr + channel, mask=mask)
        b = tl.load(b_ptr + channel, mask=mask)
        x = tl.load(x_ptr + base + offs, mask=mask)
        tl.store(out_ptr + base + offs, (x - mean) * rstd * w + b, mask=mask)


@case
def group_norm(scale):
    batch, channels, pixels, groups = 2 * scale, 16, 130, 4
    x, w, b = normal(batch, channels, pixels), normal(channels, seed=1), normal(channels, seed=2)
    out = torch.empty_like(x)
    per = channels // groups
    return Trial(
        lambda: group_norm_kernel[(batch * groups,)](x, w, b, out, pixels, per, groups, 1e-5, BLOCK=128),
        [out],
        lambda: [torch.nn.functional.group_norm(x, groups, w, b)],
        1e-4,
    )


@triton.jit
def cross_entropy_kernel(
    logits_ptr, target_ptr, loss_ptr, lse_ptr, vocab, ignore, BLOCK: tl.constexpr, CAP: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    top = -float("inf")
    total = 0.0
    for start in range(0, vocab, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * vocab + offs, mask=offs < vocab, other=-float("inf"))
        if CAP > 0.0:
            x = CAP * tl.where(offs < vocab, x, 0.0) / (CAP + tl.abs(tl.where(offs < vocab, x, 0.0)))
            x = tl.where(offs < vocab, x, -float("inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    lse = top + tl.log(total)
    tl.store(lse_ptr + row, lse)
    if target != ignore:
        chosen = tl.load(logits_ptr + row * vocab + target)
        if CAP > 0.0:
            chosen = CAP * chosen / (CAP + tl.abs(chosen))
        tl.store(loss_ptr + row, lse - chosen)
    else:
        tl.store(loss_ptr + row, 0.0)


def _targets(rows, vocab):
    target = torch.randint(0, vocab, (rows,), generator=torch.Generator().manual_seed(0))
    target[::7] = -100
    return target


def _cross_entropy(scale, cap):
    rows, vocab = 30 * scale, 1500
    logits, target = normal(rows, vocab) * 3, _targets(rows, vocab)
    loss, lse = torch.empty(rows), torch.empty(rows)

    def wanted():
        soft = cap * logits / (cap + logits.abs()) if cap else logits
        return [torch.nn.functional.cross_entropy(soft, target, reduction="none"), torch.logsumexp(soft, 1)]

    return Trial(
        lambda: cross_entropy_kernel[(rows,)](logits, target, loss, lse, vocab, -100, BLOCK=512, CAP=cap),
        [loss, lse],
        wanted,
    )


@case
def cross_entropy_forward(scale):
    return _cross_entropy(scale, 0.0)


@case
def cross_entropy_capped(scale):
    return _cross_entropy(scale, 5.0)


@triton.jit
def cross_entropy_backward_kernel(
    logits_ptr, target_ptr, lse_ptr, grad_ptr, dloss_ptr, vocab, ignore, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    scale = tl.load(dloss_ptr + row) if target != ignore else 0.0
    x = tl.load(logits_ptr + row * vocab + offs, mask=offs < vocab, other=-float("inf"))
    p = tl.exp(x - tl.load(lse_ptr + row))
    p = tl.where(offs == target, p - 1.0, p)
    tl.store(grad_ptr + row * vocab + offs, p * scale, mask=offs < vocab)


@case
def cross_entropy_backward(scale):
    rows, vocab, block = 30 * scale, 1500, 512
    logits, target, dloss = normal(rows, vocab), _targets(rows, vocab), normal(rows, seed=3)
    lse, grad = torch.logsumexp(logits, 1), torch.empty(rows, vocab)

    def wanted():
        leaf = logits.clone().requires_grad_()
        torch.nn.functional.cross_entropy(leaf, target, reduction="none").backward(dloss)
        return [leaf.grad]

    grid = (rows, triton.cdiv(vocab, block))
    return Trial(
        lambda: cross_entropy_backward_kernel[grid](logits, target, lse, grad, dloss, vocab, -100, BLOCK=block),
        [grad],
        wanted,
    )


@triton.jit
def kl_kernel(p_ptr, q_ptr, out_ptr, cols, BLOCK: tl.constexpr, REDUCE: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    p = tl.load(p_ptr + row * cols + offs, mask=mask, other=0.0)
    q = tl.load(q_ptr + row * cols + offs, mask=mask, other=0.0)
    loss = tl.where(mask, tl.exp(q) * (q - p), 0.0)
    if REDUCE == "sum":
        tl.store(out_ptr + row, tl.sum(loss, axis=0))
    else:
        tl.store(out_ptr + row, tl.sum(loss, axis=0) / cols)


@case
def kl_divergence(scale):
    rows, cols = 50 * scale, 400
    p, q = (torch.log_softmax(normal(rows, cols, seed=s), 1) for s in (0, 1))
    out = torch.empty(rows)
    return Trial(
        lambda: kl_kernel[(rows,)](p, q, out, cols, BLOCK=512, REDUCE="sum"),
        [out],
        lambda: [torch.nn.functional.kl_div(p, q, reduction="none", log_target=True).sum(1)],
    )


@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    part = tl.where(n == 0.0, 0.0, n_b / n)
    delta = mean_b - mean_a
    return mean_a + delta * part, m2_a + m2_b + delta * delta * n_a * part, n


@triton.jit
def moments_kernel(x_ptr, mean_ptr, var_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), mask.to(tl.float32)), 0, welford)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, m2 / n)


@case
def welford_moments(scale):
    rows, cols = 40 * scale, 300
    x, mean, var = normal(rows, cols) + 5, torch.empty(rows), torch.empty(rows)
    return Trial(
        lambda: moments_kernel[(rows,)](x, mean, var, cols, BLOCK=512),
        [mean, var],
        lambda: [x.mean(1), x.var(1, unbiased=False)],
        1e-4,
    )
