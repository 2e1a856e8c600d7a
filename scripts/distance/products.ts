/**
 * How far sums of `mma` and `wgmma` of the emulator are from another device's. Both get the same random registers and the
 * same shared memory, so nothing here depends on which element of a matrix is where. The sum of the terms' magnitudes,
 * which differences are measured by, is the emulator's result for operands without signs.
 */
import { matchInstruction } from "../../compiler/ptx/match.ts";
import type { Operand } from "../../compiler/ptx/func.ts";
import { printInstruction, printOperand } from "../../compiler/ptx/print.ts";
import type { Driver } from "../../ffi/driver.ts";
import { allSamples } from "../../tests/support/emulator/ptx_samples.ts";
import { freshRandom, type Random } from "../../tests/support/random.ts";
import { loadText, runColumns } from "../../tests/support/emulator/run_forms.ts";
import {
  bitsOf,
  type FormatName,
  isFormatName,
  numberOf,
  randomFloat,
  ulpsApart,
} from "./formats.ts";

export interface ProductDistance {
  readonly instruction: string;
  readonly results: number;
  /** The part of the results that has the same bits. */
  readonly equal: number;
  /** Largest difference; -1 where one of the two is no number. */
  readonly ulps: number;
  /** Largest difference, divided by the sum of the terms' magnitudes. */
  readonly relative: number;
}

/** A register that a thread loads or stores, and the type of the elements in it. */
interface Slot {
  readonly register: string;
  readonly bits: 32 | 64;
  readonly type: string;
}

interface Product {
  readonly name: string;
  readonly instruction: string;
  readonly target: string;
  readonly declarations: readonly string[];
  readonly sources: readonly Slot[];
  readonly results: readonly Slot[];
  readonly lines: readonly string[];
}

const COLUMN_BYTES = 8;

const elementsOf = (operand: Operand | undefined): readonly Operand[] =>
  operand === undefined ? [] : operand.kind === "vector" ? operand.elements : [operand];

function slotsOf(operand: Operand | undefined, type: string): Slot[] {
  const bits = type === "f64" ? 64 : 32;
  return elementsOf(operand).map((element) => ({ register: printOperand(element), bits, type }));
}

const declare = ({ register, bits }: Slot): string => `.reg .b${bits} ${register};`;

/** Every shape and type of mma.sync that runs on an architecture. */
function warpProducts(sm: number): Product[] {
  const made = new Map<string, Product>();
  for (const { instruction, since } of allSamples()) {
    if (instruction.opcode !== "mma" || since.sm > sm || since.suffix !== undefined) continue;
    const match = matchInstruction(instruction);
    if (typeof match === "string") continue;
    const spelling = ["mma", ...instruction.modifiers].join(".");
    const types = instruction.modifiers.filter((name) => isElement(name));
    const [d = "", a = "", b = "", c = ""] = types;
    const operand = (name: string): Operand | undefined =>
      match.operands.find((each) => each.name === name)?.operand;
    const sources = [
      ...slotsOf(operand("a"), a),
      ...slotsOf(operand("b"), b),
      ...slotsOf(operand("c"), c),
    ];
    const results = slotsOf(operand("d"), d);
    made.set(spelling, {
      name: `mma${made.size}`,
      instruction: spelling,
      target: `sm_${sm}`,
      declarations: [...sources, ...results].map(declare),
      sources,
      results,
      lines: [printInstruction(instruction)],
    });
  }
  return [...made.values()];
}

const INTEGERS: Readonly<Record<string, number>> = { s8: 8, u8: 8, s4: 4, u4: 4, b1: 1, s32: 32 };
const isElement = (name: string): boolean => isFormatName(name) || Object.hasOwn(INTEGERS, name);

/** Products of warp groups: 64 x 64, a in registers, b in 2 KiB of shared memory. */
const GROUP_TYPES: readonly (readonly [sum: string, element: string, k: number])[] = [
  ["f32", "f16", 16],
  ["f16", "f16", 16],
  ["f32", "bf16", 16],
  ["f32", "tf32", 8],
  ["f32", "e4m3", 32],
  ["f32", "e5m2", 32],
  ["f16", "e4m3", 32],
  ["f16", "e5m2", 32],
  ["s32", "s8", 32],
];
const SHARED_WORDS = 4;

