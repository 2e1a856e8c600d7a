#!/usr/bin/env python3
"""Transposition in one process beside torch and Triton: GB/s of bytes read plus bytes written.

    deno task build-kernels && python3 scripts/bench/transpose.py [--json FILE] [--quick]

Loads the cubins that `tri build` made (generated/manifest.json says which) through libcuda. Each contender is a
CUDA graph of calls, so that no launch gap is timed; rounds are interleaved, because the card throttles within
seconds; the median of the rounds is printed. Results are compared with torch before anything is timed. The column
`copy` is the ceiling: the better of the driver's device-to-device copy and torch's element-wise kernel, which read
every byte once and write every byte once, in order.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys

import torch
import triton
import triton.language as tl

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TORCH = {
    "float32": torch.float32,
    "float16": torch.float16,
    "float64": torch.float64,
    "int8": torch.int8,
}
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
    ("int8", 16383, 16381),
]
cuda = ctypes.CDLL("libcuda.so.1")


def check(status, call):
    if status != 0:
        raise RuntimeError(f"{call} failed with status {status}")


class Kernel:
    """One entry of generated/transpose/*.cubin."""

    def __init__(self, module, entry, instance):
        self.function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, entry["symbol"].encode()), "cuModuleGetFunction")
        self.threads, self.shared = entry["threads"], entry["sharedBytes"]
        if self.shared:
            check(cuda.cuFuncSetAttribute(self.function, 8, self.shared), "cuFuncSetAttribute")
        bindings = instance["config"]["bindings"]
        self.tile = int(bindings["TM"]), int(bindings["TN"])
        self.symbol = entry["symbol"]

    def __call__(self, x, y):
        m, n = x.shape
        values = [ctypes.c_uint64(x.data_ptr()), ctypes.c_uint64(y.data_ptr())]
        values += [ctypes.c_int(v) for v in (m, n, x.stride(0), y.stride(0))]
        block = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        grid = -(-m // self.tile[0]), -(-n // self.tile[1])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(self.function, *grid, 1, self.threads, 1, 1, self.shared, stream, block, None), "cuLaunchKernel")


def load_kernels(arch):
    """symbol -> Kernel, from the cubin for `arch`."""
    with open(os.path.join(ROOT, "generated", "manifest.json")) as file:
        kernel = json.load(file)["sources"]["transpose"]["transpose"]
    image = next(i for i in kernel["images"] if i["kind"] == "cubin" and i["target"] == arch)
    with open(os.path.join(ROOT, "generated", image["path"]), "rb") as file:
        cubin = file.read()
    module = ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
    instances = {i["symbol"]: i for i in kernel["instances"]}
    return {e["symbol"]: Kernel(module, e, instances[e["symbol"]]) for e in image["entries"]}


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


def graph_of(call, count):
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return graph


def interleaved(calls, count, rounds):
    """Median milliseconds per call of each contender."""
    graphs = {name: graph_of(call, count) for name, call in calls.items()}
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, graph in graphs.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / count)
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    torch.zeros(1, device="cuda")  # makes the primary context
    major, minor = torch.cuda.get_device_capability()
    kernels = load_kernels(f"sm_{major}{minor}" + ("a" if major == 9 else ""))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    print(f"{'case':24} {'ours':>7} {'copy':>7} {'triton':>7} {'torch':>7}   ours/triton ours/copy")
    rows = []
    for dtype, m, n in CASES[1:2] + CASES[6:8] if args.quick else CASES:
        t = TORCH[dtype]
        size = torch.empty((), dtype=t).element_size()
        vector = 16 // size
        aligned = m % vector == 0 and n % vector == 0
        x = torch.randint(-100, 100, (m, n), device="cuda", dtype=torch.int16).to(t)
        y = torch.full((n, m), 77, device="cuda", dtype=t)
        z = torch.empty_like(x)
        ours = kernels[f"transpose_{dtype}" + ("_a16" if aligned else "")]
        for name, call in (("ours", lambda: ours(x, y)), ("triton", lambda: triton_transpose(x, y))):
            y.fill_(77)
            call()
            assert torch.equal(y, x.t()), f"{name} is wrong for {dtype} {m}x{n}"
        calls = {
            "ours": lambda: ours(x, y),
            "memcpy": lambda: cuda.cuMemcpyDtoDAsync_v2(
                ctypes.c_uint64(z.data_ptr()), ctypes.c_uint64(x.data_ptr()), ctypes.c_size_t(m * n * size),
                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)),
            "neg": lambda: torch.neg(x, out=z),
            "triton": lambda: triton_transpose(x, y),
            "torch": lambda: y.copy_(x.t()),
        }
        ms = interleaved(calls, 5 if m * n * size > 2**29 else 20, 11)
        speed = {name: 2 * m * n * size / t / 1e6 for name, t in ms.items()}
        speed["copy"] = max(speed.pop("memcpy"), speed.pop("neg"))
        rows.append({"dtype": dtype, "rows": m, "columns": n, "symbol": ours.symbol, "gbps": speed})
        print(f"{dtype + f' {m}x{n}':24} {speed['ours']:7.0f} {speed['copy']:7.0f} {speed['triton']:7.0f} {speed['torch']:7.0f}"
              f"   {speed['ours'] / speed['triton']:11.3f} {speed['ours'] / speed['copy']:9.3f}")
        sys.stdout.flush()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
