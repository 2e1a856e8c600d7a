import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

Deno.test("tri says which module it may not read when it loads the rest", async () => {
  using workspace = new Workspace();
  const options = { main: REAL_MAIN, permissions: [] };
  const { code, stdout, stderr } = await workspace.process(["doctor"], options);
  assertEquals([code, stdout], [3, ""]);
  assertMatch(stderr, /^error: Requires read access to ".*start.ts", .* --allow-read flag\n$/);
});

Deno.test("tri --help loads few modules and nothing of Node: starting Deno is most of its time", () => {
  const loaded = new Set<string>();
  const load = (module: string): void => {
    if (loaded.has(module)) return;
    loaded.add(module);
    if (!module.startsWith("file:")) return;
    for (const [, name = ""] of Deno.readTextFileSync(new URL(module)).matchAll(STATIC_IMPORT)) {
      load(name.startsWith(".") ? new URL(name, module).href : name);
    }
  };
  load(new URL("../../../cli/main.ts", import.meta.url).href);
  const others = [...loaded].filter((module) => !module.startsWith("file:"));
  assertEquals(others, ["@std/fmt/colors"]);
  assert(loaded.size <= 18, [...loaded].join("\n"));
});

/** Of values: those of types are not loaded. */
const STATIC_IMPORT = /^(?:import|export) (?!type )[^;]*? from "([^"]+)"/gm;
