/** Documents of `--json`: each says which version of its form it has. */

/** Raised when a field is removed or means something else; new fields leave it as it is. */
const SCHEMA_VERSION = 1;

/** A document as text, with a line end. */
export function jsonText(document: object): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...document }, null, 2)}\n`;
}
