/**
 * Kernel images before the driver sees them. The driver is given an address and no length, and believes what
 * the image says of its own size, so a truncated file could crash the process; it is refused here.
 */
import { withoutChecks } from "../../compiler/ptx/checks.ts";
import type { HostBytes } from "../dtype.ts";
import { ImageError } from "../errors.ts";

const ELF_MAGIC = [0x7f, 0x45, 0x4c, 0x46];
const ELF_64_BITS = 2;
const EM_CUDA = 190;
const HEADER_BYTES = 64;
const SECTION_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
/** Sections of this type take no room in the file. */
const SHT_NOBITS = 8;

/**
 * The image as the driver wants it: a whole cubin, or PTX text that ends with NUL, and as cubins are without checks.
 */
export function checkImage(image: HostBytes, name: string): HostBytes {
  if (image.length === 0) throw new ImageError(name, "it is empty");
  if (ELF_MAGIC.every((byte, i) => image[i] === byte)) {
    checkCubin(image, name);
    return image;
  }
  const end = image.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? image : image.subarray(0, end));
  if (!text.includes(".version")) {
    throw new ImageError(name, "it is neither a cubin nor PTX text");
  }
  const shipped = withoutChecks(text);
  if (end >= 0 && shipped.length === text.length) return image;
  return new TextEncoder().encode(`${shipped}\0`);
}

/** Layout of ELF64: header fields at 18, 32, 40, 54 to 60; section headers at 4, 24, 32; program headers at 8, 32. */
function checkCubin(image: HostBytes, name: string): void {
  if (image.length < HEADER_BYTES) throw truncated(image, HEADER_BYTES, name);
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const machine = view.getUint16(18, true);
  if (view.getUint8(4) !== ELF_64_BITS || machine !== EM_CUDA) {
    throw new ImageError(
      name,
      `it is an ELF file for machine ${machine}, not for CUDA (${EM_CUDA})`,
    );
  }
  const programs = table(
    view,
    { at: 32, sizeAt: 54, countAt: 56, least: PROGRAM_HEADER_BYTES },
    name,
  );
  for (const at of programs) inside(view, at + 8, at + 32, name);
  const sections = table(
    view,
    { at: 40, sizeAt: 58, countAt: 60, least: SECTION_HEADER_BYTES },
    name,
  );
  for (const at of sections) {
    if (view.getUint32(at + 4, true) !== SHT_NOBITS) inside(view, at + 24, at + 32, name);
  }
}

interface TableFields {
  /** Where the header keeps the table's offset, entry size and entry count. */
  readonly at: number;
  readonly sizeAt: number;
  readonly countAt: number;
  readonly least: number;
}

/** Offsets of a header table's entries. */
function table(view: DataView, fields: TableFields, name: string): number[] {
  const start = Number(view.getBigUint64(fields.at, true));
  const size = view.getUint16(fields.sizeAt, true);
  const count = view.getUint16(fields.countAt, true);
  if (count > 0 && size < fields.least) throw new ImageError(name, "its ELF header is damaged");
  if (start + count * size > view.byteLength) throw truncated(view, start + count * size, name);
  return Array.from({ length: count }, (_, i) => start + i * size);
}

/** Refuses a part of the file, given by the locations of its offset and size, that reaches past the end. */
function inside(view: DataView, offsetAt: number, sizeAt: number, name: string): void {
  const end = view.getBigUint64(offsetAt, true) + view.getBigUint64(sizeAt, true);
  if (end > view.byteLength) throw truncated(view, Number(end), name);
}

function truncated(image: ArrayBufferView, needed: number, name: string): ImageError {
  return new ImageError(name, `it is truncated: ${image.byteLength} bytes of at least ${needed}`);
}
