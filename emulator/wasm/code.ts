/**
 * Bodies of WebAssembly functions. Every instruction is written with `op(name, …immediates)`:
 *
 *     code.op("local.get", 0).op("i32.const", 5).op("i32.add")
 *     code.op("v128.load", offset)              accesses take their offset; they are aligned as their name says
 *     code.op("v128.load32_lane", offset, lane)
 *     code.op("block").op("br_if", 0).op("end") blocks take the type of their result, if they have one: "i32"
 *     code.op("br_table", [1, 2, 0])            the last label is the default
 *     code.op("call_indirect", type, table)
 *     code.op("i64.const", 7n)
 *     code.op("v128.const", sixteenBytes)       also i8x16.shuffle
 *
 * Locals beyond the parameters come from `local(type)`. `end` of the function itself is added by the module.
 */
import { bug } from "../../compiler/support/bug.ts";
import { type Bytes, pushAll, pushFloat, pushSigned, pushSigned64, pushUnsigned } from "./bytes.ts";
import { opFacts, type OpName } from "./opcodes.ts";

export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

/** Binary codes of types. */
export const VALUE_TYPES: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

const NO_RESULT = 0x40;

export type Immediate = number | bigint | ValueType | readonly number[];

function isValueType(value: Immediate): value is ValueType {
  return typeof value === "string";
}

interface Constant {
  readonly local: number;
  readonly bytes: readonly number[];
}

/** Instructions of one function. */
export class Code {
  readonly bytes: Bytes = [];
  readonly locals: ValueType[] = [];

  /** Locals of constant vectors, while they are collected. */
  #constants: Map<string, Constant> | undefined;

  constructor(
    /** Parameters are the first locals. */
    readonly params: readonly ValueType[],
  ) {}

  /** A new local, zero at first. */
  local(type: ValueType): number {
    return this.params.length + this.locals.push(type) - 1;
  }

  /** A constant vector; within `hoisting` it is computed once, before. */
  vector(constant: readonly number[]): this {
    const isCheap = constant.every((byte) => byte === 0) || constant.every((byte) => byte === 255);
    if (this.#constants === undefined || isCheap) return this.op("v128.const", constant);
    const key = constant.join();
    let known = this.#constants.get(key);
    if (known === undefined) {
      known = { local: this.local("v128"), bytes: constant };
      this.#constants.set(key, known);
    }
    return this.op("local.get", known.local);
  }

  /** Writes code, and in front of it the constant vectors that it uses: engines make them anew at every use. */
  hoisting(write: () => void): void {
    const start = this.bytes.length;
    const constants = new Map<string, Constant>();
    this.#constants = constants;
    write();
    this.#constants = undefined;
    const body = this.bytes.splice(start);
    for (const { local, bytes } of constants.values()) {
      this.op("v128.const", bytes).op("local.set", local);
    }
    pushAll(this.bytes, body);
  }

  op(name: OpName, ...immediates: readonly Immediate[]): this {
    const { bytes } = this;
    const facts = opFacts(name);
    for (const byte of facts.code) bytes.push(byte);
    const number = (at: number): number => {
      const value = immediates[at];
      return typeof value === "number" ? value : bug(`${name} needs a number as immediate ${at}`);
    };
    const list = (): readonly number[] => {
      const value = immediates[0];
      return typeof value === "object" ? value : bug(`${name} needs a list as immediate`);
    };
    switch (facts.immediates.kind) {
      case "none":
        break;
      case "indices":
        for (let i = 0; i < facts.immediates.count; i++) pushUnsigned(bytes, number(i));
        break;
      case "lane":
        bytes.push(number(0));
        break;
      case "memory":
      case "memory-lane":
        bytes.push(facts.immediates.alignLog2);
        pushUnsigned(bytes, immediates.length === 0 ? 0 : number(0));
        if (facts.immediates.kind === "memory-lane") bytes.push(number(1));
        break;
      case "i32":
        pushSigned(bytes, number(0));
        break;
      case "i64": {
        const value = immediates[0];
        pushSigned64(bytes, typeof value === "bigint" ? value : BigInt(number(0)));
        break;
      }
      case "f32":
        pushFloat(bytes, number(0), 4);
        break;
      case "f64":
        pushFloat(bytes, number(0), 8);
        break;
      case "bytes":
        pushAll(bytes, list());
        break;
      case "block": {
        const type = immediates[0];
        bytes.push(type !== undefined && isValueType(type) ? VALUE_TYPES[type] : NO_RESULT);
        break;
      }
      case "labels": {
        const labels = list();
        pushUnsigned(bytes, labels.length - 1);
        for (const label of labels) pushUnsigned(bytes, label);
        break;
      }
      case "zeros":
        for (let i = 0; i < facts.immediates.count; i++) bytes.push(0);
        break;
    }
    return this;
  }
}
