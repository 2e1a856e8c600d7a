/** Mistakes that were planted: every one must be found for what it is, and its twin without it must run in peace. */
import { Fault, type FaultFacts } from "../../../emulator/fault.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { emulate, int } from "../../support/emulate.ts";
import { PLANTED, type Planted } from "./planted/table.ts";

const text = (name: string): string =>
  Deno.readTextFileSync(new URL(`../../ffi/emulator/check/planted/${name}.ptx`, import.meta.url));

const TEXTS = { wrong: text("wrong"), right: text("right") };

/** What is said of a kernel: the fault, else the warnings. */
function findings(which: keyof typeof TEXTS, planted: Planted): readonly FaultFacts[] {
  const { kernel, threads, blocks = 1, cluster, n = 0, sharedBytes = 0 } = planted;
  const x = Int32Array.from({ length: 1024 }, (_, i) => (i * 37) % 64);
  try {
    const { report } = emulate(TEXTS[which], {
      kernel,
      args: [x, new Int32Array(1024), int(n)],
      grid: [blocks, 1, 1],
      block: [threads, 1, 1],
      ...(cluster === undefined ? {} : { cluster: [cluster, 1, 1] }),
      sharedBytes,
      budget: 1_000_000,
    });
    return report.warnings;
  } catch (error) {
    assert(error instanceof Fault, String(error));
    return [error];
  }
}

const said = (found: readonly FaultFacts[]): string =>
  found.map(({ kind, detail }) => `${kind}: ${detail}`).join("\n");

for (const planted of PLANTED) {
  const { kernel, kinds } = planted;
  if (kinds !== undefined) {
    Deno.test(`${kernel} with its mistake is said to be: ${kinds.join(" or ")}`, () => {
      const found = findings("wrong", planted);
      assert(
        found.length === 1 && found.every(({ kind }) => kinds.includes(kind)),
        said(found) || "nothing is said",
      );
    });
  }
  Deno.test(`${kernel} without a mistake runs without a finding`, () => {
    assertEquals(said(findings("right", planted)), "");
  });
}

Deno.test("PLANTED has every kernel of kernels.cu", () => {
  const kernels = [...TEXTS.right.matchAll(/^\.visible \.entry (\w+)/gm)].map(([, name]) => name);
  assertEquals(PLANTED.map(({ kernel }) => kernel).toSorted(), kernels.toSorted());
});
