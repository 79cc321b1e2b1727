"""Attention: flash attention forward and backward, paged decoding, a chunked linear attention."""

import torch
import triton
import triton.language as tl

from bench.triton_kernels.case import Trial, case, normal

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _attend(
    acc,
    denominator,
    m,
    q,
    k_ptr,
    v_ptr,
    offs_m,
    low,
    high,
    seq,
    stride,
    scale,
    D: tl.constexpr,
    BN: tl.constexpr,
    MASKED: tl.constexpr,
):
    offs_d = tl.arange(0, D)
    for start in range(low, high, BN):
        offs_n = start + tl.arange(0, BN)
        inside = offs_n[:, None] < seq
        k = tl.load(k_ptr + offs_n[:, None] * stride + offs_d[None, :], mask=inside, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * LOG2E)
        if MASKED:
            keep = (offs_m[:, None] >= offs_n[None, :]) & (offs_n[None, :] < seq)
            scores = tl.where(keep, scores, -1.0e30)
        else:
            scores = tl.where(offs_n[None, :] < seq, scores, -1.0e30)
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.math.exp2(scores - new[:, None])
        correction = tl.math.exp2(m - new)
        denominator = denominator * correction + tl.sum(p, 1)
        acc = acc * correction[:, None]
        v = tl.load(v_ptr + offs_n[:, None] * stride + offs_d[None, :], mask=inside, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m = new
    return acc, denominator, m


@triton.heuristics({"EVEN": lambda args: args["seq"] % args["BM"] == 0})
@triton.jit
def flash_forward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    seq,
    stride_h,
    stride,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
):
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    offs_m = block * BM + tl.arange(0, BM)
    offs_d = tl.arange(0, D)
    q_ptrs = q_ptr + head * stride_h + offs_m[:, None] * stride + offs_d[None, :]
    if EVEN:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=offs_m[:, None] < seq, other=0.0)
    k_ptr += head * stride_h
    v_ptr += head * stride_h
    acc = tl.zeros((BM, D), dtype=tl.float32)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    denominator = tl.zeros((BM,), dtype=tl.float32)
    if CAUSAL:
        acc, denominator, m = _attend(
            acc, denominator, m, q, k_ptr, v_ptr, offs_m, 0, block * BM, seq, stride, scale, D, BN, False
        )
        high = min(seq, (block + 1) * BM)
        acc, denominator, m = _attend(
            acc, denominator, m, q, k_ptr, v_ptr, offs_m, block * BM, high, seq, stride, scale, D, BN, True
        )
    else:
        acc, denominator, m = _attend(
            acc, denominator, m, q, k_ptr, v_ptr, offs_m, 0, seq, seq, stride, scale, D, BN, False
        )
    out = acc / denominator[:, None]
    mask = offs_m[:, None] < seq
    tl.store(
        out_ptr + head * stride_h + offs_m[:, None] * stride + offs_d[None, :],
        out.to(out_ptr.dtype.element_ty),
        mask=mask,
    )
    tl.store(lse_ptr + head * seq + offs_m, m / LOG2E + tl.log(denominator), mask=offs_m < seq)


def _heads(scale, seq=100, dim=32, dtype=torch.float32):
    return [normal(2 * scale, seq, dim, dtype=dtype, seed=s) for s in range(3)]


def _attention(q, k, v, causal):
    scores = q.float() @ k.float().transpose(1, 2) / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[1:], dtype=torch.bool).tril(), -float("inf"))
    return scores, torch.softmax(scores, -1) @ v.float()


def _flash(scale, causal, dtype, tolerance, seq):
    q, k, v = _heads(scale, seq=seq, dtype=dtype)
    heads, seq, dim = q.shape
    out, lse = torch.empty_like(q), torch.empty(heads, seq)

    def wanted():
        scores, right = _attention(q, k, v, causal)
        return [right.to(dtype), torch.logsumexp(scores, -1)]

    def run():
        flash_forward_kernel[(triton.cdiv(seq, 32), heads)](
            q, k, v, out, lse, seq, q.stride(0), q.stride(1), dim**-0.5, D=dim, BM=32, BN=32, CAUSAL=causal
        )

    return Trial(run, [out, lse], wanted, tolerance)


@case
def flash_attention_forward(scale):
    return _flash(scale, False, torch.float32, 1e-4, 100)


@case
def flash_attention_causal(scale):
    return _flash(scale, True, torch.float16, 1e-2, 96)


@triton.jit
def delta_kernel(out_ptr, do_ptr, delta_ptr, seq, stride_h, stride, BM: tl.constexpr, D: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1)
    at = head * stride_h + offs_m[:, None] * stride + tl.arange(0, D)[None, :]
    mask = offs_m[:, None] < seq
    both = tl.load(out_ptr + at, mask=mask, other=0.0) * tl.load(do_ptr + at, mask=mask, other=0.0)
    tl.store(delta_ptr + head * seq + offs_m, tl.sum(both, axis=1), mask=offs_m < seq)


