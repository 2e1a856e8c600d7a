/**
 * Tries which orders of modifiers ptxas takes: of each form of PTX_OPS the longest sample, its modifiers reversed,
 * moved one by one and shuffled. Writes for each form the accepted order that is furthest from the ISA's, which a test
 * reads (tests/compiler/ptx/bind_test.ts). Run it with ptxas of CUDA 13.0 after changes to the table.
 *
 *     deno run -A scripts/ptx_spellings.ts
 */
import type { PtxForm } from "../compiler/ptx/form.ts";
import type { Instruction } from "../compiler/ptx/func.ts";
import { printInstruction, printModule } from "../compiler/ptx/print.ts";
import { TARGETS } from "../compiler/targets.ts";
import { allSamples, type Sample, sampleModule } from "../tests/support/emulator/ptx_samples.ts";
import { assemblyErrors } from "../tests/support/tools/ptxas.ts";
import { freshRandom } from "../tests/support/random.ts";

const SPELLINGS = new URL("../tests/compiler/ptx/spellings.txt", import.meta.url);
const SEED = 22;
const SHUFFLES = 6;
const VERSION = 90;
/** What ptxas of CUDA 13 accepts. */
const ARCHITECTURES = Object.values(TARGETS).map(({ sm }) => sm).filter((sm) => sm >= 75);
/** What a module of samples cannot hold: functions, arguments, samplers of another mode of textures. */
const ELSEWHERE = /^call|\[ARGUMENT\]|^(?:tex|tld4)\..*, \[%q\d+, %q\d+,/;

interface Candidate {
  readonly form: PtxForm;
  readonly instruction: Instruction;
  /** How far its modifiers are from where the ISA has them. */
  readonly distance: number;
}

function reordered({ form, instruction }: Sample, order: readonly number[]): Candidate {
  const { modifiers } = instruction;
  return {
    form,
    instruction: { ...instruction, modifiers: order.map((from) => modifiers[from] ?? "") },
    distance: order.reduce((sum, from, to) => sum + Math.abs(from - to), 0),
  };
}

/** Other orders of a sample's modifiers. */
function candidatesOf(sample: Sample): Candidate[] {
  const random = freshRandom(SEED);
  const count = sample.instruction.modifiers.length;
  const identity = Array.from({ length: count }, (_, i) => i);
  const moved = identity.flatMap((from) =>
    identity.map((to) => identity.toSpliced(from, 1).toSpliced(to, 0, from))
  );
  const shuffled = Array.from(
    { length: SHUFFLES },
    () =>
      identity.map((i) => [random.below(1 << 20), i] as const).sort(([a], [b]) => a - b)
        .map(([, i]) => i),
  );
  const seen = new Set([identity.join()]);
  return [identity.toReversed(), ...shuffled, ...moved].flatMap((order) => {
    const key = order.join();
    if (seen.has(key)) return [];
    seen.add(key);
    return [reordered(sample, order)];
  });
}

/** Those that ptxas takes; what it says of one may hide what it would say of the next, so it is asked again. */
async function accepted(candidates: readonly Candidate[], target: string): Promise<Candidate[]> {
  let left = [...candidates];
  for (;;) {
    const module = sampleModule(left.map(({ instruction }) => instruction), VERSION, target);
    const text = printModule(module);
    const first = text.split("\n").findIndex((line) => line.startsWith("LIST:")) + 2;
    const errors = await assemblyErrors(text, target);
    if (errors.size === 0) return left;
    left = left.filter((_, i) => !errors.has(first + i));
  }
}

function targetOf({ since }: Sample): string {
  const sm = ARCHITECTURES.find((number) => number >= since.sm) ?? since.sm;
  return `sm_${sm}${since.suffix ?? ""}`;
}

/** The sample of each form with most modifiers. */
function longestSamples(): Sample[] {
  const longest = new Map<PtxForm, Sample>();
  for (const sample of allSamples()) {
    const { form, instruction, since } = sample;
    if (since.lastSm === 62 || ELSEWHERE.test(printInstruction(instruction))) continue;
    const known = longest.get(form)?.instruction.modifiers.length ?? 1;
    if (instruction.modifiers.length > known) longest.set(form, sample);
  }
  return [...longest.values()];
}

const furthest = new Map<PtxForm, Candidate>();
for (const [target, samples] of Map.groupBy(longestSamples(), targetOf)) {
  for (const candidate of await accepted(samples.flatMap(candidatesOf), target)) {
    const known = furthest.get(candidate.form)?.distance ?? 0;
    if (candidate.distance > known) furthest.set(candidate.form, candidate);
  }
}
const spellings = [...furthest.values()].map(({ instruction: { opcode, modifiers } }) =>
  [opcode, ...modifiers].join(".")
);
Deno.writeTextFileSync(SPELLINGS, `${[...new Set(spellings)].sort().join("\n")}\n`);
