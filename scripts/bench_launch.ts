/**
 * Host time of a launch, step by step: the driver's own call, a prepared call, calls with all checks. On a
 * machine with a GPU through libcuda, with the kernels that `deno task build-kernels` made; elsewhere through a
 * driver that does nothing, which shows what the checks alone cost. Then the same for an entry with a form, which takes
 * three tensor maps: what finding, comparing and encoding them adds.
 *
 *     deno run -A scripts/bench_launch.ts
 */
import { Device, type Driver } from "../ffi/mod.ts";
import type { transpose as Transpose } from "../tests/golden/codegen/transpose.ts";
import { FakeDriver } from "../tests/support/driver/fake_driver.ts";
import { ROWS_FORM, ROWS_PARAMETERS, rowsProduct } from "../tests/support/forms/form_kernel.ts";
import { loadWrapper } from "../tests/support/load_wrapper.ts";
import { elements, type RowsProductWrapper } from "../tests/support/kernels/rows_product.ts";

type TransposeKernel = typeof Transpose;

interface Settled {
  /** Between batches: waits for the GPU, or forgets what the fake driver recorded. */
  readonly settle: () => void;
}

interface Bench extends Settled {
  readonly device: Device;
  readonly transpose: TransposeKernel;
}

/** Calls between two settlings; few enough that the GPU's queue does not fill. */
const BATCH = 100;
const BATCHES = 1000;

async function open(): Promise<Bench> {
  try {
    const device = Device.open({ device: "cuda" });
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
  const driver = new FakeDriver({ parameters: { [ROWS_FORM.symbol]: ROWS_PARAMETERS } });
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
function measure({ settle }: Settled, call: () => unknown): number {
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

/** A line of the table. */
function show(name: string, time: number, base: number): void {
  print(`${name.padEnd(42)} ${time.toFixed(2).padStart(7)} µs   +${(time - base).toFixed(2)} µs`);
}

/** Microseconds of one call. */
function timeOnce(call: () => unknown): number {
  const start = performance.now();
  call();
  return (performance.now() - start) * 1000;
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
  show(name, measure(bench, call), base);
}

/** A call of the entry and the same call of its form. */
interface Pair {
  readonly name: string;
  readonly entry: () => unknown;
  readonly form: () => unknown;
}

/** Batches of both in turn: medians of each, and of what the form's batch took more. */
function measurePair({ settle }: Settled, { entry, form }: Pair): readonly number[] {
  const times = Array.from({ length: BATCHES }, () =>
    [entry, form].map((call) => {
      settle();
      const start = performance.now();
      for (let i = 0; i < BATCH; i++) call();
      return (performance.now() - start) * 1000 / BATCH;
    }));
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[BATCHES >> 1] ?? NaN;
  const more = times.map(([a = NaN, b = NaN]) => b - a);
  return [0, 1].map((which) => median(times.map((pair) => pair[which] ?? NaN))).concat(
    median(more),
  );
}

/** The first calls of an entry and of a form of a kernel whose image is loaded, in a program that has called others. */
async function firstCalls(): Promise<readonly [entry: number, form: number]> {
  const { rowsProduct: product } = await loadWrapper<RowsProductWrapper>(rowsProduct());
  product(a.narrow(0, 0, 7), b, { form: "plain" });
  return [
    timeOnce(() => product(a, b, { out: c, form: "plain" })),
    timeOnce(() => product(a, b, { out: c, form: "fast" })),
  ];
}

const { rowsProduct: product } = await loadWrapper<RowsProductWrapper>(rowsProduct());
const a = device.tensor(elements(64 * 64), [64, 64]);
const b = device.tensor(elements(64 * 64), [64, 64]);
const c = device.empty("float16", [64, 64]);
const others = Array.from({ length: 64 }, () => device.zeros("float16", [64, 64]));
print("\nfirst calls, µs: entry, form");
for (let i = 0; i < 5; i++) {
  print((await firstCalls()).map((time) => time.toFixed(0).padStart(7)).join(" "));
}
let turn = 0;
const plain = { out: c, form: "plain" } as const;
const fast = { out: c };
const pairs: readonly Pair[] = [
  {
    name: "rowsProduct(a, b, { out })",
    entry: () => product(a, b, plain),
    form: () => product(a, b, fast),
  },
  {
    name: "two tensors in turn",
    entry: () => product(turn++ % 2 === 0 ? a : b, b, plain),
    form: () => product(turn++ % 2 === 0 ? a : b, b, fast),
  },
  {
    name: "64 tensors in turn",
    entry: () => product(others[turn++ % 64] ?? a, b, plain),
    form: () => product(others[turn++ % 64] ?? a, b, fast),
  },
  { name: "prepared", entry: product.prepare(a, b, plain), form: product.prepare(a, b, fast) },
];
for (const pair of pairs) measurePair(bench, pair);
print("\nof a kernel with a form, µs: entry, form, more");
for (const pair of pairs) {
  const times = measurePair(bench, pair).map((time) => time.toFixed(2).padStart(7));
  print(`${pair.name.padEnd(42)} ${times.join(" ")}`);
}
