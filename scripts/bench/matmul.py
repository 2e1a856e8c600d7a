#!/usr/bin/env python3
"""Matrix products in one process beside torch (cuBLAS) and Triton: TFLOP/s, two operations a product of elements.

    deno task build-kernels && python3 scripts/bench/matmul.py [--json FILE] [--quick] [--rest SECONDS]

Results are compared with torch before anything is timed; float is multiplied in float, so torch and Triton may not use
tf32 either. Inputs are random normals (bytes for int8): zeros would let the card clock higher. Before each graph the card
rests for 30 ms, so that it keeps its clock; `--rest 0` measures it at its power limit.
"""
import torch
import triton
import triton.language as tl

from support import REST, TORCH, Kernels, Table, device_line, interleaved, options

SQUARES = [(size, size, size) for size in (512, 1024, 2048, 4096, 8192)]
CASES = (
    [("float16", *shape) for shape in [*SQUARES, (4096, 14336, 4096), (8192, 8192, 512), (4095, 4097, 4093)]]
    + [("bfloat16", *shape) for shape in SQUARES[3:]]
    + [("float32", *shape) for shape in SQUARES[1:4]]
    + [("float64", *shape) for shape in SQUARES[1:4]]
    + [("int8", *shape) for shape in SQUARES[1:4]]
)
QUICK = [("float16", 4096, 4096, 4096), ("float16", 8192, 8192, 8192), ("int8", 2048, 2048, 2048)]
SUMS = {torch.int8: (tl.int32, torch.int32), torch.float64: (tl.float64, torch.float64)}
CONFIGS = [
    triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
    for bm, bn, bk, warps, stages in (
        (128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (128, 128, 64, 4, 4), (64, 64, 32, 4, 4),
    )
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K", "SUM"])
@triton.jit
def triton_kernel(A, B, C, M, N, K, lda, ldb, ldc, SUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = 8 * tiles_n
    group = tl.program_id(0) // width
    rows = min(tiles_m - group * 8, 8)
    rm = (group * 8 + (tl.program_id(0) % width) % rows) * BM + tl.arange(0, BM)
    rn = (tl.program_id(0) % width) // rows * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = A + (rm % M)[:, None] * lda + rk[None, :]
    pb = B + rk[:, None] * ldb + (rn % N)[None, :]
    total = tl.zeros((BM, BN), dtype=SUM)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0)
        b = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=SUM)
        pa += BK
        pb += BK * ldb
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(C + rm[:, None] * ldc + rn[None, :], total.to(C.dtype.element_ty), mask=mask)


def triton_matmul(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    total = SUMS.get(a.dtype, (tl.float32, None))[0]
    grid = lambda config: (triton.cdiv(m, config["BM"]) * triton.cdiv(n, config["BN"]),)
    triton_kernel[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), SUM=total)


def torch_matmul(a, b, c):
    """int8 allocates its result; cuBLAS wants its second operand transposed there, which it is not here."""
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, b)
    return lambda: torch.mm(a, b, out=c)


def main():
    parser = options(__doc__)
    parser.add_argument("--rest", type=float, default=REST, help="seconds before each graph")
    args = parser.parse_args()
    torch.manual_seed(0)
    kernels = Kernels("matmul")
    print(device_line())
    table = Table(("ours", "triton", "torch"), (("ours", "torch"), ("ours", "triton")), unit="TFLOP/s")
    for dtype, m, n, k in QUICK if args.quick else CASES:
        t = TORCH[dtype]
        if t == torch.int8:
            a, b = (torch.randint(-128, 128, shape, device="cuda", dtype=t) for shape in ((m, k), (k, n)))
        else:
            a, b = (torch.randn(shape, device="cuda", dtype=t) for shape in ((m, k), (k, n)))
        c = torch.empty((m, n), device="cuda", dtype=SUMS.get(t, (None, t))[1])
        arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
        # Of the specialisations, the first is for aligned rows of both operands, the fifth for rows that start anywhere.
        is_aligned = all(extent * a.element_size() % 16 == 0 for extent in (n, k))
        ours = kernels.tuned("matmul", dtype, "s1" if is_aligned else "s5", *arguments)
        calls = {"ours": lambda: ours(*arguments), "torch": torch_matmul(a, b, c)}
        # Triton has no products of doubles.
        if dtype != "float64":
            calls["triton"] = lambda: triton_matmul(a, b, c)
        expected = calls["torch"]().double()
        for name in calls.keys() - {"torch"}:
            c.fill_(77)
            calls[name]()
            error = (c.double() - expected).abs().max() / expected.abs().max()
            assert error < 1e-2, f"{name} is wrong for {dtype} {m}x{n}x{k}: {error}"
        milliseconds = interleaved(calls, 3 if m * n * k > 2**38 else 20, 9, args.rest)
        speed = {name: 2 * m * n * k / ms / 1e9 for name, ms in milliseconds.items()}
        table.row(f"{dtype} {m}x{n}x{k}", speed, dtype=dtype, m=m, n=n, k=k, symbol=ours.symbol)
    table.save(args.json)


if __name__ == "__main__":
    main()
