import { nativeCompiler, typeErrorsOf } from "../../../scripts/types/native.ts";
import { assertEquals } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

/** A wrong line for each setting, library and kind of import; the code that `deno check` gives it. */
const WRONG: readonly (readonly [line: string, code: string])[] = [
  ['import { readFileSync, nothing } from "node:fs";', "TS2305"],
  ['import { Nothing } from "@tri/tri/ffi";', "TS2305"],
  ['import fc from "fast-check"; const drawn: fc.Arbitrary<string> = fc.integer();', "TS2322"],
  ['import { some } from "./nowhere.ts";', "TS2307"],
  ["const number: number = [1][0]; readFileSync(`${number}`);", "TS2322"],
  ["const unused = 1;", "TS6133"],
  ["const some: { readonly a?: number } = { a: undefined };", "TS2375"],
  ["class A { m(): void {} } class B extends A { m(): void {} }", "TS4114"],
  ["export function f(x) { return x; }", "TS7006"],
  ["try { f(1); } catch (error) { error.message; }", "TS18046"],
  ["document.title;", "TS2584"],
  ["Deno.nothing();", "TS2339"],
  ["const timer: string = setTimeout(() => {}, 1);", "TS2322"],
];

test("typeErrorsOf() finds what deno check finds", async () => {
  const compiler = await nativeCompiler();
  if (compiler === undefined) return;
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(path, WRONG.map(([line]) => line).join("\n"));
    const said = await typeErrorsOf(compiler, { include: [path], lib: ["esnext", "deno.window"] });
    const found = new Set(
      said.matchAll(/\((\d+),\d+\): error (TS\d+)/g).map(([, line, code]) => `${line} ${code}`),
    );
    const missed = WRONG.filter(([, code], index) => !found.has(`${index + 1} ${code}`));
    assertEquals(missed, [], said);
  } finally {
    await Deno.remove(path);
  }
});
