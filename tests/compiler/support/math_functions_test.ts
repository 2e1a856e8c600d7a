/** Rows of MATH_FUNCTIONS agree with each other, with the language text, and give way to the program's functions. */
import { isFloatFunction } from "../../../compiler/lower/math/float.ts";
import { isIntegerOperation } from "../../../compiler/lower/math/integer.ts";
import { isMathName, MATH_ROWS, operationOf } from "../../../compiler/support/math_functions.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { CompiledText, zeros } from "../../support/compiler/value_run.ts";

const LANGUAGE = new URL("../../../docs/language.md", import.meta.url);

Deno.test("MATH_FUNCTIONS has a formula for the operation of every name", () => {
  for (const [name, { computedBy }] of MATH_ROWS) {
    const operation = operationOf(name);
    assert(isFloatFunction(operation) || isIntegerOperation(operation), name);
    assert(computedBy === undefined || isMathName(computedBy), name);
  }
});

Deno.test("MATH_FUNCTIONS has names that docs/language.md lists in section 7", () => {
  const text = Deno.readTextFileSync(LANGUAGE);
  const section = text.slice(text.indexOf("\n## 7."), text.indexOf("\n## 8."));
  const words = new Set(section.match(/\w+/g));
  assertEquals(MATH_ROWS.map(([name]) => name).filter((name) => !words.has(name)), []);
});

Deno.test("MATH_FUNCTIONS gives way to functions that a program defines under their names", () => {
  for (const name of ["sinh", "acoshf", "fma"]) {
    const compiled = new CompiledText(`
static float ${name}(float x) { return x * 2.0f; }
#pragma tri grid(1)
__global__ void k(float *X, float *Y) { Y[0] = ${name}(X[0]); }`);
    const [, result] = compiled.run([{ type: "float32", values: [3] }, zeros("float32", 1)]);
    assertEquals(result, [6], name);
  }
});