/** Eight lines of 16 bytes are a panel; 16 bytes further along k is the next one, eight lines further the one after it. */
const DESCRIPTOR = (128n >> 4n) << 16n | (256n >> 4n) << 32n;

function groupProducts(): Product[] {
  return GROUP_TYPES.map(([sum, element, k], nth): Product => {
    const list = (name: string, count: number): string[] =>
      Array.from({ length: count }, (_, i) => `%${name}${i}`);
    const slots = (names: readonly string[], type: string): Slot[] =>
      names.map((register) => ({ register, bits: 32, type }));
    const [a, words] = [list("a", 4), list("b", SHARED_WORDS)];
    const sums = list("d", sum === "f16" ? 16 : 32);
    const scales = element === "s8" ? "" : ", 1, 1";
    const transposed = element === "f16" || element === "bf16" ? ", 0" : "";
    const spelling = `wgmma.mma_async.sync.aligned.m64n64k${k}.${sum}.${element}.${element}`;
    return {
      name: `wgmma${nth}`,
      instruction: spelling,
      target: "sm_90a",
      declarations: [...a, ...words, ...sums].map((name) => `.reg .b32 ${name};`),
      sources: [...slots(a, element), ...slots(words, element), ...slots(sums, sum)],
      results: slots(sums, sum),
      lines: [
        ".shared .align 128 .b8 tile[2048];",
        ".reg .b32 %address, %thread;",
        ".reg .b64 %descriptor;",
        "mov.u32 %thread, %tid.x;",
        "mov.u32 %address, tile;",
        "cvt.u64.u32 %descriptor, %address;",
        "shr.u64 %descriptor, %descriptor, 4;",
        `or.b64 %descriptor, %descriptor, ${DESCRIPTOR};`,
        "mad.lo.u32 %address, %thread, 16, %address;",
        `st.shared.v4.b32 [%address], {${words.join(", ")}};`,
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        `${spelling} {${sums.join(", ")}}, {${
          a.join(", ")
        }}, %descriptor, 1${scales}${transposed};`,
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
      ],
    };
  });
}

function moduleOf({ name, target, declarations, sources, results, lines }: Product): string {
  const move = (base: string): string[] => [
    `mad.wide.u32 %at, %i, ${COLUMN_BYTES}, ${base};`,
    `mad.wide.u32 ${base}, %count, ${COLUMN_BYTES}, ${base};`,
  ];
  const body = [
    ".reg .b32 %i, %block, %threads, %count;",
    ".reg .b64 %in, %out, %at;",
    ...declarations,
    "mov.u32 %block, %ctaid.x;",
    "mov.u32 %threads, %ntid.x;",
    "mov.u32 %i, %tid.x;",
    "mad.lo.u32 %i, %block, %threads, %i;",
    "ld.param.u32 %count, [n];",
    "ld.param.u64 %in, [in];",
    "ld.param.u64 %out, [out];",
    ...sources.flatMap(({ register, bits }) => [
      ...move("%in"),
      `ld.global.b${bits} ${register}, [%at];`,
    ]),
    ...lines,
    ...results.flatMap(({ register, bits }) => [
      ...move("%out"),
      `st.global.b${bits} [%at], ${register};`,
    ]),
    "exit;",
  ];
  return [
    ".version 9.0",
    `.target ${target}`,
    ".address_size 64",
    `.visible .entry ${name}(.param .u64 in, .param .u64 out, .param .u32 n)`,
    "{",
    ...body.map((line) => `  ${line}`),
    "}",
    "",
  ].join("\n");
}

const widthOf = (type: string): number => isFormatName(type) ? bitsOf(type) : INTEGERS[type] ?? 32;

function randomWord({ type, bits }: Slot, random: Random, spread: number): bigint {
  const width = widthOf(type);
  let word = 0n;
  for (let at = 0; at < bits; at += width) {
    // Accumulators of 32 bits do not overflow.
    const element = isFormatName(type)
      ? randomFloat(random, type, spread)
      : BigInt(random.below(2 ** Math.min(width, 20)));
    word |= element << BigInt(at);
  }
  return word;
}

