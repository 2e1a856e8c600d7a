/** The emulator and a GPU on the same kernels of one instruction each, with the same operands. */
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import type { Driver } from "../../ffi/driver.ts";
import { openEmulator } from "../../emulator/driver/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { compareForms } from "../support/emulator/form_comparison.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import { type FormKernel, formKernel } from "../support/emulator/ptx_form_kernel.ts";
import { laneRowsOfTable, spellingsOf } from "../support/emulator/ptx_forms.ts";
import { freshRandom } from "../support/random.ts";
import { TAKES_ALL } from "../support/sampled.ts";
import { type FormCases, runForms } from "../support/emulator/run_forms.ts";

/** Cases of each form, spread over its spellings; each of those has at least so many. */
const CASES_PER_FORM = TAKES_ALL ? 40_000 : 10_000;
const CASES_PER_SPELLING = 256;

/** The most spellings that a test has: driver and emulator compile each. */
const SPELLINGS_PER_TEST = 1000;

/** A spelling of a form, and how many cases it gets. */
interface Counted {
  readonly kernel: FormKernel;
  readonly cases: number;
}

/** The forms of an opcode that an architecture has. */
function kernelsOf(opcode: string, sm: number): Counted[] {
  const row = laneRowsOfTable().find(([name]) => name === opcode);
  let index = 0;
  return (row?.[1].forms ?? []).flatMap((form) => {
    const spellings = spellingsOf(opcode, form).filter(({ match: { since } }) =>
      since.sm <= sm && (since.lastSm ?? sm) >= sm && since.suffix === undefined
    );
    const cases = Math.max(CASES_PER_SPELLING, Math.ceil(CASES_PER_FORM / spellings.length));
    return spellings.map((spelling) => ({ kernel: formKernel(spelling, `form${index++}`), cases }));
  });
}

/** Parts of about the same length; one where there is nothing. */
function partsOf<T>(list: readonly T[], most: number): readonly T[][] {
  const count = Math.max(1, Math.ceil(list.length / most));
  return Array.from({ length: count }, (_, part) => list.filter((_, i) => i % count === part));
}

const hex = (values: readonly bigint[]): string =>
  values.map((value) => `0x${value.toString(16)}`).join(", ");

/** What the two machines do not agree on, a line for the first case of each spelling. */
function differences(
  gpu: Driver,
  emulator: Driver,
  spellings: readonly Counted[],
  sm: number,
): string[] {
  const lines: string[] = [];
  for (const [count, counted] of Map.groupBy(spellings, ({ cases }) => cases)) {
    const kernels = counted.map(({ kernel }) => kernel);
    const { seed } = freshRandom();
    const seen = new Map<FormKernel, FormCases>();
    runForms(gpu, kernels, `sm_${sm}`, count, freshRandom(seed), (cases) => {
      seen.set(cases.kernel, cases);
    });
    runForms(emulator, kernels, `sm_${sm}`, count, freshRandom(seed), (cases) => {
      const wanted = seen.get(cases.kernel);
      for (let i = 0; i < count && wanted !== undefined; i++) {
        const [found, other] = [cases.results(i), wanted.results(i)];
        if (compareForms(cases.kernel, cases.sources(i), found, other) !== "different") continue;
        const { instruction } = cases.kernel.spelling;
        const spelling = [instruction.opcode, ...instruction.modifiers].join(".");
        const operands = hex(cases.sources(i));
        lines.push(
          `${spelling}(${operands}) is ${hex(found)}, on the GPU ${hex(other)}; seed ${seed}`,
        );
        break;
      }
    });
  }
  return lines;
}

for (const [opcode] of laneRowsOfTable()) {
  const parts = partsOf(kernelsOf(opcode, gpuArch), SPELLINGS_PER_TEST);
  for (const [nth, spellings] of parts.entries()) {
    const which = parts.length === 1 ? "" : `, part ${nth + 1} of ${parts.length}`;
    gpuTest(`the emulator and the GPU agree on every form of ${opcode}${which}`, () => {
      const gpu = openCudaDriver();
      gpu.makeCurrent(gpu.retainContext(0));
      const { arch, sm } = gpu.deviceInfo(0);
      const emulator = openEmulator({ arch });
      emulator.makeCurrent(emulator.retainContext(0));
      assertEquals(differences(gpu, emulator, spellings, sm), []);
      gpu.close();
      emulator.close();
    });
  }
}
