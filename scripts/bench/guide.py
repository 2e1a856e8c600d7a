#!/usr/bin/env python3
"""The measured steps of docs/guide/: matrix products and transpositions, each compared with torch before it is timed.

    deno task tri build docs/guide/kernels --out generated/guide && python3 scripts/bench/guide.py
"""
import os

import torch

from support import GENERATED, Kernels, Table, copy_calls, device_line, gbps, interleaved, options, with_copy

GUIDE = os.path.join(GENERATED, "guide")
# Column, kernel, target, form; "plain" is the code without tensor copies. Steps 1 to 6 are for sm_90, as in the guide.
STEPS = [
    *((f"step {step}", f"matmul_{step}", "sm_90", None) for step in range(1, 7)),
    ("6 wgmma", "matmul_6", "sm_90a", "plain"),
    ("6 TMA", "matmul_6", "sm_90a", None),
    ("7 wgmma", "matmul_7", "sm_90a", "plain"),
    ("step 7", "matmul_7", "sm_90a", None),
]
COLUMNS = [column for column, *_ in STEPS]
# Of floats; the others are of halves.
FLOAT = ("matmul_1", "matmul_2")
WAYS = ["naive", "tiled", "shared", "pointers"]


def products(size, steps, count, rounds, table):
    calls = {}
    operands = {t: [torch.randn(size, size, device="cuda", dtype=t) for _ in range(2)] for t in (torch.float32, torch.float16)}
    for column, name, target, form in steps:
        t = torch.float32 if name in FLOAT else torch.float16
        a, b = operands[t]
        c = torch.full((size, size), 77, device="cuda", dtype=t)
        arguments = (a, b, c, size, size, size, size, size, size)
        kernel = Kernels(name, arch=target, generated=GUIDE).pick(name, "default", *arguments)
        kernel(*arguments, form=form)
        expected = (a @ b).double()
        error = (c.double() - expected).abs().max() / expected.abs().max()
        assert error < 1e-2, f"{column} is wrong: {error}"
        calls[column] = lambda kernel=kernel, arguments=arguments, form=form: kernel(*arguments, form=form)
    for name, (a, b) in (("cublas_float", operands[torch.float32]), ("cublas", operands[torch.float16])):
        c = torch.empty_like(a)
        calls[name] = lambda a=a, b=b, c=c: torch.mm(a, b, out=c)
    milliseconds = interleaved(calls, count, rounds)
    table.row(f"{size}", {name: 2 * size**3 / ms / 1e9 for name, ms in milliseconds.items()}, ms=milliseconds)


def transpositions(size, table):
    x, y = (torch.randn(size, size, device="cuda") for _ in range(2))
    arguments = (x, y, size, size, size, size)
    calls = {}
    for way in WAYS:
        name = f"transpose_{way}"
        kernel = Kernels(name, generated=GUIDE).pick(name, "default", *arguments)
        y.fill_(77)
        kernel(*arguments)
        assert torch.equal(y, x.t()), f"{name} is wrong"
        calls[way] = lambda kernel=kernel: kernel(*arguments)
    milliseconds = interleaved({**calls, **copy_calls(x)}, 20, 11)
    print({name: f"{1e3 * ms:.2f} us" for name, ms in milliseconds.items()})
    speed = with_copy(gbps(milliseconds, 2 * x.numel() * x.element_size()))
    table.row(f"{size}", speed, ms=milliseconds)


def main():
    args = options(__doc__).parse_args()
    torch.manual_seed(0)
    print(device_line())
    table = Table((*WAYS, "copy"))
    for size in (1024, 4096, 8192):
        transpositions(size, table)
    table = Table((*COLUMNS, "cublas_float", "cublas"), unit="TFLOP/s")
    products(4096, STEPS[1:], 10, 9, table)
    products(8192, STEPS[2:], 3, 9, table)
    products(4096, STEPS[:1], 1, 3, table)
    table.save(args.json)


if __name__ == "__main__":
    main()
