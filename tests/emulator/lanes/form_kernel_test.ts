import { parsePtx } from "../../../compiler/ptx/parse.ts";
import type { Operand } from "../../../compiler/ptx/func.ts";
import { isTypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { Driver } from "../../../ffi/driver.ts";
import { openEmulator } from "../../../emulator/driver/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { compareForms, isDefined } from "../../support/emulator/form_comparison.ts";
import { type FormKernel, formKernel, formModule } from "../../support/emulator/ptx_form_kernel.ts";
import { laneRowsOfTable, spellingsOf } from "../../support/emulator/ptx_forms.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";
import { freshRandom } from "../../support/random.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";
import { SEED } from "../../support/seed.ts";
import { runForms } from "../../support/emulator/run_forms.ts";
import { REFERENCES } from "./reference.ts";

const test = testsInTurn(2);

/** Which part of such kernels a test takes. */
const PART = 1 / 4;

function partOf(kernels: readonly FormKernel[], salt: number): readonly FormKernel[] {
  return sampled(kernels, kernels.length * PART, salt);
}

/** Kernels of every form: its first spelling and every n-th of all, from one that the seed chooses, so that runs stay short. */
function sampleKernels(stride: number): FormKernel[] {
  let index = SEED % stride;
  return laneRowsOfTable().flatMap(([opcode, row]) =>
    row.forms.flatMap((form) =>
      spellingsOf(opcode, form)
        .filter((_, i) => i === 0 || index++ % stride === 0)
        .map((spelling) => formKernel(spelling, `form${index++}`))
    )
  );
}

function byTarget(kernels: readonly FormKernel[]): Map<string, FormKernel[]> {
  const groups = new Map<string, FormKernel[]>();
  for (const kernel of kernels) {
    groups.set(kernel.target, [...groups.get(kernel.target) ?? [], kernel]);
  }
  return groups;
}

test("formKernel() makes kernels that verifyPtx() finds nothing wrong with", () => {
  for (const [target, kernels] of byTarget(partOf(sampleKernels(20), 0))) {
    assertEquals(verifyPtx(parsePtx(formModule(kernels, target))), [], target);
  }
});

ptxasTest("formKernel() makes kernels that ptxas assembles", async () => {
  for (const [target, kernels] of byTarget(partOf(sampleKernels(30), 1))) {
    const text = formModule(kernels, target);
    const lines = text.split("\n");
    const errors = await assemblyErrors(text, target);
    const found = [...errors].map(([line, message]) => `${lines[line - 1]?.trim()} ${message}`);
    assertEquals(found, [], target);
  }
}, test);

const isFloat = (name: string): boolean => isTypeName(name) && TYPES[name].class === "float";

/** Whether a reference for integers and bits knows the instruction. */
function hasReference({ spelling: { match } }: FormKernel): boolean {
  return ["set", "setp", "selp", "slct", "mov"].includes(match.opcode) ||
    ![...match.modifiers, ...match.operands.map(({ type }) => type)].some(isFloat);
}

/** The sources as the instruction takes them: `!p` turns a predicate round. */
function takenSources({ spelling: { match } }: FormKernel, values: readonly bigint[]): bigint[] {
  const operands = match.operands
    .filter(({ destination, kind }) => !destination && kind !== "literal")
    .flatMap(({ operand }): readonly Operand[] =>
      operand.kind === "vector" ? operand.elements : [operand]
    );
  return values.map((value, i) => operands[i]?.kind === "negated" ? 1n - value : value);
}

function withEmulator(run: (driver: Driver) => void): void {
  const driver = openEmulator();
  driver.makeCurrent(driver.retainContext(0));
  run(driver);
  driver.close();
}

test("the emulator executes kernels of every integer form as the ISA says", () => {
  const kernels = partOf(sampleKernels(32).filter(hasReference), 2);
  const random = freshRandom();
  withEmulator((driver) => {
    runForms(driver, kernels, "sm_90", 96, random, ({ kernel, count, sources, results }) => {
      const { match, instruction } = kernel.spelling;
      const reference = must(REFERENCES[match.opcode], match.opcode);
      for (let i = 0; i < count; i++) {
        const taken = takenSources(kernel, sources(i));
        const found = results(i);
        const wanted = reference(match, taken).slice(0, found.length);
        const spelling = [instruction.opcode, ...instruction.modifiers].join(".");
        const operands = taken.map((value) => `0x${value.toString(16)}`);
        assertEquals(found, wanted, `${spelling}(${operands}), seed ${random.seed}`);
      }
    });
  });
});

Deno.test("isDefined() leaves out what the ISA leaves open", () => {
  const kernelOf = (opcode: string, modifiers: string): FormKernel => {
    const row = must(laneRowsOfTable().find(([name]) => name === opcode), opcode)[1];
    const spellings = row.forms.flatMap((form) => spellingsOf(opcode, form));
    const found = spellings.find(({ match }) => match.modifiers.join(".") === modifiers);
    return formKernel(must(found, `${opcode}.${modifiers}`));
  };
  const { match } = kernelOf("div", "u32").spelling;
  assertEquals([isDefined(match, [1n, 0n]), isDefined(match, [0n, 1n])], [false, true]);
  const bfe = kernelOf("bfe", "u64");
  assertEquals(isDefined(bfe.spelling.match, [1n, 0x100n, 1n]), false);
  assertEquals(compareForms(bfe, [1n, 0x100n, 1n], [0n], [1n]), "undefined");
  assertEquals(compareForms(bfe, [1n, 0n, 1n], [0n], [1n]), "different");
  const root = kernelOf("sqrt", "approx.f32");
  const one = 0x3f800000n;
  assertEquals(compareForms(root, [one], [one], [one + 2n]), "same");
  assertEquals(compareForms(root, [one], [one], [one + 99n]), "different");
  assertEquals(compareForms(root, [one], [0x7fc00000n], [0x7fffffffn]), "same");
  assertEquals(compareForms(root, [one], [0x7fc00000n], [one]), "different");
});
