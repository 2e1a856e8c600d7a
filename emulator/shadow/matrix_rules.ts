/** Rules of matrix products. */
import type { Operand } from "../../compiler/ptx/func.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import type { Fragment } from "../matrix/fragments.ts";
import { readProduct as readMma } from "../matrix/mma.ts";
import { type Product, productRows } from "../matrix/product.ts";
import { readProduct as readWmma } from "../matrix/wmma.ts";
import { type Carrying, everywhere } from "./carrying.ts";
import { clearShadow, settleRow, type Shadow, undefinedLanes } from "./shadow_row.ts";

type Name = "a" | "b" | "c" | "d";

/** Visits the elements of a fragment of which bits are undefined. */
function forEachUndefined(
  context: HandlerContext,
  w: number,
  shadows: readonly (Shadow | undefined)[],
  { parts, slots }: Fragment,
  visit: (slot: number) => void,
): void {
  const { i32 } = context.machine.views;
  for (const [register, shadow] of shadows.entries()) {
    if (shadow === undefined) continue;
    const lanes = undefinedLanes(context.machine.views, w, shadow, -1);
    const words = Math.max(1, shadow.bits / 32);
    const bits = 32 / parts;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const at = ((w + shadow.row) >>> 2) + words * lane;
      for (let part = 0; part < parts; part++) {
        const word = words === 1 ? i32[at] ?? 0 : (i32[at] ?? 0) | (i32[at + 1] ?? 0);
        const own = parts === 1 ? word : (word >>> (bits * part)) & (2 ** bits - 1);
        if (own !== 0) visit(slots[(register * LANES + lane) * parts + part] ?? 0);
      }
    }
  }
}

/** mma and wmma.mma: an element of the result is undefined if its row of a, its column of b, or its c has something. */
export function productRule(carrying: Carrying): WarpFunction {
  const { match, context, results } = carrying;
  const product = productOf(carrying);
  if (product === undefined) return everywhere(carrying);
  const { m, n, k, count, fragments } = product;
  const { machine } = context;
  const shadowsOf = (wanted: Name): readonly (Shadow | undefined)[] => {
    const operand = match.operands.find(({ name }) => name === wanted)?.operand;
    const elements: readonly Operand[] = operand?.kind === "vector"
      ? operand.elements
      : operand === undefined
      ? []
      : [operand];
    return elements.map((element) => context.shadow(element));
  };
  const [a, b, c, d] = [shadowsOf("a"), shadowsOf("b"), shadowsOf("c"), shadowsOf("d")];
  const rows = new Uint8Array(m * count);
  const columns = new Uint8Array(n * count);
  const sums = new Uint8Array(m * n * count);
  return (w, lanes) => {
    rows.fill(0);
    columns.fill(0);
    sums.fill(0);
    forEachUndefined(context, w, a, fragments.a, (slot) => rows[Math.floor(slot / k)] = 1);
    // Products side by side lie one below the other.
    forEachUndefined(context, w, b, fragments.b, (slot) => {
      columns[n * Math.floor(slot / (n * k)) + slot % n] = 1;
    });
    forEachUndefined(context, w, c, fragments.c, (slot) => sums[slot] = 1);
    const { i32 } = machine.views;
    const { parts, slots } = fragments.d;
    const ones = parts === 1 ? -1 : 0xffff;
    for (const [register, shadow] of d.entries()) {
      if (shadow === undefined) continue;
      const words = Math.max(1, shadow.bits / 32);
      for (let lane = 0; lane < LANES; lane++) {
        let word = 0;
        for (let part = 0; part < parts; part++) {
          const slot = slots[(register * LANES + lane) * parts + part] ?? 0;
          const row = Math.floor(slot / n);
          const column = n * Math.floor(row / m) + slot % n;
          if ((rows[row] ?? 0) + (columns[column] ?? 0) + (sums[slot] ?? 0) > 0) {
            word |= ones << (16 * part);
          }
        }
        const at = ((w + shadow.row) >>> 2) + words * lane;
        i32.fill(word, at, at + words);
      }
    }
    for (const result of results) settleRow(machine.views, w, result, lanes);
  };
}

function productOf({ match, context }: Carrying): Product | undefined {
  if (match.opcode === "mma") return readMma(match);
  if (match.opcode === "wmma.mma") return readWmma(match, context, productRows(match, context));
  return undefined;
}

/** wgmma adds to what is there, unless its operand says otherwise; what is undefined in a spreads over the result. */
export function wgmmaRule(carrying: Carrying): WarpFunction {
  const { match, context, sources, results } = carrying;
  const { machine } = context;
  const scale = match.operands.find(({ name }) => name === "s")?.operand;
  const { row, invert } = scale === undefined ? { row: 0, invert: 0 } : context.predicate(scale);
  const sums = new Set(results.map(({ word }) => word));
  const factors = sources.filter(({ word }) => !sums.has(word));
  const spread = everywhere({ ...carrying, sources: factors });
  return (w, lanes) => {
    const { views } = machine;
    const bad = factors.some((factor) => undefinedLanes(views, w, factor, lanes) !== 0);
    if (bad) spread(w, lanes);
    else if ((((views.i32[(w + row) >>> 2] ?? 0) ^ invert) & 1) === 0) {
      for (const result of results) clearShadow(views, w, result, lanes);
    }
  };
}
