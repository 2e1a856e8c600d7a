/**
 * Zip files as NumPy writes them (APPNOTE.TXT of PKWARE): members that are stored or deflated, with the 64-bit fields
 * of large files. The directory at the end is what counts; headers in front of members are only skipped.
 */
import type { HostBytes } from "../ffi/dtype.ts";
import { TensorFileError } from "./errors.ts";
import { type ByteSource, readPart } from "./source.ts";

/** A member of a zip file. */
export interface ZipMember {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  /** Size of what it contains. */
  readonly bytes: number;
  /** Where its header is. */
  readonly offset: number;
  /** Whether it is encrypted. */
  readonly isEncrypted: boolean;
}

const END_BYTES = 22;
const MOST_COMMENT_BYTES = 65_535;
const END64_BYTES = 56;
const LOCATOR_BYTES = 20;
const ENTRY_BYTES = 46;
const HEADER_BYTES = 30;
/** The directory of a million members; files of tensors have fewer. */
const MOST_DIRECTORY_BYTES = 2 ** 28;

const SIGNATURE = {
  end: 0x06054b50,
  end64: 0x06064b50,
  locator: 0x07064b50,
  entry: 0x02014b50,
  header: 0x04034b50,
} as const;

/** The tag of 64-bit sizes among the extra fields. */
const EXTRA_64 = 1;
/** What the 32-bit field of a size has where the 64-bit one counts. */
const IN_EXTRA = 0xffffffff;

/** Reads the directory. Throws `TensorFileError` for a file that is no zip file, is damaged, or is split into parts. */
export function readDirectory(source: ByteSource): readonly ZipMember[] {
  const { name: file } = source;
  const { offset, bytes, count, end } = findDirectory(source);
  if (bytes > MOST_DIRECTORY_BYTES || offset + bytes > end || count * ENTRY_BYTES > bytes) {
    const problem =
      `the directory of ${count} members, ${bytes} bytes at byte ${offset}, is not there`;
    throw damaged(file, end, problem);
  }
  const directory = readPart(source, offset, bytes);
  const members: ZipMember[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const entry = readEntry(directory, at, { file, base: offset });
    members.push(entry.member);
    at = entry.end;
  }
  checkApart(members, file, offset);
  return members;
}

interface Directory {
  readonly offset: number;
  readonly bytes: number;
  readonly count: number;
  /** Where the record is that says so. */
  readonly end: number;
}

function findDirectory(source: ByteSource): Directory {
  const { name: file, byteLength } = source;
  const length = Math.min(byteLength, END_BYTES + MOST_COMMENT_BYTES);
  const base = byteLength - length;
  const tail = readPart(source, base, length);
  const view = viewOf(tail);
  let at = length - END_BYTES;
  const isEnd = (place: number): boolean =>
    view.getUint32(place, true) === SIGNATURE.end &&
    view.getUint16(place + 20, true) <= length - place - END_BYTES;
  while (at >= 0 && !isEnd(at)) at--;
  if (at < 0) {
    throw new TensorFileError(
      { file, offset: byteLength },
      "this is no zip file, or its end is missing",
      {
        hint:
          "`numpy.savez` writes .npz files, which are zip files; if it is one, fetch or write it again",
      },
    );
  }
  const end = base + at;
  const directory64 = findDirectory64(source, end);
  if (directory64 !== undefined) return directory64;
  const [disk, count] = [view.getUint16(at + 4, true), view.getUint16(at + 10, true)];
  if (disk !== 0) throw damaged(file, end, "the zip file is split into parts");
  const bytes = view.getUint32(at + 12, true);
  return { offset: view.getUint32(at + 16, true), bytes, count, end };
}

function findDirectory64(source: ByteSource, end: number): Directory | undefined {
  const { name: file } = source;
  if (end < LOCATOR_BYTES + END64_BYTES) return undefined;
  const locator = viewOf(readPart(source, end - LOCATOR_BYTES, LOCATOR_BYTES));
  if (locator.getUint32(0, true) !== SIGNATURE.locator) return undefined;
  const place = readLong(locator, 8, file, end - LOCATOR_BYTES);
  if (place + END64_BYTES > end) {
    throw damaged(file, end - LOCATOR_BYTES, `its 64-bit end is not at byte ${place}`);
  }
  const view = viewOf(readPart(source, place, END64_BYTES));
  if (view.getUint32(0, true) !== SIGNATURE.end64) {
    throw damaged(file, place, "its 64-bit end is not here");
  }
  return {
    count: readLong(view, 32, file, place),
    bytes: readLong(view, 40, file, place),
    offset: readLong(view, 48, file, place),
    end: place,
  };
}