@triton.jit
def flash_backward_kv_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    dk_ptr,
    dv_ptr,
    lse_ptr,
    delta_ptr,
    seq,
    stride_h,
    stride,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    block = tl.program_id(0)
    head = tl.program_id(1)
    offs_n = block * BN + tl.arange(0, BN)
    offs_d = tl.arange(0, D)
    kv_at = head * stride_h + offs_n[:, None] * stride + offs_d[None, :]
    kv_mask = offs_n[:, None] < seq
    k = tl.load(k_ptr + kv_at, mask=kv_mask, other=0.0)
    v = tl.load(v_ptr + kv_at, mask=kv_mask, other=0.0)
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, D), dtype=tl.float32)
    low = block * BN // BM * BM if CAUSAL else 0
    for start in range(low, seq, BM):
        offs_m = start + tl.arange(0, BM)
        q_at = head * stride_h + offs_m[:, None] * stride + offs_d[None, :]
        q = tl.load(q_ptr + q_at, mask=offs_m[:, None] < seq, other=0.0)
        do = tl.load(do_ptr + q_at, mask=offs_m[:, None] < seq, other=0.0)
        lse = tl.load(lse_ptr + head * seq + offs_m, mask=offs_m < seq, other=float("inf"))
        delta = tl.load(delta_ptr + head * seq + offs_m, mask=offs_m < seq, other=0.0)
        p = tl.exp(tl.dot(q, tl.trans(k), input_precision="ieee") * scale - lse[:, None])
        if CAUSAL:
            p = tl.where(offs_m[:, None] >= offs_n[None, :], p, 0.0)
        dv += tl.dot(tl.trans(p), do, input_precision="ieee")
        dp = tl.dot(do, tl.trans(v), input_precision="ieee")
        ds = p * (dp - delta[:, None]) * scale
        dk += tl.dot(tl.trans(ds), q, input_precision="ieee")
    tl.store(dk_ptr + kv_at, dk, mask=kv_mask)
    tl.store(dv_ptr + kv_at, dv, mask=kv_mask)


@triton.jit
def flash_backward_q_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    dq_ptr,
    lse_ptr,
    delta_ptr,
    seq,
    stride_h,
    stride,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    block = tl.program_id(0)
    head = tl.program_id(1)
    offs_m = block * BM + tl.arange(0, BM)
    offs_d = tl.arange(0, D)
    q_at = head * stride_h + offs_m[:, None] * stride + offs_d[None, :]
    mask = offs_m[:, None] < seq
    q = tl.load(q_ptr + q_at, mask=mask, other=0.0)
    do = tl.load(do_ptr + q_at, mask=mask, other=0.0)
    lse = tl.load(lse_ptr + head * seq + offs_m, mask=offs_m < seq, other=float("inf"))
    delta = tl.load(delta_ptr + head * seq + offs_m, mask=offs_m < seq, other=0.0)
    dq = tl.zeros((BM, D), dtype=tl.float32)
    high = min(seq, (block + 1) * BM) if CAUSAL else seq
    for start in range(0, high, BN):
        offs_n = start + tl.arange(0, BN)
        kv_at = head * stride_h + offs_n[:, None] * stride + offs_d[None, :]
        k = tl.load(k_ptr + kv_at, mask=offs_n[:, None] < seq, other=0.0)
        v = tl.load(v_ptr + kv_at, mask=offs_n[:, None] < seq, other=0.0)
        p = tl.exp(tl.dot(q, tl.trans(k), input_precision="ieee") * scale - lse[:, None])
        keep = offs_n[None, :] < seq
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= offs_n[None, :])
        p = tl.where(keep, p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - delta[:, None]) * scale
        dq += tl.dot(ds, k, input_precision="ieee")
    tl.store(dq_ptr + q_at, dq, mask=mask)


@case
def flash_attention_backward(scale):
    q, k, v = _heads(scale, seq=80)
    heads, seq, dim = q.shape
    do = normal(heads, seq, dim, seed=9)
    scores, out = _attention(q, k, v, True)
    out, lse = out.contiguous(), torch.logsumexp(scores, -1)
    dq, dk, dv, delta = (torch.empty_like(t) for t in (q, k, v, lse))
    args = (seq, q.stride(0), q.stride(1))

    def run():
        delta_kernel[(triton.cdiv(seq, 32), heads)](out, do, delta, *args, BM=32, D=dim)
        grid = (triton.cdiv(seq, 32), heads)
        flash_backward_kv_kernel[grid](
            q, k, v, do, dk, dv, lse, delta, *args, dim**-0.5, D=dim, BM=32, BN=32, CAUSAL=True
        )
        flash_backward_q_kernel[grid](q, k, v, do, dq, lse, delta, *args, dim**-0.5, D=dim, BM=32, BN=32, CAUSAL=True)

    def wanted():
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        _attention(*leaves, True)[1].backward(do)
        return [leaf.grad for leaf in leaves]

    return Trial(run, [dq, dk, dv], wanted, 1e-3)


