/**
 * A user's program, compiled by TypeScript in an empty project and run by Node and Bun: every claim that it makes is
 * asserted, and its last line says how many there were.
 */
import assert from "node:assert/strict";
import process from "node:process";
import { ArgumentError, Device, EmulatorError, LaunchError, type Tensor } from "@tri/tri";
import { Device as DeviceOfFfi } from "@tri/tri/ffi";
import { benchmark, compareRecordings, NoTimesError, type Recording, runBenchmark } from "@tri/tri/bench";
import { embedImages } from "@tri/tri/esbuild";
import * as kernels from "@tri/kernels";
import { transpose } from "@tri/kernels/transpose";
import { matmulPlain } from "@tri/kernels/matmul_plain";
import type { Plugin } from "esbuild";

const device = Device.open({ device: "emulator", arch: "sm_90" });
let claims = 0;

async function claim(text: string, check: () => void | Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw new Error(`${text}: not so, TRI_SEED=${seed - 1}`, { cause: error });
  }
  claims++;
}

/** Multiplicative congruential generator, modulus 2^31 - 1 (Park and Miller, 1988). In [-1, 1). */
const seed = Number(process.env["TRI_SEED"] ?? Date.now()) % (2 ** 31 - 2) + 1;
let state = seed;
const random = (length: number): Float32Array =>
  Float32Array.from({ length }, () => {
    state = state * 48271 % (2 ** 31 - 1);
    return state / 2 ** 30 - 1;
  });

await claim("transpose() transposes odd sizes", async () => {
  const [rows, columns] = [67, 35];
  const values = random(rows * columns);
  const x = device.tensor(values, [rows, columns]);
  const y: Tensor<"float32", 2> = transpose(x);
  const result: Float32Array = await y.read();
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      assert.equal(result[j * rows + i], values[i * columns + j]);
    }
  }
});

await claim("matmulPlain() multiplies", async () => {
  const n = 33;
  const [a, b] = [random(n * n), random(n * n)];
  const c = await matmulPlain(device.tensor(a, [n, n]), device.tensor(b, [n, n])).read();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += (a[i * n + k] ?? NaN) * (b[k * n + j] ?? NaN);
      assert.ok(Math.abs((c[i * n + j] ?? NaN) - sum) < 1e-4);
    }
  }
});

await claim("entry points share their classes and kernels", () => {
  assert.equal(DeviceOfFfi, Device);
  assert.equal(kernels.transpose, transpose);
});

await claim("the plugin for esbuild has its type", () => {
  const plugin: Plugin = embedImages();
  assert.equal(plugin.name, "tri-images");
});

await claim("large launches run in several threads", async () => {
  const [m, n] = [1024, 768];
  const values = random(m * n);
  const y = await transpose(device.tensor(values, [m, n])).read();
  for (let at = 0; at < m * n; at += 997) {
    assert.equal(y[(at % n) * m + Math.floor(at / n)], values[at]);
  }
});

await claim("float16 takes its bits where there is no Float16Array, and refuses other types", async () => {
  const x = device.tensor(Uint16Array.of(0x3c00, 0xc000), [1, 2], { dtype: "float16" });
  assert.deepEqual([x.dtype, x.shape], ["float16", [1, 2]]);
  assert.throws(
    () => device.tensor(Float32Array.of(1, 2), [1, 2], { dtype: "float16" } as never),
    ArgumentError,
  );
});

await claim("profiles count on the emulator", () => {
  const x = device.tensor(random(64 * 64), [64, 64]);
  const { profile } = transpose(x, { profile: true });
  assert.equal(profile.shared.bankConflicts, 0);
});

await claim("errors are typed, and the same class everywhere", () => {
  const x = device.tensor(random(6), [2, 3]);
  const out = device.tensor(random(6), [2, 3]);
  assert.throws(() => transpose(x, { out }), (error) =>
    error instanceof ArgumentError || error instanceof LaunchError);
  assert.ok(EmulatorError.prototype instanceof Error);
});

await claim("what only a GPU can time is refused by errors of their own", async () => {
  const x = device.tensor(random(64 * 64), [64, 64]);
  const [X, Y] = [x, device.zeros("float32", [64, 64])];
  await assert.rejects(() => transpose.tune({ X, Y, M: 64, N: 64, ldx: 64, ldy: 64 }), LaunchError);
  const timed = benchmark({
    name: "transpose",
    title: "Transposition",
    x: { names: ["N"], values: [64] },
    measure: { unit: "ms" },
    inputs: ({ device, x: n, keep }) => ({ x: keep(device.zeros("float32", [n, n])) }),
    lines: { ours: { label: "tri", prepare: ({ x }) => transpose.prepare(x) } },
  });
  await assert.rejects(() => runBenchmark(timed, device), NoTimesError);
});

await claim("recordings of benchmarks are compared", () => {
  const recording = (first: number): Recording => ({
    format: "tri bench 1",
    module: "b",
    device: { name: "a GPU", arch: "sm_90", driver: "CUDA 13.0" },
    timing: { cache: "hot", rounds: 25 },
    benchmarks: [{
      name: "b",
      title: "b",
      x: { names: ["N"], scale: "log" },
      unit: "ms",
      lines: [{ name: "ours", label: "tri" }],
      rows: [{ x: 1, work: 0, times: { ours: Array.from({ length: 25 }, (_, i) => first + i / 1e3) } }],
    }],
  });
  const { changes } = compareRecordings(recording(1), recording(2));
  assert.deepEqual(changes.map(({ verdict }) => verdict), ["slower"]);
});

export function typesOnly(x: Tensor<"float32", 2>, v: Tensor<"float32", 1>): void {
  // @ts-expect-error: a matrix is wanted
  transpose(v);
  // @ts-expect-error: the result has the type of the elements of x
  const wrong: Tensor<"int32", 2> = transpose(x);
  // @ts-expect-error: there is no such option
  transpose(x, { outt: x });
  void wrong;
}

device[Symbol.dispose]();
console.log(`${claims} claims hold`);
