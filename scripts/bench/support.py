"""What the benchmarks share: built kernels called with torch tensors, and contenders timed fairly.

    kernels = Kernels("softmax")                 # generated/manifest.json and the cubin for this GPU
    softmax = kernels.pick("softmax", "float32", X, Y, M, N, ldx, ldy)
    softmax(X, Y, M, N, ldx, ldy)                # the grid is the contract's; grid=(…) overrides it
    times = interleaved({"ours": lambda: softmax(…), "torch": lambda: …})

Arguments are in the order of the kernel's parameters: tensors (or addresses) for pointers, ints and floats for
scalars. `chosen` takes the instance that the wrappers take, `pick` the first whose specialisation the arguments meet;
`kernels["symbol"]` names one. Nothing is checked here: that is the wrappers' business.

Each contender is a CUDA graph of calls, so that no launch gap is timed; rounds are interleaved, and the card rests before
each graph, because it throttles within seconds; the median of the rounds counts.
"""
import argparse
import ctypes
import json
import math
import os
import random
import re
import statistics
import struct
import time

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GENERATED = os.path.join(ROOT, "generated")

# Element types of manifest and wrappers, as torch calls them.
TORCH = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
}
cuda = ctypes.CDLL("libcuda.so.1")


def check(status, call):
    if status != 0:
        raise RuntimeError(f"{call} failed with status {status}")


def current_stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def architecture():
    """The target that `tri build` has for this GPU."""
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major == 9 else "")


# A scalar parameter's C value, by its type in the manifest.
SCALARS = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float16": lambda value: ctypes.c_uint16(struct.unpack("<H", struct.pack("<e", value))[0]),
    "bfloat16": lambda value: ctypes.c_uint16(torch.tensor(value, dtype=torch.bfloat16).view(torch.uint16).item()),
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def python_choice(text):
    """C's `a ? b : c` as Python's."""
    parts = []  # parts in parentheses that are already translated

    def choice(plain):
        condition, mark, rest = plain.partition("?")
        if not mark:
            return plain
        yes, _, no = rest.partition(":")
        return f"({yes} if {condition} else {choice(no)})"

    def aside(match):
        parts.append("(" + ",".join(choice(part) for part in match.group(1).split(",")) + ")")
        return f"@{len(parts) - 1}@"

    found = 1
    while found:
        text, found = re.subn(r"\(([^()]*)\)", aside, text)
    text = choice(text)
    while "@" in text:
        text = re.sub(r"@(\d+)@", lambda match: parts[int(match.group(1))], text)
    return text


