/**
 * Communication between the GPUs of this machine, in one process with all of them: NCCL, the one-shot all-reduce, copies
 * between devices, and the perceptron of examples/parallel, its sums after the products and in their kernels; with
 * `--processes` NCCL alone, a process for each GPU. With `--small` only all-reduces of less than 1 MB, with
 * `--perceptron` that alone. `collectives.py` beside it times torch.distributed: compare figures of one
 * machine. Build the kernels and examples before.
 *
 *     deno run -A scripts/bench/collectives.ts 4
 *     python3 scripts/bench/collectives.py 4
 */
// deno-lint-ignore-file no-console -- a program for the terminal
import { openOneShot } from "../../examples/parallel/one_shot.ts";
import { openRowParallel } from "../../examples/parallel/row_parallel.ts";
import { Device, type Graph, type Stream, type Tensor } from "../../ffi/mod.ts";
import {
  type Communicator,
  group,
  openCommunicator,
  openCommunicators,
  rankFromEnvironment,
} from "../../ffi/nccl/mod.ts";
import { matmul } from "../../generated/matmul.ts";

const KB = 1024;
const IS_SMALL = Deno.args.includes("--small");
const IS_PERCEPTRON = Deno.args.includes("--perceptron");
const ALL_REDUCES = [8, 64, 256, ...IS_SMALL ? [] : [KB, 16 * KB, 256 * KB, KB * KB]]
  .map((kb) => kb * KB);
/** Bytes of the whole, which each rank has before or after. */
const OTHERS = IS_SMALL ? [] : [16 * KB, KB * KB].map((kb) => kb * KB);

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Random bits of numbers from 2^-8 to 2, with both signs. */
function fill(tensor: Tensor<"bfloat16">): void {
  const words = new Uint16Array(1 << 15);
  crypto.getRandomValues(words);
  const few = words.map((word) => (word & 0x807f) | (0x3b80 + ((word & 0x0780) >> 1)));
  const all = new Uint16Array(tensor.elements);
  for (let at = 0; at < all.length; at += few.length) {
    all.set(few.subarray(0, Math.min(few.length, all.length - at)), at);
  }
  tensor.write(all);
}

/** Microseconds of one of `count` calls that a graph repeats. */
function captured(device: Device, count: number, call: (stream: Stream) => void): number {
  const stream = device.stream();
  call(stream);
  stream.synchronize();
  const graph = stream.capture(() => {
    for (let i = 0; i < count; i++) call(stream);
  });
  return timed(device, stream, count, () => graph.launch(stream));
}

function timed(device: Device, stream: Stream, count: number, run: () => void): number {
  const times: number[] = [];
  for (let repeat = 0; repeat < 9; repeat++) {
    const [start, end] = [device.event(), device.event()];
    start.record(stream);
    run();
    end.record(stream);
    times.push(end.millisecondsSince(start) * 1000 / count);
  }
  return median(times.slice(2));
}

/** One rank of several processes; prints a line for each case. */
async function timeRank(): Promise<void> {
  const plan = rankFromEnvironment();
  const device = Device.open({ device: plan.localRank });
  const before = device.memoryInfo().freeBytes;
  const communicator = await openCommunicator(device, plan);
  const taken = before - device.memoryInfo().freeBytes;
  console.error(`rank ${plan.rank}: a communicator takes ${(taken / 2 ** 20).toFixed(0)} MiB`);
  const { size } = plan;
  const print = (name: string, bytes: number, microseconds: number): void =>
    console.log(JSON.stringify({ rank: plan.rank, name, bytes, microseconds }));
  for (const bytes of ALL_REDUCES) {
    const x = device.zeros("bfloat16", [bytes / 2]);
    const call = (stream: Stream): void => communicator.allReduce(x, x, { stream });
    print("all-reduce", bytes, captured(device, bytes < 1e6 ? 100 : bytes < 1e8 ? 20 : 3, call));
    if (bytes === 8 * KB) {
      const stream = device.stream();
      print(
        "all-reduce, eager",
        bytes,
        timed(device, stream, 200, () => {
          for (let i = 0; i < 200; i++) call(stream);
        }),
      );
    }
    x.dispose();
  }
  timePairs(device, communicator, print);
  for (const bytes of OTHERS) {
    const [all, part] = [bytes, bytes / size].map((b) => device.zeros("bfloat16", [b / 2]));
    if (all === undefined || part === undefined) return;
    const count = bytes < 1e8 ? 20 : 3;
    const name = ["reduce-scatter", "all-gather"] as const;
    print(
      name[0],
      bytes,
      captured(device, count, (stream) => communicator.reduceScatter(all, part, { stream })),
    );
    print(
      name[1],
      bytes,
      captured(device, count, (stream) => communicator.allGather(part, all, { stream })),
    );
    all.dispose();
    part.dispose();
  }
  communicator[Symbol.dispose]();
}

