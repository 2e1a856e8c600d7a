/** What the back end makes, judged by parser, verifier and assembler. */
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { lowerEntry } from "../../../compiler/driver/lower_entry.ts";
import type { PtxKernel, PtxModule } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printModule } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { requiredVersion } from "../../../compiler/ptx/version.ts";
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../compiler/targets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";
import { sampled } from "../../support/sampled.ts";
import { shipped } from "../../support/shipped.ts";
import { compileFile } from "../../support/compile.ts";

const targetNames: readonly TargetName[] = Object.values(TARGETS).map(({ name }) => name);
/** The smallest that ptxas of CUDA 13 takes. */
const OLDEST_ASSEMBLED = 75;

function assertGood(module: PtxModule): void {
  assertEquals(verifyPtx(module), []);
  const text = printModule(module);
  const again = parsePtx(text);
  assertEquals(verifyPtx(again), []);
  assertEquals(printModule(again), text);
}

function lowered(text: string, target: TargetName, symbol: string): PtxKernel {
  return lowerEntry(parseFunc(text), { target: ALL_TARGETS[target], numWarps: 4, symbol }).kernel;
}

function moduleOf(kernels: readonly PtxKernel[], target: TargetName): PtxModule {
  const version = requiredVersion(kernels, ALL_TARGETS[target].ptx);
  return { version, target, files: [], variables: [], functions: [], kernels };
}

const ELEMENTS = [
  "int8",
  "uint8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
] as const satisfies readonly ScalarName[];
const ARITHMETIC = ["add", "sub", "mul", "div", "min", "max"];
const BITS = ["rem", "and", "or", "xor", "shl", "shr"];
const COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"];

/** A function that computes one value from two loaded ones and stores it. */
function computing(from: ScalarName, to: ScalarName, compute: string): string {
  return `func @f(%0: ${from}*, %1: ${from}*, %2: ${to}*) {
  %3: int32[256] = range 0
  %4: ${from}*[256] = splat %0
  %5: ${from}*[256] = offset %4, %3
  %6: ${from}[256] = load %5
  %7: ${from}*[256] = splat %1
  %8: ${from}*[256] = offset %7, %3
  %9: ${from}[256] = load %8
${compute}
  %20: ${to}*[256] = splat %2
  %21: ${to}*[256] = offset %20, %3
  store %21, %19
  return
}
`;
}

/** A function per operation and element type, per comparison, and per conversion. */
function functions(): { name: string; text: string }[] {
  const all: { name: string; text: string }[] = [];
  for (const element of ELEMENTS) {
    const isInt = SCALARS[element].class === "int";
    const add = (name: string, to: ScalarName, compute: string): void => {
      all.push({ name: `${name}_${element}_${to}`, text: computing(element, to, compute) });
    };
    for (const op of [...ARITHMETIC, ...isInt ? BITS : []]) {
      add(op, element, `  %19: ${element}[256] = ${op} %6, %9`);
    }
    for (const op of ["neg", ...isInt ? ["not"] : []]) {
      add(op, element, `  %19: ${element}[256] = ${op} %6`);
    }
    for (const op of COMPARISONS) {
      add(
        op,
        element,
        `  %18: bool[256] = ${op} %6, %9\n  %19: ${element}[256] = select %18, %6, %9`,
      );
    }
    add("bool", element, `  %18: bool[256] = convert %6\n  %19: ${element}[256] = convert %18`);
    for (const to of ELEMENTS) {
      if (to !== element) add("convert", to, `  %19: ${to}[256] = convert %6`);
    }
  }
  return all;
}

/** Most of what targets have is alike. */
const SAMPLE = sampled(targetNames, 2);

for (const target of SAMPLE) {
  let made: PtxModule | undefined;
  const arithmetic = (): PtxModule =>
    made ??= moduleOf(functions().map(({ name, text }) => lowered(text, target, name)), target);
  Deno.test(`compileFile() makes good PTX of arithmetic and conversions for ${target}`, () => {
    assert(functions().length > 300);
    assertGood(arithmetic());
  });

  Deno.test(`compileFile() makes good PTX of a transposition for ${target}`, () => {
    for (const name of ["transpose", "transpose_checked"]) {
      const text = Deno.readTextFileSync(new URL(`../../golden/build/${name}.ir`, import.meta.url));
      assertGood(moduleOf([lowered(text, target, "transpose")], target));
    }
  });

  if (ALL_TARGETS[target].sm < OLDEST_ASSEMBLED) continue;
  ptxasTest(
    `compileFile() makes arithmetic and conversions that assemble for ${target}`,
    async () => {
      assertEquals(await assemblyErrors(printModule(arithmetic()), target), new Map());
    },
  );
}

for (const name of ["transpose", "copy", "vector_add"]) {
  Deno.test(`compileFile() makes good PTX of kernels/${name}.tc for ${SAMPLE}`, () => {
    const { kernels } = compileFile(shipped(`${name}.tc`), { targets: SAMPLE, include: shipped });
    const modules = kernels.flatMap((kernel) => kernel.modules);
    assert(modules.length >= SAMPLE.length, `${modules.length} modules`);
    for (const { ptx, target } of modules) {
      const module = parsePtx(ptx);
      assertEquals(verifyPtx(module), [], target);
      assertEquals(printModule(module), ptx);
    }
  });
}
