import { type Code, CODES, OFF_BY_DEFAULT } from "../../../compiler/support/codes.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

Deno.test("CODES gives every code its own one-line meaning, in order", () => {
  const rows = Object.entries(CODES);
  for (const [code, meaning] of rows) {
    assertMatch(code, /^[EW]\d{4}$/);
    assertMatch(meaning, /^\S[^\n]*[^\s.]$/, code);
  }
  assertEquals(new Set(rows.map(([, meaning]) => meaning)).size, rows.length);
  const codes = rows.map(([code]) => code);
  assertEquals(codes, [...codes].sort());
});

Deno.test("OFF_BY_DEFAULT holds warnings only", () => {
  assert([...OFF_BY_DEFAULT].every((code: Code) => code.startsWith("W")));
});
