/** Offsets in the register file: rows for registers, literals, special registers and addresses of symbols. */
import type { Operand, Register } from "../../compiler/ptx/func.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { HEADER_BYTES, LANES, rowBytes } from "../register_file.ts";
import { type Shadow, SHADOW_BYTES } from "../shadow/shadow_row.ts";
import type { Interval } from "./dataflow.ts";

/** A special register that a kernel reads, and its row, which has 64 bits for each lane if it is wide. */
export interface SpecialRow {
  readonly name: string;
  readonly row: number;
  readonly wide: boolean;
}

/** A register that threads may read before they have assigned it. */
export interface InitialShadow {
  readonly shadow: Shadow;
  /** Number of its origin. */
  readonly origin: number;
}

/** A value that is the same in all lanes of all warps, and its row. */
interface ConstantRow {
  readonly row: number;
  readonly bits: number;
  readonly value: bigint;
}

const bitsOf = (register: Register): number => TYPES[register.type].bits;

/** The bits of a literal as a value of so many bits. */
function literalBits(
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
 * The register file of a kernel's warps. Registers share rows when they are not live at the same time: the text that
 * compilers write names each value once, and register files should stay in the host's cache.
 */
export class RegisterFileLayout {
  readonly specials: SpecialRow[] = [];
  /** Shadows that say something when a warp begins. */
  readonly initial: InitialShadow[] = [];
  /** Where the words of shadows are, all in one piece. */
  readonly shadowWords: { readonly start: number; readonly bytes: number };
  readonly #shadows = new Map<string, Shadow>();
  readonly #registers = new Map<string, number>();
  readonly #constants = new Map<string, ConstantRow>();
  readonly #specials = new Map<string, number>();
  readonly #spares = new Map<number, number>();
  #end = HEADER_BYTES;

  constructor(
    intervals: readonly Interval[],
    tracked: ReadonlyMap<string, Register>,
    readonly symbolAddress: (name: string) => bigint,
  ) {
    const free = new Map<number, number[]>();
    // Rows by the line where they are free again.
    const ending = new Map<number, { readonly row: number; readonly bytes: number }[]>();
    let swept = 0;
    for (const { register, first, last } of intervals.toSorted((a, b) => a.first - b.first)) {
      for (; swept < first; swept++) {
        for (const { row, bytes } of ending.get(swept) ?? []) free.get(bytes)?.push(row);
        ending.delete(swept);
      }
      const bytes = rowBytes(bitsOf(register));
      const bin = free.get(bytes) ?? [];
      free.set(bytes, bin);
      const row = bin.pop() ?? this.#take(bytes);
      this.#registers.set(register.name, row);
      const list = ending.get(last);
      if (list === undefined) ending.set(last, [{ row, bytes }]);
      else list.push({ row, bytes });
    }
    this.shadowWords = { start: this.#end, bytes: SHADOW_BYTES * tracked.size };
    this.#assignShadows(tracked);
  }

  /** Registers that share a row share that of their undefined bits. */
  #assignShadows(tracked: ReadonlyMap<string, Register>): void {
    const rows = new Map<number, number>();
    let word = this.#take(this.shadowWords.bytes);
    for (const register of tracked.values()) {
      const bits = bitsOf(register);
      const own = this.#registers.get(register.name);
      if (own === undefined) continue;
      const row = bits === 1 ? word : rows.get(own) ?? this.#take(rowBytes(bits));
      rows.set(own, row);
      this.#shadows.set(register.name, { register, word, row, bits });
      word += SHADOW_BYTES;
    }
  }

  /** The shadow of a register, if it has one. */
  shadow(name: string): Shadow | undefined {
    return this.#shadows.get(name);
  }

  /** Bytes of a register file. */
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

  /** Writes the rows that are the same in all warps of a kernel into a register file. */
  writeConstants(registerFile: Uint8Array): void {
    const view = new DataView(
      registerFile.buffer,
      registerFile.byteOffset,
      registerFile.byteLength,
    );
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