@triton.jit
def paged_decode_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    out_ptr,
    scale,
    stride_table,
    stride_page,
    stride_slot,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    length = tl.load(length_ptr + sequence)
    if length == 0:
        return
    offs_d = tl.arange(0, D)
    offs_p = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (sequence * HEADS + head) * D + offs_d)
    top = -float("inf")
    total = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        number = tl.load(table_ptr + sequence * stride_table + page).to(tl.int64)
        mask = page * PAGE + offs_p < length
        at = number * stride_page + offs_p[:, None] * stride_slot + head * D + offs_d[None, :]
        k = tl.load(k_ptr + at, mask=mask[:, None], other=0.0)
        scores = tl.where(mask, tl.sum(k * q[None, :], axis=1) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(scores, axis=0))
        p = tl.exp(scores - new)
        correction = tl.exp(top - new)
        total = total * correction + tl.sum(p, axis=0)
        v = tl.load(v_ptr + at, mask=mask[:, None], other=0.0)
        acc = acc * correction + tl.sum(p[:, None] * v, axis=0)
        top = new
    tl.store(out_ptr + (sequence * HEADS + head) * D + offs_d, acc / total)


@case
def paged_attention_decode(scale):
    count, heads, dim, page, pages = 5 * scale, 3, 32, 16, 40 * scale
    generator = torch.Generator().manual_seed(0)
    q = normal(count, heads, dim)
    k, v = normal(pages, page, heads, dim, seed=1), normal(pages, page, heads, dim, seed=2)
    length = torch.randint(1, 7 * page, (count,), dtype=torch.int32, generator=generator)
    table = torch.stack([torch.randperm(pages, generator=generator)[:7] for _ in range(count)]).int()
    out = torch.empty_like(q)

    def wanted():
        found = torch.empty_like(q)
        for i in range(count):
            n = int(length[i])
            keys = k[table[i].long()].reshape(-1, heads, dim)[:n]
            values = v[table[i].long()].reshape(-1, heads, dim)[:n]
            p = torch.softmax(torch.einsum("hd,nhd->hn", q[i], keys) * dim**-0.5, -1)
            found[i] = torch.einsum("hn,nhd->hd", p, values)
        return [found]

    return Trial(
        lambda: paged_decode_kernel[(count, heads)](
            q,
            k,
            v,
            table,
            length,
            out,
            dim**-0.5,
            table.stride(0),
            k.stride(0),
            k.stride(1),
            HEADS=heads,
            D=dim,
            PAGE=page,
        ),
        [out],
        wanted,
        1e-4,
    )


@triton.jit
def linear_attention_kernel(
    q_ptr, k_ptr, v_ptr, g_ptr, out_ptr, seq, K: tl.constexpr, V: tl.constexpr, CHUNK: tl.constexpr
):
    """Gated linear attention chunk by chunk: a state of (K, V) decays by exp(g) a step."""
    head = tl.program_id(0)
    offs_t = tl.arange(0, CHUNK)
    offs_k = tl.arange(0, K)
    offs_v = tl.arange(0, V)
    state = tl.zeros((K, V), dtype=tl.float32)
    for start in range(0, seq, CHUNK):
        t = start + offs_t
        inside = t < seq
        q = tl.load(q_ptr + (head * seq + t)[:, None] * K + offs_k[None, :], mask=inside[:, None], other=0.0)
        k = tl.load(k_ptr + (head * seq + t)[:, None] * K + offs_k[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + (head * seq + t)[:, None] * V + offs_v[None, :], mask=inside[:, None], other=0.0)
        g = tl.cumsum(tl.load(g_ptr + head * seq + t, mask=inside, other=0.0), axis=0)
        last = tl.sum(tl.where(offs_t == CHUNK - 1, g, 0.0), axis=0)
        before = tl.dot(q * tl.exp(g)[:, None], state, input_precision="ieee")
        decay = tl.where(offs_t[:, None] >= offs_t[None, :], tl.exp(g[:, None] - g[None, :]), 0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * decay
        out = before + tl.dot(scores, v, input_precision="ieee")
        tl.store(out_ptr + (head * seq + t)[:, None] * V + offs_v[None, :], out, mask=inside[:, None])
        weighted = k * tl.exp(last - g)[:, None]
        state = state * tl.exp(last) + tl.dot(tl.trans(weighted), v, input_precision="ieee")


@case
def chunked_linear_attention(scale):
    heads, seq, dk, dv = 3 * scale, 70, 16, 32
    q, k, v = normal(heads, seq, dk), normal(heads, seq, dk, seed=1), normal(heads, seq, dv, seed=2)
    g, out = -normal(heads, seq, seed=3).abs() * 0.1, torch.empty(heads, seq, dv)

    def wanted():
        state, rows = torch.zeros(heads, dk, dv), []
        for t in range(seq):
            state = state * g[:, t].exp()[:, None, None] + k[:, t, :, None] * v[:, t, None, :]
            rows.append(torch.einsum("hk,hkv->hv", q[:, t], state))
        return [torch.stack(rows, 1)]

    return Trial(
        lambda: linear_attention_kernel[(heads,)](q, k, v, g, out, seq, K=dk, V=dv, CHUNK=16), [out], wanted, 1e-3
    )
