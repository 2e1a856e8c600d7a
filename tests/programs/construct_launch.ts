/** What the constructs of constructs.ts are launched with, for the reference and on the emulator. */
import type { CompiledEntry } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import type { ScalarName } from "../../compiler/support/scalar.ts";
import type { Argument, Run } from "../support/emulate.ts";
import { bytesOf, memoryOf } from "../support/generate/inputs.ts";
import type { BufferSpec } from "../support/generate/tree.ts";
import { toBits } from "../support/reference/formats.ts";
import {
  type Cell,
  type Constants,
  exact,
  integer,
  type Memory,
  pointerTo,
} from "../support/reference/mod.ts";
import type { Construct } from "./constructs/construct.ts";

const ELEMENTS = 64;

/** Name, element type, and whether the kernel may store there: in the order of the parameters. */
const BUFFERS: readonly (readonly [string, ScalarName, boolean])[] = [
  ["X", "float32", false],
  ["Y", "float32", true],
  ["I", "int32", true],
  ["C", "int32", false],
  ["U", "uint32", false],
  ["B", "int8", false],
  ["H", "float16", false],
  ["D", "float64", false],
  ["L", "int64", true],
];

const specs = BUFFERS.map(([name, type, written]): BufferSpec => ({
  name,
  type,
  written,
  length: ELEMENTS,
  attributes: "",
}));

/** Element k is k - 8, a quarter of it for floats. */
function contentsOf({ type, written }: BufferSpec): Uint8Array {
  const size = bytesOf(type);
  const bytes = new Uint8Array(size * ELEMENTS);
  for (let k = 0; !written && k < ELEMENTS; k++) {
    const isFloat = type === "float16" || type === "float32" || type === "float64";
    const pattern = isFloat ? must(toBits((k - 8) / 4, type), "bits") : BigInt(k - 8);
    for (let b = 0; b < size; b++) {
      bytes[k * size + b] = Number((pattern >> BigInt(8 * b)) & 255n);
    }
  }
  return bytes;
}

const bytesOfInts = (values: readonly number[]): Uint8Array =>
  new Uint8Array(Int32Array.from(values).buffer);

/** What the buffers hold before a launch, for the reference. */
export function memoriesOfReference(): Memory[] {
  return specs.map((spec) => memoryOf(spec, contentsOf(spec)));
}

/** The arguments of a construct, for the reference. */
export function argumentsOf(memories: readonly Memory[]): Cell[] {
  return [...memories.map(pointerTo), integer(5n), exact(1.5)];
}

/** What constant buffers hold, for the reference. */
export function constantsOf({ constants = {} }: Construct): Constants {
  return new Map(
    Object.entries(constants).map(([name, values]) => {
      const cells = values.map((value) => integer(BigInt(value)));
      return [name, { name, element: "int32", cells }];
    }),
  );
}

/** A launch of a construct on the emulator, and the buffers that it changes. */
export function launchOf(
  { constants = {}, grid = [1, 1] }: Construct,
  { threads, sharedBytes }: Pick<CompiledEntry, "threads" | "sharedBytes">,
): { readonly buffers: readonly Uint8Array[]; readonly launch: Run } {
  const buffers = specs.map(contentsOf);
  const args: Argument[] = [...buffers, { bytes: 4, value: 5 }, { bytes: 4, value: 0x3fc00000 }];
  return {
    buffers,
    launch: {
      args,
      constants: Object.fromEntries(
        Object.entries(constants).map(([name, values]) => [name, bytesOfInts(values)]),
      ),
      grid: [...grid, 1],
      block: [threads, 1, 1],
      sharedBytes,
    },
  };
}
