#!/usr/bin/env python3
"""Block-sparse products, block by block and by groups of blocks, in one process beside torch's dense product:
microseconds, and TFLOP/s of the blocks there are.

    deno task build-kernels && python3 scripts/bench/block_sparse.py [--json FILE] [--quick]

Square matrices, half; at each density random blocks of the sparse matrix are there. `dense` multiplies everything
(cuBLAS); `dense/…` is how many times faster leaving blocks out is, `packed` are the kernels on groups. Results are compared with it before timing.
"""
import json
import pathlib
import subprocess

import torch

from support import Kernels, Table, device_line, interleaved, options

SIZE = 4096
# Elements of groups of a result, their parts, and blocks of a run by the size of blocks, as in the kernel's text.
RESULT = 128, 256
PARTS = 2
RUNS = {16: 4, 32: 1, 64: 1}
DENSITIES = (1.0, 0.5, 0.25, 0.1, 0.05)


def tables(mask):
    """What blockTables() of the run time gives, as tensors."""
    rows, columns = mask.nonzero(as_tuple=True)
    down = torch.argsort(columns, stable=True)

    def ends(counts):
        return torch.cat((torch.zeros(1, device=mask.device, dtype=torch.int64), counts.cumsum(0)))

    found = rows, columns, ends(mask.sum(1)), ends(mask.sum(0)), rows[down], down
    return [table.to(torch.int32).contiguous() for table in found]


def packed(mask, high, wide):
    """What packedBlockTables() of the run time gives, as tensors: tables of groups, and their blocks in both orders."""
    rows, columns = mask.shape
    down, across = -(-rows // high), -(-columns // wide)
    numbers = torch.full((down * high, across * wide), -1, device=mask.device, dtype=torch.int32)
    numbers[:rows, :columns] = torch.where(mask, mask.flatten().cumsum(0).view(rows, columns) - 1, -1).to(torch.int32)
    groups = numbers.view(down, high, across, wide).permute(0, 2, 1, 3)
    there = (groups >= 0).flatten(2).any(2)
    return *tables(there)[:5], groups[there].contiguous(), groups.transpose(0, 1)[there.t()].contiguous()


def gathered(mask, high, wide, run, parts):
    """What gatheredBlockTables() of the run time gives, as tensors."""
    module = (pathlib.Path(__file__).resolve().parents[2] / "ffi/gathered_blocks.ts").as_uri()
    script = f"""import {{ gatheredBlockTables }} from {json.dumps(module)};
        const call = JSON.parse(await new Response(Deno.stdin.readable).text());
        const {{ rows, columns, blocks }} = gatheredBlockTables(...call);
        console.log(JSON.stringify([rows, columns, blocks].map((table) => [...table])));"""
    call = json.dumps([mask.flatten().tolist(), *mask.shape, high, wide, run, parts])
    made = subprocess.run(["deno", "eval", script], input=call, stdout=subprocess.PIPE, text=True, check=True)
    return [torch.tensor(table, device=mask.device, dtype=torch.int32) for table in json.loads(made.stdout)]


def near(actual, expected, what):
    error = (actual.float() - expected.float()).abs().max().item()
    assert error <= 2e-2 * expected.float().abs().max().item(), f"{what} is wrong by {error}"


def main():
    args = options(__doc__).parse_args()
    kernels, grouped = Kernels("block_sparse"), Kernels("block_sparse_packed")
    print(device_line())
    table = Table(["ours", "packed", "dense", "TFLOP/s"], [("dense", "ours"), ("dense", "packed")], "µs")
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
            run = RUNS[block]
            high, across = (extent // block // run for extent in RESULT)
            out = gathered(mask, high, across, run, PARTS)
            left, right = (packed(mask, h // block, w // block) for h, w in ((128, 64), (64, 128)))
            packs = {
                "sdd": (a, b, *out, made, 1, n, n, n, count, block, out[0].numel() // high, step, n, step, n, batch),
                "dsd": (values, left[2], left[1], left[5], b, c, 1, n, n, n, count, left[0].numel(), batch, step, n, step, n),
                "dds": (a, values, *right[3:5], right[6], c, 1, n, n, n, count, right[0].numel(), step, n, batch, step, n),
            }
            operands = {"sdd": (a[0], b[0]), "dsd": (sparse, b[0]), "dds": (a[0], sparse)}
            for name, arguments in calls.items():
                ours = kernels.pick(name, f"{dtype}_BLOCK{block}", *arguments)
                pack = grouped.pick(f"{name}_packed", f"{dtype}_BLOCK{block}", *packs[name])
                left, right = operands[name]
                expected = left @ right
                result, wanted = (made, blocks_of(expected)) if name == "sdd" else (c, expected)
                contenders = {"ours": lambda: ours(*arguments), "packed": lambda: pack(*packs[name])}
                for what, call in contenders.items():
                    result.fill_(float("nan"))
                    call()
                    near(result, wanted, f"{name}, {what},")
                times = interleaved({**contenders, "dense": lambda: torch.matmul(left, right, out=dense[0])})
                us = {key: 1000 * ms for key, ms in times.items()}
                us["TFLOP/s"] = 2 * count * block * block * n / us["ours"] / 1e6
                table.row(f"{name} {block} density {density}", us, kernel=name, block=block, density=density)
    table.save(args.json)


if __name__ == "__main__":
    main()
