#!/usr/bin/env python3
"""Products of rows in groups beside torch's grouped product and one dense product of as many rows: TFLOP/s.

    deno task build-kernels && python3 scripts/bench/grouped_matmul.py [--json FILE] [--quick]

`rows` gathers and scatters, `gated` has the gated epilogue. `memory` is what reading every matrix once at 4.3 TB/s would
allow: where groups have few rows, nothing is faster. Results are compared with torch before anything is timed.
"""
import torch

from support import TORCH, Kernels, Table, device_line, interleaved, options

# Groups, rows, K, N, rows as numbers that add up (even) or drawn (uneven).
CASES = [
    (64, 8192, 4096, 1536, "even"),
    (64, 8192, 4096, 1536, "uneven"),
    (64, 65536, 4096, 1536, "even"),
    (64, 65536, 4096, 1536, "uneven"),
    (8, 8192, 4096, 1536, "even"),
]


def main():
    args = options(__doc__).parse_args()
    kernels = Kernels("grouped_matmul")
    print(device_line())
    names = ("ours", "rows", "gated", "torch", "dense", "memory")
    table = Table(names, (("ours", "dense"), ("ours", "torch"), ("ours", "memory")), "TFLOP/s")
    dtype = "bfloat16"
    for e, r, k, n, how in CASES[:2] if args.quick else CASES:
        shares = torch.ones(e) if how == "even" else torch.rand(e) ** 2
        counts = torch.distributions.Multinomial(r, shares).sample().int() if how == "uneven" else torch.full((e,), r // e)
        offsets = torch.cat((torch.zeros(1), counts.cumsum(0))).int().cuda()
        a = torch.randn(r, k, device="cuda", dtype=TORCH[dtype])
        w = torch.randn(e, k, n, device="cuda", dtype=TORCH[dtype])
        anywhere = torch.randperm(r, device="cuda").int()
        c, moved = (torch.full((r, n), float("nan"), device="cuda", dtype=TORCH[dtype]) for _ in range(2))
        half = torch.full((r, n // 2), float("nan"), device="cuda", dtype=TORCH[dtype])
        tail = (e, n, k, k, k * n, n)
        plain = (a, w, offsets, c, r, *tail, n)
        rows = (a, w, offsets, anywhere, anywhere, moved, r, r, *tail, n)
        gated = (a, w, offsets, half, r, *tail, n // 2)
        ours = kernels.pick("grouped_matmul", dtype, *plain)
        by_rows = kernels.pick("grouped_matmul_rows", dtype, *rows)
        by_gate = kernels.pick("grouped_matmul", f"{dtype}_gated", *gated)
        calls = {"ours": lambda: ours(*plain), "rows": lambda: by_rows(*rows), "gated": lambda: by_gate(*gated)}
        for call in calls.values():
            call()
        ends = offsets.tolist()
        for group in range(e):
            at = slice(ends[group], ends[group + 1])
            expected = a[at].float() @ w[group].float()
            silu = torch.nn.functional.silu(expected[:, ::2]) * expected[:, 1::2]
            index = anywhere[at].long()
            for name, found, is_ in (("ours", c[at], expected), ("gated", half[at], silu),
                                     ("rows", moved[index], a[index].float() @ w[group].float())):
                error = (found.float() - is_).abs().max().item() if is_.numel() else 0
                assert error <= 1e-2 * max(1, is_.abs().max().item() if is_.numel() else 1), f"{name} is off by {error}"
        calls["dense"] = lambda: torch.mm(a, w[0], out=c)
        if hasattr(torch, "_grouped_mm"):
            turned = w.transpose(1, 2).contiguous().transpose(1, 2)
            calls["torch"] = lambda: torch._grouped_mm(a, turned, offs=offsets[1:])
        flops = 2 * r * k * n
        speed = {name: flops / ms / 1e9 for name, ms in interleaved(calls, 5, 7).items()}
        used = int((counts > 0).sum())
        speed["memory"] = flops / (2 * (used * k * n + r * (k + n)) / 4.3e12) / 1e12
        table.row(f"{e} groups, {r}x{k}x{n}, {how}", speed, symbol=ours.symbol)
    table.save(args.json)


if __name__ == "__main__":
    main()