def compile_expression(text):
    """A contract's C integer expression, as a function of a dictionary of names."""
    text = python_choice(text)
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ").replace("/", "//"))
    code = compile(text.strip(), text, "eval")
    known = {
        "cdiv": lambda a, b: -(-a // b),
        "next_pow2": lambda a: 1 << max(a - 1, 0).bit_length(),
        "min": min,
        "max": max,
    }
    return lambda names: eval(code, {"__builtins__": {}, **known}, names)


def integer(text):
    try:
        return int(text, 0)
    except ValueError:
        return None


# CUtensorMapDataType of each element type: maps copy bits, so types that they do not have go as integers.
MAP_TYPES = {
    **dict.fromkeys(("bool", "int8", "uint8", "float8e4", "float8e5"), 0),
    **dict.fromkeys(("int16", "uint16"), 1),
    "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9, "tfloat32": 11,
}
ELEMENT_BYTES = {name: torch.empty(0, dtype=dtype).element_size() for name, dtype in TORCH.items()} | {
    "bool": 1, "float8e4": 1, "float8e5": 1, "uint16": 2, "uint32": 4, "uint64": 8, "tfloat32": 4,
}


class TensorMap:
    """How a form's launches get one of their tensor maps; what is encoded is kept."""

    def __init__(self, plan):
        self.plan = plan
        windows = plan.get("windows", [])
        corners = [window[name] for name in ("lower", "upper", "step") for window in windows]
        self.sizes = [compile_expression(text) for text in plan["extents"] + plan["strides"] + corners]
        self.known = {}

    def encode(self, names):
        """The address of the map for these arguments; None where they meet not all of its demands."""
        numbers = (names[self.plan["param"]], *[size(names) for size in self.sizes])
        if numbers not in self.known:
            self.known[numbers] = self.make(*numbers)
        room = self.known[numbers]
        return room and ctypes.c_void_p(ctypes.addressof(room) + -ctypes.addressof(room) % 64)

    def make(self, address, *sizes):
        rank = len(self.plan["extents"])
        extents, (innermost, *outer), corners = sizes[:rank], sizes[rank:2 * rank], sizes[2 * rank:]
        strides = [stride * ELEMENT_BYTES[self.plan["element"]] for stride in outer]
        fits = address > 0 and address % 16 == 0 and innermost == 1
        fits = fits and all(0 < stride < 2**40 and stride % 16 == 0 for stride in strides)
        if not fits or not all(0 < extent <= 2**32 for extent in extents):
            return None
        room = ctypes.create_string_buffer(128 + 64)
        tensor = (
            ctypes.c_void_p(ctypes.addressof(room) + -ctypes.addressof(room) % 64),
            MAP_TYPES[self.plan["element"]],
            rank,
            ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*extents),
            (ctypes.c_uint64 * rank)(*strides),
        )
        layout = (
            0,  # no interleave
            {0: 0, 32: 1, 64: 2, 128: 3}[self.plan["swizzle"]],
            2,  # 128 bytes of L2 promotion
            0,  # zeros out of bounds
        )
        box = self.plan["box"]
        if not corners:
            boxes, ones = (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank)
            return room if cuda.cuTensorMapEncodeTiled(*tensor, boxes, ones, *layout) == 0 else None
        lower, upper, steps = (corners[i * (rank - 2):(i + 1) * (rank - 2)] for i in range(3))
        window = ctypes.c_int * (rank - 2)
        steps = (ctypes.c_uint32 * rank)(1, *steps, 1)
        status = cuda.cuTensorMapEncodeIm2col(*tensor, window(*lower), window(*upper), *box[:2], steps, *layout)
        return room if status == 0 else None


def blocks_along_all(x, programs, most):
    """Blocks that do programs along all axes in turn, as ffi/kernel/forms/turns.ts counts them."""
    turns = -(-programs // most)
    if turns < x:
        return programs
    blocks = -(-programs // turns)
    while blocks < most and math.gcd(blocks, x) > 1:
        blocks += 1
    return blocks


class LaunchAttribute(ctypes.Structure):
    """A CUlaunchAttribute whose value is an int."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int), ("rest", ctypes.c_int * 15)]


class LaunchConfig(ctypes.Structure):
    """A CUlaunchConfig."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared")),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    ]


# CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, as wrappers launch code that waits for what is before it.
EARLY = LaunchAttribute(6, 0, 1)


