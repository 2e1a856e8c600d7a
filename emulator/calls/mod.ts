/**
 * Calls. In: calls that are left after inlining. Out: handlers of functions that every device has without defining
 * them: `vprintf` and `__assertfail` (CUDA C++ Programming Guide, "Formatted Output" and "Assertion"). All other calls
 * were inlined when the module was loaded.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import { refuseCall, refuseIndirectCall } from "../refusals.ts";
import { accessOf } from "../access/state.ts";
import { setWritten } from "../check/written.ts";
import { Fault, type FaultKind } from "../fault.ts";
import { HEADER } from "../register_file.ts";
import type { Handler, HandlerContext, Machine, WarpFunction } from "../machine.ts";
import { SHARED_OFFSET_MASK, WINDOW } from "../memory.ts";
import { type FormatArguments, formatText } from "./format.ts";
import { print } from "./print.ts";

export { setPrinter } from "./print.ts";

/** The longest text that a kernel may pass, and the most characters of a conversion. */
const MOST_TEXT = 1 << 20;

/** Reads a lane's memory. */
class LaneMemory {
  readonly machine: Machine;
  readonly #view: DataView;
  readonly #local: number;

  constructor(readonly context: HandlerContext, w: number, readonly lane: number) {
    const { machine } = context;
    this.machine = machine;
    const { u8, i32 } = machine.views;
    this.#view = new DataView(u8.buffer);
    this.#local = (i32[(w + HEADER.local) >> 2] ?? 0) +
      lane * (i32[(w + HEADER.localBytes) >> 2] ?? 0);
  }

  /** A value at an offset of local memory. */
  local(offset: number, bytes: 4 | 8): bigint {
    return this.read(this.#local + offset, bytes);
  }

  /** Throws that the call cannot be done. */
  refuse(kind: FaultKind, detail: string): never {
    throw new Fault(kind, detail, this.lane, this.context.site);
  }

  read(location: number, bytes: 4 | 8): bigint {
    if (location + bytes > this.#view.byteLength) {
      this.refuse("out of bounds", `argument at address 0x${location.toString(16)}`);
    }
    return bytes === 8
      ? this.#view.getBigUint64(location, true)
      : BigInt(this.#view.getUint32(location, true));
  }

  /** The location of a generic address; 0 for none. */
  location(address: bigint): number {
    const offset = Number(address & 0xffffffffn);
    switch (Number(address >> 32n)) {
      case WINDOW.global:
      case WINDOW.const:
      case WINDOW.param:
        return offset;
      case WINDOW.local:
        return this.#local + offset;
      case WINDOW.shared:
        return this.machine.block.shared + (offset & SHARED_OFFSET_MASK);
      default:
        return 0;
    }
  }

  /** The text at a generic address, up to its zero. */
  text(address: bigint): string {
    const start = this.location(address);
    if (start === 0) return "(null)";
    const { u8 } = this.machine.views;
    const most = Math.min(u8.length, start + MOST_TEXT);
    let end = start;
    while (end < most && u8[end] !== 0) end++;
    if (end === most) {
      this.refuse("out of bounds", `text at address 0x${start.toString(16)} has no end`);
    }
    return new TextDecoder().decode(u8.slice(start, end));
  }
}

/** Arguments of `vprintf`: one after the other in memory, each on its natural alignment. */
function argumentsAt(memory: LaneMemory, start: number): FormatArguments {
  let at = start;
  const next = (bytes: 4 | 8): bigint => {
    at = Math.ceil(at / bytes) * bytes;
    const value = memory.read(at, bytes);
    at += bytes;
    return value;
  };
  const view = new DataView(new ArrayBuffer(8));
  return {
    integer: next,
    double: () => {
      view.setBigUint64(0, next(8));
      return view.getFloat64(0);
    },
    text: () => memory.text(next(8)),
    refuse: (detail) => memory.refuse("illegal instruction", detail),
  };
}

/** A function by its name: what it does for one lane, with its arguments' offsets in local memory. */
type Extern = (
  memory: LaneMemory,
  args: readonly number[],
  lane: number,
  context: HandlerContext,
) => number | undefined;

const EXTERNS: Readonly<Record<string, Extern>> = {
  vprintf: (memory, [format = 0, values = 0]) => {
    const text = memory.text(memory.local(format, 8));
    const start = memory.location(memory.local(values, 8));
    const printed = formatText(text, argumentsAt(memory, start));
    print(memory.machine, printed);
    return printed.length;
  },
  __assertfail: (memory, [condition = 0, file = 0, line = 0, fn = 0], lane, { site }) => {
    const text = (offset: number): string => memory.text(memory.local(offset, 8));
    const where = `${text(file)}:${memory.local(line, 4)}: ${text(fn)}`;
    throw new Fault(
      "failed assertion",
      `${where}: assertion \`${text(condition)}\` failed`,
      lane,
      site,
    );
  },
};

/** Offset in local memory of a variable that holds an argument or a result. */
function offsetOf(operand: Operand, context: HandlerContext): number {
  return context.address({ kind: "address", base: operand, offset: 0n }).offset;
}

const listed = (operand: Operand | undefined): readonly Operand[] =>
  operand?.kind === "list" ? operand.elements : [];

const call: Handler = (match, context): WarpFunction => {
  const operands = match.operands.map(({ operand }) => operand);
  const at = operands.findIndex(({ kind }) => kind !== "list");
  const callee = operands[at];
  if (callee?.kind !== "symbol") throw refuseIndirectCall(match.row.isa);
  const { name } = callee;
  const extern = Object.hasOwn(EXTERNS, name) ? EXTERNS[name] : undefined;
  if (extern === undefined) throw refuseCall(name, match.row.isa, context.surroundings);
  const args = listed(operands[at + 1]).map((operand) => offsetOf(operand, context));
  const [result] = listed(operands[at - 1]).map((operand) => offsetOf(operand, context));
  const { machine } = context;
  return (w, mask) => {
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const memory = new LaneMemory(context, w, lane);
      const value = extern(memory, args, lane, context);
      if (value === undefined || result === undefined) continue;
      const { i32 } = machine.views;
      const start = i32[(w + HEADER.local) >> 2] ?? 0;
      const local = start + lane * (i32[(w + HEADER.localBytes) >> 2] ?? 0);
      i32[(local + result) >> 2] = value;
      if (machine.checks) {
        setWritten(accessOf(machine).local.of(machine), local + result - start, 4);
      }
    }
  };
};

export const CALLS: Readonly<Record<string, Handler>> = { call };
