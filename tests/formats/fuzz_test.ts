/**
 * Damaged files of tensors: opened and read, they give tensors or the typed error, never another one. `TRI_FUZZ=20000`
 * tries more.
 */
import { openNpy, TensorFileError } from "../../formats/npy.ts";
import { encodeNpz, openNpz } from "../../formats/npz.ts";
import { encodeSafetensors, openSafetensors } from "../../formats/safetensors.ts";
import { assert } from "../support/assert.ts";
import fc from "../support/property.ts";

const COUNT = Number(Deno.env.get("TRI_FUZZ") ?? 400);
const DATA = new URL("./data/", import.meta.url);

type Bytes = Uint8Array<ArrayBuffer>;

const small = {
  a: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] },
  b: { data: [5, 6], dtype: "int64" },
} as const;

const readNpy = (bytes: Bytes): void => {
  using file = openNpy(bytes);
  file.array();
};
const readNpz = (bytes: Bytes): void => {
  using file = openNpz(bytes);
  for (const [, tensor] of file) tensor.array();
};
const readSafetensors = (bytes: Bytes): void => {
  using file = openSafetensors(bytes);
  for (const [, tensor] of file) tensor.array();
};

const FILES: readonly (readonly [Bytes, (bytes: Bytes) => void])[] = [
  [Deno.readFileSync(new URL("float32.npy", DATA)), readNpy],
  [Deno.readFileSync(new URL("version2.npy", DATA)), readNpy],
  [Deno.readFileSync(new URL("fields.npy", DATA)), readNpy],
  [encodeNpz(small), readNpz],
  [encodeNpz(small, { compress: true }), readNpz],
  [Deno.readFileSync(new URL("mixed.npz", DATA)), readNpz],
  [encodeSafetensors(small, { metadata: { format: "tri" } }), readSafetensors],
];

const edit = fc.record({
  at: fc.nat(100_000),
  kind: fc.constantFrom("set", "flip", "digit", "cut", "insert", "repeat"),
  value: fc.nat(255),
});

/** Headers are at the start and the end: half of the edits are there. */
function damage(
  bytes: Bytes,
  { at, kind, value }: { at: number; kind: string; value: number },
): Bytes {
  const place = at % 2 === 0 ? at % bytes.length : (at >> 1) % Math.min(bytes.length, 128);
  const copy = bytes.slice();
  if (kind === "set") copy[place] = value;
  else if (kind === "flip") copy[place] = (copy[place] ?? 0) ^ (1 << value % 8);
  else if (kind === "digit") copy[place] = 0x30 + value % 10;
  else if (kind === "cut") return copy.slice(0, place);
  else {
    const inserted = kind === "insert" ? Uint8Array.of(value) : copy.slice(place, place + value);
    return Uint8Array.of(...copy.subarray(0, place), ...inserted, ...copy.subarray(place));
  }
  return copy;
}

Deno.test("readers of formats refuse damaged files by their error", () => {
  for (const [file, read] of FILES) {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let bytes = file;
        for (const each of edits) if (bytes.length > 0) bytes = damage(bytes, each);
        try {
          read(bytes);
        } catch (error) {
          assert(
            error instanceof TensorFileError,
            `${error instanceof Error ? error.stack : error}`,
          );
        }
      }),
      { numRuns: COUNT },
    );
  }
});
