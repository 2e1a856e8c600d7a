/**
 * NVIDIA's assemblers as judges of what lowering emits: some entries of every shipped kernel for a target; with
 * `TRI_SAMPLES=all` every entry for every target. No warning, no spill, no stack; and where rows are aligned, 16 bytes an
 * access down to the SASS.
 */
import { assert, assertEquals, AssertionError } from "../../support/assert.ts";
import { mapPool, runProcess } from "../../../cli/tools/process.ts";
import {
  assemble,
  type Assembler,
  findAssemblers,
  ptxVersionOf,
  type Resources,
} from "../../../cli/tools/ptxas.ts";
import { findTools } from "../../../cli/tools/tools.ts";
import { type TargetName, TARGETS } from "../../../compiler/mod.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import type { PtxKernel } from "../../../compiler/ptx/func.ts";
import { printInstruction } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import config from "../../../deno.json" with { type: "json" };
import { type BuiltKernel, builtKernels, isBuilder } from "../../support/built_kernels.ts";
import { sampled } from "../../support/sampled.ts";
import { splitEntries, TARGET_NAMES } from "../../support/targets.ts";
import { compileFile } from "../../support/compile.ts";

/** A shipped kernel, or one of tables.tc: what the tests here look at. */
type Kernel = Omit<BuiltKernel, "resources"> & Partial<Pick<BuiltKernel, "resources">>;

/** Kernels that read constant memory, which no shipped one does. */
function compileTables(): readonly Kernel[] {
  const text = Deno.readTextFileSync(new URL("../../support/compiler/tables.tc", import.meta.url));
  const { kernels } = compileFile({ name: "tables.tc", text }, { targets: TARGET_NAMES });
  return kernels.map(({ name, modules, instances }) => {
    const ptxFor = (target: TargetName): string =>
      must(modules.find((module) => module.target === target), target).ptx;
    return {
      name,
      instances: instances.map(({ symbol, specialization }) => ({
        symbol,
        specialization: specialization.map(({ text }) => text),
      })),
      ptxFor,
      headFor: ptxFor,
    };
  });
}

const kernels: readonly Kernel[] = [...builtKernels(), ...compileTables()];
const found = await findAssemblers();
/** One of each version: a script that calls another ptxas is found beside it. */
const usable = [...Map.groupBy(found.usable, ({ version }) => version).values()]
  .flatMap(([first]) => first ?? []);
const builder = found.usable.find(({ path }) => isBuilder(path, config.permissions.tri.run));

const ptxFor = (kernel: Kernel, target: TargetName): string => kernel.ptxFor(target);

/** The targets whose modules an assembler can take, oldest first. */
const targetsOf = new Map(usable.map((assembler) => [
  assembler,
  TARGET_NAMES.filter((target) => {
    const { archs, ptx = Infinity } = assembler;
    return archs.includes(target) &&
      kernels.every((kernel) => ptxVersionOf(kernel.headFor(target)) <= ptx);
  }),
]));

function takes(assembler: Assembler, target: TargetName): boolean {
  return targetsOf.get(assembler)?.includes(target) === true;
}

/** Instructions of an entry that touch global memory, by spelling. */
function globalAccesses(entry: PtxKernel): string[] {
  return entry.body.flatMap((item) =>
    item.kind === "instruction" && item.modifiers.includes("global") &&
      (item.opcode === "ld" || item.opcode === "st")
      ? [printInstruction({ ...item, operands: [] })]
      : []
  );
}

/** Spills of an assembler count where it is the best there is: nothing newer than CUDA 12 knows sm_70. */
function allocatesWell({ version }: Assembler, target: string): boolean {
  return target === "sm_70" || Number(version.split(".")[0]) >= 13;
}

/**
 * Bytes that entries may spill. Of layer_norm_backward and rms_norm_backward, on sm_120 rows of 262,144 floats: 64 elements of
 * two tensors in 128 registers, which is what a block of 16 warps has, spill nothing elsewhere (1.02 and 1.08 times as fast as 32
 * elements on an H200; nothing was timed on sm_120). Of add_parts, the code for few parts of many
 * results on sm_90 and sm_90a, which was timed with the three numbers that ptxas spills at 128 registers. Of conv2d, the
 * code for tensors of any alignment on sm_90. Of sdd_packed, blocks of 32 on sm_90a: the warp that starts copies keeps twelve
 * places of runs in 24 registers. Of softmax, unaligned rows of 32,769 to 131,072 elements on sm_100 and sm_120: 48 registers
 * let two blocks fit. Of layer_norm and rms_norm, the forms for unaligned rows of 16 KB and more: two or three numbers of 64
 * registers, with which they are 1.1 times as fast on an H200 as the code without such forms; of layer_norm too, rows of 65,536
 * halves and more, up to five numbers of 32 and 48, which were timed with two of 262,144. Of conv2d_backward_data, on
 * sm_90a, 128 x 128 by gathered pixels, which only launches take that copies of windows cannot do. Of softmax_backward,
 * 131,072 halves in 56 registers, which were timed with the form for rows that start alike; the entry beside it, which spills,
 * takes rows that do not. Of grouped_conv2d_backward_data, where channels are groups: floats by filters of any size, one or two
 * numbers of 128 registers, and on sm_86 and sm_89 halves by filters of 7 x 7, up to three of 168.
 */
