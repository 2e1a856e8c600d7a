/** The README, the guide and the other pages of docs/ do what they say; docs/reference/ is compared with what the code says. */
import * as path from "node:path";
import { testPages } from "./pages.ts";
import { ROOT } from "./workspace.ts";

function pagesIn(folder: string): string[] {
  return [...Deno.readDirSync(path.join(ROOT, folder))]
    .filter(({ name }) => name.endsWith(".md")).map(({ name }) => `${folder}/${name}`).sort();
}

testPages([
  { title: "README.md", pages: ["README.md"], kernels: ["transpose.tc", "transpose_tiles.h"] },
  { title: "docs/guide", pages: pagesIn("docs/guide"), kernels: [] },
  {
    title: "docs",
    // language_test.ts compiles the programs of the language.
    pages: pagesIn("docs").filter((page) => page !== "docs/language.md"),
    kernels: [
      "copy.tc",
      "transpose.tc",
      "transpose_tiles.h",
      "transpose.tune.json",
      "bench/transpose.ts",
    ],
  },
]);
