/** How far `.approx` and `.full` functions of the emulator are from another device's. */
import type { PtxForm } from "../../compiler/ptx/form.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { Driver } from "../../ffi/driver.ts";
import {
  columnBytes,
  type FormKernel,
  formKernel,
  formModule,
  operandColumns,
  readColumns,
} from "../../tests/support/emulator/ptx_form_kernel.ts";
import { laneRowsOfTable, spellingsOf } from "../../tests/support/emulator/ptx_forms.ts";
import { freshRandom, type Random } from "../../tests/support/random.ts";
import { loadText, runColumns } from "../../tests/support/emulator/run_forms.ts";
import {
  bitsOf,
  bitsOfNumber,
  type FormatName,
  isFormatName,
  numberOf,
  ulpsApart,
} from "./formats.ts";

/** What two devices make of one instruction and one kind of operands. */
export interface FunctionDistance {
  readonly instruction: string;
  readonly operands: string;
  readonly results: number;
  /** The part of the results that has the same bits. */
  readonly equal: number;
  /** Largest difference; NaN where a number is due counts as infinite, written as -1. */
  readonly ulps: number;
  /** Largest difference of finite results. */
  readonly absolute: number;
}

/** Operands as programs use them. */
interface Range {
  readonly operands: string;
  make(random: Random): number;
}

const unit = (random: Random): number => random.below(2 ** 30) / 2 ** 30;
const between = (low: number, high: number): Range["make"] => (random) =>
  low + (high - low) * unit(random);
const POSITIVE: Range = {
  operands: "2^-10 … 2^10",
  make: (random) => 2 ** between(-10, 10)(random),
};
const BOTH: Range = {
  operands: "±2^-10 … ±2^10",
  make: (random) => (random.below(2) === 0 ? 1 : -1) * POSITIVE.make(random),
};
const RANGES: Readonly<Record<string, Range>> = {
  sin: { operands: "-π … π", make: between(-Math.PI, Math.PI) },
  cos: { operands: "-π … π", make: between(-Math.PI, Math.PI) },
  ex2: { operands: "-14 … 14", make: between(-14, 14) },
  tanh: { operands: "-4 … 4", make: between(-4, 4) },
  lg2: POSITIVE,
  sqrt: POSITIVE,
  rsqrt: POSITIVE,
  rcp: BOTH,
  div: BOTH,
};

function rangeColumns(
  { sources }: FormKernel,
  { make }: Range,
  count: number,
  random: Random,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(columnBytes(sources, count));
  const view = new DataView(bytes.buffer);
  sources.forEach(({ type, bytes: size }, k) => {
    const start = columnBytes(sources.slice(0, k), count);
    for (let i = 0; i < count; i++) {
      let word = 0n;
      for (const { format, shift } of elementsOf(type)) {
        word |= bitsOfNumber(make(random), format) << shift;
      }
      view.setBigUint64(start + i * size, word, true);
    }
  });
  return bytes;
}

interface Element {
  readonly format: FormatName;
  readonly shift: bigint;
  readonly width: number;
}

/** The floats that a type packs. */
function elementsOf(type: TypeName): Element[] {
  const format = type.replace(/x2$/, "");
  if (!isFormatName(format)) return [];
  const width = bitsOf(format);
  return Array.from({ length: TYPES[type].bits / width }, (_, i) => ({
    format,
    shift: BigInt(i * width),
    width,
  }));
}

/** Compares the results of all cases. */
function compare(
  kernel: FormKernel,
  count: number,
  found: Uint8Array,
  wanted: Uint8Array,
): Omit<FunctionDistance, "instruction" | "operands"> {
  const [ours, theirs] = [found, wanted].map((bytes) => readColumns(kernel.results, bytes, count));
  const elements = elementsOf(kernel.results[0]?.type ?? "f32");
  let [equal, ulps, absolute] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [x = 0n, y = 0n] = [ours?.(i)[0], theirs?.(i)[0]];
    for (const { format, shift, width } of elements) {
      const [a, b] = [BigInt.asUintN(width, x >> shift), BigInt.asUintN(width, y >> shift)];
      if (a === b) {
        equal++;
        continue;
      }
      ulps = Math.max(ulps, ulpsApart(a, b, format));
      const apart = Math.abs(numberOf(a, format) - numberOf(b, format));
      if (Number.isFinite(apart)) absolute = Math.max(absolute, apart);
    }
  }
  const results = count * elements.length;
  return {
    results,
    equal: equal / results,
    ulps: Number.isFinite(ulps) ? ulps : -1,
    absolute,
  };
}

/** The kernels of all approximations that an architecture has. */
function approximations(sm: number): { opcode: string; kernel: FormKernel }[] {
  return laneRowsOfTable().flatMap(([opcode, row]) =>
    row.forms.flatMap((form: PtxForm) =>
      /\b(?:approx|full)\b/.test(form.form) ? spellingsOf(opcode, form) : []
    ).filter(({ match: { since } }) => since.sm <= sm && since.suffix === undefined)
      .map((spelling, i) => ({ opcode, kernel: formKernel(spelling, `${opcode}${i}`) }))
  );
}

/** Runs every approximation on both devices, on `count` random operands of each kind. */
export function measureFunctions(
  other: Driver,
  emulator: Driver,
  sm: number,
  count: number,
  seed: number,
): FunctionDistance[] {
  const kernels = approximations(sm);
  const text = formModule(kernels.map(({ kernel }) => kernel), `sm_${sm}`);
  const modules = [other, emulator].map((driver) => ({
    driver,
    module: loadText(driver, text, "approximations"),
  }));
  return kernels.flatMap(({ opcode, kernel }) => {
    const { opcode: name, modifiers } = kernel.spelling.instruction;
    const instruction = [name, ...modifiers].join(".");
    const range = RANGES[opcode] ?? BOTH;
    const inputs = [
      {
        operands: range.operands,
        input: rangeColumns(kernel, range, count, freshRandom(seed)),
      },
      { operands: "all bits", input: operandColumns(kernel, count, freshRandom(seed)) },
    ];
    return inputs.map(({ operands, input }): FunctionDistance => {
      const [wanted, found] = modules.map(({ driver, module }) =>
        runColumns(
          driver,
          module,
          kernel.name,
          count,
          input,
          columnBytes(kernel.results, count),
        )
      );
      const nothing = new Uint8Array();
      return {
        instruction,
        operands,
        ...compare(kernel, count, found ?? nothing, wanted ?? nothing),
      };
    });
  });
}
