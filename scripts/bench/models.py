#!/usr/bin/env python3
"""Kernels that models need beside products and normalisations, beside torch: GB/s of bytes read plus bytes written.

    deno task build-kernels && python3 scripts/bench/models.py [--json FILE] [--quick] [--other DIR]

Results are checked before anything is timed. Where torch has no such function, its kernels are what a program would call.
"""
import os

import torch
import torch.nn.functional as F

from support import Kernels, Table, contenders, copy_calls, device_line, gbps, interleaved, options, with_copy


def close(a, b, tolerance=1e-2):
    return torch.allclose(a.float(), b.float(), rtol=tolerance, atol=tolerance)


def swiglu(others):
    m, n = 8192, 14336
    gate, up = (torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    y = torch.empty_like(gate)
    calls = contenders(Kernels("gated", others=others), "swiglu", "bfloat16", (gate, up, y, m, n, n, n, n))
    calls["torch"] = lambda: F.silu(gate) * up
    return calls, 6 * m * n, lambda: close(y, F.silu(gate) * up)


def rotary(others):
    t, h, half = 16384, 32, 64
    x = torch.randn(t, h, 2 * half, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    angles = torch.rand(t, half, device="cuda") * 6
    cos, sin = angles.cos(), angles.sin()
    where = torch.arange(t, device="cuda", dtype=torch.int32)

    def plain():
        a, b = x[..., :half], x[..., half:]
        c, s = cos[:, None].to(x.dtype), sin[:, None].to(x.dtype)
        return torch.cat((a * c - b * s, b * c + a * s), -1)

    calls = contenders(Kernels("rotary", others=others), "rotary", "bfloat16", (x, y, cos, sin, where, t, h, half, t))
    calls["torch"] = plain
    return calls, 4 * x.numel(), lambda: close(y, plain(), 0.1)


def adamw(others):
    n = 2**27
    w, g, m1, m2 = (torch.rand(n, device="cuda") for _ in range(4))
    rest = (1e-3, 0.9, 0.999, 1e-8, 0.01, 1 - 0.9**3, 1 - 0.999**3)
    state = [w.clone().requires_grad_()]
    state[0].grad = g
    optimizer = torch.optim.AdamW(state, lr=1e-3, fused=True, capturable=True)
    calls = contenders(Kernels("adamw", others=others), "adamw", "float32", (w, g, m1, m2, n, *rest))
    calls["torch"] = optimizer.step
    return calls, 28 * n, lambda: bool(torch.isfinite(w).all())


def embedding(others):
    v, n, t = 128256, 4096, 16384
    table = torch.randn(v, n, device="cuda", dtype=torch.bfloat16)
    index = torch.randint(0, v, (t,), device="cuda", dtype=torch.int32)
    y = torch.empty(t, n, device="cuda", dtype=torch.bfloat16)
    calls = contenders(Kernels("embedding", others=others), "embedding", "bfloat16", (table, index, y, v, t, n, n, n))
    calls["torch"] = lambda: F.embedding(index, table)
    return calls, 4 * t * n, lambda: torch.equal(y, table[index])


def quantize(others):
    m, n = 16384, 8192
    x = torch.randn(m, n, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(m, n, device="cuda", dtype=torch.int8)
    scale = torch.empty(m, device="cuda")

    def plain():
        scales = x.abs().amax(1, keepdim=True).float() / 127
        return (x / scales).round().to(torch.int8)

    calls = contenders(Kernels("quantize", others=others), "quantize_rows", "bfloat16_int8", (x, y, scale, m, n, n, n))
    calls["torch"] = plain
    return calls, 3 * m * n, lambda: (y.int() - plain().int()).abs().max().item() <= 1


def cumulative_sum(others):
    m, n = 8192, 16384
    x = torch.randn(m, n, device="cuda")
    y = torch.empty_like(x)
    calls = contenders(Kernels("cumulative_sum", others=others), "cumulative_sum", "float32", (x, y, m, n, n, n))
    calls["torch"] = lambda: torch.cumsum(x, 1)
    return calls, 8 * m * n, lambda: close(y, torch.cumsum(x.double(), 1))


def add_rms_norm(others):
    m, n = 16384, 4096
    x, r = (torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    w = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    s, y = torch.empty_like(x), torch.empty_like(x)
    rstd = torch.empty(m, device="cuda")
    args = (x, r, w, s, y, rstd, m, n, n, n, n, n, 1e-5)
    calls = contenders(Kernels("add_rms_norm", others=others), "add_rms_norm", "bfloat16", args)
    calls["torch"] = lambda: F.rms_norm(x + r, (n,), w, 1e-5)
    return calls, 8 * m * n, lambda: close(y, F.rms_norm((x + r).float(), (n,), w.float(), 1e-5), 0.1)


def sort_rows(others):
    m, n = 16384, 4096
    x = torch.randn(m, n, device="cuda")
    y, index = torch.empty_like(x), torch.empty(m, n, device="cuda", dtype=torch.int32)
    calls = contenders(Kernels("sort_rows", others=others), "sort_rows", "float32", (x, y, index, m, n, n, n, 0))
    calls["torch"] = lambda: torch.sort(x, dim=1, stable=True)
    return calls, 12 * m * n, lambda: torch.equal(y, torch.sort(x, 1).values)


def topk(others):
    m, n, k = 1024, 128256, 50
    x = torch.randn(m, n, device="cuda")
    y, index = torch.empty(m, k, device="cuda"), torch.empty(m, k, device="cuda", dtype=torch.int32)
    calls = contenders(Kernels("topk", others=others), "topk", "float32", (x, y, index, m, n, k, n))
    calls["torch"] = lambda: torch.topk(x, k)
    return calls, 4 * m * n, lambda: torch.equal(y, torch.topk(x, k).values)


def argmax(others):
    m, n = 1024, 128256
    x = torch.randn(m, n, device="cuda")
    index = torch.empty(m, device="cuda", dtype=torch.int32)
    calls = contenders(Kernels("topk", others=others), "argmax_rows", "float32", (x, index, m, n, n))
    calls["torch"] = lambda: torch.argmax(x, 1)
    return calls, 4 * m * n, lambda: torch.equal(index.long(), torch.argmax(x, 1))


def sample(others):
    m, n = 256, 128256
    x = torch.randn(m, n, device="cuda") * 3
    index = torch.empty(m, device="cuda", dtype=torch.int32)

    def plain():
        values, order = torch.softmax(x, 1).sort(1, descending=True)
        values[values.cumsum(1) - values > 0.9] = 0
        return order.gather(1, torch.multinomial(values, 1))

    calls = contenders(Kernels("sample", others=others), "sample", "float32", (x, index, m, n, n, 1.0, 0.9, 42, 0))
    calls["torch"] = plain
    return calls, 4 * m * n, lambda: bool((index >= 0).all() and (index < n).all())


BENCHES = {
    "swiglu 8192x14336 bf16": swiglu,
    "rotary 16384x32x128 bf16": rotary,
    "adamw 2^27": adamw,
    "embedding 16384 of 128256x4096 bf16": embedding,
    "quantize rows 16384x8192 bf16 int8": quantize,
    "cumulative sum 8192x16384": cumulative_sum,
    "add rms norm 16384x4096 bf16": add_rms_norm,
    "sort rows 16384x4096": sort_rows,
    "top 50 of 1024x128256": topk,
    "argmax of 1024x128256": argmax,
    "sample top-p 0.9 of 256x128256": sample,
}


def main():
    args = options(__doc__).parse_args()
    torch.zeros(1, device="cuda")
    print(device_line())
    others = [os.path.basename(path.rstrip("/")) for path in args.other]
    table = Table(("ours", *others, "copy", "torch"), (("ours", "copy"), ("ours", "torch")))
    for name, bench in BENCHES.items():
        calls, size, holds = bench(args.other)
        for contender, call in calls.items():
            if contender != "torch":
                call()
                assert holds(), f"{contender} {name} is wrong"
        calls |= copy_calls(torch.randn(2**27, device="cuda"))
        times = interleaved(calls, 3 if args.quick else 5, 5)
        copies = {k: times.pop(k) for k in ("memcpy", "neg")}
        table.row(name, with_copy({**gbps(times, size), **gbps(copies, 8 * 2**27)}), kernel=name)
    table.save(args.json)


if __name__ == "__main__":
    main()
