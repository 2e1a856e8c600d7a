/** Targets that `--arch all` leaves out: a product, which asks for tensor cores and shared memory, assembles for each. */
import { ALL_TARGETS, ARCHITECTURES, type TargetName, TARGETS } from "../../compiler/targets.ts";
import { assemble, chooseAssembler, findAssemblers, ptxVersionOf } from "../../cli/tools/ptxas.ts";
import { selectTargets } from "../../cli/project/targets.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";

const names = Object.values(ALL_TARGETS).map(({ name }): TargetName => name)
  .filter((name) => !Object.hasOwn(TARGETS, name));
const { usable } = await findAssemblers();

Deno.test("ALL_TARGETS has records that agree with their names and with ARCHITECTURES", () => {
  for (const name of names) {
    const target = ALL_TARGETS[name];
    assertEquals([target.name, `sm_${target.sm}`, target.exact], [name, name, false]);
    const { sharedBytesPerBlock, sharedBytesReserved, sharedBytesPerSm } = target;
    assertEquals(sharedBytesPerBlock + sharedBytesReserved, sharedBytesPerSm);
    assertEquals(
      ARCHITECTURES.find(({ sm }) => sm === target.sm)?.sharedBytesPerBlock,
      sharedBytesPerBlock,
    );
  }
});

Deno.test("the pages of platforms and of the emulator name them", async () => {
  const page = (name: string): Promise<string> =>
    Deno.readTextFile(new URL(`../../docs/${name}`, import.meta.url));
  const platforms = await page("platforms.md");
  for (const name of names) {
    assert(platforms.includes(`| ${name} `), `docs/platforms.md has no row for ${name}`);
  }
  const newest = must(ARCHITECTURES.at(-1), "architecture").name;
  assert((await page("emulator.md")).includes(`to \`"${newest}"\``), `docs/emulator.md: ${newest}`);
});

Deno.test("selectTargets() takes them by name, and `all` without them", async () => {
  assertEquals(await selectTargets(["sm_121,sm_87", "sm_90"]), ["sm_87", "sm_90", "sm_121"]);
  assertEquals(await selectTargets(["all"]), Object.values(TARGETS).map(({ name }) => name));
});

/** Two types: operands of tensor cores, and floats. */
const source = (): { readonly name: string; readonly text: string } => {
  const url = new URL("../../kernels/matmul_plain.tc", import.meta.url);
  const text = Deno.readTextFileSync(url);
  return {
    name: "matmul_plain.tc",
    text: text.replaceAll(/^#pragma tri variant (?:b|.*64|int).*$/gm, ""),
  };
};

for (const name of names) {
  const assembler = chooseAssembler(usable, name, ALL_TARGETS[name].ptx);
  const reason = typeof assembler === "string" ? ` [skipped: ${assembler}]` : "";
  Deno.test({
    name: `a product assembles for ${name} without a warning${reason}`,
    ignore: reason !== "",
    fn: async () => {
      if (typeof assembler === "string") return;
      const { diagnostics, kernels } = compileFile(source(), { targets: [name] });
      assertEquals(diagnostics, []);
      const { ptx } = must(kernels[0]?.modules[0], "a module");
      assertEquals(ptxVersionOf(ptx) >= ALL_TARGETS[name].ptx, true);
      const made = await assemble(assembler, name, ptx);
      assertEquals(made.kind === "cubin" ? made.warnings : made.message, []);
    },
  });
}