const SPILLED: Readonly<Record<string, number>> = {
  softmax_backward: 272,
  add_parts: 12,
  conv2d: 56,
  conv2d_backward_data: 72,
  grouped_conv2d_backward_data: 16,
  layer_norm: 20,
  layer_norm_backward: 380,
  rms_norm: 8,
  rms_norm_backward: 296,
  sdd_packed: 56,
  softmax: 40,
};

/** What is looked at of a kernel: entries, and one of the targets that have them. */
interface Sample {
  readonly target: TargetName;
  /** What comes before the entries. */
  readonly head: string;
  readonly entries: readonly string[];
}

/** Which part of a kernel's entries stands for all, on how many targets. */
const PART = 1 / 24;
const TARGETS_EACH = 1;

/**
 * Of a kernel some entries for a target, which the seed of the run chooses; with `TRI_SAMPLES=all` every entry for every
 * target: assemblers allocate registers differently for targets with equal code.
 */
function samplesOf(kernel: Kernel, names: readonly TargetName[]): Sample[] {
  const salt = kernels.indexOf(kernel);
  return sampled(names, TARGETS_EACH, salt).map((target) => {
    const { head, entries } = splitEntries(ptxFor(kernel, target));
    return { target, head, entries: sampled(entries, Math.ceil(entries.length * PART), salt) };
  });
}

/** A module of the entries alone. */
function moduleOf({ head, entries }: Pick<Sample, "head" | "entries">): string {
  return [head, ...entries].join("\n");
}

/** What an assembler is asked about. */
interface Question {
  readonly judge: Assembler;
  readonly sample: Sample;
}

/** The newest assembler that takes a target is asked. */
function questionsOn(kernel: Kernel): Question[] {
  const judgeOf = (target: TargetName): Assembler | undefined =>
    usable.find((one) => takes(one, target));
  const known = TARGET_NAMES.filter((target) => judgeOf(target) !== undefined);
  return samplesOf(kernel, known).map((sample) => ({
    judge: must(judgeOf(sample.target), "an assembler"),
    sample,
  }));
}

/** Assembles without a warning; the resources of the entries. */
async function assembled(
  kernel: Kernel,
  { judge, sample }: Question,
  where: string,
): Promise<Readonly<Record<string, Resources>>> {
  const outcome = await assemble(judge, sample.target, moduleOf(sample));
  if (outcome.kind === "failed") throw new AssertionError(`${where}:\n${outcome.message}`);
  const maySpill = kernel.name in SPILLED;
  const warnings = outcome.warnings.filter((one) => !maySpill || !/spill/i.test(one));
  assertEquals(allocatesWell(judge, sample.target) ? warnings : [], [], where);
  return outcome.resources;
}

for (const kernel of kernels) {
  Deno.test(`${kernel.name}() assembles without warning, spill or stack`, async () => {
    await mapPool(questionsOn(kernel), 2, async (question) => {
      const { judge, sample: { target, entries } } = question;
      const where = `for ${target} by ptxas ${judge.version}`;
      const resources = await assembled(kernel, question, where);
      assertEquals(Object.keys(resources).length, entries.length, where);
      if (allocatesWell(judge, target)) assertEquals(spilling(kernel, resources), [], where);
    });
    // What the build has assembled, if it was asked to.
    for (const [target, resources] of Object.entries(kernel.resources ?? {})) {
      if (builder !== undefined && allocatesWell(builder, target)) {
        assertEquals(spilling(kernel, resources ?? {}), [], `for ${target} by the build`);
      }
    }
  });
}

/** Entries that keep values in local memory, where they should not. */
function spilling(
  { name }: Kernel,
  resources: Readonly<Record<string, Resources>>,
): string[] {
  return Object.entries(resources)
    .filter(([, { stackBytes, spillLoadBytes, spillStoreBytes }]) =>
      Math.max(stackBytes, spillLoadBytes, spillStoreBytes) > (SPILLED[name] ?? 0)
    )
    .map(([symbol]) => symbol);
}

for (const target of TARGET_NAMES.filter((name) => !usable.some((one) => takes(one, name)))) {
  Deno.test.ignore(
    `ptxas assembles for ${target} [skipped: no ptxas here knows ${target}]`,
    () => {},
  );
}

const WIDE = /\.v4\.b32|\.v2\.b64/;

Deno.test("verifyPtx() accepts the entries of the shipped kernels", () => {
  for (const kernel of kernels) {
    for (const sample of samplesOf(kernel, TARGET_NAMES)) {
      const where = `${kernel.name} ${sample.target}`;
      assertEquals(verifyPtx(parsePtx(moduleOf(sample))), [], where);
    }
  }
});

/** Kernels that touch nothing but rows of tensors; others also read tables, locks or one number a row. */
const ONLY_ROWS: ReadonlySet<string> = new Set([
  "copy",
  "vector_add",
  "transpose",
  "matmul",
  "matmul_plain",
  "batched_matmul",
  "softmax",
  "softmax_backward",
  "dropout",
]);

