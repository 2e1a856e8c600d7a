/** The instruction table against ptxas: every form, at the version and architecture where it is said to begin. */
import fc from "../../support/property.ts";
import { readForm, type Since } from "../../../compiler/ptx/form.ts";
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import { PTX_OPS } from "../../../compiler/ptx/ops.ts";
import { printInstruction, printModule } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { type Target, TARGETS } from "../../../compiler/targets.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import {
  allSamples,
  anySample,
  type Sample,
  sampleModule,
} from "../../support/emulator/ptx_samples.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";
import { halfOf, sampled, TAKES_ALL, testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(2);

/** Targets that ptxas of CUDA 13 knows. */
const targets: readonly Target[] = Object.values(TARGETS).filter(({ sm, exact }: Target) =>
  sm >= 75 && !exact
);
/** The last that has shfl and vote without .sync. */
const LEGACY = 62;
/** Of `a` targets. */
const FIRST_SUFFIX_VERSION = 80;
/** Older versions and targets that ptxas takes although the ISA says otherwise. */
const TOLERATED = [
  /^fence\.(?:acquire|release)\./, // PTX ISA 9.0: since 8.6, sm_90
  /^cp\.async\.ca\.shared::cta\./, // since 7.8
  /^cvt\.r[nz]\.satfinite\.f16\.f32/, // since sm_80
];

/** What ptxas takes in modules of another kind than these only. */
const ELSEWHERE = [
  /^call/, // needs the function
  /\[ARGUMENT\]/, // needs a call
  /^(?:tex|tld4)\..*, \[%q\d+, %q\d+,/, // samplers: needs another mode of textures
];

const samples = allSamples();
const isAssembled = ({ instruction, since }: Sample): boolean =>
  since.lastSm !== LEGACY &&
  !ELSEWHERE.some((pattern) => pattern.test(printInstruction(instruction)));
const assembled = samples.filter(isAssembled);

function architecture(since: Since): { sm: number; ptx: number; target: string } {
  const { sm, ptx: first } = targets.find((one) => one.sm >= since.sm) ?? { sm: since.sm, ptx: 0 };
  const version = since.suffix === undefined ? first : Math.max(first, FIRST_SUFFIX_VERSION);
  return { sm, ptx: Math.max(since.ptx, version), target: `sm_${sm}${since.suffix ?? ""}` };
}

/** What ptxas says to each of the samples. */
async function refusals(
  list: readonly Sample[],
  version: number,
  target: string,
): Promise<(string | undefined)[]> {
  const text = printModule(
    sampleModule(list.map(({ instruction }) => instruction), version, target),
  );
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("LIST:")) + 2;
  const errors = await assemblyErrors(text, target);
  for (const [line, message] of errors) {
    const isSample = line >= first && line < first + list.length;
    if (!isSample) return list.map(() => `line ${line} (${lines[line - 1]}): ${message}`);
  }
  return list.map((_, i) => errors.get(first + i));
}

const describe = ({ instruction }: Sample, message: string | undefined): string =>
  `${printInstruction(instruction).slice(0, 120)} ${message ?? "was taken"}`;

Deno.test("PTX_OPS has forms that can be read and that differ", () => {
  for (const [opcode, row] of Object.entries(PTX_OPS)) {
    const forms = row.forms.map(({ form, T, U }: { form: string; T?: string; U?: string }) =>
      `${form} ${T} ${U}`
    );
    assertEquals(new Set(forms).size, forms.length, opcode);
    for (const form of row.forms) readForm(form);
  }
  assert(samples.length > 3000, `${samples.length} samples`);
});

/** Keywords of PTX ISA 9.0, 4.3.2 "Instruction Statements", table 2. */
const KEYWORDS =
  `abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev
brkpt brx call clz cnot copysign cos clusterlaunchcontrol cp createpolicy cvt cvta discard div dp2a
dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2
lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem
nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set
setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq
sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd
vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr
vsub vsub2 vsub4 wgmma wmma xor`.split(/\s+/);

Deno.test("PTX_OPS has rows for all instructions of the ISA, each with its section", () => {
  const names = new Set(Object.keys(PTX_OPS).map((opcode) => opcode.split(".")[0]));
  assertEquals(KEYWORDS.filter((keyword) => !names.has(keyword)), [], "no row in PTX_OPS");
  const listed = new Set<string | undefined>(KEYWORDS);
  assertEquals([...names].filter((name) => !listed.has(name)), [], "not in KEYWORDS of this file");
  for (const [opcode, row] of Object.entries(PTX_OPS)) {
    for (const section of row.isa.split(", ")) {
      assertMatch(section, /^9\.7\.\d+(?:\.\d+)+$/, opcode);
    }
  }
});

Deno.test("verifyPtx() takes every form of PTX_OPS since its version and not before", () => {
  for (const sample of samples.filter(({ since }) => since.lastSm !== LEGACY)) {
    const { ptx, target } = architecture(sample.since);
    const name = printInstruction(sample.instruction);
    assertEquals(verifyPtx(sampleModule([sample.instruction], ptx, target)), [], name);
    if (sample.since.ptx > 10) {
      assertEquals(
        verifyPtx(sampleModule([sample.instruction], sample.since.ptx - 1, target)).length,
        1,
        name,
      );
    }
  }
});

ptxasTest("PTX_OPS has forms that ptxas takes since their version and architecture", async () => {
  const groups = Map.groupBy(assembled, ({ since }) => JSON.stringify(architecture(since)));
  for (const all of groups.values()) {
    const list = halfOf(all);
    const { ptx, target } = architecture(list[0]?.since ?? { ptx: 0, sm: 0 });
    const wrong = await refusals(list, ptx, target);
    assertEquals(
      list.flatMap((sample, i) => wrong[i] === undefined ? [] : [describe(sample, wrong[i])]),
      [],
    );
  }
}, test);

ptxasTest("PTX_OPS has forms that ptxas refuses in the version before", async () => {
  const versioned = assembled.filter(({ since }) => {
    const { ptx, target } = architecture(since);
    return since.ptx === ptx &&
      since.ptx >
        (targets.find(({ name }) => name === target)?.ptx ?? FIRST_SUFFIX_VERSION);
  });
  // Minor versions that were never released count as errors of the module.
  const before = (ptx: number): number =>
    ptx % 10 === 0 ? ({ 70: 65, 80: 78 })[ptx] ?? ptx - 1 : ptx - 1;
  const groups = Map.groupBy(versioned, ({ since }) => JSON.stringify(architecture(since)));
  for (const list of groups.values()) {
    const { ptx, target } = architecture(list[0]?.since ?? { ptx: 0, sm: 0 });
    const wrong = await refusals(list, before(ptx), target);
    const taken = list.flatMap((sample, i) =>
      wrong[i] === undefined ? [describe(sample, undefined)] : []
    );
    assertEquals(taken.filter((text) => !TOLERATED.some((pattern) => pattern.test(text))), []);
  }
}, test);

ptxasTest(
  "PTX_OPS has forms whose modifiers and operands ptxas takes in any combination",
  async () => {
    const drawn = fc.sample(anySample, TAKES_ALL ? 6000 : 1500);
    const combined = drawn.flatMap((instruction): Sample[] => {
      const match = matchInstruction(instruction);
      return typeof match === "string"
        ? []
        : [{ instruction, form: match.form, since: match.since }];
    }).filter(isAssembled);
    const groups = Map.groupBy(combined, ({ since }) => architecture(since).target);
    for (const [target, list] of groups) {
      const wrong = await refusals(list, 90, target);
      assertEquals(
        list.flatMap((sample, i) => wrong[i] === undefined ? [] : [describe(sample, wrong[i])]),
        [],
      );
    }
  },
  test,
);

// What needs a suffix is tested above; together with everything else it makes ptxas give up.
ptxasTest("PTX_OPS has forms that ptxas takes for later targets", async () => {
  for (const target of sampled(targets, 1)) {
    const list = halfOf(assembled, 1).filter(({ since }) =>
      since.sm <= target.sm && since.suffix === undefined
    );
    const wrong = await refusals(list, 90, target.name);
    assertEquals(
      list.flatMap((sample, i) => wrong[i] === undefined ? [] : [describe(sample, wrong[i])]),
      [],
      target.name,
    );
  }
}, test);
