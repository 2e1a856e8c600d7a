/** Breakpoints and watchpoints: what was asked for, as something that can be compared with what runs. */
import { WINDOW } from "../memory.ts";
import { LANES } from "../register_file.ts";
import { type Condition, ConditionError, parseCondition } from "./condition.ts";
import type { Breakpoint, BreakpointAnswer, Watchpoint } from "./debug_launch.ts";
import type { ObservedInstruction } from "./observed_launch.ts";
import type { ObservedAccess } from "./observer.ts";

/** A breakpoint at a line that has instructions; -1: at none. */
export interface Stop {
  readonly line: number;
  readonly file: string | undefined;
  readonly asks: Condition | undefined;
}

/** A watchpoint; a value with what it was when it was asked last, as text. */
export type Watched =
  | { readonly kind: "memory"; readonly address: bigint; readonly bytes: number }
  | { readonly kind: "value"; readonly asks: Condition; last: string | undefined }
  | { readonly kind: "none" };

/** Whether a path names a file: it is the file's path or the end of it. */
export function isFile(file: string, path: string): boolean {
  const [own, asked] = [file, path].map((each) => `/${each.replaceAll("\\", "/")}`);
  return own !== undefined && asked !== undefined && (own.endsWith(asked) || asked.endsWith(own));
}

/** The first line from that of a breakpoint on that has instructions. */
function lineAt(
  instructions: readonly ObservedInstruction[],
  { line, file }: Breakpoint,
): number | undefined {
  let found: number | undefined;
  for (const { site } of instructions) {
    if (site.line === undefined || site.line < line) continue;
    if (file !== undefined && !isFile(site.file ?? "", file)) continue;
    if (found === undefined || site.line < found) found = site.line;
  }
  return found;
}

const refused = (line: number, message: string): BreakpointAnswer => ({
  verified: false,
  message,
  line,
});

/** A condition, or why it is none. */
function conditionOf(text: string): Condition | string {
  try {
    return parseCondition(text);
  } catch (error) {
    if (error instanceof ConditionError) return error.message;
    throw error;
  }
}

/** What a breakpoint means for a kernel. */
export function stopOf(
  instructions: readonly ObservedInstruction[],
  point: Breakpoint,
): { readonly stop: Stop; readonly answer: BreakpointAnswer } {
  const { file, condition } = point;
  const nowhere: Stop = { line: -1, file, asks: undefined };
  const line = lineAt(instructions, point);
  if (line === undefined) {
    const message = "no instruction of the kernel belongs to this line or a later one";
    return { stop: nowhere, answer: refused(point.line, message) };
  }
  const asks = condition === undefined ? undefined : conditionOf(condition);
  if (typeof asks === "string") return { stop: nowhere, answer: refused(line, asks) };
  return { stop: { line, file, asks }, answer: { verified: true, line } };
}

/** What a watchpoint means. */
export function watchedOf(
  point: Watchpoint,
): { readonly watched: Watched; readonly answer: BreakpointAnswer } {
  const answer: BreakpointAnswer = { verified: true, line: 0 };
  if (point.kind === "memory") {
    if (point.address >> 32n === BigInt(WINDOW.global)) return { watched: point, answer };
    const message = `0x${point.address.toString(16)} is no address of global memory`;
    return { watched: { kind: "none" }, answer: refused(0, message) };
  }
  const asks = conditionOf(point.expression);
  if (typeof asks === "string") return { watched: { kind: "none" }, answer: refused(0, asks) };
  return { watched: { kind: "value", asks, last: undefined }, answer };
}

/** Whether an access of global memory touches watched bytes. */
export function touches(
  watched: Watched,
  { space, lanes, places, bytes }: ObservedAccess,
): boolean {
  if (watched.kind !== "memory" || space !== "global") return false;
  const first = Number(watched.address & 0xffffffffn);
  for (let lane = 0; lane < LANES; lane++) {
    if ((lanes >>> lane & 1) === 0) continue;
    const place = places[lane] ?? 0;
    if (place < first + watched.bytes && first < place + bytes) return true;
  }
  return false;
}
