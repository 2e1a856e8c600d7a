/** The reference pages are those of the code, and no name of the language lacks its line. */
import * as path from "node:path";
import config from "../../deno.json" with { type: "json" };
import { BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import * as docs from "../../compiler/check/language_docs.ts";
import { HINTS } from "../../compiler/parse/loop_hints.ts";
import { ITEM_WORDS } from "../../compiler/pragma/pragma_items.ts";
import { OPTIONS } from "../../compiler/pragma/pragma_options.ts";
import { KEYWORDS } from "../../compiler/preprocess/keywords.ts";
import { PREDEFINED_NAMES } from "../../compiler/preprocess/predefined.ts";
import { FOLDER, referencePages, stalePages } from "../../scripts/reference_pages.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blessed, mayBless } from "../support/bless.ts";

Deno.test("stalePages() is empty: docs/reference/ is what the code says", async () => {
  if (mayBless(FOLDER)) {
    for (const [name, text] of await referencePages()) blessed(path.join(FOLDER, name), text);
  }
  assertEquals(await stalePages(), [], "run deno run -A scripts/reference_pages.ts");
});

Deno.test("deno doc --lint finds nothing in the public modules, as deno task check runs it", async () => {
  const words = /deno (doc --lint [^&]+)/.exec(config.tasks.check.command)?.[1]?.trim().split(" ");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: words ?? [],
    cwd: path.join(import.meta.dirname ?? ".", "../.."),
    stdin: "null",
  }).output();
  assert(words !== undefined && success, new TextDecoder().decode(stderr));
});

Deno.test("language_docs has a line for every name of the tables, and for no other", () => {
  const canonical = new Set([...BUILTINS.values()].map((builtin) => builtin.canonical));
  assertEquals(Object.keys(docs.BUILTIN_DOCS).sort(), [...canonical].sort());
  assertEquals(Object.keys(docs.PRAGMA_DOCS).sort(), [...ITEM_WORDS].sort());
  assertEquals(Object.keys(docs.OPTION_DOCS).sort(), Object.keys(OPTIONS).sort());
  assertEquals(Object.keys(docs.HINT_DOCS).sort(), Object.keys(HINTS).sort());
  const macros = [...PREDEFINED_NAMES].filter((name) => name !== "defined");
  assertEquals(Object.keys(docs.MACRO_DOCS).sort(), macros.sort());
  for (const attribute of Object.keys(docs.ATTRIBUTE_DOCS)) {
    const word = attribute.replace("(N)", "");
    assert(KEYWORDS.declaration.some((keyword) => keyword === word), attribute);
  }
});
