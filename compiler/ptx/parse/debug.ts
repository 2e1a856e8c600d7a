/**
 * What debuggers need, from PTX text: sections in DWARF format. Of those, only the names of inlined functions are
 * kept: `.loc` refers to them by their offset in `.debug_str`.
 */
import type { PtxCursor } from "../cursor.ts";
import type { InlinedLocs } from "./body.ts";
import type { Item, PtxFunction, PtxInlined, PtxKernel } from "../func.ts";
import { readNumber } from "../literal.ts";

/** Bytes of `.debug_str` and the offsets of its labels. */
export class DebugStrings {
  readonly #bytes: number[] = [];
  readonly #labels = new Map<string, number>([[".debug_str", 0]]);

  label(name: string): void {
    this.#labels.set(name, this.#bytes.length);
  }

  push(byte: number): void {
    this.#bytes.push(byte);
  }

  /** The string at a label; empty if there is none. */
  find(label: string, offset: bigint): string {
    const start = this.#labels.get(label);
    if (start === undefined) return "";
    const from = start + Number(offset);
    const end = this.#bytes.indexOf(0, from);
    const bytes = this.#bytes.slice(from, end < 0 ? undefined : end);
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}

/** `.section .debug_str { … }` after `.section`; its strings are kept, other sections are skipped. */
export function parseSection(cursor: PtxCursor, strings: DebugStrings): void {
  const name = cursor.take("directive", "the name of a section").text;
  const keeps = name === ".debug_str";
  cursor.expect("{");
  let sign = 1n;
  for (let depth = 1; depth > 0;) {
    const token = cursor.next();
    if (token.kind === "end") cursor.fail("`}`");
    if (token.kind === "mark") sign = token.text === "-" ? -1n : 1n;
    if (token.kind === "mark") depth += token.text === "{" ? 1 : token.text === "}" ? -1 : 0;
    else if (keeps && token.kind === "word" && cursor.is(":")) strings.label(token.text);
    else if (keeps && token.kind === "number") {
      const number = readNumber(token.text);
      if (number?.kind === "integer") strings.push(Number(sign * number.value & 0xffn));
    }
  }
}

/** Puts the locations where functions were inlined into the items of `.loc`, now that their names are known. */
export function nameInlined<T extends PtxKernel | PtxFunction>(
  code: readonly T[],
  inlined: InlinedLocs,
  strings: DebugStrings,
): T[] {
  if (inlined.size === 0) return [...code];
  const named = (items: readonly Item[]): Item[] =>
    items.map((item) => {
      const found = item.kind === "loc" ? inlined.get(item) : undefined;
      if (item.kind !== "loc" || found === undefined) return item;
      const { label, offset, at } = found;
      const location: PtxInlined = { function: strings.find(label, offset), ...at };
      return { ...item, inlined: location };
    });
  return code.map((each) => {
    if ("body" in each) return { ...each, body: named(each.body) };
    return each.code === undefined
      ? each
      : { ...each, code: { ...each.code, body: named(each.code.body) } };
  });
}
