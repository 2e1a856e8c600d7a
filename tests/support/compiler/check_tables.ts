/** Tests written as tables: a source text and what the checker makes of it. */
import { assertEquals } from "../assert.ts";
import { codesIn, typed, typeOf } from "./check.ts";

export type Rows = Readonly<Record<string, string>>;

/** Expressions and their types. */
export function testTypes(title: string, rows: Rows): void {
  test(title, rows, (text) => typeOf(text));
}

/** Expressions and their typed trees, as {@linkcode typed} prints them. */
export function testTrees(title: string, rows: Rows): void {
  test(title, rows, (text) => typed(text));
}

/** Statements and the codes reported for them, in order. */
export function testCodes(title: string, rows: Rows): void {
  test(title, rows, (text) => codesIn(text).join(" "));
}

function test(title: string, rows: Rows, actual: (text: string) => string): void {
  Deno.test(`check() ${title}`, () => {
    const found = Object.fromEntries(Object.keys(rows).map((text) => [text, actual(text)]));
    assertEquals(found, { ...rows });
  });
}
