/** Typed doors to the assertions of Deno's std, whose npm form ships no declarations. */
// @ts-types="./assert.d.ts"
export {
  assert,
  assertEquals,
  AssertionError,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
