#!/usr/bin/env python3
"""What torch and Triton do on the benchmarks of kernels/bench/, as a recording whose lines `tri bench --with` adds.

    python3 scripts/bench/lines.py --json FILE [--quick]

The same operands as there in size and type, CUDA graphs of about 2 ms, 25 samples after 3 rounds to warm up, contenders
of this process in turns, without rests, as there. Triton's configurations are tuned for every size, and its results
compared with torch's first.
"""
import json
import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from support import TORCH, architecture, device_line, options, samples
from transpose import triton_transpose

ROUNDS, WARM_UP, SAMPLE_MS, MAX_CALLS = 25, 3, 2.0, 200
ELEMENTS = 2**26

PRODUCTS = [
    triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
    for bm, bn, bk, warps, stages in (
        (128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3), (256, 128, 64, 8, 3),
        (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (64, 64, 32, 4, 3), (128, 64, 32, 4, 3),
    )
]


def fits(configs, named, **_):
    """Tiles of float take twice the room."""
    bytes = named["A"].element_size()
    return [c for c in configs
            if c.num_stages * (c.kwargs["BM"] + c.kwargs["BN"]) * c.kwargs["BK"] * bytes <= 220 * 1024]


@triton.autotune(configs=PRODUCTS, key=["M", "N", "K"], prune_configs_by={"early_config_prune": fits})
@triton.jit
def product(A, B, C, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (8 * tiles_n)
    rows = min(tiles_m - group * 8, 8)
    pid_m = group * 8 + (pid % (8 * tiles_n)) % rows
    pid_n = (pid % (8 * tiles_n)) // rows
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = A + (rm % M)[:, None] * lda + rk[None, :]
    pb = B + rk[:, None] * ldb + (rn % N)[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0)
        b = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0)
        total = tl.dot(a, b, total, input_precision="ieee")
        pa += BK
        pb += BK * ldb
    c = total.to(C.dtype.element_ty)
    tl.store(C + rm[:, None] * ldc + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N))


def triton_product(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    grid = lambda config: (triton.cdiv(m, config["BM"]) * triton.cdiv(n, config["BN"]),)
    product[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0))


def timed(calls):
    """Samples of each contender in graphs of about SAMPLE_MS."""
    first = samples(calls, 3, 3, rest=0)
    fastest = max(min(min(times) for times in first.values()), 1e-3)
    count = min(max(round(SAMPLE_MS / fastest), 1), MAX_CALLS)
    found = samples(calls, count, WARM_UP + ROUNDS, rest=0)
    return {name: [float(f"{time:.6g}") for time in times[WARM_UP:]] for name, times in found.items()}


def random(dtype, *shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(TORCH[dtype])


def transposition(dtype, n):
    x = random(dtype, n, n)
    y = torch.empty(n, n, device="cuda", dtype=TORCH[dtype])
    triton_transpose(x, y)
    assert torch.equal(y, x.t())
    calls = {"triton": lambda: triton_transpose(x, y), "torch": lambda: y.copy_(x.t())}
    return 2 * x.element_size() * n * n, calls


def matmul(dtype, n):
    a, b = random(dtype, n, n), random(dtype, n, n)
    c, expected = torch.empty_like(a), a @ b
    triton_product(a, b, c)
    error = (c.double() - expected.double()).abs().max().item()
    assert error <= 1e-2 * math.sqrt(n), f"Triton's product is wrong by {error}"
    return 2 * n**3, {"triton": lambda: triton_product(a, b, c)}


def vector_add(dtype, n):
    x, y = random(dtype, n), random(dtype, n)
    z = torch.empty_like(x)
    return 3 * x.element_size() * n, {"torch": lambda: torch.add(x, y, out=z)}


def softmax(dtype, columns):
    x = random(dtype, ELEMENTS // columns, columns)
    y = torch.empty_like(x)
    return 2 * x.element_size() * ELEMENTS, {"torch": lambda: torch.softmax(x, 1, out=y)}


def layer_norm(dtype, columns):
    x, w, b = random(dtype, ELEMENTS // columns, columns), random(dtype, columns), random(dtype, columns)
    return 2 * x.element_size() * ELEMENTS, {"torch": lambda: F.layer_norm(x, (columns,), w, b)}


ROWS = [256, 512, 1024, 2048, 4096, 8192, 16384]
BENCHMARKS = [
    *(("transpose", dtype, transposition, "GB/s", [1024, 2048, 4096, 8192, 16384]) for dtype in ("float32", "float16")),
    *(("matmul", dtype, matmul, "TFLOP/s", [512, 1024, 2048, 4096, 8192]) for dtype in ("float16", "float32")),
    ("vector_add", "float32", vector_add, "GB/s", [2**n for n in (18, 20, 22, 24, 26, 28)]),
    ("softmax", "float32", softmax, "GB/s", ROWS),
    ("layer_norm", "float32", layer_norm, "GB/s", ROWS),
]
LABELS = {"triton": f"Triton {triton.__version__}", "torch": f"torch {torch.__version__.split('+')[0]}"}


def record(name, dtype, make, unit, values):
    rows = []
    for x in values:
        work, calls = make(dtype, x)
        times = timed(calls)
        rows.append({"x": x, "work": work, "times": times})
        scale = 1e6 if unit == "GB/s" else 1e9
        shown = ", ".join(f"{line} {work / sorted(t)[len(t) // 2] / scale:.0f}" for line, t in times.items())
        print(f"{name} {dtype} {x}: {shown} {unit}", flush=True)
        torch.cuda.empty_cache()
    return {
        "name": f"{name}_{dtype}",
        "title": f"{name}, {dtype}",
        "x": {"names": ["x"], "scale": "log"},
        "unit": unit,
        "lines": [{"name": line, "label": LABELS[line]} for line in rows[0]["times"]],
        "rows": rows,
    }


def main():
    args = options(__doc__).parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    print(device_line())
    major, minor = (int(part) for part in torch.version.cuda.split("."))
    recording = {
        "format": "tri bench 1",
        "module": "lines.py",
        "device": {"name": torch.cuda.get_device_name(), "arch": architecture().rstrip("a"), "driver": f"CUDA {major}.{minor}"},
        "timing": {"cache": "hot", "rounds": ROUNDS},
        "benchmarks": [record(*row[:4], row[4][:2] if args.quick else row[4]) for row in BENCHMARKS],
    }
    if args.json:
        with open(args.json, "w") as file:
            json.dump(recording, file)


if __name__ == "__main__":
    main()
