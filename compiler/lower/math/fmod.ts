/**
 * x - trunc(x / y)·y, exactly. While the remainder is at least |y|, a multiple t = |y|·2^k not far below it is taken
 * off as often as it fits: quotients below 2^52 are exact, and so is what is left. Floats are computed in double, where
 * all of them are normal and seven iterations suffice; doubles take up to 42.
 */
import type { Operand, Register } from "../../ptx/func.ts";
import { must } from "../../support/bug.ts";
import { int } from "../emitter.ts";
import { Fp } from "./fp.ts";

/** Bits of the quotient that one iteration determines. */
const QUOTIENT_BITS = 51;

export function fmod(fp: Fp, x: Operand, y: Operand): Operand {
  if (fp.width === 64) return fmodDouble(fp, x, y);
  const { e } = fp;
  const wide = (value: Operand): Operand =>
    e.pure("cvt.f64.f32", "b64", [e.inRegister(value, "b32")]);
  const result = fmodDouble(new Fp(e, 64), wide(x), wide(y));
  return e.pure("cvt.rn.f32.f64", "b32", [result]);
}

function fmodDouble(fp: Fp, x: Operand, y: Operand): Operand {
  const { e } = fp;
  const [start, size] = [fp.abs(x), fp.abs(y)];
  const isFinite = fp.compare("lt", start, Infinity);
  const runs = fp.and(fp.and(fp.compare("ge", start, size), fp.compare("gt", size, 0)), isFinite);
  const least = exponent(fp, size);
  let rest: Register | undefined;
  let again: Register | undefined;
  const iteration = e.nested("loop", () => {
    rest = e.register("b64");
    const gap = e.pure("sub.s32", "b32", [exponent(fp, rest), least]);
    const shift = e.pure("max.s32", "b32", [
      e.pure("sub.s32", "b32", [gap, int(QUOTIENT_BITS)]),
      int(0),
    ]);
    const multiple = fp.scale(size, shift);
    const quotient = e.pure("div.rz.f64", "b64", [rest, multiple]);
    const left = fp.fma(fp.neg(fp.integral("rzi", quotient)), multiple, rest);
    again = e.register("pred");
    e.emit("setp.ge.f64", [again, left, size]);
    e.emit("mov.b64", [rest, left]);
  });
  const result = must(rest, "remainder");
  e.settle([result]);
  const [top, end] = [e.newLabel(), e.newLabel()].map((name): Operand => ({
    kind: "symbol",
    name,
  }));
  const to = (label: Operand | undefined): Operand => must(label, "label");
  e.emit("mov.b64", [result, start]);
  if (runs.kind === "register") e.emit("bra", [to(end)], { register: runs, negated: true });
  e.label(nameOf(to(top)));
  e.append(iteration);
  e.emit("bra", [to(top)], { register: must(again, "condition"), negated: false });
  e.label(nameOf(to(end)));
  e.emit("bar.warp.sync", [int(0xffffffffn)]);

  const signed = fp.copysign(result, x);
  const isNumber = fp.and(fp.and(isFinite, fp.compare("gt", size, 0)), fp.compare("num", x, y));
  return fp.select(isNumber, signed, NaN);
}

const nameOf = (label: Operand): string => label.kind === "symbol" ? label.name : "";

/** The exponent of a positive number, subnormal or not. */
function exponent(fp: Fp, x: Operand): Operand {
  const { e } = fp;
  const isTiny = fp.compare("lt", x, 2 ** -1022);
  const normal = fp.select(isTiny, fp.mul(x, 2 ** 54), x);
  const field = e.pure("shr.u32", "b32", [fp.highWord(normal), int(20)]);
  const excess = e.pure("selp.b32", "b32", [int(54), int(0), isTiny]);
  return e.pure("sub.s32", "b32", [field, excess]);
}
