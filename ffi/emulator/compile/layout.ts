/** Places in the frame: rows for registers, literals, special registers and addresses of symbols. */
import type { Operand, Register } from "../../../compiler/ptx/func.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { HEADER_BYTES, LANES, rowBytes } from "../frame.ts";
import type { Interval } from "./dataflow.ts";

/** A special register that a kernel reads, and its row, which has 64 bits for each lane if it is wide. */
export interface SpecialRow {
  readonly name: string;
  readonly row: number;
  readonly wide: boolean;
}

/** A value that is the same in all lanes of all warps, and its row. */
interface ConstantRow {
  readonly row: number;
  readonly bits: number;
  readonly value: bigint;
}

const bitsOf = (register: Register): number => TYPES[register.type].bits;

/** The bits of a literal as a value of so many bits. */
export function literalBits(
  operand: Extract<Operand, { kind: "integer" | "float" }>,
  bits: number,
): bigint {
  if (operand.kind === "integer") return BigInt.asUintN(bits, operand.value);
  if (operand.type === "f64" && bits === 32) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, operand.bits);
    view.setFloat32(0, view.getFloat64(0));
    return BigInt(view.getUint32(0));
  }
  return operand.bits;
}

/**
 * The frame of a kernel's warps. Registers share rows when they are not live at the same time: the text that compilers
 * write names each value once, and frames should stay in the host's cache.
 */
export class FrameLayout {
  readonly specials: SpecialRow[] = [];
  /** Words of lanes that have written a register, of those that may be read before. */
  readonly assigned = new Map<string, number>();
  readonly #registers = new Map<string, number>();
  readonly #constants = new Map<string, ConstantRow>();
  readonly #specials = new Map<string, number>();
  readonly #spares = new Map<number, number>();
  #end = HEADER_BYTES;

  constructor(
    intervals: readonly Interval[],
    unassigned: ReadonlySet<string>,
    readonly symbolAddress: (name: string) => bigint,
  ) {
    for (const name of unassigned) this.assigned.set(name, this.#take(rowBytes(1)));
    const free = new Map<number, number[]>();
    const active: { readonly last: number; readonly row: number; readonly bytes: number }[] = [];
    for (const { register, first, last } of intervals.toSorted((a, b) => a.first - b.first)) {
      for (let i = active.length - 1; i >= 0; i--) {
        const old = active[i];
        if (old === undefined || old.last >= first) continue;
        free.get(old.bytes)?.push(old.row);
        active.splice(i, 1);
      }
      const bytes = rowBytes(bitsOf(register));
      const bin = free.get(bytes) ?? [];
      free.set(bytes, bin);
      const row = bin.pop() ?? this.#take(bytes);
      this.#registers.set(register.name, row);
      active.push({ last, row, bytes });
    }
  }

  /** Bytes of a frame. */
  get bytes(): number {
    return this.#end;
  }

  /** The row of a single operand. */
  row(operand: Operand, type: TypeName): number {
    switch (operand.kind) {
      case "register":
        return this.#registers.get(operand.name) ?? this.#spare(bitsOf(operand));
      case "integer":
      case "float":
        return this.#constant(literalBits(operand, TYPES[type].bits), TYPES[type].bits);
      case "symbol": {
        const { bits } = TYPES[type];
        const address = this.symbolAddress(operand.name) + (operand.offset ?? 0n);
        return this.#constant(BigInt.asUintN(bits, address), bits);
      }
      case "special":
        return this.#special(operand.name, TYPES[type].bits);
      case "negated":
        return this.row(operand.operand, type);
      case "pair":
        return this.row(operand.first, type);
      default:
        return this.#spare(TYPES[type].bits);
    }
  }

  /** Writes the rows that are the same in all warps of a kernel into a frame. */
  writeConstants(frame: Uint8Array): void {
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    for (const { row, bits, value } of this.#constants.values()) {
      if (bits === 1) view.setUint32(row, value === 0n ? 0 : 0xffffffff, true);
      else if (bits <= 32) {
        for (let i = 0; i < LANES; i++) view.setUint32(row + 4 * i, Number(value), true);
      } else {
        for (let i = 0; i < LANES * bits / 64; i++) {
          const word = BigInt.asUintN(64, value >> BigInt(64 * (i % (bits / 64))));
          view.setBigUint64(row + 8 * i, word, true);
        }
      }
    }
  }

  #take(bytes: number): number {
    const row = this.#end;
    this.#end += bytes;
    return row;
  }

  #constant(value: bigint, bits: number): number {
    // Values of up to 32 bits have rows of the same shape.
    const width = bits === 1 || bits > 32 ? bits : 32;
    const key = `${width} ${value}`;
    const known = this.#constants.get(key);
    if (known !== undefined) return known.row;
    const row = this.#take(rowBytes(width));
    this.#constants.set(key, { row, bits: width, value });
    return row;
  }

  #special(name: string, bits: number): number {
    // PTX 1 had narrower ones of the same names.
    const wide = bits > 32;
    const key = wide ? `${name} wide` : name;
    const known = this.#specials.get(key);
    if (known !== undefined) return known;
    const row = this.#take(rowBytes(bits));
    this.#specials.set(key, row);
    this.specials.push({ name, row, wide });
    return row;
  }

  #spare(bits: number): number {
    const bytes = rowBytes(bits);
    const known = this.#spares.get(bytes) ?? this.#take(bytes);
    this.#spares.set(bytes, known);
    return known;
  }
}
