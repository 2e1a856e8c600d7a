#!/usr/bin/env python3
"""Attention of one query over long keys, in one process beside torch's cuDNN and flash kernels: GB/s of keys and values.

    deno task build-kernels && python3 scripts/bench/decode.py [--json FILE] [--quick]

Both steps are timed together. Results are compared with torch before anything is timed. `paged` is ours over pages of 64
keys in random order.
"""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from support import TORCH, Kernels, Table, device_line, interleaved, options

# Type, sequences, heads of queries, heads of keys, keys, elements of a head.
CASES = [
    ("float16", 1, 32, 32, 32768, 128),
    ("float16", 8, 32, 8, 32768, 128),
    ("float16", 64, 32, 8, 4096, 128),
    ("bfloat16", 8, 32, 8, 32768, 128),
    ("float16", 16, 32, 8, 8192, 64),
]
PAGE = 64
# Programs of the first step: what a GPU of 132 multiprocessors runs at a time.
PROGRAMS = 396


def sdpa(backend, q, k, v, scale):
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


def calls_of(kernels, variant, q, k, v, table, lengths, programs):
    """Both steps, what they write, and the entry of the first."""
    (b, h, m, d), (pages, kh, size, _) = q.shape, k.shape
    # Where the pairs of sequences and heads are more than that, three rounds of it.
    splits = max(1, (programs if kh * b <= programs else 3 * programs) // (kh * b))
    parts = torch.full((b, h, m, splits, d), float("nan"), device="cuda")
    parts_lse = torch.full((b, h, m, splits), float("nan"), device="cuda")
    o = torch.full_like(q, float("nan"))
    lse = torch.full((b, h, m), float("nan"), device="cuda")
    strides = [s for t in (q, k, v) for s in t.stride()[:3]]
    first = (q, k, v, table, lengths, parts, parts_lse, b, h, m, kh, pages, size, table.shape[1], *strides, splits,
             d**-0.5, False)
    second = (parts, parts_lse, o, lse, b, h, m, splits, *o.stride()[:3])
    decode = kernels.pick("decode", variant, *first)
    combine = kernels.pick("decode_combine", variant, *second)

    def call():
        decode(*first)
        combine(*second)

    return call, o, decode.symbol


def main():
    args = options(__doc__).parse_args()
    kernels = Kernels("decode")
    print(device_line())
    table = Table(("ours", "paged", "cudnn", "flash"), (("ours", "cudnn"), ("paged", "ours")), "GB/s")
    for dtype, b, h, kh, n, d in CASES[:3] if args.quick else CASES:
        variant = f"{dtype}_D{d}"
        q = torch.randn(b, h, 1, d, device="cuda", dtype=TORCH[dtype])
        k, v = (torch.randn(b, kh, n, d, device="cuda", dtype=TORCH[dtype]) for _ in range(2))
        lengths = torch.full((b,), n, device="cuda", dtype=torch.int32)
        order = torch.randperm(b * n // PAGE, device="cuda")
        paged = [torch.empty(order.numel(), kh, PAGE, d, device="cuda", dtype=TORCH[dtype]) for _ in range(2)]
        for pages, whole in zip(paged, (k, v)):
            pages[order] = whole.view(b, kh, n // PAGE, PAGE, d).transpose(1, 2).reshape(-1, kh, PAGE, d)
        one = torch.arange(b, device="cuda", dtype=torch.int32).view(b, 1)
        calls, symbols = {}, {}
        groups = h // kh
        few = sdpa(SDPBackend.MATH, q[:1, :groups].double(), k[:1, :1].double(), v[:1, :1].double(), d**-0.5)
        for name, keys, entries in (("ours", (k, v), one), ("paged", paged, order.view(b, -1).int())):
            calls[name], o, symbols[name] = calls_of(kernels, variant, q, *keys, entries, lengths, PROGRAMS)
            calls[name]()
            error = (o[:1, :groups].double() - few).abs().max().item()
            assert error < 2e-3 and not o.isnan().any(), f"{name} is off by {error} for {dtype} {b}x{h}x{n}"
        for name, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
            try:
                sdpa(backend, q, k, v, d**-0.5)
            except RuntimeError:
                continue
            calls[name] = lambda backend=backend: sdpa(backend, q, k, v, d**-0.5)
        size = 2 * k.numel() * k.element_size()
        speed = {name: size / ms / 1e6 for name, ms in interleaved(calls, 5, 7).items()}
        table.row(f"{dtype} {b}x{h}/{kh}x{n}x{d}", speed, symbols=symbols)
    table.save(args.json)


if __name__ == "__main__":
    main()
