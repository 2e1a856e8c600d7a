#!/usr/bin/env python3
"""Products and convolutions in one process beside torch (cuBLAS, cuDNN): TFLOP/s.

    deno task build-kernels && python3 scripts/bench/products.py [--json FILE] [--quick] [--only conv2d,gradients]

Results are compared with torch before anything is timed. Parts are timed with their sum. Storage `nt` multiplies by a
matrix stored by columns, `tn` has the left one stored so. float32 is exact on both sides: TF32 is off. Convolutions have channels last on both sides.
matmul, matmul_fused, batched_matmul, conv2d and its gradients run in the configuration that wrappers choose, the others
in their first one.
"""
import torch

from support import TORCH, Kernels, Table, device_line, interleaved, options

ERRORS = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-4, "float64": 1e-10}


def random(dtype, *shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(TORCH[dtype])


def near(actual, expected, dtype, what):
    error = (actual.double() - expected.double()).abs().max().item()
    bound = ERRORS[dtype] * expected.double().abs().max().item()
    assert error <= bound, f"{what} is wrong by {error}, more than {bound}"


def compare(table, case, flops, calls, out, expected, dtype, **facts):
    """Runs our contenders, compares what they leave in `out`, and times all."""
    for name, call in calls.items():
        if name == "torch":
            continue
        out.fill_(float("nan"))
        call()
        near(out, expected, dtype, f"{name} for {case}")
    times = interleaved(calls, count=10)
    table.row(case, {name: flops / ms / 1e9 for name, ms in times.items()}, dtype=dtype, **facts)


def stored(matrix, by_columns):
    """The same matrix, stored by columns where asked."""
    return matrix.mT.contiguous().mT if by_columns else matrix


def matmul(table, load, cases):
    kernels, plain = load("matmul"), load("matmul_plain")
    for dtype, m, n, k, storage in cases:
        a, b = stored(random(dtype, m, k), storage[0] == "t"), stored(random(dtype, k, n), storage[1] == "t")
        c, expected = torch.empty(m, n, device="cuda", dtype=TORCH[dtype]), a @ b
        arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
        specialization = {"nn": "s1", "nt": "s2", "tn": "s3", "tt": "s4"}[storage] if m % 16 == 0 else "s5"
        ours = kernels.tuned("matmul", dtype, specialization, *arguments)
        calls = {"ours": lambda: ours(*arguments), "torch": lambda: torch.matmul(a, b, out=expected)}
        if storage == "nn":
            simple = (a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0))
            calls["plain"] = lambda: plain.pick("matmul_plain", dtype, *simple)(*simple)
        compare(table, f"matmul {dtype} {m}x{n}x{k} {storage}", 2 * m * n * k, calls, c, expected, dtype, symbol=ours.symbol)


def fused(table, load, cases):
    """Bias, GELU by tanh and residual: in one kernel, and by torch after its product; beside our product alone."""
    kernels, plain = load("matmul_fused"), load("matmul")
    for dtype, m, n, k, storage in cases:
        a, b = random(dtype, m, k), stored(random(dtype, k, n), storage[1] == "t")
        bias, residual = random("float32", n), random(dtype, m, n)
        narrow = bias.to(TORCH[dtype])
        c, product = (torch.empty(m, n, device="cuda", dtype=TORCH[dtype]) for _ in range(2))
        layer = lambda: torch.nn.functional.gelu(torch.matmul(a, b).add_(narrow), approximate="tanh").add_(residual)
        expected = torch.nn.functional.gelu(a.float() @ b.float() + bias, approximate="tanh") + residual
        arguments = (a, b, 0, 0, bias, residual, c, m, n, k, a.stride(0), *b.stride(), c.stride(0), 2, 1.0)
        specialization = {"nn": "s1", "nt": "s2"}[storage]
        ours = kernels.tuned("matmul_fused", dtype, specialization, *arguments)
        alone = (a, b, product, m, n, k, *a.stride(), *b.stride(), *product.stride())
        bare = plain.tuned("matmul", dtype, specialization, *alone)
        ours(*arguments)
        near(c, expected, dtype, f"fused {dtype} {m}x{n}x{k}")
        times = interleaved({"ours": lambda: ours(*arguments), "plain": lambda: bare(*alone), "torch": layer}, count=10)
        speeds = {name: 2 * m * n * k / ms / 1e9 for name, ms in times.items()}
        table.row(f"fused {dtype} {m}x{n}x{k} {storage}", speeds, dtype=dtype, symbol=ours.symbol)