/** Calls between two ranks that no graph has, of 8 kB for each. */
function timePairs(
  device: Device,
  communicator: Communicator,
  print: (name: string, bytes: number, microseconds: number) => void,
): void {
  const { rank, size } = communicator;
  const [bytes, count] = [8 * KB, 200];
  const [x, y] = [device.zeros("bfloat16", [bytes / 2]), device.zeros("bfloat16", [bytes / 2])];
  const stream = device.stream();
  const time = (name: string, call: () => void): void => {
    call();
    const many = (): void => {
      for (let i = 0; i < count; i++) call();
    };
    print(name, bytes, timed(device, stream, count, many));
  };
  const pass = (): void =>
    group(() => {
      communicator.send(x, (rank + 1) % size, { stream });
      communicator.receive(y, (rank + size - 1) % size, { stream });
    });
  time("send and receive, eager, before an all-to-all", pass);
  time("all-to-all, eager", () => communicator.allToAll(x, y, { stream }));
  time("send and receive, eager, after it", pass);
}

/** Bytes a second that each link moves, as NCCL's tests count them: of a ring, in GB/s. */
function busBandwidth(name: string, bytes: number, microseconds: number, size: number): number {
  const factor = (name.startsWith("all-reduce") ? 2 : 1) * (size - 1) / size;
  return bytes * factor / microseconds / 1000;
}

async function timeRanks(size: number): Promise<void> {
  const file = Deno.makeTempDirSync() + "/id";
  const outputs = await Promise.all(
    Array.from({ length: size }, (_, rank) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", import.meta.filename ?? "", ...Deno.args],
        env: { RANK: `${rank}`, WORLD_SIZE: `${size}`, LOCAL_RANK: `${rank}`, TRI_NCCL_FILE: file },
        stdout: "piped",
        stderr: "inherit",
      }).output()),
  );
  const lines = outputs.flatMap(({ stdout }) => new TextDecoder().decode(stdout).trim().split("\n"))
    .filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  for (const { name, bytes } of lines.filter(({ rank }) => rank === 0)) {
    const slowest = Math.max(
      ...lines.filter((line) => line.name === name && line.bytes === bytes)
        .map(({ microseconds }) => microseconds),
    );
    printNccl(name, bytes, slowest, size);
  }
}

/** Runs on all devices at once; microseconds of one of `count` calls, on the slowest. */
function together(
  devices: readonly Device[],
  streams: readonly Stream[],
  count: number,
  run: () => void,
): number {
  const times: number[] = [];
  for (let repeat = 0; repeat < 7; repeat++) {
    for (const device of devices) device.synchronize();
    const events = devices.map((device, i) => ({
      start: device.event().record(streams[i]),
      end: device.event(),
    }));
    run();
    events.forEach(({ end }, i) => end.record(streams[i]));
    times.push(
      Math.max(...events.map(({ start, end }) => end.millisecondsSince(start))) * 1000 / count,
    );
  }
  return median(times.slice(2));
}

