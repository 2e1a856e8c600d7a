/**
 * WebAssembly modules as bytes.
 *
 *     const module = new WasmModule();
 *     module.importMemory("env", "memory");
 *     const log = module.importFunction("env", "log", ["i32"], []);    imports before functions of the module
 *     const count = module.global("i32", 0);                           also importGlobal
 *     const { index, code } = module.function(["i32"], ["i32"]);
 *     code.op("local.get", 0).op("call", log).op("global.get", count); see code.ts
 *     module.export("run", "function", index);
 *     const table = module.table(10);
 *     module.elements(table, 0, [index]);
 *     new WebAssembly.Module(module.encode());
 *
 * A function may be called before its code is written: its index is known at once.
 */
import { bug } from "../../compiler/support/bug.ts";
import { CAN_SHARE } from "../sharing.ts";
import {
  type Bytes,
  joinBytes,
  pushAll,
  pushName,
  pushSigned,
  pushSized,
  pushUnsigned,
} from "./bytes.ts";
import { Code, VALUE_TYPES, type ValueType } from "./code.ts";

const FUNCREF = 0x70;
/** Kinds of imports and exports. */
const KINDS = { function: 0, table: 1, memory: 2, global: 3 } as const;
export type ExternKind = keyof typeof KINDS;
/** The most pages that 32-bit WebAssembly has; a memory with any smaller maximum may be imported as well. */
const MAX_PAGES = 65536;
/** With a maximum; shared or not. */
const MEMORY_LIMITS = CAN_SHARE ? 3 : 1;
const MIN_LIMITS = 0;
const END = 0x0b;
const I32_CONST = 0x41;
const I64_CONST = 0x42;

/** A function of the module: its index, for `call` and exports, and its body. */
export interface WasmFunction {
  readonly index: number;
  readonly code: Code;
}

function globalType(type: ValueType, mutable: boolean): Bytes {
  return [VALUE_TYPES[type], mutable ? 1 : 0];
}

/** Pieces with the number of their bytes in front; none is copied, for code is long. */
function sized(pieces: readonly Bytes[]): Bytes[] {
  return [unsigned(pieces.reduce((sum, { length }) => sum + length, 0)), ...pieces];
}

function unsigned(value: number): Bytes {
  const bytes: Bytes = [];
  pushUnsigned(bytes, value);
  return bytes;
}

/** Locals are written as runs of equal types. */
function localsOf({ locals }: Code): Bytes {
  const bytes: Bytes = [];
  const runs: { type: ValueType; count: number }[] = [];
  for (const type of locals) {
    const last = runs.at(-1);
    if (last?.type === type) last.count++;
    else runs.push({ type, count: 1 });
  }
  pushUnsigned(bytes, runs.length);
  for (const { type, count } of runs) {
    pushUnsigned(bytes, count);
    bytes.push(VALUE_TYPES[type]);
  }
  return bytes;
}

export class WasmModule {
  #types = new Map<string, number>();
  #typeBytes: Bytes[] = [];
  #imports: Bytes[] = [];
  #functions: { type: number; code: Code }[] = [];
  #tables: Bytes[] = [];
  #globals: Bytes[] = [];
  #exports: Bytes[] = [];
  #elements: Bytes[] = [];
  #imported: Record<ExternKind, number> = { function: 0, table: 0, memory: 0, global: 0 };

  /** The index of a function type, for `call_indirect`. */
  type(params: readonly ValueType[], results: readonly ValueType[]): number {
    const key = `${params}>${results}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const bytes: Bytes = [0x60];
    for (const list of [params, results]) {
      pushSized(bytes, list.map((type) => VALUE_TYPES[type]));
    }
    this.#types.set(key, this.#typeBytes.length);
    return this.#typeBytes.push(bytes) - 1;
  }

  #import(module: string, name: string, kind: ExternKind, description: Bytes): number {
    const own = {
      function: this.#functions,
      table: this.#tables,
      memory: [],
      global: this.#globals,
    };
    if (own[kind].length > 0) bug(`import of ${module}.${name} after a ${kind} of the module`);
    const bytes: Bytes = [];
    pushName(bytes, module);
    pushName(bytes, name);
    bytes.push(KINDS[kind]);
    pushAll(bytes, description);
    this.#imports.push(bytes);
    return this.#imported[kind]++;
  }

  importFunction(
    module: string,
    name: string,
    params: readonly ValueType[],
    results: readonly ValueType[],
  ): number {
    const description: Bytes = [];
    pushUnsigned(description, this.type(params, results));
    return this.#import(module, name, "function", description);
  }

  /** A memory of the kind that `newMemory` makes, of any size. */
  importMemory(module: string, name: string): void {
    const description: Bytes = [MEMORY_LIMITS, 0];
    pushUnsigned(description, MAX_PAGES);
    this.#import(module, name, "memory", description);
  }

  importGlobal(module: string, name: string, type: ValueType, mutable: boolean): number {
    return this.#import(module, name, "global", globalType(type, mutable));
  }

  function(params: readonly ValueType[], results: readonly ValueType[]): WasmFunction {
    const code = new Code(params);
    const count = this.#functions.push({ type: this.type(params, results), code });
    return { index: this.#imported.function + count - 1, code };
  }

  /** A table of functions. */
  table(elements: number): number {
    const bytes: Bytes = [FUNCREF, MIN_LIMITS];
    pushUnsigned(bytes, elements);
    return this.#imported.table + this.#tables.push(bytes) - 1;
  }

  /** A mutable global. */
  global(type: "i32" | "i64", initial: number): number {
    const bytes = globalType(type, true);
    bytes.push(type === "i32" ? I32_CONST : I64_CONST);
    pushSigned(bytes, initial);
    bytes.push(END);
    return this.#imported.global + this.#globals.push(bytes) - 1;
  }

  export(name: string, kind: ExternKind, index: number): void {
    const bytes: Bytes = [];
    pushName(bytes, name);
    bytes.push(KINDS[kind]);
    pushUnsigned(bytes, index);
    this.#exports.push(bytes);
  }

  /** Puts functions into a table, from element `at` on. */
  elements(table: number, at: number, functions: readonly number[]): void {
    const ACTIVE_OF_TABLE = 2;
    const ELEMENTS_ARE_FUNCTIONS = 0;
    const bytes: Bytes = [ACTIVE_OF_TABLE];
    pushUnsigned(bytes, table);
    bytes.push(I32_CONST);
    pushSigned(bytes, at);
    bytes.push(END, ELEMENTS_ARE_FUNCTIONS);
    pushUnsigned(bytes, functions.length);
    for (const index of functions) pushUnsigned(bytes, index);
    this.#elements.push(bytes);
  }

  encode(): Uint8Array<ArrayBuffer> {
    const alone = (entries: readonly Bytes[]): Bytes[][] => entries.map((entry) => [entry]);
    const sections: readonly (readonly [id: number, entries: readonly (readonly Bytes[])[]])[] = [
      [1, alone(this.#typeBytes)],
      [2, alone(this.#imports)],
      [3, this.#functions.map(({ type }) => [unsigned(type)])],
      [4, alone(this.#tables)],
      [6, alone(this.#globals)],
      [7, alone(this.#exports)],
      [9, alone(this.#elements)],
      [10, this.#functions.map(({ code }) => sized([localsOf(code), code.bytes, [END]]))],
    ];
    return joinBytes([
      [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...sections.filter(([, entries]) => entries.length > 0).flatMap(([id, entries]) => [
        [id],
        ...sized([unsigned(entries.length), ...entries.flat()]),
      ]),
    ]);
  }
}
