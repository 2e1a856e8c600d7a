#!/usr/bin/env python3
"""Transposition in one process beside torch and Triton: GB/s of bytes read plus bytes written.

    deno task build-kernels && python3 scripts/bench/transpose.py [--json FILE] [--quick] [--other DIR] [--type TYPE]

Results are compared with torch before anything is timed. The column `copy` is the ceiling: the better of the driver's
device-to-device copy and torch's element-wise kernel, which read every byte once and write every byte once, in order.
"""
import torch
import triton
import triton.language as tl

from support import (
    TORCH, Kernels, Table, contenders, copy_calls, device_line, gbps, interleaved, options, with_copy
)

CASES = [
    ("float32", 4096, 4096),
    ("float32", 8192, 8192),
    ("float32", 16384, 16384),
    ("float16", 4096, 4096),
    ("float16", 8192, 8192),
    ("float16", 16384, 16384),
    ("float32", 8191, 8193),
    ("float16", 8191, 8193),
    ("float64", 8192, 8192),
    ("int8", 16384, 16384),
    ("int8", 4095, 4097),
    ("int8", 16383, 16381),
]
CONFIGS = [
    triton.Config({"BM": bm, "BN": bn}, num_warps=warps)
    for bm, bn in ((32, 32), (64, 32), (32, 64), (64, 64), (64, 128), (128, 64), (128, 128), (32, 128), (128, 32))
    for warps in (4, 8)
]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def triton_kernel(X, Y, M, N, ldx, ldy, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(X + rm[:, None] * ldx + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(Y + rn[:, None] * ldy + rm[None, :], tl.trans(x), mask=(rn[:, None] < N) & (rm[None, :] < M))


def triton_transpose(x, y):
    m, n = x.shape
    triton_kernel[lambda c: (triton.cdiv(m, c["BM"]), triton.cdiv(n, c["BN"]))](x, y, m, n, x.stride(0), y.stride(0))


def main():
    parser = options(__doc__)
    parser.add_argument("--type", help="elements of this type only, such as int8")
    args = parser.parse_args()
    kernels = Kernels("transpose", others=args.other)
    print(device_line())
    columns = ("ours", *kernels.others, "copy", "triton", "torch")
    table = Table(columns, (("ours", "triton"), ("ours", "copy")))
    cases = CASES[1:2] + CASES[6:8] if args.quick else CASES
    for dtype, m, n in cases:
        if args.type not in (None, dtype):
            continue
        x = torch.randint(-100, 100, (m, n), device="cuda", dtype=torch.int16).to(TORCH[dtype])
        y = torch.full((n, m), 77, device="cuda", dtype=TORCH[dtype])
        arguments = (x, y, m, n, x.stride(0), y.stride(0))
        ours = kernels.chosen("transpose", dtype, *arguments)
        calls = contenders(kernels, "transpose", dtype, arguments)
        calls["triton"] = lambda: triton_transpose(x, y)
        for name, call in calls.items():
            y.fill_(77)
            call()
            assert torch.equal(y, x.t()), f"{name} is wrong for {dtype} {m}x{n}"
        calls |= {**copy_calls(x), "torch": lambda: y.copy_(x.t())}
        size = x.numel() * x.element_size()
        speed = with_copy(gbps(interleaved(calls, 5 if size > 2**29 else 20), 2 * size))
        table.row(f"{dtype} {m}x{n}", speed, dtype=dtype, rows=m, columns=n, symbol=ours.symbol)
    table.save(args.json)


if __name__ == "__main__":
    main()
