import { requireFrom } from "../../../ffi/runtime/builtin.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

interface Path {
  basename(path: string): string;
}

Deno.test("requireFrom() loads packages of a module, and of a program whose modules have no URL", () => {
  for (const url of [import.meta.url, undefined]) {
    const path: Path = requireFrom(url)("node:path");
    assertEquals(path.basename("a/b"), "b");
    assertThrows(() => requireFrom(url)("./there is no such module"), Error, "no such module");
  }
});
