/** The parameters of an entry, read from PTX text, for drivers that cannot tell them. */
import type { ParameterInfo } from "../driver.ts";

/**
 * Where an entry's parameters lie in its argument block; undefined when the text has no such entry. Reads only
 * the entry's head: `.entry name(.param .u64 X, .param .align 64 .b8 map[128])`.
 */
export function parseEntryParameters(ptx: string, symbol: string): ParameterInfo[] | undefined {
  const head = new RegExp(
    `\\.entry\\s+${symbol.replaceAll("$", "\\$")}\\s*(?:\\(([^)]*)\\))?[\\s{.]`,
  ).exec(ptx);
  if (head === null) return undefined;
  let end = 0;
  return (head[1] ?? "").split(",").filter((text) => text.includes(".param")).map((text) => {
    const elementBytes = Number(/\.[a-z]+(\d+)(?:x2)?\s+[\w$%]+/.exec(text)?.[1] ?? 0) / 8;
    const count = Number(/\[(\d+)\]/.exec(text)?.[1] ?? 1);
    const align = Number(/\.align\s+(\d+)/.exec(text)?.[1] ?? elementBytes);
    const offset = Math.ceil(end / align) * align;
    const bytes = elementBytes * count;
    end = offset + bytes;
    return { offset, bytes };
  });
}
