/** Runs every file of this folder; pass_file.ts says how one looks. */
import * as path from "node:path";
import { STEPS } from "../../compiler/driver/passes/passes.ts";
import { RULES } from "../../compiler/tile/simplify.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blessed, mayBless } from "../support/bless.ts";
import { type PassFile, readPassFile, rewritePassFile, runCase } from "./pass_file.ts";

const FOLDER = import.meta.dirname ?? ".";

function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1).flatMap((entry) => {
    const at = path.join(folder, entry.name);
    return entry.isDirectory ? filesIn(at) : entry.name.endsWith(".ir") ? [at] : [];
  });
}

const readFiles = (): ReadonlyMap<string, PassFile> =>
  new Map(filesIn(FOLDER).map((file) => [file, readPassFile(Deno.readTextFileSync(file))]));

Deno.test("passes make of tests/passes/**/*.ir what these files say", async (t) => {
  for (const [file, { passes, cases, ...rest }] of readFiles()) {
    const name = `tests/passes/${path.relative(FOLDER, file)}`;
    await t.step(name, () => {
      if (mayBless(file) && blessed(file, rewritePassFile({ passes, cases, ...rest }))) return;
      assert(passes.length > 0 && cases.length > 0, "has no passes or no cases");
      for (const { title, before, after } of cases) {
        const now = runCase(passes, before);
        const hint = `${title}: \`deno task bless ${name}\` rewrites the file`;
        if (after === undefined) assert(now.isSame, `${hint}; it becomes\n${now.after}`);
        else assertEquals(now.after, after, hint);
      }
    });
  }
});

Deno.test("STEPS and RULES have files here where they act and where they do nothing", () => {
  const all = [...readFiles().values()];
  const missing = (names: readonly string[]): string[] =>
    names.filter((name) => {
      const files = all.filter(({ passes }) => passes[0] === name);
      const has = (acts: boolean): boolean =>
        files.some(({ cases }) => cases.some(({ after }) => (after !== undefined) === acts));
      return !has(true) || !has(false);
    });
  const passes = new Set(STEPS.map(({ pass }) => pass.name));
  assertEquals(missing([...passes].filter((name) => name !== "simplify")), []);
  assertEquals(missing(RULES.map(({ name }) => `simplify:${name}`)), []);
});
