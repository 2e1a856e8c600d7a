/**
 * Host time of a launch, step by step: the driver's own call, a prepared call, calls with all checks. On a
 * machine with a GPU through libcuda, with the kernels that `deno task build-kernels` made; elsewhere through a
 * driver that does nothing, which shows what the checks alone cost.
 *
 *     deno run -A scripts/bench_launch.ts
 */
import { Device, type Driver } from "../ffi/mod.ts";
import type { transpose as Transpose } from "../tests/golden/codegen/transpose.ts";
import { FakeDriver } from "../tests/support/fake_driver.ts";

type TransposeKernel = typeof Transpose;

interface Bench {
  readonly device: Device;
  readonly transpose: TransposeKernel;
  /** Between batches: waits for the GPU, or forgets what the fake driver recorded. */
  readonly settle: () => void;
}

/** Calls between two settlings; few enough that the GPU's queue does not fill. */
const BATCH = 100;
const BATCHES = 1000;

async function open(): Promise<Bench> {
  try {
    const device = Device.open();
    const url = new URL("../generated/transpose.ts", import.meta.url);
    const { transpose }: { readonly transpose: TransposeKernel } = await import(url.href);
    return { device, transpose, settle: () => device.synchronize() };
  } catch (error) {
    print(
      `no GPU (${
        error instanceof Error ? error.message.split("\n")[0] : error
      }); a fake driver instead`,
    );
  }
  const { transpose } = await import("../tests/golden/codegen/transpose.ts");
  const driver = new FakeDriver();
  return {
    device: Device.fromDriver(driver),
    transpose,
    settle: () => {
      driver.calls.length = 0;
      driver.launches.length = 0;
    },
  };
}

/** Median over batches, in microseconds per call. */
function measure({ settle }: Bench, call: () => unknown): number {
  const times: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    settle();
    const start = performance.now();
    for (let i = 0; i < BATCH; i++) call();
    times.push((performance.now() - start) * 1000 / BATCH);
  }
  return times.toSorted((a, b) => a - b)[BATCHES >> 1] ?? NaN;
}

/** The last launcher that was prepared on the driver, to be called without anything around it. */
function watchPrepared(driver: Driver): () => () => void {
  let launch = (): void => {};
  const original = driver.prepareLaunch.bind(driver);
  driver.prepareLaunch = (fn, shape, name) => {
    const prepared = original(fn, shape, name);
    launch = () => prepared.launch(1, 1, 1, 0n);
    return prepared;
  };
  return () => launch;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const bench = await open();
const { device, transpose } = bench;
const lastLaunch = watchPrepared(device.driver);
const x = device.zeros("float32", [64, 64]);
const out = transpose(x);
const bare = lastLaunch();
const stream = device.defaultStream;
const prepared = transpose.prepare(x, { out });
const rows: readonly (readonly [string, () => unknown])[] = [
  ["the driver's call alone", bare],
  ["prepared", prepared],
  ["transpose(x, { out })", () => transpose(x, { out })],
  [
    "transpose(x, { out, stream, variant })",
    () => transpose(x, { out, stream, variant: "float32" }),
  ],
  [
    "transpose.launch({ … })",
    () => transpose.launch({ X: x, Y: out, M: 64, N: 64, ldx: 64, ldy: 64 }),
  ],
  ["transpose(x), result disposed", () => transpose(x)[Symbol.dispose]()],
];
for (const [, call] of rows) measure(bench, call);
const base = measure(bench, bare);
for (const [name, call] of rows) {
  const time = measure(bench, call);
  print(`${name.padEnd(42)} ${time.toFixed(2).padStart(7)} µs   +${(time - base).toFixed(2)} µs`);
}
