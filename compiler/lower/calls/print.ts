/**
 * `printf`: scalars print once per program; of tiles each element prints a line that begins with its index, from one
 * of the threads that hold it. The order of lines is open.
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { axisShifts, freeMask } from "../../linear/linear.ts";
import { addressOfText, emitCall, whereTrue } from "./calls.ts";
import type { LowerContext } from "../context.ts";
import { atRegister, ownerPredicate, scalarCopies } from "../addresses.ts";
import { receiveParts } from "../reduce/reduce.ts";
import { lowered } from "../values.ts";
import { copyBits, threadBases } from "../../linear/threads.ts";
import { registerCount } from "../../layout/tiles.ts";
import { bankOf, whole } from "../element.ts";
import { int } from "../emitter.ts";

/** A value of a format: C passes floats as double. */
interface Printed {
  readonly bank: "b32" | "b64";
  readonly operand: Operand;
}

export function lowerPrint(cx: LowerContext, op: OpOf<"print">): void {
  const tile = op.operands.find(({ type }) => type.layout !== undefined);
  const layout = tile?.type.layout;
  const copies = layout === undefined ? scalarCopies(cx) : copyBits(layout);
  const format = op.attrs.format;
  const text = tile === undefined
    ? format
    : `[${tile.type.shape.map(() => "%d").join(", ")}] ${format}`;
  const free = layout === undefined ? 0 : freeMask(layout.register);
  receiveParts(cx);
  whereTrue(cx, ownerPredicate(cx, copies), () => {
    for (let register = 0; register < (tile === undefined ? 1 : registerCount(tile)); register++) {
      if (register & free) continue;
      const index = tile === undefined ? [] : indexAt(cx, tile, register);
      const values = op.operands.map((value) => printed(cx, value, register));
      printLine(cx, text, [
        ...index.map((operand) => ({ bank: "b32" as const, operand })),
        ...values,
      ]);
    }
  });
}

/** The index of a thread's element along each axis. */
function indexAt(cx: LowerContext, { type }: Value, register: number): Operand[] {
  const { layout, shape } = type;
  if (layout === undefined) return [];
  const shifts = axisShifts(shape);
  return shape.map((extent, axis) => {
    const along = (bases: readonly number[]): number[] =>
      bases.map((basis) => (basis >> (shifts[axis] ?? 0)) & (extent - 1));
    const { base, constant } = atRegister(cx, {
      register: along(layout.register),
      thread: along(threadBases(layout)),
    }, register);
    return cx.emitter.add("b32", base, int(constant));
  });
}

function printed(cx: LowerContext, value: Value, register: number): Printed {
  const e = cx.emitter;
  const { element, layout } = value.type;
  const operand = whole(e, lowered(cx, value)(layout === undefined ? 0 : register), element);
  if (element === "float32") {
    const single = e.inRegister(operand, "b32");
    return { bank: "b64", operand: e.pure("cvt.f64.f32", "b64", [single]) };
  }
  return { bank: bankOf(element) === "b64" ? "b64" : "b32", operand };
}

function printLine(cx: LowerContext, text: string, values: readonly Printed[]): void {
  const e = cx.emitter;
  let end = 0;
  const offsets = values.map(({ bank }) => {
    const bytes = bank === "b64" ? 8 : 4;
    const at = Math.ceil(end / bytes) * bytes;
    end = at + bytes;
    return at;
  });
  const name = cx.calls.local(Math.max(8, end));
  const memory = e.pure("mov.u64", "b64", [{ kind: "symbol", name }]);
  values.forEach(({ bank, operand }, i) => {
    const address: Operand = { kind: "address", base: memory, offset: BigInt(offsets[i] ?? 0) };
    e.emit(`st.local.${bank}`, [address, e.inRegister(operand, bank)]);
  });
  emitCall(cx, "vprintf", [addressOfText(cx, text), e.pure("cvta.local.u64", "b64", [memory])]);
}
