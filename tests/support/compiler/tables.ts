/** The kernels of tables.tc beside this on a device, against sums in double precision on the host. */
import { factsOf } from "../../../cli/report/facts.ts";
import type { CompiledKernel, TargetName } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import {
  type ConstantBuffers,
  defineConstants,
  defineKernel,
  type Device,
} from "../../../ffi/mod.ts";
import { assertEquals } from "../assert.ts";
import { freshRandom, type Random } from "../random.ts";
import { compileFile } from "../compile.ts";

const FILE = new URL("./tables.tc", import.meta.url);

/** Taps of a step of `table_conv`, and the entries of its tables. */
const TK = 16;
const STEPS = 512;
const TAPS = 32;

/** A kernel for one target; each instance is a variant. */
interface TableKernel {
  launch(args: Readonly<Record<string, unknown>>, options: { readonly variant: string }): unknown;
}

/** The kernels of the file for one target, with the constant buffers that they share. */
export interface Tables {
  readonly kernel: (name: string) => TableKernel;
  /** Entries of a kernel for integers like these: those for aligned tensors want multiples of 16. */
  readonly entries: (name: string, ...sizes: readonly number[]) => readonly string[];
  readonly constants: ConstantBuffers;
  /** All modules for the target. */
  readonly ptx: string;
}

/** Compiles the kernels, for all targets at once. */
export function compileTables(targets: readonly TargetName[]): (target: TargetName) => Tables {
  const text = Deno.readTextFileSync(FILE);
  const { kernels, diagnostics } = compileFile({ name: "tables.tc", text }, {
    targets,
    verify: true,
  });
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  const named = (name: string): CompiledKernel =>
    must(kernels.find((kernel) => kernel.name === name), name);
  return (target) => {
    const sizes = new Map(
      kernels.flatMap((kernel) =>
        kernel.constants.map(({ name, bytes }): [string, number] => [name, bytes])
      ),
    );
    const constants = defineConstants([...sizes].map(([name, bytes]) => ({ name, bytes })));
    const made = new Map(kernels.map((kernel) => {
      const module = must(kernel.modules.find((module) => module.target === target), target);
      return [kernel.name, defineKernel<TableKernel, string>(factsOf(kernel, module), constants)];
    }));
    return {
      kernel: (name) => must(made.get(name), name),
      entries: (name, ...sizes) =>
        named(name).instances.filter(({ specialization }) =>
          specialization.length === 0 || sizes.every((size) => size % 16 === 0)
        )
          .map(({ symbol }) => symbol),
      constants,
      ptx: kernels.flatMap(({ modules }) => modules.filter((module) => module.target === target))
        .map(({ ptx }) => ptx).join(""),
    };
  };
}

const table = ({ constants }: Tables, name: string): ConstantBuffers[string] =>
  must(constants[name], name);

/** Multiples of a quarter between -4 and 4: sums of a few hundred products of them are exact in any order. */
const quarters = (random: Random, length: number): number[] =>
  Array.from({ length }, () => (random.below(33) - 16) / 4);

/** Pictures and filters without padding. */
export interface TableConvolution {
  readonly pictures: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly filters: number;
  readonly filterHeight: number;
  readonly filterWidth: number;
}

/** Convolves through tables of offsets and compares. */
export function checkTableConvolution(device: Device, tables: Tables, of: TableConvolution): void {
  const { pictures, channels, height, width, filters, filterHeight, filterWidth } = of;
  const random = freshRandom();
  const where = `${JSON.stringify(of)}, seed ${random.seed}`;
  const [high, wide] = [height - filterHeight + 1, width - filterWidth + 1];
  const [M, N, K] = [pictures * high * wide, filters, channels * filterHeight * filterWidth];
  /** Where tap k of a patch is; those after the last one are never read. */
  const offset = (k: number): number => {
    const [c, r, s] = [
      Math.floor(k / (filterHeight * filterWidth)),
      Math.floor(k / filterWidth) % filterHeight,
      k % filterWidth,
    ];
    return (c * height + r) * width + s;
  };
  table(tables, "START").set(Int32Array.from({ length: TK }, (_, k) => offset(k)));
  table(tables, "AD").set(
    Int32Array.from({ length: K }, (_, k) => offset(k + TK) - offset(k)),
  );
  const bases = Int32Array.from({ length: M }, (_, m) => {
    const [n, p, q] = [Math.floor(m / (high * wide)), Math.floor(m / wide) % high, m % wide];
    return (n * channels * height + p) * width + q;
  });
  const xs = quarters(random, pictures * channels * height * width);
  const fs = quarters(random, K * N);
  const expected = Float32Array.from({ length: M * N }, (_, at) => {
    const [m, n] = [Math.floor(at / N), at % N];
    let sum = 0;
    for (let k = 0; k < K; k++) {
      sum += (xs[(bases[m] ?? 0) + offset(k)] ?? NaN) * (fs[k * N + n] ?? NaN);
    }
    return sum;
  });
  using base = device.tensor(bases, [M]);
  for (const variant of tables.entries("table_conv", M, N, K)) {
    const array = variant.includes("float16") ? Float16Array : Float32Array;
    using x = device.tensor(array.from(xs), [xs.length]);
    using f = device.tensor(array.from(fs), [K, N]);
    using y = device.tensor(new Float32Array(M * N).fill(NaN), [M, N]);
    const args = { X: x, BASE: base, F: f, Y: y, M, N, K };
    tables.kernel("table_conv").launch(args, { variant });
    assertEquals(y.readSync(), expected, `${variant}: ${where}`);
  }
}

/** Looks up entries of a table and outside of it; gives what was looked up. */
export function checkLookUp(device: Device, tables: Tables, length: number): void {
  const random = freshRandom();
  const entries = Int32Array.from({ length: STEPS }, () => random.below(2 ** 31) - 2 ** 30);
  table(tables, "AD").set(entries);
  const indices = Int32Array.from({ length }, () => random.below(2 * STEPS) - STEPS / 2);
  const expected = indices.map((index) => entries[index] ?? -1);
  using i = device.tensor(indices, [length]);
  for (const variant of tables.entries("look_up", length)) {
    using y = device.tensor(new Int32Array(length).fill(-77), [length]);
    tables.kernel("look_up").launch({ I: i, Y: y, N: length }, { variant });
    assertEquals(y.readSync(), expected, `${variant}, seed ${random.seed}`);
  }
}

/** Weights of columns and rows. */
export function checkScale(
  device: Device,
  tables: Tables,
  [M, N]: readonly [number, number],
): void {
  const random = freshRandom();
  const weights = quarters(random, TAPS);
  table(tables, "SCALE").set(Float16Array.from(weights));
  const xs = quarters(random, M * N);
  const J = M % 16 === 0 ? 16 : random.below(TAPS);
  const at = (index: number): number => weights[index] ?? NaN;
  const expected = Float32Array.from(xs, (x, index) => {
    const [row, column] = [Math.floor(index / N), index % N];
    return x * at(column) + at(row % TAPS) * at(J);
  });
  using x = device.tensor(Float32Array.from(xs), [M, N]);
  for (const variant of tables.entries("scale", M, N, J)) {
    using y = device.tensor(new Float32Array(M * N).fill(NaN), [M, N]);
    tables.kernel("scale").launch({ X: x, Y: y, M, N, J }, { variant });
    assertEquals(y.readSync(), expected, `${variant}, ${M} x ${N}, seed ${random.seed}`);
  }
}
