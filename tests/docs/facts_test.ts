/** The other pages of docs/ do what they say; those of docs/reference/ are compared with what the code says. */
import * as path from "node:path";
import { testPages } from "./pages.ts";
import { ROOT } from "./workspace.ts";

const pages = [...Deno.readDirSync(path.join(ROOT, "docs"))].map(({ name }) => name)
  // language_test.ts compiles the programs of the language.
  .filter((name) => name.endsWith(".md") && name !== "language.md").sort();
testPages("docs", pages.map((name) => `docs/${name}`), [
  "copy.tc",
  "transpose.tc",
  "transpose.tune.json",
  "bench/transpose.ts",
]);
