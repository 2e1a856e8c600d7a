/**
 * The state in the fragment of an address: `#1` and base64url of deflate-raw of JSON. The fragment never reaches a
 * server. What is not of this version, or is damaged, is said and not guessed.
 */
import { FILL_NAMES } from "../session/inputs.ts";
import { INITIAL, type PageState, VIEWS } from "./state.ts";

const VERSION = "1";
/** No person reads a longer text; a damaged address must not fill the memory. */
const MAX_BYTES = 2 ** 20;

/** A state, or why there is none. */
export type ReadAddress =
  | { readonly kind: "state"; readonly state: PageState }
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly reason: string };

/** The fragment of an address, with its `#`. What is as in the initial state is left out. */
export async function writeAddress(state: PageState): Promise<string> {
  const initial: Readonly<Record<string, unknown>> = { ...INITIAL };
  const chosen = Object.entries(state).filter(([name, value]) =>
    JSON.stringify(value) !== JSON.stringify(initial[name])
  );
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(chosen)));
  const packed = await through(bytes, new CompressionStream("deflate-raw"), Infinity);
  const text = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `#${VERSION}${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Reads a fragment. */
export async function readAddress(fragment: string): Promise<ReadAddress> {
  const text = fragment.replace(/^#/, "");
  if (text === "") return { kind: "none" };
  if (!text.startsWith(VERSION)) {
    return {
      kind: "unreadable",
      reason: "The address is of another version of this page, or is no state of it.",
    };
  }
  try {
    const coded = atob(text.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(coded, (char) => char.charCodeAt(0));
    const json = await through(bytes, new DecompressionStream("deflate-raw"), MAX_BYTES);
    const state = stateOf(JSON.parse(new TextDecoder().decode(json)));
    if (state !== undefined) return { kind: "state", state };
  } catch {
    // Below.
  }
  return { kind: "unreadable", reason: "The address is damaged: part of it is missing." };
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
  limit: number,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const writer = stream.writable.getWriter();
  // A failure is that of the reader as well.
  const written = writer.write(bytes).then(() => writer.close()).catch(() => {});
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    length += value.length;
    if (length > limit) throw new RangeError("too long");
    pieces.push(value);
  }
  await written;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A state from data that anybody may have written; undefined where a part has the wrong type. */
function stateOf(data: unknown): PageState | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const merged: Record<string, unknown> = { ...INITIAL, ...data };
  const isGood = Object.entries(CHECKS).every(([name, check]) => check(merged[name]));
  if (!isGood) return undefined;
  const known = Object.keys(CHECKS).flatMap((name) =>
    merged[name] === undefined ? [] : [[name, merged[name]] as const]
  );
  // Every part of it was checked.
  return Object.fromEntries(known) as unknown as PageState;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const orNone = (check: Check): Check => (value) => value === undefined || check(value);
const recordOf = (check: Check): Check => (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) &&
  Object.values(value).every(check);

const isFill: Check = (value) => {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  if (!FILL_NAMES.some((name) => name === value.kind)) return false;
  if (value.kind === "random") return "seed" in value && isNumber(value.seed);
  if (value.kind !== "numbers") return true;
  return "values" in value && Array.isArray(value.values) && value.values.every(isNumber);
};

const CHECKS: { readonly [K in keyof Required<PageState>]: Check } = {
  entry: isText,
  text: orNone(isText),
  target: isText,
  kernel: orNone(isText),
  variant: recordOf(isText),
  config: orNone(isText),
  sizes: recordOf(isNumber),
  extent: isNumber,
  budget: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  fills: recordOf(isFill),
  view: (value) => typeof value === "string" && Object.hasOwn(VIEWS, value),
  line: orNone(isNumber),
  tile: orNone(isText),
  program: (value) => Array.isArray(value) && value.length === 3 && value.every(isCount),
  warp: isCount,
  lane: isCount,
  step: orNone(isCount),
};