function readEntry(
  directory: HostBytes,
  at: number,
  { file, base }: { readonly file: string; readonly base: number },
): { readonly member: ZipMember; readonly end: number } {
  const view = viewOf(directory);
  if (
    at + ENTRY_BYTES > directory.length || view.getUint32(at, true) !== SIGNATURE.entry
  ) {
    throw damaged(file, base + at, "the directory has no entry here");
  }
  const flags = view.getUint16(at + 8, true);
  const [nameBytes, extraBytes] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true)];
  const nameEnd = at + ENTRY_BYTES + nameBytes;
  const extraEnd = nameEnd + extraBytes;
  const end = extraEnd + view.getUint16(at + 32, true);
  if (end > directory.length) throw damaged(file, base + at, "an entry leaves the directory");
  const longs = readExtra64(view, nameEnd, extraEnd);
  /** Sizes that do not fit are in the extra field, in this order. */
  const size = (place: number): number => {
    const short = view.getUint32(at + place, true);
    if (short !== IN_EXTRA) return short;
    const long = longs.shift();
    if (long === undefined || long > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw damaged(file, base + at, "an entry has a size that cannot be");
    }
    return Number(long);
  };
  const bytes = size(24);
  const compressedBytes = size(20);
  const offset = size(42);
  const member = {
    name: new TextDecoder().decode(directory.subarray(at + ENTRY_BYTES, nameEnd)),
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    compressedBytes,
    bytes,
    offset,
    isEncrypted: (flags & 1) !== 0,
  };
  return { member, end };
}

/** The 64-bit numbers of an entry. */
function readExtra64(view: DataView, start: number, end: number): bigint[] {
  for (let at = start; at + 4 <= end;) {
    const [tag, bytes] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    const after = at + 4 + bytes;
    if (tag === EXTRA_64 && after <= end) {
      const longs: bigint[] = [];
      for (let long = at + 4; long + 8 <= after; long += 8) {
        longs.push(view.getBigUint64(long, true));
      }
      return longs;
    }
    at = after;
  }
  return [];
}

/** Members that share bytes are how small files pretend to have much in them. */
function checkApart(members: readonly ZipMember[], file: string, directory: number): void {
  const sorted = members.toSorted((a, b) => a.offset - b.offset);
  sorted.forEach(({ name, offset, compressedBytes }, i) => {
    const next = sorted[i + 1]?.offset ?? directory;
    if (offset + HEADER_BYTES + compressedBytes <= next) return;
    throw damaged(file, offset, `the member ${JSON.stringify(name)} reaches past byte ${next}`);
  });
}

/** Where a member's bytes begin: after its header, whose length the directory does not say. */
export function findContent(source: ByteSource, member: ZipMember): number {
  const { name: file, byteLength } = source;
  const { offset, compressedBytes } = member;
  if (offset + HEADER_BYTES > byteLength) throw damaged(file, offset, "a member is not there");
  const view = viewOf(readPart(source, offset, HEADER_BYTES));
  if (view.getUint32(0, true) !== SIGNATURE.header) {
    throw damaged(file, offset, "a member's header is not here");
  }
  const content = offset + HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
  if (content + compressedBytes > byteLength) {
    throw damaged(file, offset, `the member ${JSON.stringify(member.name)} leaves the file`);
  }
  return content;
}

