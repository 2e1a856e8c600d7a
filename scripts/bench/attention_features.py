#!/usr/bin/env python3
"""Attention with a bias, of sequences of any lengths and with a window, beside what torch has: TFLOP/s of what is computed.

    tri build kernels/attention.tc kernels/attention_bias.tc kernels/attention_varlen.tc --arch sm_90a
    python3 scripts/bench/attention_features.py [--json FILE]

Results are compared with torch in double precision before anything is timed. Pairs of queries and keys that a mask hides
are not counted.
"""
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from support import Kernels, Table, device_line, interleaved, options


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def strides_of(*tensors):
    return [s for t in tensors for s in t.stride()[:3]]


def sdpa(backend, q, k, v, **how):
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, **how)


def near(actual, expected):
    error = (actual.double() - expected).abs().max().item()
    assert error < 4e-3, f"off by {error}"


def with_peers(calls, q, k, v, **how):
    """The calls, and those of torch's kernels that take these arguments."""
    for name, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION),
                          ("efficient", SDPBackend.EFFICIENT_ATTENTION)):
        try:
            sdpa(backend, q, k, v, **how)
        except RuntimeError:
            continue
        calls[name] = lambda backend=backend: sdpa(backend, q, k, v, **how)
    return calls


def bias_row(kernels, table, b, h, m, d, own_batches):
    q, k, v = (normal(b, h, m, d) for _ in range(3))
    bias = normal(b if own_batches else 1, h, m, m)
    o, lse = torch.full_like(q, float("nan")), torch.empty(b, h, m, device="cuda")
    arguments = (q, k, v, bias, o, lse, b, h, h, m, m, *bias.shape[:3], *strides_of(q, k, v, bias, o), d**-0.5, False)
    ours = kernels.pick("attention_bias", f"float16_D{d}", *arguments)
    ours(*arguments)
    few = slice(0, 1)
    near(o[few, few], sdpa(SDPBackend.MATH, *(t[few, few].double() for t in (q, k, v)),
                           attn_mask=bias[few, few].double(), scale=d**-0.5))
    whole = bias.expand(b, h, m, m)
    calls = with_peers({"ours": lambda: ours(*arguments)}, q, k, v, attn_mask=whole, scale=d**-0.5)
    times = interleaved(calls, 5, 7)
    table.row(f"bias {tuple(bias.shape)} {b}x{h}x{m}x{d}", {n: 4 * b * h * m * m * d / ms / 1e9 for n, ms in times.items()},
              symbol=ours.taken(*arguments))


def varlen_row(kernels, table, lengths, h, d, causal):
    total = sum(lengths)
    q, k, v = (normal(total, h, d) for _ in range(3))
    offsets = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    o, lse = torch.full_like(q, float("nan")), torch.empty(h, total, device="cuda")
    sizes = [s for t in (q, k, v, o) for s in t.stride()[:2]]
    arguments = (q, k, v, offsets, offsets, o, lse, len(lengths) + 1, total, total, h, h, *sizes, max(lengths), d**-0.5,
                 causal, 0)
    ours = kernels.pick("attention_varlen", f"float16_D{d}", *arguments)
    ours(*arguments)
    assert not o.isnan().any()
    first = slice(total - lengths[-1], total)
    near(o[first].transpose(0, 1)[None], sdpa(
        SDPBackend.MATH, *(t[first].transpose(0, 1)[None].double() for t in (q, k, v)), is_causal=causal, scale=d**-0.5))
    calls = {
        "ours": lambda: ours(*arguments),
        "flash": lambda: torch.ops.aten._flash_attention_forward(
            q, k, v, offsets, offsets, max(lengths), max(lengths), 0.0, causal, False, scale=d**-0.5),
    }
    work = 4 * h * d * sum(n * n for n in lengths) / (2 if causal else 1)
    times = interleaved(calls, 5, 7)
    name = f"{len(lengths)} sequences, {total} rows x{h}x{d}{' causal' if causal else ''}"
    table.row(name, {n: work / ms / 1e9 for n, ms in times.items()}, symbol=ours.taken(*arguments))


def window_row(kernels, table, b, h, m, d, window):
    q, k, v = (normal(b, h, m, d) for _ in range(3))
    o, lse = torch.full_like(q, float("nan")), torch.empty(b, h, m, device="cuda")
    arguments = (q, k, v, o, lse, b, h, h, m, m, *strides_of(q, k, v, o), d**-0.5, True, window)
    ours = kernels.tuned("attention", f"float16_D{d}", "general", *arguments)
    ours(*arguments)
    rows = torch.arange(m, device="cuda")
    distance = rows[:, None] - rows[None, :]
    mask = (distance >= 0) & (distance < window)
    few = slice(0, 1)
    near(o[few, few], sdpa(SDPBackend.MATH, *(t[few, few].double() for t in (q, k, v)), attn_mask=mask, scale=d**-0.5))
    times = interleaved({"ours": lambda: ours(*arguments)}, 5, 7)
    pairs = mask.sum().item()
    table.row(f"window {window} {b}x{h}x{m}x{d}", {n: 4 * b * h * pairs * d / ms / 1e9 for n, ms in times.items()},
              symbol=ours.taken(*arguments))


def main():
    args = options(__doc__).parse_args()
    # What torch says of kernels that do not take the arguments.
    warnings.simplefilter("ignore")
    print(device_line())
    table = Table(("ours", "cudnn", "flash", "efficient"), (("ours", "cudnn"), ("ours", "flash"), ("ours", "efficient")),
                  "TFLOP/s")
    bias = Kernels("attention_bias")
    for d, own_batches in ((128, True), (64, True), (128, False)):
        bias_row(bias, table, 4, 16, 2048, d, own_batches)
    varlen = Kernels("attention_varlen")
    lengths = [4096, 2048, 1024, 1500, 700, 333, 3000, 3683]
    for d, causal in ((128, False), (128, True), (64, True)):
        varlen_row(varlen, table, lengths, 32, d, causal)
    dense = Kernels("attention")
    for d, window in ((128, 1024), (128, 128), (64, 1024)):
        window_row(dense, table, 1, 32, 8192, d, window)
    table.save(args.json)


if __name__ == "__main__":
    main()
