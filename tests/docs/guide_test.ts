/** The pages of the guide do what they say. */
import * as path from "node:path";
import { testPages } from "./pages.ts";
import { ROOT } from "./workspace.ts";

const pages = [...Deno.readDirSync(path.join(ROOT, "docs/guide"))].map(({ name }) => name)
  .filter((name) => name.endsWith(".md")).sort();
testPages("docs/guide", pages.map((name) => `docs/guide/${name}`), []);
