#!/usr/bin/env python3
"""Kernels on rows in one process beside torch and Triton: GB/s of bytes read plus bytes written, each counted once.

    deno task build-kernels && python3 scripts/bench/rows.py [--json FILE] [--quick] [--other DIR] [--alone]

Results are compared with torch in double precision before anything is timed. Triton's kernels are the plain ones of its
tutorials: a program per row, the row in one block. `copy` is the ceiling (see transpose.py). Each --other DIR is the
output of another build of the same kernels, timed in the same rounds: that is how configurations are chosen.
"""
import torch
import triton
import triton.language as tl

from support import Kernels, Table, contenders, copy_calls, device_line, gbps, interleaved, options, with_copy

SHAPES = [(32768, 1024), (16384, 4096), (8192, 16384), (16384, 4000), (16384, 4001), (65536, 200), (2048, 65536)]
EPS = 1e-5


@triton.jit
def softmax_kernel(X, Y, ldx, ldy, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    x = tl.load(X + row * ldx + r, mask=r < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(Y + row * ldy + r, e / tl.sum(e, axis=0), mask=r < N)


@triton.jit
def layer_norm_kernel(X, Y, W, B, Mean, Rstd, ldx, ldy, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    check = r < N
    x = tl.load(X + row * ldx + r, mask=check, other=0.0)
    mean = tl.sum(x, axis=0) / N
    d = tl.where(check, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, axis=0) / N + eps)
    w = tl.load(W + r, mask=check)
    b = tl.load(B + r, mask=check)
    tl.store(Y + row * ldy + r, d * rstd * w + b, mask=check)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)


def launch_plan(n):
    """Block and warps as the tutorial chooses them."""
    block = triton.next_power_of_2(n)
    return {"BLOCK": block, "num_warps": 4 if block < 2048 else 8 if block < 4096 else 16}


def near(found, expected, what):
    error = (found.double() - expected).abs().max().item()
    assert error < 1e-4 * max(1, expected.abs().max().item()), f"{what} is wrong by {error}"


def softmax(kernels, x, y):
    m, n = x.shape
    args = (x, y, m, n, x.stride(0), y.stride(0))
    plan = launch_plan(n)
    calls = contenders(kernels["softmax"], "softmax", "float32", args)
    calls |= {
        "triton": lambda: softmax_kernel[(m,)](x, y, x.stride(0), y.stride(0), n, **plan),
        "torch": lambda: torch.softmax(x, 1, out=y),
    }
    return calls, 2 * x.numel() * 4, (y, torch.softmax(x.double(), 1))


def softmax_backward(kernels, x, y):
    m, n = x.shape
    p = torch.softmax(torch.randn_like(x), 1)
    args = (p, x, y, m, n, p.stride(0), x.stride(0), y.stride(0))
    calls = contenders(kernels["softmax"], "softmax_backward", "float32", args)
    calls["torch"] = lambda: torch._softmax_backward_data(x, p, 1, torch.float32, grad_input=y)
    expected = p.double() * (x.double() - (p.double() * x.double()).sum(1, keepdim=True))
    return calls, 3 * x.numel() * 4, (y, expected)


def layer_norm(kernels, x, y):
    m, n = x.shape
    w, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    mean, rstd = torch.empty(m, device="cuda"), torch.empty(m, device="cuda")
    args = (x, y, w, b, mean, rstd, m, n, x.stride(0), y.stride(0), EPS)
    plan = launch_plan(n)
    calls = contenders(kernels["layer_norm"], "layer_norm", "float32", args)
    calls |= {
        "triton": lambda: layer_norm_kernel[(m,)](
            x, y, w, b, mean, rstd, x.stride(0), y.stride(0), n, EPS, **plan),
        "torch": lambda: torch.native_layer_norm(x, [n], w, b, EPS),
    }
    expected = torch.nn.functional.layer_norm(x.double(), [n], w.double(), b.double(), EPS)
    return calls, 2 * x.numel() * 4, (y, expected)


def layer_norm_backward(kernels, x, y):
    m, n = x.shape
    w = torch.randn(n, device="cuda")
    b = torch.zeros_like(w)
    dy = torch.randn_like(x)
    _, mean, rstd = torch.native_layer_norm(x, [n], w, b, EPS)
    args = (x, dy, w, mean, rstd, y, m, n, x.stride(0), dy.stride(0), y.stride(0))
    calls = contenders(kernels["layer_norm"], "layer_norm_backward", "float32", args)
    mask = [True, False, False]
    calls["torch"] = lambda: torch.ops.aten.native_layer_norm_backward(dy, x, [n], mean, rstd, w, b, mask)
    dy64, x64, mean64, rstd64, w64, b64 = (t.double() for t in (dy, x, mean, rstd, w, b))
    expected = torch.ops.aten.native_layer_norm_backward(dy64, x64, [n], mean64, rstd64, w64, b64, mask)[0]
    return calls, 3 * x.numel() * 4, (y, expected)


def layer_norm_weights(kernels, x, y):
    """Both kernels of the way to dW and dB: partial sums, then their sums."""
    m, n = x.shape
    w, b = torch.randn(n, device="cuda"), torch.zeros(n, device="cuda")
    dy = y.normal_()
    _, mean, rstd = torch.native_layer_norm(x, [n], w, b, EPS)
    # Two blocks to a multiprocessor, all at once: more parts give the second kernel more to add.
    processors = torch.cuda.get_device_properties().multi_processor_count
    parts = max(1, min(m // 64, 2 * processors // triton.cdiv(n, 64)))
    pw, pb = torch.empty(parts, n, device="cuda"), torch.empty(parts, n, device="cuda")
    dw, db = torch.empty(n, device="cuda"), torch.empty(n, device="cuda")
    args = (x, dy, mean, rstd, pw, pb, m, n, parts, x.stride(0), dy.stride(0))
    first = contenders(kernels["norm_weights"], "layer_norm_backward_weights", "float32", args)
    second = contenders(kernels["reduce_sum"], "sum_rows", "float32", (pw, dw, parts, n, n))
    third = contenders(kernels["reduce_sum"], "sum_rows", "float32", (pb, db, parts, n, n))
    calls = {name: lambda name=name: (first[name](), second[name](), third[name]()) for name in first}
    mask = [False, True, True]
    calls["torch"] = lambda: torch.ops.aten.native_layer_norm_backward(dy, x, [n], mean, rstd, w, b, mask)
    xhat = (x.double() - mean.double()) * rstd.double()
    return calls, 2 * x.numel() * 4, (dw, (xhat * dy.double()).sum(0))


def rms_norm(kernels, x, y):
    m, n = x.shape
    w, rstd = torch.randn(n, device="cuda"), torch.empty(m, device="cuda")
    args = (x, y, w, rstd, m, n, x.stride(0), y.stride(0), EPS)
    calls = contenders(kernels["rms_norm"], "rms_norm", "float32", args)
    calls["torch"] = lambda: torch.nn.functional.rms_norm(x, [n], w, EPS)
    return calls, 2 * x.numel() * 4, (y, torch.nn.functional.rms_norm(x.double(), [n], w.double(), EPS))


def rms_norm_backward(kernels, x, y):
    m, n = x.shape
    w, dy = torch.randn(n, device="cuda"), torch.randn_like(x)
    rstd = torch.rsqrt(x.square().mean(1) + EPS)
    args = (x, dy, w, rstd, y, m, n, x.stride(0), dy.stride(0), y.stride(0))
    calls = contenders(kernels["rms_norm"], "rms_norm_backward", "float32", args)
    g, h = dy.double() * w.double(), x.double() * rstd.double()[:, None]
    return calls, 3 * x.numel() * 4, (y, (g - h * (g * h).mean(1, keepdim=True)) * rstd.double()[:, None])


def cross_entropy(kernels, x, y):
    m, n = x.shape
    label = torch.randint(0, n, (m,), device="cuda")
    loss, lse = torch.empty(m, device="cuda"), torch.empty(m, device="cuda")
    args = (x, label, loss, lse, m, n, x.stride(0))
    calls = contenders(kernels["cross_entropy"], "cross_entropy", "float32", args)
    calls["torch"] = lambda: torch.nn.functional.cross_entropy(x, label, reduction="none")
    expected = torch.nn.functional.cross_entropy(x.double(), label, reduction="none")
    return calls, x.numel() * 4, (loss, expected)


def cross_entropy_backward(kernels, x, y):
    m, n = x.shape
    label = torch.randint(0, n, (m,), device="cuda")
    lse, dloss = torch.logsumexp(x, 1), torch.randn(m, device="cuda")
    args = (x, label, lse, dloss, y, m, n, x.stride(0), y.stride(0))
    calls = contenders(kernels["cross_entropy"], "cross_entropy_backward", "float32", args)
    expected = torch.softmax(x.double(), 1)
    expected[torch.arange(m, device="cuda"), label] -= 1
    return calls, 2 * x.numel() * 4, (y, expected * dloss.double()[:, None])


BENCHES = {
    "softmax": softmax,
    "softmax backward": softmax_backward,
    "layer norm": layer_norm,
    "layer norm backward, dX": layer_norm_backward,
    "layer norm backward, dW dB": layer_norm_weights,
    "rms norm": rms_norm,
    "rms norm backward, dX": rms_norm_backward,
    "cross-entropy": cross_entropy,
    "cross-entropy backward": cross_entropy_backward,
}


def main():
    parser = options(__doc__)
    parser.add_argument("--only", help="kernels whose name begins so")
    parser.add_argument("--shapes", help="such as 8192x16384,2048x65536, in place of the usual ones")
    parser.add_argument("--rounds", type=int, default=11, help="how often each contender is timed")
    parser.add_argument("--alone", action="store_true", help="without Triton and torch")
    args = parser.parse_args()
    kernels = {name: Kernels(name, others=args.other) for name in ("softmax", "layer_norm", "norm_weights", "rms_norm", "cross_entropy", "reduce_sum")}
    print(device_line())
    others = tuple(kernels["softmax"].others)
    ratios = (("ours", "triton"), ("ours", "copy")) + tuple((name, "ours") for name in others)
    shapes = [tuple(map(int, one.split("x"))) for one in (args.shapes or "").split(",") if one]
    shapes = shapes or (SHAPES[1:4] if args.quick else SHAPES)
    table = Table(("ours", *others, "copy", "triton", "torch"), ratios)
    for name, bench in BENCHES.items():
        if not name.startswith(args.only or ""):
            continue
        for m, n in shapes:
            x = torch.randn(m, n, device="cuda")
            y = torch.empty_like(x)
            calls, size, (found, expected) = bench(kernels, x, y)
            if args.alone:
                calls = {name: call for name, call in calls.items() if name not in ("triton", "torch")}
            for contender, call in calls.items():
                if contender == "torch":
                    continue
                found.fill_(77)
                call()
                near(found, expected, f"{contender} {name} {m}x{n}")
            del expected
            calls |= copy_calls(x)
            # Short calls are many, so that what a graph takes to begin does not count.
            times = interleaved(calls, 20 if x.numel() <= 2**26 else 5, args.rounds)
            copy = {k: times.pop(k) for k in ("memcpy", "neg")}
            speed = with_copy({**gbps(times, size), **gbps(copy, 2 * x.numel() * 4)})
            table.row(f"{name} {m}x{n}", speed, kernel=name, rows=m, columns=n)
    table.save(args.json)


if __name__ == "__main__":
    main()
