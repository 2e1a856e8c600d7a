import { checkImage } from "../../../ffi/cuda/image.ts";
import type { HostBytes } from "../../../ffi/dtype.ts";
import { ImageError } from "../../../ffi/errors.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

/** The smallest cubin that is whole: one section of 16 bytes at the end, one without room in the file. */
function cubin(): HostBytes {
  const bytes = new Uint8Array(64 + 2 * 64 + 16);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(18, 190, true);
  view.setBigUint64(40, 64n, true);
  view.setUint16(58, 64, true);
  view.setUint16(60, 2, true);
  const section = (at: number, type: number, offset: bigint, size: bigint): void => {
    view.setUint32(at + 4, type, true);
    view.setBigUint64(at + 24, offset, true);
    view.setBigUint64(at + 32, size, true);
  };
  section(64, 1, 192n, 16n);
  section(128, 8, 192n, 4096n);
  return bytes;
}

Deno.test("checkImage() passes a whole cubin as it is", () => {
  const image = cubin();
  assert(checkImage(image, "a.cubin") === image);
});

Deno.test("checkImage() refuses a cubin cut off anywhere", () => {
  const whole = cubin();
  for (let length = 4; length < whole.length; length++) {
    assertThrows(
      () => checkImage(whole.subarray(0, length), "a.cubin"),
      ImageError,
      "it is truncated",
    );
  }
});

Deno.test("checkImage() refuses sizes that overflow and tables with too small entries", () => {
  const huge = cubin();
  new DataView(huge.buffer).setBigUint64(64 + 32, 2n ** 64n - 1n, true);
  assertThrows(() => checkImage(huge, "a.cubin"), ImageError, "it is truncated");
  const small = cubin();
  new DataView(small.buffer).setUint16(58, 8, true);
  assertThrows(() => checkImage(small, "a.cubin"), ImageError, "its ELF header is damaged");
});

Deno.test("checkImage() refuses a file for another machine", () => {
  const image = cubin();
  new DataView(image.buffer).setUint16(18, 62, true);
  assertThrows(
    () => checkImage(image, "a.cubin"),
    ImageError,
    "an ELF file for machine 62, not for CUDA (190)",
  );
});

Deno.test("checkImage() ends PTX text with NUL", () => {
  const text = new TextEncoder().encode(".version 7.0\n");
  assertEquals(checkImage(text, "a.ptx"), new Uint8Array([...text, 0]));
  const terminated = new Uint8Array([...text, 0, 0]);
  assert(checkImage(terminated, "a.ptx") === terminated);
});

Deno.test("checkImage() refuses what is neither cubin nor PTX", () => {
  assertThrows(
    () => checkImage(new Uint8Array(0), "a.ptx"),
    ImageError,
    "kernel image a.ptx: it is empty",
  );
  for (
    const junk of [
      new Uint8Array([0]),
      new Uint8Array([1, 2, 3]),
      new TextEncoder().encode("<!doctype html>"),
    ]
  ) {
    assertThrows(() => checkImage(junk, "a.ptx"), ImageError, "neither a cubin nor PTX text");
  }
});

Deno.test("checkImage() takes the checks out of PTX text, as they are out of cubins", () => {
  const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  const text = ".version 7.0\n  ld;\n  // check\n  call;\nL0:\n  // end of check\n  st;\n";
  for (const image of [encode(text), encode(`${text}\0`)]) {
    assertEquals(checkImage(image, "k.ptx"), encode(".version 7.0\n  ld;\n  st;\n\0"));
  }
});