class Code:
    """An entry of a cubin, or a faster form of one."""

    def __init__(self, module, facts, starts_early):
        self.starts_early = starts_early and not facts.get("startsLate", False)
        self.symbol, self.threads, self.shared = facts["symbol"], facts["threads"], facts["sharedBytes"]
        self.conditions = [compile_expression(text) for text in facts.get("when", [])]
        self.maps = [TensorMap(plan) for plan in facts.get("maps", [])]
        self.persistent = facts.get("persistent")
        self.function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, self.symbol.encode()), "cuModuleGetFunction")
        if self.shared:
            check(cuda.cuFuncSetAttribute(self.function, 8, self.shared), "cuFuncSetAttribute")
        blocks = ctypes.c_int()
        check(cuda.cuFuncGetAttribute(ctypes.byref(blocks), 11, self.function), "cuFuncGetAttribute")
        self.blocks = max(1, blocks.value)  # of a program
        if self.blocks > 8:
            check(cuda.cuFuncSetAttribute(self.function, 14, 1), "cuFuncSetAttribute")
        # Programs at a time, where blocks do several in turn: clusters do not get all multiprocessors.
        self.places = torch.cuda.get_device_properties().multi_processor_count
        if self.persistent and self.blocks > 1:
            self.places = self.clusters()

    def clusters(self):
        """How many clusters the device runs at a time."""
        dimension = (ctypes.c_uint * 18)(4, 0, self.blocks, 1, 1)  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        config = LaunchConfig(
            self.blocks, 1, 1, self.threads, 1, 1, self.shared, None, ctypes.addressof(dimension), 1,
        )
        count = ctypes.c_int()
        status = cuda.cuOccupancyMaxActiveClusters(ctypes.byref(count), self.function, ctypes.byref(config))
        check(status, f"cuOccupancyMaxActiveClusters of {self.symbol}")
        return max(1, count.value)

    def encode(self, names):
        """Pointers to the maps of a launch; None where the code is not for it."""
        if not all(condition(names) for condition in self.conditions):
            return None
        maps = [one.encode(names) for one in self.maps]
        return None if None in maps else maps

    def launch(self, blocks, arguments):
        """Queues it on torch's current stream."""
        config = LaunchConfig(
            blocks[0] * self.blocks, *blocks[1:], self.threads, 1, 1, self.shared, current_stream().value,
            ctypes.addressof(EARLY), 1 if self.starts_early else 0,
        )
        check(
            cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, arguments, None),
            f"cuLaunchKernelEx of {self.symbol}",
        )

    def launched(self, blocks):
        """The grid, and arguments after the maps: blocks of a persistent form do several programs in turn."""
        x, y, z = blocks
        if self.persistent is None:
            return blocks, []
        most = self.places
        if self.persistent == "all":
            return [min(x * y * z, most), 1, 1], [ctypes.c_uint32(number) for number in (x, y, z)]
        if self.persistent == "xyz":
            count = blocks_along_all(x, x * y * z, most)
            numbers = [x, y, z, count % x, count // x % y, count // x // y]
            return [count, 1, 1], [ctypes.c_uint32(number) for number in numbers]
        if self.persistent == "several":
            # All launches take programs from the first queue of the module: they follow each other.
            return [min(x, most), y, z], [ctypes.c_uint32(x), ctypes.c_uint32(0)]
        return [x if y * z > 1 else -(-x // -(-x // most)), y, z], [ctypes.c_uint32(x)]


class Kernel:
    """One entry of a cubin. Calling it launches it, or the best of its forms that is for the arguments, on torch's
    current stream; with `form="plain"` the entry itself."""

    def __init__(self, module, entry, instance, contract, starts_early):
        self.symbol = entry["symbol"]
        self.plain = Code(module, entry, starts_early)
        self.forms = [Code(module, form, starts_early) for form in entry.get("forms", [])]
        self.variant = instance["variant"]["name"]
        self.bindings = {**instance["variant"]["bindings"], **instance["config"]["bindings"]}
        self.configuration = instance.get("configuration")
        self.parameters = contract["params"]
        self.conditions = [compile_expression(text) for text in instance["specialization"]]
        self.extents = [compile_expression(text) for text in contract["grid"] or []]
        self.constants = {k: integer(v) for k, v in self.bindings.items() if integer(v) is not None}

    def names(self, args):
        """Parameters and constants by name, pointers as addresses."""
        assert len(args) == len(self.parameters), f"{self.symbol} takes {[p['name'] for p in self.parameters]}"
        values = [a.data_ptr() if isinstance(a, torch.Tensor) else a for a in args]
        return {**self.constants, **{p["name"]: v for p, v in zip(self.parameters, values)}}

    def accepts(self, args):
        """Whether the arguments are what this instance was specialised for."""
        names = self.names(args)
        return all(condition(names) for condition in self.conditions)

    def code(self, names):
        """The first form for these arguments, else the entry; with pointers to its tensor maps."""
        for form in self.forms:
            if form.persistent == "xyz" and form.launched(names["grid"])[0][0] == math.prod(names["grid"]):
                continue
            if form.persistent == "several" and math.prod(names["grid"]) < 2 * form.places:
                continue
            maps = form.encode(names)
            if maps is not None:
                return form, maps
        return self.plain, []

    def blocks(self, names, grid=None):
        """The grid of a launch: the contract's, if none is given."""
        blocks = [extent(names) for extent in self.extents] if grid is None else list(grid)
        return blocks + [1] * (3 - len(blocks))

    def taken(self, *args):
        """Name of the code that a call launches."""
        names = self.names(args)
        return self.code({**names, "grid": self.blocks(names)})[0].symbol

    def __call__(self, *args, grid=None, form=None):
        names = self.names(args)
        blocks = self.blocks(names, grid)
        code, maps = (self.plain, []) if form == "plain" else self.code({**names, "grid": blocks})
        values = [
            (ctypes.c_uint64 if p["kind"] == "pointer" else SCALARS[p["type"]])(names[p["name"]]) for p in self.parameters
        ]
        blocks, more = code.launched(blocks)
        pointer = lambda value: ctypes.cast(ctypes.pointer(value), ctypes.c_void_p)
        pointers = [pointer(v) for v in values] + maps + [pointer(v) for v in more]
        code.launch(blocks, (ctypes.c_void_p * len(pointers))(*pointers))


class Kernels:
    """All instances of the kernels of one `.tc` file, from its cubins for this GPU."""

    def __init__(self, source, arch=None, generated=GENERATED, others=()):
        torch.zeros(1, device="cuda")  # makes the primary context
        self.source = source
        # The same file's kernels from other builds, by the name of their folder.
        self.others = {os.path.basename(path.rstrip("/")): Kernels(source, arch, path) for path in others}
        with open(os.path.join(generated, "manifest.json")) as file:
            kernels = json.load(file)["sources"][source]
        self.by_kernel = {}
        for name, kernel in kernels.items():
            target = arch or architecture()
            image = next((i for i in kernel["images"] if i["kind"] == "cubin" and i["target"] == target), None)
            if image is None:
                raise RuntimeError(f"{source}: no cubin for {target}; run deno task build-kernels where ptxas is")
            with open(os.path.join(generated, image["path"]), "rb") as file:
                cubin = file.read()
            module = ctypes.c_void_p()
            check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
            instances = {i["symbol"]: i for i in kernel["instances"]}
            self.by_kernel[name] = [
                Kernel(module, entry, instance, kernel["contracts"][instance["contract"]], image.get("startsEarly", False))
                for entry in image["entries"]
                for instance in [instances[entry["symbol"]]]
            ]

    def __getitem__(self, symbol):
        return next(k for all in self.by_kernel.values() for k in all if k.symbol == symbol)

    def instances(self, kernel, variant):
        return [k for k in self.by_kernel[kernel] if k.variant == variant]

    def tuned(self, kernel, variant, specialization, *args):
        """What a wrapper launches: the fastest configuration of the nearest timing in kernels/SOURCE.tune.json
        (docs/tuning.md), for the GPU at hand or another of its architecture; without timings `pick`."""
        path = os.path.join(ROOT, "kernels", f"{self.source}.tune.json")
        if not os.path.exists(path):
            return self.pick(kernel, variant, *args)
        with open(path) as file:
            gpus = json.load(file)["gpus"]
        alike = [gpus[name] for name in sorted(gpus) if gpus[name]["arch"] == architecture().rstrip("a")]
        known = [gpu["kernels"].get(kernel, {}).get(variant, {}).get(specialization)
                 for gpu in [gpus.get(torch.cuda.get_device_name(), {"kernels": {}}), *alike]]
        points = next((points for points in known if points is not None), None)
        if points is None:
            return self.pick(kernel, variant, *args)
        names = self.instances(kernel, variant)[0].names(args)

        def distance(point):
            pairs = (pair.split("=") for pair in point.split(", "))
            return sum(abs(math.log2(max(names[name], 0.5) / max(int(value), 0.5))) for name, value in pairs)

        timings = points[min(points, key=distance)]
        # Several conditions may hold, and their instances share configurations: only those of the specialisation count.
        prefix = f"{kernel}_{variant}_{specialization}_"
        fitting = [
            k for k in self.instances(kernel, variant)
            if (not k.conditions if specialization == "general" else f"{k.symbol}_".startswith(prefix)) and k.accepts(args)
        ]
        shipped = {k.configuration: k for k in fitting}
        timed = timings.keys() & shipped.keys()
        if not timed:
            return self.pick(kernel, variant, *args)
        return shipped[min(timed, key=lambda one: timings[one]["microseconds"])]

    def chosen(self, kernel, variant, *args):
        """What a wrapper launches: of the most specialised instances that take the arguments the one of `tuned`."""
        symbol = self.pick(kernel, variant, *args).symbol
        found = re.match(rf"{kernel}(?:_{variant})?_(a16|s\d+)(?:_|$)", symbol)
        return self.tuned(kernel, variant, found[1] if found else "general", *args)

    def pick(self, kernel, variant, *args, **bindings):
        """The most specialised instance that takes the arguments (and has the bindings, where several are tuned)."""
        fitting = [
            k for k in self.instances(kernel, variant)
            if k.accepts(args) and all(k.bindings[name] == str(value) for name, value in bindings.items())
        ]
        if not fitting:
            raise RuntimeError(f"no instance of {kernel} for {variant} {bindings} takes these arguments")
        return max(fitting, key=lambda k: len(k.conditions))


def contenders(kernels, kernel, variant, args):
    """The kernel as `ours`, and those of other builds by the name of their folder."""
    builds = {"ours": kernels, **kernels.others}
    chosen = {name: build.chosen(kernel, variant, *args) for name, build in builds.items()}
    return {name: lambda one=one: one(*args) for name, one in chosen.items()}


def graph_of(call, count):
    """A CUDA graph of `count` calls. The first call is made outside: compilers and allocators are done by then."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return graph


# Seconds in which a card that was hot has its clock again.
REST = 0.03


def interleaved(calls, count=20, rounds=11, rest=REST):
    """Median milliseconds per call of each contender: name -> function of nothing. `rest`: see `samples`."""
    return {name: statistics.median(values) for name, values in samples(calls, count, rounds, rest).items()}


def samples(calls, count, rounds, rest=REST):
    """Milliseconds per call, one number per round, of each contender, in another order each round: what one has left in
    the L2 cache to be written slows the next by up to 1 %. Before each graph the card rests for `rest` seconds: without
    that, what draws the power limit slows the next measurement."""
    graphs = {name: graph_of(call, count) for name, call in calls.items()}
    times = {name: [] for name in calls}
    turns, shuffle = list(graphs.items()), random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(turns)
        for name, graph in turns:
            time.sleep(rest)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / count)
    return times


def copy_calls(x):
    """Contenders for the ceiling of whatever reads and writes as much as copying x: they read every byte once and
    write every byte once, in order. `with_copy` joins them."""
    z = torch.empty_like(x)
    size = ctypes.c_size_t(x.numel() * x.element_size())
    return {
        "memcpy": lambda: cuda.cuMemcpyDtoDAsync_v2(
            ctypes.c_uint64(z.data_ptr()), ctypes.c_uint64(x.data_ptr()), size, current_stream()),
        "neg": lambda: torch.neg(x, out=z),
    }


def with_copy(speed):
    """The speeds with the better of the copies as `copy`."""
    rest = {name: value for name, value in speed.items() if name not in ("memcpy", "neg")}
    return {**rest, "copy": max(speed["memcpy"], speed["neg"])}


def gbps(times, size):
    """Gigabytes per second from milliseconds per call and bytes read plus bytes written."""
    return {name: size / ms / 1e6 for name, ms in times.items()}


def device_line():
    line = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    try:
        import triton
    except ImportError:
        return line
    return f"{line}, triton {triton.__version__}"


def options(doc):
    """The command line that benchmarks share: --json FILE, --quick, --other DIR."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--quick", action="store_true", help="few cases")
    parser.add_argument("--other", action="append", default=[], metavar="DIR",
                        help="output of another build of the same kernels, as one more contender")
    return parser


class Table:
    """Prints rows as they come and keeps them for --json."""

    def __init__(self, columns, ratios=(), unit="GB/s"):
        self.columns, self.ratios, self.rows = columns, ratios, []
        heads = "".join(f" {name:>8}" for name in columns) + "".join(f" {f'{a}/{b}':>13}" for a, b in ratios)
        print(f"{unit:34}{heads}")

    def row(self, case, speed, **facts):
        """`case` is what is printed, `facts` what the JSON says besides; contenders that are absent print a dash."""
        def cell(value, width, digits):
            return f" {value:{width}.{digits}f}" if value is not None else f" {'–':>{width}}"

        def ratio(a, b):
            return speed[a] / speed[b] if a in speed and b in speed else None

        text = "".join(cell(speed.get(name), 8, 0) for name in self.columns)
        text += "".join(cell(ratio(a, b), 13, 3) for a, b in self.ratios)
        print(f"{case:34}{text}", flush=True)
        self.rows.append({"case": case, **facts, "speed": speed})

    def save(self, path):
        if path:
            with open(path, "w") as file:
                json.dump(self.rows, file, indent=1)
