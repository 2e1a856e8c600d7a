/**
 * mma.sync: d = a * b + c on small matrices across a warp.
 * Source: PTX ISA 9.0, 9.7.14.5.14 "Multiply-and-accumulate instruction: mma".
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { bug } from "../../compiler/support/bug.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { type Format, FORMATS, isFormatName } from "./formats.ts";
import {
  fragmentOfA,
  fragmentOfB,
  fragmentOfSum,
  quadFragmentOfA,
  quadFragmentOfB,
  quadFragmentOfSum,
} from "./fragments.ts";
import { multiplyAcross, type Product, productRows } from "./product.ts";
import { isSumFormatName, SUM_FORMATS } from "./sums.ts";

/** Products of the quad pairs of sm_70. */
const QUAD_PAIRS = 4;

const layoutOf = (name: string | undefined): "row" | "col" =>
  name === "row" || name === "col" ? name : bug(`layout of mma: ${name}`);

export function readProduct({ modifiers }: Match): Product {
  const shape = modifiers.findIndex((name) => /^m\d+n\d+k\d+$/.test(name));
  const [m = 0, n = 0, k = 0] = (modifiers[shape] ?? "").slice(1).split(/[nk]/).map(Number);
  const layouts = modifiers.slice(shape + 1, shape + 3);
  const [dType, aType, bType] = modifiers.slice(shape + 3).filter((name) => name !== "satfinite");
  const sumType = modifiers.includes("satfinite") ? "satfinite" : dType;
  if (!isFormatName(aType) || !isFormatName(bType) || !isSumFormatName(sumType)) {
    return bug(`types of mma: ${modifiers.join(".")}`);
  }
  const xor = modifiers.includes("xor");
  const a = FORMATS[xor ? "b1 xor a" : aType];
  const b = FORMATS[xor ? "b1 xor b" : bType];
  const sum = SUM_FORMATS[sumType];
  const common = { m, n, k, a, b, c: sum, d: sum };
  if (m === 8 && aType === "f16") {
    const ofSum = quadFragmentOfSum(sum.parts);
    const fragments = {
      a: quadFragmentOfA(layoutOf(layouts[0])),
      b: quadFragmentOfB(layoutOf(layouts[1])),
      c: ofSum,
      d: ofSum,
    };
    return { ...common, count: QUAD_PAIRS, fragments };
  }
  const partsOf = ({ bits }: Format): number => Math.max(32 / bits, 1);
  const ofSum = fragmentOfSum(m, n, sum.parts);
  const fragments = {
    a: fragmentOfA(m, k, partsOf(a)),
    b: fragmentOfB(k, partsOf(b)),
    c: ofSum,
    d: ofSum,
  };
  return { ...common, count: 1, fragments };
}

export function mma(match: Match, context: HandlerContext): WarpFunction {
  return multiplyAcross("mma", readProduct(match), productRows(match, context), context);
}
