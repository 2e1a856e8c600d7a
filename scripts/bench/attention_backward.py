#!/usr/bin/env python3
"""The derivatives of attention, in one process beside torch's flash and cuDNN kernels: TFLOP/s.

    deno task build-kernels && python3 scripts/bench/attention_backward.py [--json FILE] [--quick] [--other DIR]

Results are compared with torch in double precision before anything is timed. Operations are those of five products,
whatever a kernel computes again; causal ones count as half.
"""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from support import TORCH, Kernels, Table, device_line, interleaved, options

# Type, batches, heads, heads of keys, rows, elements of a row, causal.
CASES = [
    ("bfloat16", 4, 32, 32, 4096, 128, False),
    ("bfloat16", 4, 32, 32, 4096, 128, True),
    ("bfloat16", 4, 32, 32, 4096, 64, False),
    ("bfloat16", 4, 32, 32, 4096, 64, True),
    ("float16", 4, 32, 32, 4096, 128, False),
    ("bfloat16", 2, 64, 8, 4096, 128, True),
    ("bfloat16", 4, 32, 32, 4095, 128, True),
    ("float32", 1, 8, 8, 1024, 64, False),
]
# Largest difference, by the largest derivative.
TOLERANCE = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-5}


def forward(backend, q, k, v, scale, causal):
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


def expected(q, k, v, g, scale, causal):
    """Derivatives in double precision of the first head of keys, and O and Lse of the heads that share it."""
    group = q.shape[1] // k.shape[1]
    q, g = (t[:1, :group].double() for t in (q, g))
    k, v = (t[:1, :1].double() for t in (k, v))
    s = scale * q @ k.transpose(2, 3)
    if causal:
        s.masked_fill_(torch.ones(s.shape[2:], dtype=torch.bool, device="cuda").triu(1), -torch.inf)
    lse = s.logsumexp(3, keepdim=True)
    p = (s - lse).exp_()
    o = p @ v
    ds = p * (g @ v.transpose(2, 3) - (o * g).sum(3, keepdim=True)) * scale
    return ds @ k, (ds.transpose(2, 3) @ q).sum(1, keepdim=True), (p.transpose(2, 3) @ g).sum(1, keepdim=True)


class Ours:
    """The three kernels of a build, with O and Lse of its attention."""

    def __init__(self, kernels, attention, q, k, v, g, scale, causal):
        self.kernels = kernels
        self.beside = torch.cuda.Stream()
        b, h, m, d = q.shape
        kh, n = k.shape[1:3]
        variant = f"{str(q.dtype).removeprefix('torch.')}_D{d}"
        strides = lambda *tensors: [s for t in tensors for s in t.stride()[:3]]
        o, lse = torch.full_like(q, torch.nan), torch.full((b, h, m), torch.nan, device="cuda")
        arguments = (q, k, v, o, lse, b, h, kh, m, n, *strides(q, k, v, o), scale, causal, 0)
        attention.pick("attention", variant, *arguments)(*arguments)
        rows = torch.full((b, h, 2, -(-m // 128) * 128), torch.nan, device="cuda")
        self.results = dq, dk, dv = [torch.full_like(t, torch.nan) for t in (q, k, v)]
        shapes = (b, h, kh, m, n)
        self.calls = [
            self.bound("attention_backward_rows", variant, o, g, lse, rows, b, h, m, *strides(o, g)),
            self.bound("attention_backward_keys", variant, q, k, v, g, rows, dk, dv, *shapes,
                       *strides(q, k, v, g, dk, dv), scale, causal),
            self.bound("attention_backward_queries", variant, q, k, v, g, rows, dq, *shapes,
                       *strides(q, k, v, g, dq), scale, causal),
        ]

    def bound(self, kernel, variant, *arguments):
        picked = self.kernels.pick(kernel, variant, *arguments)
        self.symbol = picked.taken(*arguments)
        return lambda: picked(*arguments)

    def __call__(self):
        """The two kernels that need the numbers of rows, on a stream each: the second one begins where the first ends."""
        rows, keys, queries = self.calls
        rows()
        self.beside.wait_stream(torch.cuda.current_stream())
        keys()
        with torch.cuda.stream(self.beside):
            queries()
        torch.cuda.current_stream().wait_stream(self.beside)

    def in_turn(self):
        for call in self.calls:
            call()


def compare(name, found, wanted, dtype):
    for label, one, exact in zip(("dq", "dk", "dv"), found, wanted):
        few = one[:1, :exact.shape[1]].double()
        error = ((few - exact).abs().max() / exact.abs().max()).item()
        assert error < TOLERANCE[dtype], f"{label} of {name} is off by {error} for {dtype}"
        assert not one.isnan().any(), f"{name} left elements of {label} out"


def main():
    args = options(__doc__).parse_args()
    kernels = Kernels("attention_backward", others=args.other)
    attention = Kernels("attention")
    print(device_line())
    builds = {"ours": kernels, **kernels.others}
    names = (*builds, "in turn", "keys", "queries", "flash", "cudnn")
    table = Table(names, (("ours", "flash"), ("ours", "cudnn")), "TFLOP/s")
    for dtype, b, h, kh, m, d, causal in CASES[:4] if args.quick else CASES:
        q, g = (torch.randn(b, h, m, d, device="cuda", dtype=TORCH[dtype]) for _ in range(2))
        k, v = (torch.randn(b, kh, m, d, device="cuda", dtype=TORCH[dtype]) for _ in range(2))
        scale = d**-0.5
        wanted = expected(q, k, v, g, scale, causal)
        calls = {}
        for name, build in builds.items():
            calls[name] = Ours(build, attention, q, k, v, g, scale, causal)
            calls[name]()
            compare(name, calls[name].results, wanted, dtype)
        symbol = calls["ours"].symbol
        calls["in turn"] = calls["ours"].in_turn
        # The two products of kernels, timed alone.
        calls["keys"], calls["queries"] = calls["ours"].calls[1:]
        # Both take 16-bit types only.
        if dtype != "float32":
            for t in (q, k, v):
                t.requires_grad_()
            for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
                try:
                    node = forward(backend, q, k, v, scale, causal).grad_fn
                    compare(name, node(g), wanted, dtype)
                except (RuntimeError, AssertionError) as problem:
                    print(f"{name}: {problem}")
                    continue
                calls[name] = lambda node=node: node(g)
        work = 10 * b * h * m * m * d / (2 if causal else 1)
        speed = {name: work / ms / 1e9 for name, ms in interleaved(calls, 5, 7).items()}
        case = f"{dtype} {b}x{h}{f'/{kh}' if kh != h else ''}x{m}x{d}{' causal' if causal else ''}"
        table.row(case, speed, dtype=dtype, causal=causal, symbol=symbol)
    table.save(args.json)


if __name__ == "__main__":
    main()