/** Whether a condition of a specialisation asks for multiples; others are of lengths, or of columns beside each other. */
const isOfAlignment = (text: string): boolean => text.includes("%");

/** The instances that the target has. */
function instancesOn({ instances }: Kernel, target: TargetName): Kernel["instances"] {
  return instances.filter(({ availableOn }) => availableOn?.includes(target) ?? true);
}

/** Entries that may take every row in pieces of 16 bytes. */
function alignedOf(kernel: Kernel, target: TargetName): string[] {
  if (!ONLY_ROWS.has(kernel.name)) return [];
  return instancesOn(kernel, target)
    .filter(({ specialization }) => specialization.some(isOfAlignment))
    .map(({ symbol }) => symbol);
}

/** How many of them a run reads: their code differs by little else than sizes. */
const ALIGNED_PART = 1 / 4;

Deno.test("Aligned entries move 16 bytes an access wherever rows are 16-byte aligned", () => {
  const all = kernels.flatMap((kernel) => alignedOf(kernel, "sm_80"));
  assert(all.length >= 40);
  const chosen = new Set(sampled(all, Math.ceil(all.length * ALIGNED_PART)));
  for (const kernel of kernels) {
    const symbols = alignedOf(kernel, "sm_80").filter((symbol) => chosen.has(symbol));
    if (symbols.length > 0) assertWide(kernel, symbols);
  }
});

/** Fails where an entry moves less than it may. */
function assertWide(kernel: Kernel, symbols: readonly string[]): void {
  const { head, entries } = splitEntries(ptxFor(kernel, "sm_80"));
  for (const symbol of symbols) {
    const text = must(entries.find((entry) => entry.includes(` .entry ${symbol}(`)), symbol);
    const entry = must(parsePtx(moduleOf({ head, entries: [text] })).kernels[0], symbol);
    const accesses = globalAccesses(entry);
    assert(accesses.length > 0, symbol);
    // 1024 bytes over 128 threads: eight each.
    const pattern = /^vector_add_u?int8_/.test(symbol) ? /\.v2\.b32/ : WIDE;
    for (const access of accesses) assert(pattern.test(access), `${symbol}: ${access}`);
  }
}

/** An assembler and a disassembler that understand each other, and the newest target that both know. */
async function findDisassembly(): Promise<
  { readonly target: TargetName; readonly sassOf: (ptx: string) => Promise<string> } | undefined
> {
  const disassemblers = findTools("nvdisasm").filter(({ allowed }) => allowed);
  for (const target of ["sm_90a", "sm_90", "sm_80"] as const) {
    for (const assembler of usable.filter((one) => takes(one, target))) {
      for (const { path } of disassemblers) {
        const sassOf = async (ptx: string): Promise<string> => {
          const folder = await Deno.makeTempDir();
          try {
            const cubin = `${folder}/k.cubin`;
            const made = await runProcess(
              assembler.path,
              [`-arch=${target}`, "-o", cubin, "-"],
              ptx,
            );
            if (made.code !== 0) return "";
            const { code, stdout } = await runProcess(path, ["-c", cubin]);
            return code === 0 ? new TextDecoder().decode(stdout) : "";
          } finally {
            await Deno.remove(folder, { recursive: true });
          }
        };
        const version = TARGETS[target].ptx;
        const probe = `.version ${Math.floor(version / 10)}.${version % 10}
.target ${target}
.address_size 64
.visible .entry probe() { ret; }
`;
        if (/\bEXIT\b/.test(await sassOf(probe))) return { target, sassOf };
      }
    }
  }
  return undefined;
}

const disassembly = await findDisassembly();
const sassTitle = "Aligned entries keep 16-byte accesses and registers down to their SASS";
Deno.test({
  name: disassembly === undefined
    ? `${sassTitle} [skipped: no nvdisasm that reads the images of a ptxas here]`
    : sassTitle,
  ignore: disassembly === undefined,
  fn: async () => {
    const { target, sassOf } = must(disassembly, "disassembler");
    const aligned = new Set(kernels.flatMap((kernel) => alignedOf(kernel, target)));
    await mapPool(kernels, 2, async (kernel) => {
      const sections = (await sassOf(ptxFor(kernel, target))).split(/^\s*\.section\s+/m);
      for (const { symbol } of instancesOn(kernel, target)) {
        const sass = must(
          sections.find((section) => section.startsWith(`.text.${symbol},`)),
          `SASS of ${symbol}`,
        );
        assert(!/\b(LDL|STL)\b/.test(sass), `${symbol} uses local memory`);
        if (!aligned.has(symbol) || /^vector_add_u?int8_/.test(symbol)) continue;
        // LDGSTS is cp.async.
        const accesses = sass.match(/\b(LDG|LDGSTS|STG)\.E\S*/g) ?? [];
        assert(accesses.some((access) => access.startsWith("LDG")), symbol);
        assert(accesses.some((access) => access.startsWith("STG")), symbol);
        for (const access of accesses) assert(access.includes(".128"), `${symbol}: ${access}`);
      }
    });
  },
});
