/** Kernels as nvcc compiles them for a debugger, each of which uses what nothing has set. */
import { Fault } from "../../../emulator/fault.ts";
import { assertMatch, assertThrows } from "../../support/assert.ts";
import { emulate, int } from "../../support/emulate.ts";
import { readRecorded } from "../../support/recorded.ts";

const text = readRecorded(
  new URL("../../corpus/ptx/undefined_bugs_debug.ptx", import.meta.url),
);

for (const [, kernel = ""] of text.matchAll(/\.entry (bug_\w+)/g)) {
  Deno.test(`undefined values are found in ${kernel}()`, () => {
    const x = Int32Array.from({ length: 64 }, (_, i) => i % 16);
    const run = (): void => {
      emulate(text, { args: [new Int32Array(128), x, int(3)], kernel, block: [64, 1, 1] });
    };
    const { kind, site } = assertThrows(run, Fault);
    assertMatch(kind, /^uninitialised (?:register|memory)$/);
    assertMatch(`${site?.file}:${site?.line}`, /:\d+$/);
  });
}