function readLong(view: DataView, at: number, file: string, base: number): number {
  const long = view.getBigUint64(at, true);
  if (long <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(long);
  throw damaged(file, base + at, "a number that is larger than any file");
}

function damaged(file: string, offset: number, problem: string): TensorFileError {
  return new TensorFileError({ file, offset }, problem, {
    hint: "the zip file is damaged: fetch or write it again",
  });
}

function viewOf({ buffer, byteOffset, byteLength }: HostBytes): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Sizes above need the 64-bit fields. */
const MOST_SHORT = 0xffffffff - 1;

/** 1 January 1980, the first date that zip files have: the same tensors give the same bytes. */
const DATE = 0x21;
/** Names are UTF-8. */
const UTF8_FLAG = 0x800;

/** What the header in front of a member says; always with 64-bit sizes, as NumPy writes them. */
export function printHeader(member: ZipMember): HostBytes {
  const name = new TextEncoder().encode(member.name);
  const bytes = new Uint8Array(HEADER_BYTES + name.length + 20);
  const view = viewOf(bytes);
  view.setUint32(0, SIGNATURE.header, true);
  printFacts(view, 4, { ...member, bytes: IN_EXTRA, compressedBytes: IN_EXTRA });
  view.setUint16(26, name.length, true);
  view.setUint16(28, 20, true);
  bytes.set(name, HEADER_BYTES);
  const extra = HEADER_BYTES + name.length;
  view.setUint16(extra, EXTRA_64, true);
  view.setUint16(extra + 2, 16, true);
  view.setBigUint64(extra + 4, BigInt(member.bytes), true);
  view.setBigUint64(extra + 12, BigInt(member.compressedBytes), true);
  return bytes;
}

/** What header and directory have alike: version, flags, method, date, checksum and sizes. */
function printFacts(view: DataView, at: number, member: Omit<ZipMember, "name" | "offset">): void {
  view.setUint16(at, 45, true);
  view.setUint16(at + 2, UTF8_FLAG, true);
  view.setUint16(at + 4, member.method, true);
  view.setUint16(at + 8, DATE, true);
  view.setUint32(at + 10, member.crc, true);
  view.setUint32(at + 14, member.compressedBytes, true);
  view.setUint32(at + 18, member.bytes, true);
}

/** The directory of members, which begins at `offset`, and the records that end the file. */
export function printDirectory(members: readonly ZipMember[], offset: number): HostBytes {
  const entries = members.map(printEntry);
  const bytes = entries.reduce((sum, entry) => sum + entry.length, 0);
  const count = members.length;
  const isLong = offset > MOST_SHORT || bytes > MOST_SHORT || count >= 0xffff;
  const end64 = isLong ? printEnd64({ offset, bytes, count }) : new Uint8Array(0);
  const end = new Uint8Array(END_BYTES);
  const view = viewOf(end);
  view.setUint32(0, SIGNATURE.end, true);
  view.setUint16(8, isLong ? 0xffff : count, true);
  view.setUint16(10, isLong ? 0xffff : count, true);
  view.setUint32(12, isLong ? IN_EXTRA : bytes, true);
  view.setUint32(16, isLong ? IN_EXTRA : offset, true);
  return concat([...entries, end64, end]);
}

function printEnd64({ offset, bytes, count }: Omit<Directory, "end">): HostBytes {
  const record = new Uint8Array(END64_BYTES + LOCATOR_BYTES);
  const view = viewOf(record);
  view.setUint32(0, SIGNATURE.end64, true);
  view.setBigUint64(4, BigInt(END64_BYTES - 12), true);
  view.setUint16(12, 45, true);
  view.setUint16(14, 45, true);
  view.setBigUint64(24, BigInt(count), true);
  view.setBigUint64(32, BigInt(count), true);
  view.setBigUint64(40, BigInt(bytes), true);
  view.setBigUint64(48, BigInt(offset), true);
  view.setUint32(END64_BYTES, SIGNATURE.locator, true);
  view.setBigUint64(END64_BYTES + 8, BigInt(offset + bytes), true);
  view.setUint32(END64_BYTES + 16, 1, true);
  return record;
}

function printEntry(member: ZipMember): HostBytes {
  const name = new TextEncoder().encode(member.name);
  const longs = [member.bytes, member.compressedBytes, member.offset]
    .filter((size) => size > MOST_SHORT);
  const extraBytes = longs.length === 0 ? 0 : 4 + 8 * longs.length;
  const entry = new Uint8Array(ENTRY_BYTES + name.length + extraBytes);
  const view = viewOf(entry);
  const short = (size: number): number => size > MOST_SHORT ? IN_EXTRA : size;
  view.setUint32(0, SIGNATURE.entry, true);
  view.setUint16(4, 45, true);
  const { bytes, compressedBytes, offset } = member;
  printFacts(view, 6, { ...member, bytes: short(bytes), compressedBytes: short(compressedBytes) });
  view.setUint16(28, name.length, true);
  view.setUint16(30, extraBytes, true);
  view.setUint32(42, short(offset), true);
  entry.set(name, ENTRY_BYTES);
  if (longs.length === 0) return entry;
  const extra = ENTRY_BYTES + name.length;
  view.setUint16(extra, EXTRA_64, true);
  view.setUint16(extra + 2, 8 * longs.length, true);
  longs.forEach((long, i) => view.setBigUint64(extra + 4 + 8 * i, BigInt(long), true));
  return entry;
}

function concat(parts: readonly HostBytes[]): HostBytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
