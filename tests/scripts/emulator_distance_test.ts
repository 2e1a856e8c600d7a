import { openEmulator } from "../../emulator/driver/mod.ts";
import { measureDistances } from "../../scripts/emulator_distance.ts";
import { ulpsApart } from "../../scripts/distance/formats.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

test("measureDistances() finds no distance between two emulators", () => {
  const [first, second] = [openEmulator(), openEmulator()];
  for (const driver of [first, second]) driver.makeCurrent(driver.retainContext(0));
  const { functions, products } = measureDistances(first, second, {
    functions: 256,
    products: 128,
  });
  for (const name of ["sin", "cos", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "tanh", "div"]) {
    assert(functions.some(({ instruction }) => instruction.startsWith(`${name}.`)), name);
  }
  assert(products.some(({ instruction }) => instruction.startsWith("mma.")));
  assert(products.some(({ instruction }) => instruction.startsWith("wgmma.")));
  const different = [...functions, ...products].filter(({ equal, ulps }) =>
    equal !== 1 || ulps !== 0
  );
  assertEquals(different, []);
  for (const driver of [first, second]) driver.close();
});

Deno.test("ulpsApart() counts the values of a format between two", () => {
  assertEquals(ulpsApart(0x3f800000n, 0x3f800003n, "f32"), 3);
  assertEquals(ulpsApart(0x0001n, 0x8001n, "f16"), 2);
  assertEquals(ulpsApart(0x0000n, 0x8000n, "bf16"), 0);
  assertEquals(ulpsApart(0x7e00n, 0x7e01n, "f16"), 0);
  assertEquals(ulpsApart(0x7e00n, 0x3c00n, "f16"), Infinity);
});
