/**
 * x - trunc(x / y)·y, exactly. While the remainder is at least |y|, a multiple t = |y|·2^k not far below it is taken
 * off as often as it fits: quotients below 2^52 are exact, and so is what is left. Floats are computed in double, where
 * all of them are normal and seven iterations suffice; doubles take up to 42.
 */
import type { Operand } from "../../ptx/func.ts";
import { int } from "../emitter.ts";
import { threadLoop } from "../thread_loop.ts";
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
  const result = threadLoop(e, {
    bank: "b64",
    enter: (rest, end) => {
      e.emit("mov.b64", [rest, start]);
      if (runs.kind === "register") e.emit("bra", [end], { register: runs, negated: true });
    },
    iterate: (rest) => {
      const gap = e.pure("sub.s32", "b32", [exponent(fp, rest), least]);
      const shift = e.pure("max.s32", "b32", [
        e.pure("sub.s32", "b32", [gap, int(QUOTIENT_BITS)]),
        int(0),
      ]);
      const multiple = fp.scale(size, shift);
      const quotient = e.pure("div.rz.f64", "b64", [rest, multiple]);
      const left = fp.fma(fp.neg(fp.integral("rzi", quotient)), multiple, rest);
      const again = e.register("pred");
      e.emit("setp.ge.f64", [again, left, size]);
      e.emit("mov.b64", [rest, left]);
      return again;
    },
  });
  const signed = fp.copysign(result, x);
  const isNumber = fp.and(fp.and(isFinite, fp.compare("gt", size, 0)), fp.compare("num", x, y));
  return fp.select(isNumber, signed, NaN);
}

/** The exponent of a positive number, subnormal or not. */
function exponent(fp: Fp, x: Operand): Operand {
  const { e } = fp;
  const isTiny = fp.compare("lt", x, 2 ** -1022);
  const normal = fp.select(isTiny, fp.mul(x, 2 ** 54), x);
  const field = e.pure("shr.u32", "b32", [fp.highWord(normal), int(20)]);
  const excess = e.pure("selp.b32", "b32", [int(54), int(0), isTiny]);
  return e.pure("sub.s32", "b32", [field, excess]);
}
