#!/usr/bin/env python3
"""Block-sparse products in one process beside torch's dense product: microseconds, and TFLOP/s of the blocks there are.

    deno task build-kernels && python3 scripts/bench/block_sparse.py [--json FILE] [--quick]

Square matrices, half; at each density random blocks of the sparse matrix are there. `dense` multiplies everything
(cuBLAS); `dense/ours` is how many times faster leaving blocks out is. Results are compared with it before timing.
"""
import torch

from support import Kernels, Table, device_line, interleaved, options

SIZE = 4096
DENSITIES = (1.0, 0.5, 0.25, 0.1, 0.05)


def tables(mask):
    """What blockTables() of the run time gives, as tensors."""
    rows, columns = mask.nonzero(as_tuple=True)
    down = torch.argsort(columns, stable=True)

    def ends(counts):
        return torch.cat((torch.zeros(1, device=mask.device, dtype=torch.int64), counts.cumsum(0)))

    found = rows, columns, ends(mask.sum(1)), ends(mask.sum(0)), rows[down], down
    return [table.to(torch.int32).contiguous() for table in found]


def near(actual, expected, what):
    error = (actual.float() - expected.float()).abs().max().item()
    assert error <= 2e-2 * expected.float().abs().max().item(), f"{what} is wrong by {error}"


def main():
    args = options(__doc__).parse_args()
    kernels = Kernels("block_sparse")
    print(device_line())
    table = Table(["ours", "dense", "TFLOP/s"], [("dense", "ours")], "µs")
    dtype, n = "float16", SIZE
    for block in (64,) if args.quick else (64, 32, 16):
        side = n // block
        for density in DENSITIES[1:3] if args.quick else DENSITIES:
            mask = torch.rand(side, side, device="cuda") < density
            rows, columns, row_ends, column_ends, down_rows, numbers = tables(mask)
            count = rows.numel()
            a, b = (torch.randn(1, n, n, device="cuda", dtype=torch.float16) for _ in range(2))
            wide = mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
            sparse = torch.where(wide, torch.randn(n, n, device="cuda", dtype=torch.float16), 0)

            def blocks_of(matrix):
                return matrix.view(side, block, side, block).permute(0, 2, 1, 3)[mask].contiguous().view(1, count, block, block)

            values = blocks_of(sparse)
            made = torch.empty_like(values)
            c, dense = torch.empty_like(a), torch.empty_like(a)
            step, batch = n * n, count * block * block
            calls = {
                "sdd": (a, b, rows, columns, made, 1, n, n, n, count, block, step, n, step, n, batch),
                "dsd": (values, row_ends, columns, b, c, 1, side + 1, n, n, count, batch, step, n, step, n),
                "dds": (a, values, column_ends, down_rows, numbers, c, 1, n, side + 1, n, count, step, n, batch, step, n),
            }
            operands = {"sdd": (a[0], b[0]), "dsd": (sparse, b[0]), "dds": (a[0], sparse)}
            for name, arguments in calls.items():
                ours = kernels.pick(name, f"{dtype}_BLOCK{block}", *arguments)
                ours(*arguments)
                left, right = operands[name]
                expected = left @ right
                near(made if name == "sdd" else c, blocks_of(expected) if name == "sdd" else expected, name)
                times = interleaved({
                    "ours": lambda: ours(*arguments),
                    "dense": lambda: torch.matmul(left, right, out=dense[0]),
                })
                us = {key: 1000 * ms for key, ms in times.items()}
                us["TFLOP/s"] = 2 * count * block * block * n / us["ours"] / 1e6
                table.row(f"{name} {block} density {density}", us, kernel=name, block=block, density=density)
    table.save(args.json)


if __name__ == "__main__":
    main()
