import { toolIdentity } from "../../cli/identity.ts";
import { VERSION } from "../../cli/version.ts";
import { VERSION as COMPILER_VERSION } from "../../compiler/version.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";

Deno.test("VERSION of the command is that of the compiler", () => {
  const { major, minor, patch } = COMPILER_VERSION;
  assertEquals(VERSION, `${major}.${minor}.${patch}`);
});

Deno.test("toolIdentity() is the version and a hash, the same each time", () => {
  assertMatch(toolIdentity(), /^\d+\.\d+\.\d+-[0-9a-f]{16}$/);
  assertEquals(toolIdentity(), toolIdentity());
});
