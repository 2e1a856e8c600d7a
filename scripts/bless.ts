/**
 * Rewrites recorded files with what the code gives now; review the difference like code.
 *
 *     deno task bless                        all of them: runs all tests
 *     deno task bless tests/passes/cse.ir    one file, or all of a folder: runs the tests that compare it
 */
import * as path from "node:path";

/** Folders and files that tests compare, and the tests that do. */
export const RECORDED: readonly (readonly [recorded: string, test: string])[] = [
  ["tests/passes", "tests/passes/files_test.ts"],
  ["tests/golden/build", "tests/compiler/build/golden_test.ts"],
  ["tests/golden/check", "tests/compiler/check/check_golden_test.ts"],
  ["tests/golden/codegen", "tests/codegen/wrapper_test.ts"],
  ["tests/golden/contract", "tests/compiler/contract/golden_test.ts"],
  ["tests/golden/lower", "tests/compiler/lower/golden_test.ts"],
  ["tests/golden/parse", "tests/compiler/parse/parse_golden_test.ts"],
  ["tests/golden/preprocess", "tests/compiler/preprocess/preprocess_golden_test.ts"],
  ["tests/golden/tile", "tests/compiler/driver/passes/run_passes_test.ts"],
  ["tests/golden/views", "tests/compiler/views/views_test.ts"],
  ["docs/reference", "tests/scripts/reference_pages_test.ts"],
  ["docs/language-coverage.md", "tests/programs/constructs_test.ts"],
  ["docs/guide", "tests/docs/pages_test.ts"],
  ["README.md", "tests/docs/pages_test.ts"],
  ["ARCHITECTURE.md", "tests/docs/passes_test.ts"],
];

const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(`${outer}/`);

/** The tests that compare the files at a path; empty where none does. */
export function testsOf(name: string): readonly string[] {
  const found = RECORDED.filter(([recorded, test]) =>
    isWithin(name, recorded) || isWithin(recorded, name) || isWithin(test, name)
  );
  return [...new Set(found.map(([, test]) => test))];
}

/** What blessing a path writes: of a test all that it compares. */
export function recordedOf(name: string): readonly string[] {
  const compared = RECORDED.filter(([, test]) => isWithin(test, name)).map(([recorded]) =>
    recorded
  );
  return name.endsWith("_test.ts") ? compared : [name, ...compared];
}

async function main(names: readonly string[]): Promise<number> {
  const root = path.join(import.meta.dirname ?? ".", "..");
  const wanted = names.map((name) => path.relative(root, path.resolve(name)));
  const unknown = wanted.find((name) => testsOf(name).length === 0);
  if (unknown !== undefined) {
    const known = RECORDED.map(([recorded]) => `  ${recorded}\n`).join("");
    await Deno.stderr.write(
      new TextEncoder().encode(`No test compares ${unknown}. Recorded are:\n${known}`),
    );
    return 2;
  }
  const tests = names.length === 0 ? ["tests"] : [...new Set(wanted.flatMap(testsOf))];
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-q", "-A", "--no-check", ...tests],
    cwd: root,
    env: { TRI_BLESS: names.length === 0 ? "1" : wanted.flatMap(recordedOf).join(":") },
  }).spawn().status;
  return code;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