/** Records what `body` queues on all streams; a graph for each. */
function captureAll(streams: readonly Stream[], body: () => void): readonly Graph[] {
  const [first, ...others] = streams;
  if (first === undefined) {
    body();
    return [];
  }
  let rest: readonly Graph[] = [];
  const graph = first.capture(() => {
    rest = captureAll(others, body);
  });
  return [graph, ...rest];
}

/** NCCL, with all ranks in this process. */
function timeNccl(devices: readonly Device[], ranks: readonly Communicator[]): void {
  const streams = devices.map((device) => device.stream());
  for (const bytes of ALL_REDUCES) {
    const tensors = devices.map((device) => device.zeros("bfloat16", [bytes / 2]));
    const call = (): void =>
      group(() => {
        for (const [i, rank] of ranks.entries()) {
          const [x, stream] = [tensors[i], streams[i]];
          if (x !== undefined && stream !== undefined) rank.allReduce(x, x, { stream });
        }
      });
    const many = (count: number) => (): void => {
      for (let i = 0; i < count; i++) call();
    };
    call();
    const count = bytes < 1e6 ? 200 : bytes < 1e8 ? 20 : 3;
    const graphs = captureAll(streams, many(count));
    const time = together(
      devices,
      streams,
      count,
      () => graphs.forEach((graph, i) => graph.launch(streams[i])),
    );
    printNccl("all-reduce", bytes, time, devices.length);
    if (bytes === 8 * KB) {
      const eager = together(devices, streams, 200, many(200));
      printNccl("all-reduce, eager, all ranks by one thread", bytes, eager, devices.length);
    }
    for (const tensor of tensors) tensor.dispose();
  }
}

function printNccl(name: string, bytes: number, microseconds: number, size: number): void {
  const bandwidth = busBandwidth(name, bytes, microseconds, size).toFixed(0);
  console.log(
    `NCCL by tri: ${name} ${bytes / KB} kB: ${microseconds.toFixed(1)} us, ${bandwidth} GB/s bus`,
  );
}

function timeOneShot(devices: readonly Device[]): void {
  using oneShot = openOneShot(devices, "bfloat16");
  for (const bytes of [1, 8, 64, 256, KB].map((kb) => kb * KB)) {
    const streams = devices.map((device) => device.stream());
    const calls = devices.map((device, i) => ({
      input: device.zeros("bfloat16", [bytes / 2]),
      output: device.zeros("bfloat16", [bytes / 2]),
      stream: streams[i] ?? device.defaultStream,
    }));
    oneShot.allReduce(calls);
    const launches = oneShot.prepare(calls);
    const count = 400;
    const graphs = streams.map((stream, i) =>
      stream.capture(() => {
        for (let n = 0; n < count; n++) launches[i]?.();
      })
    );
    const time = together(
      devices,
      streams,
      count,
      () => graphs.forEach((graph, i) => graph.launch(streams[i])),
    );
    console.log(`one-shot all-reduce ${bytes / KB} kB: ${time.toFixed(1)} us`);
    if (bytes === 8 * KB) {
      const eager = together(devices, streams, 200, () => {
        for (let n = 0; n < 200; n++) launches.forEach((launch) => launch());
      });
      console.log(
        `one-shot all-reduce ${bytes / KB} kB, eager, all ranks by one thread: ${
          eager.toFixed(1)
        } us`,
      );
    }
  }
}

function timeCopies(devices: readonly Device[]): void {
  const [first, second] = devices;
  if (first === undefined || second === undefined) return;
  for (const bytes of [64 * KB, KB * KB, 256 * KB * KB]) {
    const [x, y] = [first.zeros("uint8", [bytes]), second.zeros("uint8", [bytes])];
    const stream = second.stream();
    const time = timed(second, stream, 20, () => {
      for (let i = 0; i < 20; i++) y.copyFrom(x, { stream });
    });
    console.log(
      `copy between GPUs, ${bytes / KB} kB: ${time.toFixed(1)} us, ${
        (bytes / time / 1000).toFixed(0)
      } GB/s`,
    );
  }
}

