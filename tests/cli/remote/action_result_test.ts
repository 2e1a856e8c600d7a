import {
  type ActionResult,
  readActionResult,
  writeActionResult,
} from "../../../cli/remote/action_result.ts";
import { assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";

Deno.test("writeActionResult() writes the bytes that protoc writes", () => {
  // protoc --encode=build.bazel.remote.execution.v2.ActionResult of
  //   output_files { path: "a.ts" digest { hash: "ff" size_bytes: 300 } } stdout_raw: "x"
  const bytes = writeActionResult({
    files: [{ path: "a.ts", hash: "ff", bytes: 300 }],
    stdout: "x",
  });
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  assertEquals(hex, "120f0a04612e747312070a02666610ac022a0178");
});

Deno.test("readActionResult() reads what writeActionResult() wrote, between fields that it does not know", () => {
  const file = fc.record({
    path: fc.string({ unit: "grapheme" }),
    hash: fc.string(),
    bytes: fc.nat({ max: 2 ** 48 - 1 }),
  });
  fc.assert(fc.property(fc.array(file), fc.string({ unit: "grapheme" }), (files, stdout) => {
    const value: ActionResult = { files, stdout };
    // exit_code (4) is a varint, execution_metadata (9) a message; 15 and 14 are fixed.
    const before = [4 << 3, 0x96, 1, 9 << 3 | 2, 2, 7, 7, 15 << 3 | 5, 1, 2, 3, 4];
    const after = [14 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8];
    const bytes = Uint8Array.from([...before, ...writeActionResult(value), ...after]);
    assertEquals(readActionResult(bytes), value);
  }));
});

Deno.test("readActionResult() takes any bytes and throws at none", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    readActionResult(bytes);
  }));
  assertEquals(readActionResult(Uint8Array.of(0x12, 5, 1)), undefined);
});