def batched(table, load, cases):
    kernels = load("batched_matmul")
    for dtype, z, m, n, k, storage in cases:
        a, b = random(dtype, z, m, k), stored(random(dtype, z, k, n), storage[1] == "t")
        c, expected = torch.empty(z, m, n, device="cuda", dtype=TORCH[dtype]), a @ b
        arguments = (a, b, c, z, m, n, k, *a.stride(), *b.stride(), *c.stride())
        ours = kernels.tuned("batched_matmul", dtype, {"nn": "s1", "nt": "s2"}[storage], *arguments)
        calls = {"ours": lambda: ours(*arguments), "torch": lambda: torch.bmm(a, b, out=expected)}
        case = f"batched {dtype} {z}x{m}x{n}x{k} {storage}"
        compare(table, case, 2 * z * m * n * k, calls, c, expected, dtype, symbol=ours.symbol)


def split_k(table, load, cases):
    """Parts, and their sum."""
    kernels, sums = load("split_k_matmul"), load("add_parts")
    for dtype, m, n, k, splits in cases:
        a, b = random(dtype, m, k), random(dtype, k, n)
        c, expected = torch.empty(m, n, device="cuda", dtype=TORCH[dtype]), a @ b
        parts = torch.empty(splits, m, n, device="cuda", dtype=torch.float32)
        arguments = (a, b, parts, m, n, k, a.stride(0), b.stride(0), splits)
        ours = kernels.pick("split_k_matmul", dtype, *arguments)
        add = adder(sums, dtype, parts, c)
        calls = {
            "ours": lambda: (ours(*arguments), add()),
            "torch": lambda: torch.matmul(a, b, out=expected),
        }
        case = f"split-k {dtype} {m}x{n}x{k} / {splits}"
        compare(table, case, 2 * m * n * k, calls, c, expected, dtype, symbol=ours.symbol)


