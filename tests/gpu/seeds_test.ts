/**
 * The transpositions of the tutorials, compiled here and now and launched without a wrapper, for every element
 * type: as published, with a promise, with bounds checks, and by pointer arithmetic alone.
 */
import { compileFile, type TargetName } from "@tri/tri/compiler";
import { Device, type DType } from "@tri/tri/ffi";
import { assert, assertEquals } from "../support/assert.ts";
import { gpuTest } from "../support/gpu.ts";
import { freshRandom } from "../support/random.ts";
import {
  assertBytes,
  elementBytes,
  expectMatrix,
  type Placement,
  randomMatrix,
} from "./matrices.ts";

const TYPES: readonly (readonly [string, DType])[] = [
  ["char", "int8"],
  ["unsigned char", "uint8"],
  ["short", "int16"],
  ["unsigned short", "uint16"],
  ["int", "int32"],
  ["unsigned", "uint32"],
  ["long", "int64"],
  ["unsigned long", "uint64"],
  ["half", "float16"],
  ["bfloat16", "bfloat16"],
  ["float", "float32"],
  ["double", "float64"],
  ["float8e4", "float8e4"],
  ["float8e5", "float8e5"],
];

interface Seed {
  readonly file: string;
  /** Sizes that the kernel is right for with tiles of 32 x 64: unmasked ones want multiples. */
  readonly sizes: readonly (readonly [number, number])[];
  readonly placements: readonly ((columns: number) => Placement)[];
}

const ANY = [[1, 1], [32, 64], [33, 65], [95, 190], [257, 129]] as const;
const MULTIPLES = [[32, 64], [96, 128], [64, 256]] as const;
const FREE = [
  (columns: number) => ({ offset: 0, stride: columns }),
  (columns: number) => ({ offset: 3, stride: columns + 5 }),
];
const EIGHTS = [
  (columns: number) => ({ offset: 0, stride: columns }),
  (columns: number) => ({ offset: 1, stride: columns + 8 }),
];

const SEEDS: readonly Seed[] = [
  { file: "seed_transpose.tc", sizes: MULTIPLES, placements: FREE },
  { file: "seed_transpose_multipleof.tc", sizes: MULTIPLES, placements: EIGHTS },
  { file: "seed_transpose_checked.tc", sizes: ANY, placements: FREE },
  { file: "pointer_transpose.tc", sizes: ANY, placements: FREE },
  { file: "pointer_blocks.tc", sizes: ANY, placements: FREE },
];
const [TM, TN] = [32, 64];

/** The general instance, as PTX for the newest target that the device runs. */
function compile(
  device: Device,
  file: string,
  type: string,
): { readonly ptx: string; readonly threads: number; readonly sharedBytes: number } {
  const text = Deno.readTextFileSync(new URL(`../kernels/seeds/${file}`, import.meta.url));
  const targets: TargetName[] = device.info.sm >= 90 ? ["sm_90"] : ["sm_75"];
  const { diagnostics, kernels } = compileFile({ name: file, text }, {
    targets,
    defines: [{ name: "TYPE", value: type }, { name: "TM", value: `${TM}` }, {
      name: "TN",
      value: `${TN}`,
    }],
    overrides: [{ text: "specialize(off)", origin: "<test>" }],
  });
  assertEquals(diagnostics.map(({ message }) => message), []);
  const module = kernels[0]?.modules[0];
  const entry = module?.entries[0];
  assert(module !== undefined && entry !== undefined);
  return { ptx: module.ptx, threads: entry.threads, sharedBytes: entry.sharedBytes };
}

for (const seed of SEEDS) {
  gpuTest(`${seed.file} transposes every element type bit for bit`, async () => {
    using device = Device.open();
    using stream = device.stream();
    for (const [type, dtype] of TYPES) {
      const { ptx, threads, sharedBytes } = compile(device, seed.file, type);
      using module = device.loadModule(new TextEncoder().encode(ptx), seed.file);
      const launcher = module.function("transpose").prepare({
        block: [threads, 1, 1],
        sharedBytes,
        parameterBytes: 32,
      });
      for (const [rows, columns] of seed.sizes) {
        for (const place of seed.placements) {
          const random = freshRandom();
          const [from, to] = [place(columns), place(rows)];
          const x = randomMatrix(device, random, dtype, rows, columns, from);
          const y = randomMatrix(device, random, dtype, columns, rows, to);
          const { buffer, byteOffset, byteLength } = launcher.argumentBlock;
          const block = new DataView(buffer, byteOffset, byteLength);
          block.setBigUint64(0, x.tensor.address, true);
          block.setBigUint64(8, y.tensor.address, true);
          [rows, columns, from.stride, to.stride].forEach((value, i) =>
            block.setInt32(16 + 4 * i, value, true)
          );
          x.buffer.buffer.use(stream, false);
          y.buffer.buffer.use(stream, true);
          launcher.launch(Math.ceil(rows / TM), Math.ceil(columns / TN), 1, stream.handle);
          const expected = expectMatrix(
            y.bytes,
            columns,
            rows,
            to,
            elementBytes(dtype),
            x.bytes,
            (row, column) => from.offset + column * from.stride + row,
          );
          assertBytes(
            await y.buffer.read(),
            expected,
            `${type} ${rows} x ${columns}, seed ${random.seed}`,
          );
          x.buffer[Symbol.dispose]();
          y.buffer[Symbol.dispose]();
        }
      }
    }
  });
}
