import { assertEquals } from "../../support/assert.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { contract } from "../../../compiler/tile/contract.ts";
import { dropDead } from "../../../compiler/tile/drop_dead.ts";

const wrap = (body: string, type: string): string =>
  `func @f(%p: ${type}*, %a: ${type}, %b: ${type}, %x: ${type}, %c: bool) {\n${body.trim()}\nreturn\n}`;

function assertPass(before: string, after: string, type = "float32"): void {
  const func = parseFunc(wrap(before, type));
  verifyFunc(func);
  assertEquals(contract.run(func), before !== after);
  dropDead.run(func);
  verifyFunc(func);
  assertEquals(printFunc(func), printFunc(parseFunc(wrap(after, type))));
}

const PRODUCT = "%0: float32 = mul %a, %b\n";

Deno.test("contract fuses a product into the sum or difference that uses it", () => {
  const fused = '%1: float32 = math %a, %b, %x {function = "fma"}\nstore %p, %1';
  assertPass(`${PRODUCT}%1: float32 = add %0, %x\nstore %p, %1`, fused);
  assertPass(`${PRODUCT}%1: float32 = add %x, %0\nstore %p, %1`, fused);
  assertPass(
    `${PRODUCT}%1: float32 = sub %0, %x\nstore %p, %1`,
    '%2: float32 = neg %x\n%1: float32 = math %a, %b, %2 {function = "fma"}\nstore %p, %1',
  );
  assertPass(
    `${PRODUCT}%1: float32 = sub %x, %0\nstore %p, %1`,
    '%2: float32 = neg %a\n%1: float32 = math %2, %b, %x {function = "fma"}\nstore %p, %1',
  );
});

Deno.test("contract keeps products that others use, and those of other regions", () => {
  for (
    const body of [
      `${PRODUCT}%1: float32 = add %0, %x\nstore %p, %1\nstore %p, %0`,
      `${PRODUCT}%1: float32 = add %0, %0\nstore %p, %1`,
      `${PRODUCT}if %c {\n%1: float32 = add %0, %x\nstore %p, %1\nyield\n} {\nyield\n}`,
    ]
  ) assertPass(body, body);
});

Deno.test("contract keeps integers and floats that are computed in float", () => {
  for (const type of ["int32", "float16", "bfloat16"]) {
    const body = `%0: ${type} = mul %a, %b\n%1: ${type} = add %0, %x\nstore %p, %1`;
    assertPass(body, body, type);
  }
});
