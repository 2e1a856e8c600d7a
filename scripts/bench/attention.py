#!/usr/bin/env python3
"""Flash attention, forward, in one process beside torch's flash and cuDNN kernels and Triton: TFLOP/s.

    tri build kernels/attention.tc --arch sm_90a && python3 scripts/bench/attention.py [--json FILE] [--quick] [--peers NAMES]

`--peers cudnn,flash` leaves Triton out, whose tuning takes minutes.

Results are compared with torch before anything is timed. A causal product counts as half of the operations of a whole
one, as in the literature, whatever the kernel skips.
"""
import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

from support import TORCH, Kernels, Table, device_line, interleaved, options

# Type, batches, heads, heads of keys, rows, elements of a row, causal.
CASES = [
    ("float16", 4, 32, 32, 4096, 128, False),
    ("float16", 4, 32, 32, 4096, 128, True),
    ("float16", 4, 32, 32, 4096, 64, False),
    ("float16", 4, 32, 32, 4096, 64, True),
    ("bfloat16", 4, 32, 32, 4096, 128, False),
    ("float16", 32, 32, 32, 512, 128, False),
    ("float16", 1, 32, 32, 16384, 128, True),
    ("float16", 4, 32, 32, 4095, 128, False),
    ("bfloat16", 2, 64, 8, 4096, 128, True),
    ("float16", 4, 32, 32, 4096, 96, True),
    ("float16", 2, 32, 32, 4096, 256, True),
    ("float32", 1, 8, 8, 1024, 64, False),
]


@triton.autotune(
    configs=[
        triton.Config({"BM": bm, "BN": bn}, num_warps=warps, num_stages=stages)
        for bm in (64, 128) for bn in (32, 64, 128) for warps in (4, 8) for stages in (2, 3)
    ],
    key=["M", "D", "CAUSAL"],
)
@triton.jit
def triton_kernel(Q, K, V, O, M, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    first, head = tl.program_id(0) * BM, tl.program_id(1).to(tl.int64)
    rm, rn, rd = first + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    base = head * M * D
    q = tl.load(Q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < M, other=0.0)
    top = tl.full([BM], -1e38, tl.float32)
    total = tl.zeros([BM], tl.float32)
    o = tl.zeros([BM, D], tl.float32)
    slope = scale * 1.44269504
    for n in range(0, tl.minimum(first + BM, M) if CAUSAL else M, BN):
        at = base + (n + rn[:, None]) * D + rd[None, :]
        k = tl.load(K + at, mask=n + rn[:, None] < M, other=0.0)
        s = tl.dot(q, tl.trans(k))
        if n + BN > (first if CAUSAL else M):
            seen = n + rn[None, :] < M
            if CAUSAL:
                seen = seen & (n + rn[None, :] <= rm[:, None])
            s = tl.where(seen, s, float("-inf"))
        newer = tl.maximum(top, tl.max(s, 1) * slope)
        p = tl.exp2(s * slope - newer[:, None])
        shrink = tl.exp2(top - newer)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(V + at, mask=n + rn[:, None] < M, other=0.0)
        o = tl.dot(p.to(v.dtype), v, o * shrink[:, None])
        top = newer
    tl.store(O + base + rm[:, None] * D + rd[None, :], (o / total[:, None]).to(O.dtype.element_ty), mask=rm[:, None] < M)


def triton_attention(q, k, v, o, scale, causal):
    b, h, m, d = q.shape
    triton_kernel[lambda c: (triton.cdiv(m, c["BM"]), b * h)](q, k, v, o, m, scale, D=d, CAUSAL=causal)


def torch_attention(backend, q, k, v, scale, causal):
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


def runs(backend, *arguments):
    try:
        torch_attention(backend, *arguments)
    except RuntimeError:
        return False
    return True


def main():
    parser = options(__doc__)
    parser.add_argument("--peers", default="flash,cudnn,triton")
    args = parser.parse_args()
    peers = args.peers.split(",")
    kernels = Kernels("attention")
    print(device_line())
    table = Table(("ours", "flash", "cudnn", "triton"), (("ours", "cudnn"), ("ours", "triton")), "TFLOP/s")
    for dtype, b, h, kh, m, d, causal in CASES[:4] if args.quick else CASES:
        q, k, v = (torch.randn(b, n, m, d, device="cuda", dtype=TORCH[dtype]) for n in (h, kh, kh))
        o = torch.full_like(q, float("nan"))
        lse = torch.full((b, h, m), float("nan"), device="cuda")
        scale = d**-0.5
        strides = [s for t in (q, k, v, o) for s in t.stride()[:3]]
        arguments = (q, k, v, o, lse, b, h, kh, m, m, *strides, scale, causal, 0)
        ours = kernels.tuned("attention", f"{dtype}_D{d}", "general", *arguments)
        calls = {"ours": lambda: ours(*arguments)}
        if dtype != "float32" and h == kh and d in (64, 128) and "triton" in peers:
            calls["triton"] = lambda: triton_attention(q, k, v, o, scale, causal)
        few = slice(0, 1)
        expected = torch_attention(
            SDPBackend.MATH, *(t[few, few].double() for t in (q, k, v)), scale, causal)
        for name, call in calls.items():
            o.fill_(float("nan"))
            call()
            error = (o[few, few].double() - expected).abs().max().item()
            assert error < (1e-4 if dtype == "float32" else 2e-2), f"{name} is off by {error} for {dtype} {d}"
            assert not o.isnan().any(), f"{name} left elements out"
        # Both take 16-bit types only, cuDNN rows of up to 128 elements in some versions.
        if dtype != "float32":
            for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
                if name in peers and runs(backend, q, k, v, scale, causal):
                    calls[name] = lambda backend=backend: torch_attention(backend, q, k, v, scale, causal)
        work = 4 * b * h * m * m * d / (2 if causal else 1)
        speed = {name: work / ms / 1e9 for name, ms in interleaved(calls, 5, 7).items()}
        case = f"{dtype} {b}x{h}{f'/{kh}' if h != kh else ''}x{m}x{d}{' causal' if causal else ''}"
        table.row(case, speed, dtype=dtype, causal=causal, symbol=ours.taken(*arguments))
    table.save(args.json)


if __name__ == "__main__":
    main()
