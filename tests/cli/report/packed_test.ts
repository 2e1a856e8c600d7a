import { assertEquals } from "../../support/assert.ts";
import { pack, unpack } from "../../../cli/report/packed.ts";

Deno.test("unpack() gives what pack() was given, after JSON, to the bit", () => {
  const value = {
    values: Float64Array.of(-0, NaN, Infinity, 5e-324, 1 / 3),
    kinds: Uint8Array.of(0, 255),
    steps: new Uint32Array([7, 2 ** 32 - 1, 3]).subarray(1),
    nested: [{ none: new Uint8Array(0), text: "é", absent: null }, [1, true]],
  };
  assertEquals(unpack(JSON.parse(JSON.stringify(pack(value)))), value);
});
