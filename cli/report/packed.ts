/** Plain data with typed arrays as JSON: an array is its type and its bytes in base64. Numbers keep their bits. */

/** The types of arrays that reports have. */
const TYPES = { Float64Array, Uint8Array, Uint32Array } as const;

type TypeName = keyof typeof TYPES;

const TYPE = "array";

const nameOf = (value: object): TypeName | undefined =>
  (Object.keys(TYPES) as TypeName[]).find((name) => value instanceof TYPES[name]);

/** As JSON can say it. */
export function pack(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(pack);
  const type = nameOf(value);
  if (type !== undefined && ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return {
      [TYPE]: type,
      bytes: btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join("")),
    };
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, pack(each)]));
}

/** What was packed. */
export function unpack(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(unpack);
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(value));
  const { bytes } = fields;
  const type = (Object.keys(TYPES) as TypeName[]).find((name) => name === fields[TYPE]);
  if (type !== undefined && typeof bytes === "string") {
    const raw = Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0));
    return new TYPES[type](raw.buffer);
  }
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, unpack(each)]));
}
