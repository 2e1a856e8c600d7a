/** Source maps, version 3 (ECMA-426): mappings as base64 numbers of variable length. */

/** A location in the generated file and its origin in the source; all counted from 0. */
export interface Mapping {
  readonly line: number;
  readonly column: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The field `mappings` of a map with one source. Each number but the line is the difference from the one before. */
export function encodeMappings(mappings: readonly Mapping[]): string {
  const sorted = mappings.toSorted((a, b) => a.line - b.line || a.column - b.column);
  let [text, line, column, sourceLine, sourceColumn] = ["", 0, 0, 0, 0];
  for (const [index, mapping] of sorted.entries()) {
    if (mapping.line > line) {
      text += ";".repeat(mapping.line - line);
      [line, column] = [mapping.line, 0];
    } else if (index > 0) {
      text += ",";
    }
    const fields = [
      mapping.column - column,
      0,
      mapping.sourceLine - sourceLine,
      mapping.sourceColumn - sourceColumn,
    ];
    text += fields.map(encodeNumber).join("");
    ({ column, sourceLine, sourceColumn } = mapping);
  }
  return text;
}

/** The sign is the lowest bit; digits of five bits, the lowest first, the sixth bit says that more follow. */
function encodeNumber(value: number): string {
  let rest = value < 0 ? -value * 2 + 1 : value * 2;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit] ?? "";
  } while (rest > 0);
  return text;
}