def quantized(table, load, cases):
    """Weights of 8 and 4 bits by columns; torch multiplies by weights of 16 bits, so that it reads two or four times as much."""
    kernels = load("quantized_matmul")
    for dtype, kind, m, n, k in cases:
        a, scale = random(dtype, m, k), random(dtype, k // 128, n) / 64
        if kind == "float8":
            weights = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn)
            stored = weights
        else:
            half = 128 if kind == "int8" else 8
            weights = torch.randint(-half, half, (n, k), device="cuda", dtype=torch.int8)
            groups = (weights.view(n, k // 128, 2, 64) + 8).to(torch.uint8)
            stored = weights if kind == "int8" else (groups[:, :, 0] | groups[:, :, 1] << 4).view(n, k // 2).contiguous()
        wide = (weights.to(TORCH[dtype]) * scale.T.repeat_interleave(128, 1)).T
        c, expected = torch.empty(m, n, device="cuda", dtype=TORCH[dtype]), a @ wide
        arguments = (a, stored, scale, c, m, n, k, k, 1, stored.shape[1], n, n)
        ours = kernels.pick("quantized_matmul", f"{dtype}_{kind}", *arguments)
        calls = {"ours": lambda: ours(*arguments), "torch": lambda: torch.matmul(a, wide, out=expected)}
        compare(table, f"quantized {dtype} {kind} {m}x{n}x{k}", 2 * m * n * k, calls, c, expected, dtype, symbol=ours.symbol)


def adder(kernels, dtype, parts, out):
    """What adds parts [splits, rows, columns] into `out`, which lies as they do."""
    arguments = (parts, out, *parts.shape, parts.shape[2])
    add = kernels.pick("add_parts", dtype, *arguments)
    return lambda: add(*arguments)


def channels_last(pictures):
    return pictures.to(memory_format=torch.channels_last)


def strides(*pictures):
    """Of pictures, height, width, channels."""
    return [step for tensor in pictures for step in tensor.permute(0, 2, 3, 1).stride()]


def conv2d(table, load, cases):
    kernels, few = load("conv2d"), load("grouped_conv2d")
    for dtype, (n, c, h, w), (filters, r, s), stride, pad, groups in cases:
        x, f = channels_last(random(dtype, n, c, h, w)), channels_last(random(dtype, filters, c // groups, r, s))
        expected = torch.nn.functional.conv2d(x, f, stride=stride, padding=pad, groups=groups)
        y = torch.empty_like(expected, memory_format=torch.channels_last)
        arguments = (x, f, y, n, h, w, c, filters, r, s, *strides(x, f, y), stride, stride, pad, pad, 1, 1, groups)
        # Groups of few channels have no configurations to choose from.
        if c // groups < 16 and groups > 1:
            ours = few.pick("grouped_conv2d", dtype, *arguments)
        else:
            ours = kernels.chosen("conv2d", dtype, *arguments)
        calls = {
            "ours": lambda: ours(*arguments),
            "torch": lambda: torch.nn.functional.conv2d(x, f, stride=stride, padding=pad, groups=groups),
        }
        flops = 2 * y.numel() * c // groups * r * s
        case = f"conv {dtype} {n}x{h}x{w}x{c} {filters}x{r}x{s} /{stride} in {groups}"
        compare(table, case, flops, calls, y, expected, dtype, symbol=ours.symbol)


def gradients(table, load, cases):
    """Both gradients of convolutions; that by the filters is parts, and their sum."""
    kernels, few, sums = load("conv2d_backward"), load("grouped_conv2d_backward"), load("add_parts")
    for dtype, (n, c, h, w), (filters, r, s), stride, pad, groups in cases:
        x, f = channels_last(random(dtype, n, c, h, w)), channels_last(random(dtype, filters, c // groups, r, s))
        dy = channels_last(torch.randn_like(torch.nn.functional.conv2d(x, f, stride=stride, padding=pad, groups=groups)))
        p, q = dy.shape[2:]
        steps = (stride, stride, pad, pad, 1, 1, groups)
        case = f"{dtype} {n}x{h}x{w}x{c} {filters}x{r}x{s} /{stride} in {groups}"
        flops = 2 * dy.numel() * c // groups * r * s

        def reference(*mask):
            call = torch.ops.aten.convolution_backward
            return lambda: call(dy, x, f, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups, mask)

        dx = torch.empty_like(x)
        arguments = (dy, f, dx, n, h, w, c, filters, r, s, p, q, *strides(dy, f, dx), *steps)
        is_few = c // groups < 16 and groups > 1
        data = (
            few.pick("grouped_conv2d_backward_data", dtype, *arguments)
            if is_few
            else kernels.chosen("conv2d_backward_data", dtype, *arguments)
        )
        calls = {"ours": lambda: data(*arguments), "torch": reference(True, False, False)}
        expected = calls["torch"]()[0]
        compare(table, f"data {case}", flops, calls, dx, expected, dtype, symbol=data.symbol)

        # As many parts as fill the multiprocessors, some times or with large tiles: see the kernel's comment.
        is_wide = filters >= 256 and c % 64 != 0
        high, wide, times = (64, 64, 3) if c <= 4 or filters <= 64 else (256, 128, 1) if is_wide else (64, 128, 2)
        if groups > 1:
            high, wide, times = (64, 128, 2) if c // groups % 64 == 0 else (32, 64, 4)
        tiles = -(-filters // groups // high) * -(-(r * s * c // groups) // wide) * groups
        if is_few:
            programs = r * s if c > groups else 1 if s == 3 else r
            tiles, times = -(-filters // 64) * programs, 3
        splits = max(1, times * torch.cuda.get_device_properties().multi_processor_count // tiles)
        parts = torch.empty(splits, filters, r * s * c // groups, device="cuda", dtype=torch.float32)
        df = torch.empty_like(f)
        rest = (n, h, w, c, filters, r, s, p, q, *strides(dy, x), *steps, splits)
        weights = (
            few.pick("grouped_conv2d_backward_weights", dtype, dy, x, parts, *rest)
            if is_few
            else kernels.chosen("conv2d_backward_weights", dtype, dy, x, parts, *rest)
        )
        add = adder(sums, dtype, parts, df)
        calls = {"ours": lambda: (weights(dy, x, parts, *rest), add()), "torch": reference(False, True, False)}
        expected = calls["torch"]()[1]
        compare(table, f"weights {case} in {splits}", flops, calls, df, expected, dtype, symbol=weights.symbol)


MATMULS = [
    ("float16", 4096, 4096, 4096, "nn"),
    ("float16", 4096, 4096, 4096, "nt"),
    ("float16", 4096, 4096, 4096, "tn"),
    ("float16", 4096, 4096, 4096, "tt"),
    ("float16", 4095, 4095, 4095, "nn"),
    ("float16", 1024, 1024, 1024, "nn"),
    ("bfloat16", 4096, 4096, 4096, "nn"),
    ("float32", 2048, 2048, 2048, "nn"),
    ("float64", 2048, 2048, 2048, "nn"),
]
FUSED = [
    ("float16", 4096, 4096, 4096, "nn"),
    ("float16", 4096, 4096, 4096, "nt"),
    ("bfloat16", 8192, 4096, 1024, "nt"),
]
BATCHES = [
    ("float16", 64, 512, 512, 512, "nn"),
    ("float16", 128, 1024, 1024, 64, "nt"),
    ("float16", 512, 128, 128, 64, "nn"),
    ("bfloat16", 64, 512, 512, 512, "nt"),
    ("float32", 64, 512, 512, 512, "nn"),
]
QUANTIZED = [
    ("float16", "int8", 4096, 4096, 4096),
    ("float16", "int4", 4096, 4096, 4096),
    ("bfloat16", "float8", 4096, 4096, 4096),
    ("float16", "int8", 16, 8192, 8192),
    ("float16", "int4", 16, 8192, 8192),
    ("float16", "int4", 1, 8192, 8192),
    ("bfloat16", "float8", 128, 8192, 8192),
]
SPLITS = [
    *(("float16", 256, 256, 16384, splits) for splits in (4, 8)),
    *(("float16", 128, 512, 32768, splits) for splits in (4, 8)),
    ("bfloat16", 256, 256, 16384, 8),
    ("float32", 256, 256, 16384, 8),
]
CONVOLUTIONS = [
    ("float16", (32, 64, 56, 56), (64, 3, 3), 1, 1, 1),
    ("float16", (32, 128, 28, 28), (128, 3, 3), 1, 1, 1),
    ("float16", (32, 256, 14, 14), (256, 3, 3), 1, 1, 1),
    ("float16", (32, 256, 56, 56), (128, 1, 1), 2, 0, 1),
    ("float16", (32, 3, 224, 224), (64, 7, 7), 2, 3, 1),
    ("bfloat16", (32, 128, 28, 28), (128, 3, 3), 1, 1, 1),
    ("float32", (32, 64, 56, 56), (64, 3, 3), 1, 1, 1),
    ("float16", (32, 128, 56, 56), (128, 3, 3), 1, 1, 32),
    ("float16", (32, 256, 28, 28), (256, 3, 3), 1, 1, 32),
    ("float16", (32, 512, 14, 14), (512, 3, 3), 1, 1, 32),
    ("float16", (32, 512, 28, 28), (512, 3, 3), 1, 1, 4),
    ("float16", (32, 512, 28, 28), (512, 3, 3), 1, 1, 512),
    ("float16", (32, 256, 56, 56), (256, 7, 7), 1, 3, 256),
]


RUNS = {
    matmul: MATMULS,
    fused: FUSED,
    batched: BATCHES,
    split_k: SPLITS,
    quantized: QUANTIZED,
    conv2d: CONVOLUTIONS,
    gradients: CONVOLUTIONS,
}


def main():
    parser = options(__doc__)
    parser.add_argument("--only", help="names of the groups to run: " + ",".join(run.__name__ for run in RUNS))
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    print(device_line())
    table = Table(("ours", "plain", "torch"), (("ours", "torch"), ("ours", "plain")), "TFLOP/s")
    for run, cases in RUNS.items():
        if run.__name__ in (args.only or run.__name__).split(","):
            run(table, Kernels, cases[:2] if args.quick else cases)
    table.save(args.json)


if __name__ == "__main__":
    main()
