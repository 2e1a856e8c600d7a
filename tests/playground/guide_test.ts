/** The kernels of the guide in the playground: each has an entry that runs, and the pages lead there. */
import * as path from "node:path";
import { GUIDE } from "../../playground/gallery/guide.ts";
import { problemsOf } from "../../playground/session/check.ts";
import { run } from "../../playground/session/run.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { openEntry, testEntries, textOf } from "./gallery.ts";

const PAGES = new URL("../../docs/guide/", import.meta.url);

/** What each page is about; the others run without a finding. */
const FOUND: Readonly<Record<string, string>> = {
  guide_pick_rows: "out of bounds",
  guide_count_values: "race",
};

testEntries(
  GUIDE,
  (name) => `run() of ${name} gives what its page says`,
  (entry) => {
    const { program, call } = openEntry(entry);
    assertEquals(problemsOf(program, "all"), []);
    const ran = run(program, call);
    if (entry.name === "guide_no_mask") return assert(ran.kind === "not run");
    assert(ran.kind === "ran", JSON.stringify(ran));
    assertEquals(ran.findings[0]?.kind, FOUND[entry.name]);
  },
);

Deno.test("each page of the guide leads to its kernels in the playground", () => {
  const entries = new Set(GUIDE.map(({ name }) => name));
  const seen = new Set<string>();
  for (const { name } of Deno.readDirSync(PAGES)) {
    if (!name.endsWith(".md")) continue;
    const text = textOf(path.join("docs/guide", name));
    for (const [, kernel] of text.matchAll(/file: docs\/guide\/kernels\/(\w+)\.tc/g)) {
      const entry = `guide_${kernel}`;
      assert(entries.has(entry), `${name}: there is no ${entry}`);
      assert(text.includes(`?entry=${entry})`), `${name} does not lead to ${entry}`);
      seen.add(entry);
    }
  }
  assertEquals(seen, entries);
});
