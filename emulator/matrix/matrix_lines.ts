/** Matrices in memory by lines: rows, or columns, at equal distances. */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import { checkAccess } from "../access/check.ts";
import { checkedAccess } from "../access/checked_access.ts";
import { KIND, resolver } from "../access/reach.ts";
import { addressSpace } from "../access/spelling.ts";
import { accessOf } from "../access/state.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";

export interface MatrixLines {
  readonly verb: "load" | "store";
  readonly lines: number;
  /** Elements of a line, and their bits. */
  readonly length: number;
  readonly bits: number;
  /** Whether what it loads may be undefined. */
  readonly carries: boolean;
}

/** Where the first line is, and how far it is to the next. */
export interface LineLocations {
  readonly base: number;
  readonly pitch: number;
  /** Whether some bytes that it reads hold nothing. */
  unwritten: boolean;
}

const FIRST_LANE = 1;
const MOST_BYTES = 16;

/** How the lines of an instruction are found, and checked; addresses and strides are the same in all lanes. */
export function matrixLines(
  match: Match,
  context: HandlerContext,
  { verb, lines, length, bits, carries }: MatrixLines,
): (w: number) => LineLocations {
  const { machine, site } = context;
  const operand = (name: string): Match["operands"][number] | undefined =>
    match.operands.find((each) => each.name === name);
  const ref = context.address(must(operand("a"), "address of wmma").operand);
  const stride = operand("s");
  const strideRow = stride === undefined ? undefined : context.row(stride.operand, "u32");
  const access = accessOf(machine);
  const { reach } = access;
  const resolve = resolver(reach, ref, addressSpace(match, ref), site);
  const lineBytes = length * bits / 8;
  const bytes = Math.min(lineBytes, MOST_BYTES);
  const perLine = lineBytes / bytes;
  const check = checkedAccess(access, {
    verb,
    bytes,
    align: bytes,
    reads: verb === "load",
    writes: verb === "store",
    strong: false,
    carries,
  }, site);
  const checkLines = (found: LineLocations): void => {
    const { base, pitch } = found;
    const kind = reach.kind === KIND.mixed ? reach.kinds[0] ?? KIND.global : reach.kind;
    for (let first = 0; first < lines * perLine; first += LANES) {
      const count = Math.min(LANES, lines * perLine - first);
      [reach.low, reach.high, reach.bits] = [Infinity, 0, 0];
      for (let i = 0; i < count; i++) {
        const line = Math.floor((first + i) / perLine);
        const location = base + line * pitch + ((first + i) % perLine) * bytes;
        reach.locations[i] = location;
        reach.low = Math.min(reach.low, location);
        reach.high = Math.max(reach.high, location);
        reach.bits |= location;
      }
      reach.kind = kind;
      checkAccess(access, check, -1 >>> (LANES - count) | 0);
      if (access.unwritten !== 0) found.unwritten = true;
    }
  };
  return (w) => {
    resolve(w, FIRST_LANE);
    const base = reach.locations[0] ?? 0;
    const pitch = strideRow === undefined
      ? lineBytes
      : (machine.views.u32[(w + strideRow) >>> 2] ?? 0) * bits / 8;
    const locations = { base, pitch, unwritten: false };
    if (machine.checks) checkLines(locations);
    return locations;
  };
}
