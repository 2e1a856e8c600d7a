/** Runs an instruction on floats that is given by its spelling. */
import { must } from "../../../compiler/support/bug.ts";
import { floatOperation } from "../../../emulator/floats/mod.ts";
import type { Bits, LaneOperation } from "../../../emulator/machine.ts";
import { allFloatForms, type FloatForm } from "./float_forms.ts";

/** Runs an operation on bits of its sources. */
export function runOperation(operation: LaneOperation, bits: readonly bigint[]): bigint {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = operation.sources.map((width, i): Bits =>
    width === 64 ? bits[i] ?? 0n : Number(bits[i] ?? 0n)
  );
  return BigInt(operation.evaluate(a, b, c, d, e));
}

const forms: ReadonlyMap<string, FloatForm> = new Map(
  allFloatForms().map((form) => [form.name, form]),
);

/** The function from bits to bits that an instruction such as `add.rn.f32` is. */
export function instruction(name: string): (...bits: bigint[]) => bigint {
  const form = must(forms.get(name), name);
  const operation = must(floatOperation(form.match), name);
  return (...bits) => runOperation(operation, bits);
}
