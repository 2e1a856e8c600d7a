/** Mistakes that were planted: every one must be found for what it is, and its twin without it must run in peace. */
import { Fault, type FaultFacts, type FaultKind } from "../../../emulator/fault.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { emulate, int, type Run } from "../../support/emulate.ts";
import { readRecorded } from "../../support/recorded.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";
import { PLANTED_BODIES, textOfBody } from "./planted/assembly.ts";
import { PLANTED, type Planted } from "./planted/table.ts";

const test = testsInTurn(2);

const text = (name: string): string =>
  readRecorded(new URL(`./planted/${name}.ptx`, import.meta.url));

const TEXTS = { wrong: text("wrong"), right: text("right") };

interface Shape {
  readonly threads?: number;
  readonly blocks?: number;
  readonly cluster?: number;
}

/** What is said of a kernel: the fault, else the warnings. */
function findings(text: string, shape: Shape, run: Partial<Run>): readonly FaultFacts[] {
  const { threads = 32, blocks = 1, cluster } = shape;
  const x = Int32Array.from({ length: 1024 }, (_, i) => (i * 37) % 64);
  const { args = [] } = run;
  try {
    const { report } = emulate(text, {
      grid: [blocks, 1, 1],
      block: [threads, 1, 1],
      ...(cluster === undefined ? {} : { cluster: [cluster, 1, 1] }),
      budget: 1_000_000,
      ...run,
      args: [x, new Int32Array(1024), ...args],
    });
    return report.warnings;
  } catch (error) {
    assert(error instanceof Fault, String(error));
    return [error];
  }
}

function kernelFindings(which: keyof typeof TEXTS, planted: Planted): readonly FaultFacts[] {
  const { kernel, n = 0, sharedBytes = 0 } = planted;
  return findings(TEXTS[which], planted, { kernel, sharedBytes, args: [int(n)] });
}

const said = (found: readonly FaultFacts[]): string =>
  found.map(({ kind, detail }) => `${kind}: ${detail}`).join("\n");

function assertFound(found: readonly FaultFacts[], kinds: readonly FaultKind[]): void {
  assert(
    found.length === 1 && found.every(({ kind }) => kinds.includes(kind)),
    said(found) || "nothing is said",
  );
}

/** Of those without a mistake a run tries a quarter: other programs run without findings too. */
const TRIED_RIGHT = new Set(sampled(PLANTED, Math.ceil(PLANTED.length / 4)));

for (const planted of PLANTED) {
  const { kernel, kinds } = planted;
  if (kinds !== undefined) {
    test(`${kernel} with its mistake is said to be: ${kinds.join(" or ")}`, () => {
      assertFound(kernelFindings("wrong", planted), kinds);
    });
  }
  if (!TRIED_RIGHT.has(planted)) continue;
  Deno.test(`${kernel} without a mistake runs without a finding`, () => {
    assertEquals(said(kernelFindings("right", planted)), "");
  });
}

for (const planted of PLANTED_BODIES) {
  const { name, kinds, wrong, right } = planted;
  test(`${name} is said to be: ${kinds.join(" or ")}`, () => {
    assertFound(findings(textOfBody(planted, wrong), planted, {}), kinds);
    assertEquals(said(findings(textOfBody(planted, right), planted, {})), "");
  });
}

Deno.test("PLANTED has every kernel of kernels.cu", () => {
  const kernels = [...TEXTS.right.matchAll(/^\.visible \.entry (\w+)/gm)].map(([, name]) => name);
  assertEquals(PLANTED.map(({ kernel }) => kernel).toSorted(), kernels.toSorted());
});
