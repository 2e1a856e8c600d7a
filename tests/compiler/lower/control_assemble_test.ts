/** NVIDIA's assemblers as judges of loops and branches: no warning, no spill, no stack, on every target. */
import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { mapPool, runProcess } from "../../../cli/tools/process.ts";
import { findAssemblers, ptxVersionOf, resourcesIn } from "../../../cli/tools/ptxas.ts";
import { lowerGeneral, printEntry } from "../../support/compiler/lowering.ts";
import { anyProgram, printProgram } from "../../support/compiler/random_control.ts";
import { anyTileProgram, printTileProgram } from "../../support/compiler/random_tiles.ts";
import { TARGETS } from "../../../compiler/targets.ts";

const read = (name: string): string =>
  Deno.readTextFileSync(new URL(`../../golden/lower/${name}.tc`, import.meta.url));

/** The golden loops, and a few random programs that are the same every time. */
const texts = [
  read("loop_copy"),
  read("loop_sum"),
  ...fc.sample(anyProgram, { numRuns: 4, seed: 1 }).map(printProgram),
  ...fc.sample(anyTileProgram, { numRuns: 3, seed: 1 }).map((program) =>
    `#pragma tri kernel k\n#pragma tri config ROUNDS=0; num_warps=4\n${printTileProgram(program)}`
  ),
];
const { usable } = await findAssemblers();

for (const target of Object.values(TARGETS).map(({ name }) => name)) {
  const modules = texts.map((text) => printEntry(lowerGeneral(text, target).kernel, target));
  const version = Math.max(...modules.map(ptxVersionOf));
  const judge = usable.find(({ archs, ptx }) =>
    archs.includes(target) && (ptx === undefined || version <= ptx)
  );
  const name = `compileFile() emits loops that ptxas assembles for ${target} without a warning`;
  Deno.test({
    name: judge === undefined ? `${name} [skipped: no ptxas here knows ${target}]` : name,
    ignore: judge === undefined,
    fn: async () => {
      await mapPool(modules, 2, async (ptx) => {
        const { code, stderr } = await runProcess(judge?.path ?? "", [
          `-arch=${target}`,
          "-v",
          "--warn-on-spills",
          "--warn-on-local-memory-usage",
          "-o",
          "/dev/null",
          "-",
        ], ptx);
        assertEquals(code, 0, stderr);
        assert(!/warning/i.test(stderr), stderr);
        for (
          const { stackBytes, spillLoadBytes, spillStoreBytes } of Object.values(
            resourcesIn(stderr),
          )
        ) {
          assertEquals([stackBytes, spillLoadBytes, spillStoreBytes], [0, 0, 0], stderr);
        }
      });
    },
  });
}
