import { assertEquals } from "../../support/assert.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { accumulate } from "../../../compiler/tile/accumulate.ts";
import { dropDead } from "../../../compiler/tile/drop_dead.ts";

const wrap = (body: string): string =>
  `func @f(%p: float32*[16, 16], %a: float16[16, 16], %b: float16[16, 16], %x: float32[16, 16]) {\n${body.trim()}\nreturn\n}`;

function assertPass(before: string, after: string): void {
  const func = parseFunc(wrap(before));
  verifyFunc(func);
  assertEquals(accumulate.run(func), before !== after);
  dropDead.run(func);
  verifyFunc(func);
  assertEquals(printFunc(func), printFunc(parseFunc(wrap(after))));
}

const PRODUCT = `%0: float32[16, 16] = constant 0.0
%1: float32[16, 16] = dot %a, %b, %0 {mode = "ieee"}`;

Deno.test("accumulate() lets a product add to what it is added to, on either side", () => {
  const after = `%2: float32[16, 16] = dot %a, %b, %x {mode = "ieee"}
store %p, %2`;
  assertPass(`${PRODUCT}\n%2: float32[16, 16] = add %x, %1\nstore %p, %2`, after);
  assertPass(`${PRODUCT}\n%2: float32[16, 16] = add %1, %x\nstore %p, %2`, after);
});

Deno.test("accumulate() keeps a product that somebody else uses", () => {
  const text = `${PRODUCT}\n%2: float32[16, 16] = add %x, %1\nstore %p, %2\nstore %p, %1`;
  assertPass(text, text);
});

Deno.test("accumulate() keeps a product that adds to something already", () => {
  const text = `%1: float32[16, 16] = dot %a, %b, %x {mode = "ieee"}
%2: float32[16, 16] = add %x, %1
store %p, %2`;
  assertPass(text, text);
});
