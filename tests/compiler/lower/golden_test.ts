/** The PTX of small kernels as files: what a change of the back end does to it shows in review. */
import { assert, assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import { lowerText, printEntry } from "../../support/compiler/lowering.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";

const FOLDER = new URL("../../golden/lower/", import.meta.url);

/** Longer ones are not reviewed. */
const MOST_LINES = 100;

for (const { name } of [...Deno.readDirSync(FOLDER)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  if (!name.endsWith(".tc")) continue;
  const stem = name.slice(0, -3);
  Deno.test(`emitEntry() emits tests/golden/lower/${stem}.ptx`, () => {
    const instances = lowerText(Deno.readTextFileSync(new URL(name, FOLDER)));
    assertEquals(instances.length, 1);
    const ptx = printEntry(must(instances[0], "instance").kernel);
    assertEquals(verifyPtx(parsePtx(ptx)), []);
    assert(ptx.split("\n").length <= MOST_LINES, "too long to review");
    golden(new URL(`${stem}.ptx`, FOLDER), ptx);
  });
}
