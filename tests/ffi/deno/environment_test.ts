import { readVariable } from "../../../ffi/deno/environment.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("readVariable() reads what is set and not empty", () => {
  const name = "TRI_TEST_VARIABLE";
  assertEquals(readVariable(name), undefined);
  Deno.env.set(name, "value");
  assertEquals(readVariable(name), "value");
  Deno.env.set(name, "");
  assertEquals(readVariable(name), undefined);
  Deno.env.delete(name);
});

Deno.test({
  name: "readVariable() reads nothing without permission",
  permissions: { env: false },
  fn: () => assertEquals(readVariable("PATH"), undefined),
});