/** The perceptron of 8192 × 8192 × 28672 of Shoeybi et al.'s kind, in bfloat16. */
function timePerceptron(devices: readonly Device[], ranks: readonly Communicator[]): void {
  const [rows, width, hidden] = [8192, 8192, 28672];
  const parts = devices.map((device) => {
    const part = {
      inputs: device.empty("bfloat16", [rows, width]),
      first: device.empty("bfloat16", [width, hidden / devices.length]),
      second: device.empty("bfloat16", [hidden / devices.length, width]),
    };
    Object.values(part).forEach(fill);
    return part;
  });
  const between = parts.map(({ inputs, first }) =>
    inputs.device.empty("bfloat16", [rows, first.shape[1]])
  );
  const results = devices.map((device) => device.empty("bfloat16", [rows, width]));
  const streams = devices.map(({ defaultStream }) => defaultStream);
  const products = (): void =>
    parts.forEach(({ inputs, first, second }, i) => {
      const [mid, out] = [between[i], results[i]];
      if (mid === undefined || out === undefined) return;
      matmul(inputs, first, { out: mid });
      matmul(mid, second, { out });
    });
  const reduced = (): void => {
    products();
    group(() =>
      ranks.forEach((rank, i) => {
        const result = results[i];
        if (result !== undefined) rank.allReduce(result, result);
      })
    );
  };
  using summed = openRowParallel(devices, "bfloat16", [rows, width]);
  const fused = (): void =>
    summed.multiply(parts.map(({ inputs, first, second: weights }, i) => {
      const out = between[i];
      if (out === undefined) throw new RangeError(`no rank ${i}`);
      return { inputs: matmul(inputs, first, { out }), weights };
    }));
  const cases = [
    { name: "products alone", run: products, times: [] as number[] },
    { name: "products, then all-reduce by NCCL", run: reduced, times: [] as number[] },
    { name: "sums in the products' kernels", run: fused, times: [] as number[] },
  ];
  // In turns: what runs first has cooler GPUs.
  for (let round = 0; round < 3; round++) {
    for (const { run, times } of cases) {
      const repeated = (): void => {
        for (let i = 0; i < 5; i++) run();
      };
      times.push(together(devices, streams, 5, repeated) / 1000);
    }
  }
  for (const { name, times } of cases) {
    console.log(`perceptron, ${name}: ${times.map((time) => time.toFixed(3)).join(", ")} ms`);
  }
  reduced();
  fused();
  const [byNccl, byKernels] = [results, summed.results].map((all) =>
    all.map((one) => one.narrow(0, 0, 1).contiguous().cast("float32").readSync())
  );
  const apart = byNccl?.map((wanted, rank) =>
    Math.max(...wanted.map((value, i) => Math.abs(value - (byKernels?.[rank]?.[i] ?? NaN)))) /
    Math.max(...wanted.map(Math.abs))
  );
  console.log(`perceptron, largest difference of the two in row 0, of its largest: ${apart}`);
}

const size = Number(Deno.args[0] ?? 2);
if (Deno.env.has("RANK")) await timeRank();
else if (Deno.args.includes("--processes")) await timeRanks(size);
else {
  const devices = Array.from({ length: size }, (_, i) => Device.open({ device: i }));
  console.log(`${size} × ${devices[0]}`);
  if (!IS_PERCEPTRON) timeOneShot(devices);
  const ranks = openCommunicators(devices);
  if (!IS_SMALL) {
    if (!IS_PERCEPTRON) timeCopies(devices);
    timePerceptron(devices, ranks);
  }
  if (!IS_PERCEPTRON) timeNccl(devices, ranks);
  ranks[0]?.[Symbol.dispose]();
}
