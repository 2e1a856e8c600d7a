/**
 * NVIDIA's assemblers as judges of what lowering emits: every shipped kernel, for every target, with every ptxas here
 * that knows it. No warning, no spill, no stack; and where rows are aligned, 16 bytes an access down to the SASS.
 */
import { assert, assertEquals } from "../../support/assert.ts";
import { mapPool, runProcess } from "../../../cli/tools/process.ts";
import {
  type Assembler,
  findAssemblers,
  ptxVersionOf,
  type Resources,
  resourcesIn,
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
import { groupTargets, TARGET_NAMES } from "../../support/targets.ts";
import { compileFile } from "../../support/compile.ts";

/** A shipped kernel, or one of tables.tc: what the tests here look at. */
type Kernel = Omit<BuiltKernel, "resources"> & Partial<Pick<BuiltKernel, "resources">>;

/** Kernels that read constant memory, which no shipped one does. */
function compileTables(): readonly Kernel[] {
  const text = Deno.readTextFileSync(new URL("../../support/tables.tc", import.meta.url));
  const { kernels } = compileFile({ name: "tables.tc", text }, { targets: TARGET_NAMES });
  return kernels.map(({ name, modules, instances }) => ({
    name,
    instances: instances.map(({ symbol, specialization }) => ({
      symbol,
      specialization: specialization.map(({ text }) => text),
    })),
    ptxFor: (target) => must(modules.find((module) => module.target === target), target).ptx,
  }));
}

const kernels: readonly Kernel[] = [...builtKernels(), ...compileTables()];
const found = await findAssemblers();
/** One of each version: a script that calls another ptxas is found beside it. */
const usable = [...Map.groupBy(found.usable, ({ version }) => version).values()]
  .flatMap(([first]) => first ?? []);
const builder = found.usable.find(({ path }) => isBuilder(path, config.permissions.tri.run));

const ptxFor = (kernel: Kernel, target: TargetName): string => kernel.ptxFor(target);

/** Whether an assembler can take the modules for a target. */
function takes({ archs, ptx }: Assembler, target: TargetName): boolean {
  const version = Math.max(...kernels.map((kernel) => ptxVersionOf(ptxFor(kernel, target))));
  return archs.includes(target) && (ptx === undefined || version <= ptx);
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

/** What the build's ptxas said of the entries of a kernel; undefined where it was not this one, or there was none. */
function builtResources(
  { version }: Assembler,
  kernel: Kernel,
  target: TargetName,
): readonly Resources[] | undefined {
  const resources = kernel.resources?.[target];
  return version === builder?.version && resources !== undefined
    ? Object.values(resources)
    : undefined;
}

/**
 * The targets that each assembler is asked about: the oldest and the newest that it takes. What the build has assembled for
 * them is not assembled again: `scripts/test.ts` builds with `--werror`, so that ptxas had no warning there. The build's
 * other targets are judged by tests/scripts/resource_page_test.ts.
 */
const judged = usable.map((assembler) => {
  const taken = TARGET_NAMES.filter((target) => takes(assembler, target));
  return { assembler, targets: [taken[0], taken.at(-1)] };
});

/** Spills of an assembler count where it is the best there is: nothing newer than CUDA 12 knows sm_70. */
function allocatesWell({ version }: Assembler, target: TargetName): boolean {
  return target === "sm_70" || Number(version.split(".")[0]) >= 13;
}

/** Assembles a kernel without a warning; the resources of its entries. */
async function assemble(
  judge: Assembler,
  kernel: Kernel,
  target: TargetName,
  where: string,
): Promise<readonly Resources[]> {
  const { code, stderr } = await runProcess(judge.path, [
    `-arch=${target}`,
    "-v",
    "--warn-on-spills",
    "--warn-on-local-memory-usage",
    "-o",
    "/dev/null",
    "-",
  ], ptxFor(kernel, target));
  assertEquals(code, 0, `${where}:\n${stderr}`);
  assert(!allocatesWell(judge, target) || !/warning/i.test(stderr), `${where}:\n${stderr}`);
  return Object.values(resourcesIn(stderr));
}

const WIDE = /\.v4\.b32|\.v2\.b64/;

for (const target of TARGET_NAMES) {
  const judges = judged.filter((one) => one.targets.includes(target))
    .map(({ assembler }) => assembler);
  const name =
    `lowerFunc() emits what ptxas assembles for ${target} without warning, spill or stack`;
  const isKnown = usable.some((assembler) => takes(assembler, target));
  if (isKnown && judges.length === 0) continue;
  Deno.test({
    name: isKnown ? name : `${name} [skipped: no ptxas here knows ${target}]`,
    ignore: !isKnown,
    fn: async () => {
      const jobs = judges.flatMap((judge) => kernels.map((kernel) => ({ judge, kernel })));
      await mapPool(jobs, 2, async ({ judge, kernel }) => {
        const where = `${kernel.name} for ${target} by ptxas ${judge.version}`;
        const resources = builtResources(judge, kernel, target) ??
          await assemble(judge, kernel, target, where);
        assertEquals(resources.length, kernel.instances.length, where);
        if (!allocatesWell(judge, target)) return;
        for (const { stackBytes, spillLoadBytes, spillStoreBytes } of resources) {
          assertEquals([stackBytes, spillLoadBytes, spillStoreBytes], [0, 0, 0], where);
        }
      });
    },
  });
}

/** A form begins with a version and a target, and may end with one: code that two targets have is right for those between. */
Deno.test("lowerFunc() emits PTX that our own verifier accepts, for every target", () => {
  for (const kernel of kernels) {
    for (const { first, targets } of groupTargets((target) => ptxFor(kernel, target))) {
      const module = parsePtx(ptxFor(kernel, first));
      for (const target of new Set([first, targets.at(-1) ?? first])) {
        const version = ptxVersionOf(ptxFor(kernel, target));
        assertEquals(verifyPtx({ ...module, target, version }), [], `${kernel.name} ${target}`);
      }
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

/** Entries that may take every row in pieces of 16 bytes. */
function alignedEntries(target: TargetName): { symbol: string; entry: PtxKernel }[] {
  return kernels.filter(({ name }) => ONLY_ROWS.has(name)).flatMap((kernel) => {
    const entries = parsePtx(ptxFor(kernel, target)).kernels;
    return kernel.instances.filter(({ specialization }) => specialization.length > 0).map(
      ({ symbol }) => ({
        symbol,
        entry: must(entries.find(({ name }) => name === symbol), symbol),
      }),
    );
  });
}

Deno.test("lowerFunc() moves 16 bytes an access wherever rows are 16-byte aligned", () => {
  const entries = alignedEntries("sm_80");
  assert(entries.length >= 40);
  for (const { symbol, entry } of entries) {
    const accesses = globalAccesses(entry);
    assert(accesses.length > 0, symbol);
    // 1024 bytes over 128 threads: eight each.
    const pattern = /^vector_add_u?int8_/.test(symbol) ? /\.v2\.b32/ : WIDE;
    for (const access of accesses) assert(pattern.test(access), `${symbol}: ${access}`);
  }
});

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
const sassTitle =
  "lowerFunc() keeps 16-byte accesses and registers down to the SASS of aligned entries";
Deno.test({
  name: disassembly === undefined
    ? `${sassTitle} [skipped: no nvdisasm that reads the images of a ptxas here]`
    : sassTitle,
  ignore: disassembly === undefined,
  fn: async () => {
    const { target, sassOf } = must(disassembly, "disassembler");
    const aligned = new Set(alignedEntries(target).map(({ symbol }) => symbol));
    await mapPool(kernels, 2, async (kernel) => {
      const sections = (await sassOf(ptxFor(kernel, target))).split(/^\s*\.section\s+/m);
      for (const { symbol } of kernel.instances) {
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
