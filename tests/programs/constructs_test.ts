/** Each construct of the language on its own: compiled, run on the emulator, compared with the reference and with numbers. */
import { must } from "../../compiler/support/bug.ts";
import type { ScalarName } from "../../compiler/support/scalar.ts";
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blessed } from "../support/bless.ts";
import { checkText } from "../support/compiler/check.ts";
import { type Argument, emulate } from "../support/emulate.ts";
import { bytesOf, elementAt, memoryOf } from "../support/generate/inputs.ts";
import { compareElement } from "../support/generate/compare.ts";
import type { BufferSpec } from "../support/generate/tree.ts";
import { toBits } from "../support/reference/formats.ts";
import {
  type Constants,
  exact,
  integer,
  interpret,
  NotInterpreted,
  pointerTo,
} from "../support/reference/mod.ts";
import { type Construct, CONSTRUCTS } from "./constructs.ts";
import { coverageTable, ELSEWHERE, textOf, titleOf } from "./coverage.ts";
import { compileFile } from "../support/compile.ts";

const ROOT = new URL("../../", import.meta.url);
const COVERAGE = new URL("docs/language-coverage.md", ROOT);
const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);
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

/** What constant buffers hold, for the reference. */
function constantsOf({ constants = {} }: Construct): Constants {
  return new Map(
    Object.entries(constants).map(([name, values]) => {
      const cells = values.map((value) => integer(BigInt(value)));
      return [name, { name, element: "int32", cells }];
    }),
  );
}

/** Runs the construct for some targets. */
function runConstruct(construct: Construct, targets: readonly TargetName[]): void {
  const text = textOf(construct);
  const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, { targets, verify: true });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  assert(errors.length === 0, `${errors.map((e) => `${e.code} ${e.message}`)}\n${text}`);
  const grid = [...(construct.grid ?? [1, 1]), 1] as const;
  const memories = specs.map((spec) => memoryOf(spec, contentsOf(spec)));
  const kernel = must(checkText(text).unit.kernels[0], "the kernel");
  try {
    const args = [...memories.map(pointerTo), integer(5n), exact(1.5)];
    interpret(kernel, args, grid, constantsOf(construct));
  } catch (error) {
    if (error instanceof NotInterpreted) return;
    throw error;
  }
  for (const [name, wanted] of [["Y", construct.y], ["I", construct.i]] as const) {
    const { cells } = must(memories.find((memory) => memory.name === name), name);
    const got = cells.slice(0, wanted?.length ?? 0)
      .map((cell) => cell.kind === "pointer" ? NaN : Number(cell.value));
    assertEquals(got, [...wanted ?? []], `the reference of\n${text}`);
  }
  for (const module of must(kernels[0], "the kernel").modules) {
    const buffers = specs.map(contentsOf);
    const args: Argument[] = [...buffers, { bytes: 4, value: 5 }, { bytes: 4, value: 0x3fc00000 }];
    const { threads, sharedBytes } = must(module.entries[0], "the entry");
    const constants = Object.fromEntries(
      Object.entries(construct.constants ?? {}).map((
        [name, values],
      ) => [name, bytesOfInts(values)]),
    );
    emulate(module.ptx, { args, constants, grid, block: [threads, 1, 1], sharedBytes });
    for (const [nth, { name, cells, element }] of memories.entries()) {
      for (const [index, cell] of cells.entries()) {
        const got = elementAt(must(buffers[nth], "bytes"), element, index);
        const problem = compareElement(cell, got);
        assert(
          problem === undefined || problem === "unknown",
          `${module.target}: ${name}[${index}] is ${problem}\n${text}`,
        );
      }
    }
  }
}

for (const [nth, construct] of CONSTRUCTS.entries()) {
  Deno.test(titleOf(construct), () =>
    // One old and one newer architecture; random programs go through all of them.
    runConstruct(construct, ["sm_70", must(NAMES[1 + nth % (NAMES.length - 1)], "target")]));
}

Deno.test("coverageTable() is what docs/language-coverage.md says", () => {
  const table = coverageTable();
  if (blessed(COVERAGE, table)) return;
  assertEquals(
    Deno.readTextFileSync(COVERAGE),
    table,
    "run `deno task bless docs/language-coverage.md`",
  );
});

Deno.test("coverageTable() names tests that exist", () => {
  for (const [, , file, title] of ELSEWHERE) {
    const text = Deno.readTextFileSync(new URL(`tests/${file}`, ROOT));
    assert(text.includes(JSON.stringify(title)), `${file} has no test "${title}"`);
  }
  const titles = CONSTRUCTS.map(titleOf);
  assertEquals(new Set(titles).size, titles.length);
});
