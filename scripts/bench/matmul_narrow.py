#!/usr/bin/env python3
"""Products of narrow operands in one process beside torch (cuBLAS): TFLOP/s, two operations a product of elements.

    deno task build-kernels && python3 scripts/bench/matmul_narrow.py [--json FILE] [--quick] [--rest SECONDS]

What wrappers launch: TF32 of float, float8 with the sums of the tensor cores (`fast`) and with those of float (`exact`), and int8 (matmul.tc).
B lies by columns, which tensor cores want for these types, or by rows; torch multiplies float8 by columns only, and gets
them so in both rows. Inputs are random normals, random bytes for int8. Results are compared with products in double
precision before anything is timed.
"""
import torch

from support import REST, TORCH, Kernels, Table, device_line, interleaved, options

TORCH["float8e4"] = torch.float8_e4m3fn
TORCH["float8e5"] = torch.float8_e5m2
# Variant of the kernel, its operands, its result, and the error of the largest element.
CASES = [
    ("matmul", "int8", "int8", torch.int32, 0),
    ("matmul_narrow", "tf32", "float32", torch.float32, 1e-3),
    ("matmul_narrow", "float8e4", "float8e4", torch.bfloat16, 2e-2),
    ("matmul_narrow", "float8e4_exact", "float8e4", torch.bfloat16, 1e-2),
]
SIZES = (2048, 4096, 8192)


def inputs(dtype, rows, columns):
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), device="cuda", dtype=torch.int8)
    return torch.randn((rows, columns), device="cuda").to(TORCH[dtype])


def torch_product(variant, a, b, out):
    """torch allocates what it returns, except for float; float8 has factors, which are 1 here."""
    if variant == "int8":
        return lambda: torch._int_mm(a, b)
    if variant == "tf32":
        return lambda: torch.mm(a, b, out=out)
    one = torch.ones((), device="cuda")
    columns = b.t().contiguous().t()
    is_fast = not variant.endswith("_exact")
    return lambda: torch._scaled_mm(a, columns, one, one, out_dtype=torch.bfloat16, use_fast_accum=is_fast)


def main():
    parser = options(__doc__)
    parser.add_argument("--rest", type=float, default=REST, help="seconds before each graph")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    kernels = {name: Kernels(name) for name in ("matmul", "matmul_narrow")}
    print(device_line())
    table = Table(("ours", "torch"), (("ours", "torch"),), unit="TFLOP/s")
    for kernel, variant, dtype, result, bound in CASES:
        for size in SIZES[1:2] if args.quick else SIZES:
            for storage in ("columns", "rows"):
                a, b = inputs(dtype, size, size), inputs(dtype, size, size)
                b = b.t() if storage == "columns" else b
                c = torch.full((size, size), 77, device="cuda", dtype=result)
                arguments = (a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride())
                # The first specialisation is for B by rows in one kernel, by columns in the other.
                is_first = (storage == "rows") == (kernel == "matmul")
                ours = kernels[kernel].tuned(kernel, variant, "s1" if is_first else "s2", *arguments)
                calls = {
                    "ours": lambda: ours(*arguments),
                    "torch": torch_product(variant, a, b, torch.empty_like(c)),
                }
                expected = a.to(torch.float64) @ b.to(torch.float64)
                calls["ours"]()
                error = (c.double() - expected).abs().max() / expected.abs().max()
                assert error <= bound, f"{variant} {size} by {storage} is wrong: {error}"
                milliseconds = interleaved(calls, 3 if size > 4096 else 20, 9, args.rest)
                speed = {name: 2 * size**3 / ms / 1e9 for name, ms in milliseconds.items()}
                table.row(f"{variant} {size}, B by {storage}", speed, variant=variant, size=size, symbol=ours.symbol)
    table.save(args.json)


if __name__ == "__main__":
    main()
