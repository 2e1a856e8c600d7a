/**
 * wgmma: products of a warp group, 64 rows of which each of its four warps has 16. A warp computes its own rows when it
 * waits for the product (warp_group.ts); until then registers and shared memory of the product are in flight.
 *
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
import { beginFlight, endFlights, registerNames } from "./in_flight.ts";
import { sharedReader } from "./shared_operand.ts";
import { isSumFormatName, SUM_FORMATS, type SumFormatName } from "./sums.ts";
import {
  finishProducts,
  issueProduct,
  openReads,
  progressOf,
  rankInGroup,
  resolveReads,
} from "./warp_group.ts";
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

/**
 * A product needs writes of its registers to be ordered before it. Only the first one is checked: compilers leave moves of
 * registers after the fence to the assembler, which puts them before it.
 */
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
  const readFragment = moreRowsOfA.length > 0
    ? fragmentReader(format, fragmentOfA(M, k, 32 / format.bits), rowsOf("a"))
    : undefined;
  const locateA = readFragment !== undefined ? undefined : sharedReader(context, {
    row: rowOfA,
    format,
    major: majorOfA,
    extent: M,
    k,
    alongExtent: k,
    alongK: 1,
  });
  const locateB = sharedReader(context, {
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
  const sums = registerNames(operand("d").operand);
  const left = readFragment === undefined ? [] : registerNames(operand("a").operand);
  return wholeWarp("wgmma.mma_async", context, (w) => {
    checkFence(context);
    const { views, checks } = machine;
    const reads = checks ? openReads(machine, context.site) : undefined;
    if (checks) beginFlight(machine, sums, left, context.site);
    const readA = locateA?.(views, w, M * rankInGroup(machine.warp), reads);
    const readB = locateB(views, w, 0, reads);
    const adds = ((views.i32[(w + scale.row) >>> 2] ?? 0) ^ scale.invert) & 1;
    issueProduct(machine, () => {
      const { views } = machine;
      if (readA === undefined) readFragment?.(views, w, workspace.a);
      else readA(views, workspace.a);
      if (sign < 0) negate(workspace.a.subarray(0, M * k));
      readB(views, workspace.b);
      if (adds === 1) load(views, w, rowsOfSum, fragment, workspace.sums);
      else workspace.sums.fill(0, 0, M * n);
      workspace.multiply(0, 0, 0, M, n, k);
      store(views, w, rowsOfSum, fragment, workspace.sums);
    });
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

/**
 * Groups are over as soon as all four warps have issued them: the scheduler asks {@linkcode mayPassWait} before. Products
 * take effect here, at the last moment at which they may.
 */
export function wgmmaWait(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const { order } = accessOf(machine);
  const pending = Number(context.literal(must(match.operands[0], "number of groups").operand));
  return wholeWarp("wgmma.wait_group", context, () => {
    finishProducts(machine, pending);
    if (!machine.checks) return;
    endFlights(machine, pending);
    resolveReads(machine, pending);
    acquire(order, machine, "block");
  });
}
