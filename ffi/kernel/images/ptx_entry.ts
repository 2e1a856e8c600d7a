/** The parameters of an entry, read from PTX text, for drivers that do not report them. */
import type { ParameterInfo } from "../../driver.ts";

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
  return (head[1] ?? "").split(",").filter((text) => text.trim() !== "").map((text) => {
    // An `.align` after the type is that of what a pointer points to.
    const type = /\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z]+(\d+)/.exec(text);
    const elementBytes = Number(type?.[2] ?? 0) / 8;
    const align = Number(type?.[1] ?? elementBytes);
    const count = Number(/\[(\d+)\]/.exec(text)?.[1] ?? 1);
    const offset = Math.ceil(end / align) * align;
    const bytes = elementBytes * count;
    end = offset + bytes;
    return { offset, bytes };
  });
}