/** A word without the signs of its elements. */
function magnitudes(word: bigint, { type, bits }: Slot): bigint {
  if (!isFormatName(type)) return word;
  const width = bitsOf(type);
  let signs = 0n;
  for (let at = width - 1; at < bits; at += width) signs |= 1n << BigInt(at);
  return word & ~signs;
}

/** Random columns; warps in turn have elements of one or two magnitudes and of many. */
function columnsOf(sources: readonly Slot[], count: number, random: Random): {
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly unsigned: Uint8Array<ArrayBuffer>;
} {
  const make = () => new Uint8Array(sources.length * count * COLUMN_BYTES);
  const [signed, unsigned] = [make(), make()];
  const [first, second] = [new DataView(signed.buffer), new DataView(unsigned.buffer)];
  sources.forEach((slot, k) => {
    for (let i = 0; i < count; i++) {
      const at = (k * count + i) * COLUMN_BYTES;
      const word = randomWord(slot, random, (i >> 7) % 2 === 0 ? 1 : 12);
      first.setBigUint64(at, word, true);
      second.setBigUint64(at, magnitudes(word, slot), true);
    }
  });
  return { signed, unsigned };
}

/** The words of all columns one after the other, each element as a number of its own. */
function readElements(
  results: readonly Slot[],
  bytes: Uint8Array<ArrayBuffer>,
  count: number,
): bigint[] {
  const view = new DataView(bytes.buffer);
  return results.flatMap(({ type, bits }, k) => {
    const width = widthOf(type);
    return Array.from({ length: count }, (_, i) => {
      const word = BigInt.asUintN(bits, view.getBigUint64((k * count + i) * COLUMN_BYTES, true));
      return Array.from(
        { length: bits / width },
        (_, part) => BigInt.asUintN(width, word >> BigInt(part * width)),
      );
    }).flat();
  });
}

function compare(
  format: FormatName | undefined,
  found: readonly bigint[],
  wanted: readonly bigint[],
  sizes: readonly bigint[],
): Omit<ProductDistance, "instruction"> {
  let [equal, ulps, relative] = [0, 0, 0];
  found.forEach((ours, i) => {
    const theirs = wanted[i] ?? 0n;
    if (ours === theirs) {
      equal++;
      return;
    }
    if (format === undefined) {
      ulps = Math.max(ulps, Math.abs(Number(ours - theirs)));
      return;
    }
    ulps = Math.max(ulps, ulpsApart(ours, theirs, format));
    const apart = Math.abs(numberOf(ours, format) - numberOf(theirs, format));
    const share = apart / numberOf(sizes[i] ?? 0n, format);
    if (Number.isFinite(share)) relative = Math.max(relative, share);
  });
  return {
    results: found.length,
    equal: equal / found.length,
    ulps: Number.isFinite(ulps) ? ulps : -1,
    relative,
  };
}

/** Runs every product on both devices, each with `count` threads. */
export function measureProducts(
  other: Driver,
  emulator: Driver,
  sm: number,
  count: number,
  seed: number,
): ProductDistance[] {
  const products = [...warpProducts(sm), ...sm === 90 ? groupProducts() : []];
  return products.map((product) => {
    const { sources, results, name, instruction } = product;
    const { signed, unsigned } = columnsOf(sources, count, freshRandom(seed));
    const run = (driver: Driver, input: Uint8Array<ArrayBuffer>): bigint[] => {
      const module = loadText(driver, moduleOf(product), name);
      const bytes = results.length * count * COLUMN_BYTES;
      const output = runColumns(driver, module, name, count, input, bytes);
      driver.unloadModule(module);
      return readElements(results, output, count);
    };
    const type = results[0]?.type ?? "s32";
    const format = isFormatName(type) ? type : undefined;
    const [wanted, found] = [run(other, signed), run(emulator, signed)];
    const sizes = format === undefined ? [] : run(emulator, unsigned);
    return { instruction, ...compare(format, found, wanted, sizes) };
  });
}
