/** Documents of `--json`: each says which version of its form it has. */

/** Raised when a field is removed or means something else; new fields leave it as it is. */
const SCHEMA_VERSION = 1;

/** `lines`: one document a line, of a command that prints several (`--watch`). */
export type JsonLayout = "pretty" | "lines";

/** A document as text, with a line end. */
export function jsonText(document: object, layout: JsonLayout = "pretty"): string {
  const indent = layout === "pretty" ? 2 : 0;
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...document }, null, indent)}\n`;
}

/** Whether a value that was read is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
