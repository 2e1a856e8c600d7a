/**
 * wgmma: products of a warp group, 64 rows of which each of its four warps has 16. A warp computes its own rows when it
 * issues the instruction; see warp_group.ts for what that means for waiting.
 *
 * Not detected: accumulators, or registers of a, that are used while a product is in flight on hardware.
 * Source: PTX ISA 9.0, 9.7.15 "Asynchronous warpgroup level matrix instructions".
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { bug, must } from "../../compiler/support/bug.ts";
import { accessOf } from "../access/state.ts";
import { acquire, release } from "../check/order.ts";
import { Fault } from "../fault.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { wholeWarp } from "./aligned.ts";
import type { Major } from "./descriptor.ts";
import { type FormatName, FORMATS, fragmentReader, isFormatName } from "./formats.ts";
import { fragmentOfA, fragmentOfSum } from "./fragments.ts";
import { sharedReader } from "./shared_operand.ts";
import { isSumFormatName, SUM_FORMATS, type SumFormatName } from "./sums.ts";
import { progressOf, rankInGroup } from "./warp_group.ts";
import { workspaceOf } from "./workspace.ts";

/** Rows of a warp. */
const M = 16;

interface GroupProduct {
  readonly n: number;
  readonly k: number;
  readonly a: FormatName;
  readonly b: FormatName;
  readonly sum: SumFormatName;
}

function readGroupProduct({ modifiers }: Match): GroupProduct {
  const shape = modifiers.find((name) => /^m64n\d+k\d+$/.test(name)) ?? bug("wgmma without shape");
  const [, n = 0, k = 0] = shape.slice(1).split(/[nk]/).map(Number);
  const [d, a, b] = modifiers.slice(-3);
  const sum = modifiers.includes("satfinite") ? "satfinite" : d;
  if (!isFormatName(a) || !isFormatName(b) || !isSumFormatName(sum)) {
    return bug(`types of wgmma: ${modifiers.join(".")}`);
  }
  return { n, k, a, b, sum };
}

/** The immediate operands: transposition, and the sign of the products. */
function immediates(match: Match, context: HandlerContext): { a: Major; b: Major; sign: number } {
  const literal = (name: string, otherwise: bigint): bigint => {
    const found = match.operands.find((operand) => operand.name === name);
    return found === undefined ? otherwise : context.literal(found.operand);
  };
  const major = (name: string): Major => literal(name, 0n) === 0n ? "k" : "mn";
  const sign = (name: string): number => {
    const value = literal(name, 1n);
    if (value === 1n || value === -1n) return Number(value);
    throw new Fault(
      "illegal instruction",
      `wgmma scales by 1 or -1, not ${value}`,
      undefined,
      context.site,
    );
  };
  return { a: major("ta"), b: major("tb"), sign: sign("sa") * sign("sb") };
}

/** A product needs registers to be ordered before it, the first one in any case. */
function checkFence({ machine, site }: HandlerContext): void {
  if (!machine.checks || progressOf(machine.warp).fenced) return;
  throw new Fault(
    "illegal instruction",
    "wgmma.mma_async without a wgmma.fence before it",
    undefined,
    site,
  );
}

function negate(values: Float64Array): void {
  for (let i = 0; i < values.length; i++) values[i] = -(values[i] ?? 0);
}

export function wgmma(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const { n, k, a, b, sum } = readGroupProduct(match);
  const operand = (name: string): Match["operands"][number] =>
    must(match.operands.find((each) => each.name === name), `operand ${name} of wgmma`);
  const rowsOf = (name: string): readonly number[] =>
    context.rows(operand(name).operand, operand(name).type);
  const { a: majorOfA, b: majorOfB, sign } = immediates(match, context);
  const [rowOfA = 0, ...moreRowsOfA] = rowsOf("a");
  const [rowOfB = 0] = rowsOf("b");
  const format = FORMATS[a];
  const readA = moreRowsOfA.length > 0
    ? fragmentReader(format, fragmentOfA(M, k, 32 / format.bits), rowsOf("a"))
    : sharedReader(context, {
      row: rowOfA,
      format,
      major: majorOfA,
      extent: M,
      k,
      alongExtent: k,
      alongK: 1,
    });
  const readB = sharedReader(context, {
    row: rowOfB,
    format: FORMATS[b],
    major: majorOfB,
    extent: n,
    k,
    alongExtent: 1,
    alongK: n,
  });
  const rowsOfSum = rowsOf("d");
  const { parts, load, store } = SUM_FORMATS[sum];
  const fragment = fragmentOfSum(M, n, parts);
  const scale = context.predicate(operand("s").operand);
  const workspace = workspaceOf(machine);
  return wholeWarp("wgmma.mma_async", context, (w) => {
    checkFence(context);
    const { views } = machine;
    readA(views, w, workspace.a, M * rankInGroup(machine.warp));
    if (sign < 0) negate(workspace.a.subarray(0, M * k));
    readB(views, w, workspace.b, 0);
    const adds = ((views.i32[(w + scale.row) >>> 2] ?? 0) ^ scale.invert) & 1;
    if (adds === 1) load(views, w, rowsOfSum, fragment, workspace.sums);
    else workspace.sums.fill(0, 0, M * n);
    workspace.multiply(0, 0, 0, M, n, k);
    store(views, w, rowsOfSum, fragment, workspace.sums);
  });
}

export function wgmmaFence(_match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  return wholeWarp("wgmma.fence", context, () => {
    progressOf(machine.warp).fenced = true;
  });
}

/** What a group read comes before what others do after they have waited for it. */
export function wgmmaCommit(_match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const { order } = accessOf(machine);
  return wholeWarp("wgmma.commit_group", context, () => {
    progressOf(machine.warp).committed++;
    if (machine.checks) release(order, machine, "block");
  });
}

/** Groups are over as soon as all four warps have issued them: the scheduler asks {@linkcode mayPassWait}. */
export function wgmmaWait(_match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const { order } = accessOf(machine);
  return wholeWarp("wgmma.wait_group", context, () => {
    if (machine.checks) acquire(order, machine, "block");
  });
}
