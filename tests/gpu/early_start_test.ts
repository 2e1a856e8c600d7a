/** Launches that are started before those that they depend on have ended: what they read and overwrite, on a GPU. */
import { type TargetName, TARGETS } from "../../compiler/mod.ts";
import { Device } from "@tri/tri/ffi";
import { matmul } from "../../generated/matmul.ts";
import { assertEquals } from "../support/assert.ts";
import { checkChain, compileChain } from "../support/compiler/chain.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import { freshRandom } from "../support/random.ts";

/** What this GPU runs; the driver assembles the text. */
const OURS = Object.values(TARGETS).filter(({ name, sm }) =>
  name.endsWith("a") ? sm === gpuArch : sm <= gpuArch
).map(({ name }): TargetName => name).slice(-1);

/** Elements: one block, less than the multiprocessors, some rounds of blocks. */
const LENGTHS = [100, 9001, 4_000_037] as const;
const TURNS = [0, 30, 2000] as const;

for (const letsStart of [false, true]) {
  const which = letsStart ? "started when the one before begins" : "started early";

  gpuTest(`a launch ${which} reads what the one before it writes last, in a stream`, async () => {
    using device = Device.open({ device: "cuda" });
    const chain = await compileChain(OURS, letsStart);
    for (const length of LENGTHS) {
      for (const turns of TURNS) checkChain(device, chain, { length, turns, steps: 200 });
    }
  });

  gpuTest(`a launch ${which} reads what the one before it writes last, in a graph`, async () => {
    using device = Device.open({ device: "cuda" });
    const chain = await compileChain(OURS, letsStart);
    for (const length of LENGTHS) {
      for (const turns of TURNS) {
        checkChain(device, chain, { length, turns, steps: 20, launches: 12 });
      }
    }
  });

  gpuTest(`a launch ${which}, copies and fills wait for each other`, async () => {
    using device = Device.open({ device: "cuda" });
    const chain = await compileChain(OURS, letsStart);
    for (const length of LENGTHS) {
      checkChain(device, chain, { length, turns: 30, steps: 60, copies: true });
      checkChain(device, chain, { length, turns: 30, steps: 12, launches: 6, copies: true });
    }
  });
}

/** Elements of a row: tensor copies bring the tiles, several programs a multiprocessor or one. */
for (const size of [256, 1024, 2048]) {
  gpuTest(`matmul() of ${size} reads and overwrites what the product before it left`, () => {
    using device = Device.open({ device: "cuda" });
    using stream = device.stream();
    const random = freshRandom();
    const start = Float16Array.from({ length: size * size }, () => random.below(2000) - 1000);
    // Moves each column to the next one.
    const next = new Float16Array(size * size);
    for (let i = 0; i < size; i++) next[i * size + (i + 1) % size] = 1;
    using x = device.tensor(start, [size, size], { stream });
    using y = device.tensor(new Float16Array(size * size).fill(NaN), [size, size], { stream });
    using shift = device.tensor(next, [size, size], { stream });
    const steps = (): void => {
      for (let i = 0; i < 10; i++) {
        matmul(x, shift, { out: y, stream });
        matmul(y, shift, { out: x, stream });
      }
    };
    steps();
    using graph = stream.capture(steps);
    for (let i = 0; i < 4; i++) graph.launch();
    const moved = Float16Array.from(start, (_, i) => {
      const column = i % size;
      return start[i - column + (column + size - 100 % size) % size] ?? NaN;
    });
    assertEquals(x.readSync(), moved);
  });
}
