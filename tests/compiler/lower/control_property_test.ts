/** Random programs of nested loops, branches and exits leave in memory what a direct interpreter does. */
import fc from "../../support/property.ts";
import { assertEquals } from "../../support/assert.ts";
import { emulate, int } from "../../support/emulate.ts";
import { lowerGeneral, printEntry } from "../../support/compiler/lowering.ts";
import {
  anyProgram,
  printProgram,
  runProgram,
  VARIABLES,
} from "../../support/compiler/random_control.ts";
import {
  anyTileProgram,
  EXTENT,
  printTileProgram,
  runTileProgram,
} from "../../support/compiler/random_tiles.ts";
import { TARGETS } from "../../../compiler/targets.ts";

const RUNS = Number(Deno.env.get("TRI_PROPERTY_RUNS") ?? 60);

Deno.test("compileFile() runs random structured programs as they are written", () => {
  const anyTarget = fc.constantFrom(...Object.values(TARGETS).map(({ name }) => name));
  fc.assert(
    fc.property(anyProgram, anyTarget, (program, target) => {
      const text = printProgram(program);
      const instance = lowerGeneral(text, target);
      const ptx = printEntry(instance.kernel, target);
      for (const args of [[0, 1], [5, -2]] as const) {
        const expected = runProgram(program, args);
        const y = new Int32Array(4 + VARIABLES);
        emulate(ptx, { block: [instance.threads, 1, 1], args: [y, ...args.map(int)] });
        assertEquals([...y], expected, text);
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("compileFile() runs random programs on tiles in loops and branches as they are written", () => {
  const anyTarget = fc.constantFrom(...Object.values(TARGETS).map(({ name }) => name));
  const ARRAYS = { int: Int32Array, short: Int16Array, char: Int8Array };
  fc.assert(
    fc.property(anyTileProgram, anyTarget, fc.constantFrom(1, 2, 4), (program, target, warps) => {
      const text = printTileProgram(program);
      const pragma = `#pragma tri kernel k\n#pragma tri config ROUNDS=0; num_warps=${warps}\n`;
      const instance = lowerGeneral(pragma + text, target);
      const x = new ARRAYS[program.type](EXTENT);
      for (const i of x.keys()) x[i] = Math.imul(i, 0x9e3779b1) >> 7;
      const expected = x.slice();
      runTileProgram(program, expected, 5);
      const bytes = new Uint8Array(x.buffer);
      emulate(printEntry(instance.kernel, target), {
        block: [instance.threads, 1, 1],
        sharedBytes: instance.sharedBytes,
        args: [bytes, int(5)],
      });
      assertEquals(x, expected, text);
    }),
    { numRuns: RUNS },
  );
});
