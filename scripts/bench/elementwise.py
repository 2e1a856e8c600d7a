#!/usr/bin/env python3
"""Kernels on vectors and plain copies beside torch and Triton: GB/s of bytes read plus bytes written.

    deno task build-kernels && python3 scripts/bench/elementwise.py [--json FILE] [--quick] [--other DIR]

Results are checked before anything is timed. Triton's kernels are the plain ones of its tutorials.
"""
import os

import torch
import triton
import triton.language as tl

from support import Kernels, Table, contenders, copy_calls, device_line, gbps, interleaved, options, with_copy

P = 0.25
SEED = 42


@triton.jit
def add_kernel(X, Y, Z, N, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    check = r < N
    tl.store(Z + r, tl.load(X + r, mask=check) + tl.load(Y + r, mask=check), mask=check)


@triton.jit
def dropout_kernel(X, Y, N, p, seed, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    check = r < N
    x = tl.load(X + r, mask=check)
    tl.store(Y + r, tl.where(tl.rand(seed, r) >= p, x / (1 - p), 0.0), mask=check)


def vector_add(x, n, others):
    y, z = torch.randn_like(x), torch.empty_like(x)
    calls = contenders(Kernels("vector_add", others=others), "vector_add", "float32", (x, y, z, n))
    calls |= {
        "triton": lambda: add_kernel[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024),
        "torch": lambda: torch.add(x, y, out=z),
    }
    return calls, 12 * n, lambda: torch.equal(z, x + y), z


def dropout(x, n, others):
    y = torch.empty_like(x)
    calls = contenders(Kernels("dropout", others=others), "dropout", "float32", (x, y, n, P, SEED))
    calls |= {
        "triton": lambda: dropout_kernel[(triton.cdiv(n, 1024),)](x, y, n, P, SEED, BLOCK=1024),
        "torch": lambda: torch.nn.functional.dropout(x, P),
    }

    def holds():
        kept = y != 0
        scaled = torch.allclose(y[kept], x[kept] / (1 - P))
        return scaled and abs(kept.double().mean().item() - (1 - P)) < 1e-3

    return calls, 8 * n, holds, y


def reduce_sum(x, n, others):
    """In a fixed order, in two passes, and in any order."""
    total, kernels = torch.zeros(1, device="cuda"), Kernels("reduce_sum", others=others)
    count = 4 * torch.cuda.get_device_properties().multi_processor_count
    parts = torch.empty(count, device="cuda")
    first = contenders(kernels, "reduce_sum", "float32", (x, parts, n, count))
    second = contenders(kernels, "reduce_sum", "float32", (parts, total, count, 1))
    atomic = kernels.pick("atomic_sum", "float32", x, total, n)
    calls = {name: lambda name=name: (first[name](), second[name]()) for name in first}
    calls |= {"any order": lambda: atomic(x, total, n), "torch": lambda: torch.sum(x)}
    bound = 1e-5 * x.double().abs().sum().item()
    expected = x.double().sum().item()
    return calls, 4 * n, lambda: abs(total.item() - expected) < bound, total


def copy(x, n, others):
    columns = 4096
    rows = n // columns
    a, b = x[:rows * columns].view(rows, columns), torch.empty(rows, columns, device="cuda")
    calls = contenders(Kernels("copy", others=others), "copy", "float32", (a, b, rows, columns, columns, columns))
    calls["torch"] = lambda: b.copy_(a)
    return calls, 8 * a.numel(), lambda: torch.equal(a, b), b


BENCHES = {"vector add": vector_add, "copy": copy, "reduce sum": reduce_sum, "dropout": dropout}


def main():
    args = options(__doc__).parse_args()
    torch.zeros(1, device="cuda")
    print(device_line())
    others = [os.path.basename(path.rstrip("/")) for path in args.other]
    table = Table(("ours", *others, "copy", "triton", "torch"), (("ours", "triton"), ("ours", "copy"), ("ours", "torch")))
    for name, bench in BENCHES.items():
        for power in (28,) if args.quick else (28, 26, 24):
            x = torch.randn(2**power, device="cuda")
            calls, size, holds, result = bench(x, x.numel(), args.other)
            for contender, call in calls.items():
                if contender == "torch":
                    continue
                result.zero_()
                call()
                assert holds(), f"{contender} {name} is wrong for 2^{power}"
            calls |= copy_calls(x)
            times = interleaved(calls, 5 if power > 26 else 20)
            copies = {k: times.pop(k) for k in ("memcpy", "neg")}
            speed = with_copy({**gbps(times, size), **gbps(copies, 8 * x.numel())})
            table.row(f"{name} 2^{power}", speed, kernel=name, elements=2**power)
    table.save(args.json)


if __name__ == "__main__":
    main()
