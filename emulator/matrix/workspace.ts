/**
 * Where products are computed: two multiplicands and their sums as matrices of doubles, and a WebAssembly function
 * that multiplies them. Doubles hold all products of the narrow formats and all integer sums exactly.
 */
import { must } from "../../compiler/support/bug.ts";
import type { Machine } from "../machine.ts";
import { WASM_PAGE_BYTES } from "../memory.ts";
import { CAN_SHARE } from "../sharing.ts";
import type { Code } from "../wasm/code.ts";
import { WasmModule } from "../wasm/module.ts";

/** Adds the product of a (m by k) and b (k by n) to sums (m by n); offsets are in elements of their matrix. */
export type Multiply = (
  a: number,
  b: number,
  sums: number,
  m: number,
  n: number,
  k: number,
) => void;

export interface Workspace {
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly sums: Float64Array;
  readonly multiply: Multiply;
}

/** Elements: a of m16k256 (b1); b of n256k32; sums of m16n256. */
const A_ELEMENTS = 16 * 256;
const B_ELEMENTS = 256 * 32;
const SUM_ELEMENTS = 16 * 256;

/** Columns that the kernel takes at a time, as pairs of doubles. */
const PAIRS = 4;

/**
 * For each row of a, for each 8 columns of b: the sums over k, in order and from zero, then c added.
 * All offsets are in bytes; n is a multiple of 8.
 */
function writeKernel(code: Code): void {
  const [a, b, sums, m, n, k] = [0, 1, 2, 3, 4, 5];
  const rowEnd = code.local("i32");
  const column = code.local("i32");
  const columnsEnd = code.local("i32");
  const left = code.local("i32");
  const below = code.local("i32");
  const factor = code.local("v128");
  const pairs = Array.from({ length: PAIRS }, () => code.local("v128"));
  const zero = new Array<number>(16).fill(0);

  // n and k become bytes of a row of b and of a.
  code.op("local.get", n).op("i32.const", 3).op("i32.shl").op("local.set", n);
  code.op("local.get", k).op("i32.const", 3).op("i32.shl").op("local.set", k);
  code.op("loop");
  code.op("local.get", a).op("local.get", k).op("i32.add").op("local.set", rowEnd);
  code.op("local.get", b).op("local.set", column);
  code.op("local.get", b).op("local.get", n).op("i32.add").op("local.set", columnsEnd);
  code.op("loop");
  for (const pair of pairs) code.op("v128.const", zero).op("local.set", pair);
  code.op("local.get", a).op("local.set", left);
  code.op("local.get", column).op("local.set", below);
  code.op("loop");
  code.op("local.get", left).op("v128.load64_splat", 0).op("local.set", factor);
  for (const [i, pair] of pairs.entries()) {
    code.op("local.get", pair).op("local.get", factor);
    code.op("local.get", below).op("v128.load", 16 * i).op("f64x2.mul").op("f64x2.add");
    code.op("local.set", pair);
  }
  code.op("local.get", below).op("local.get", n).op("i32.add").op("local.set", below);
  code.op("local.get", left).op("i32.const", 8).op("i32.add").op("local.tee", left);
  code.op("local.get", rowEnd).op("i32.ne").op("br_if", 0);
  code.op("end");
  for (const [i, pair] of pairs.entries()) {
    code.op("local.get", sums).op("local.get", pair);
    code.op("local.get", sums).op("v128.load", 16 * i).op("f64x2.add").op("v128.store", 16 * i);
  }
  code.op("local.get", sums).op("i32.const", 16 * PAIRS).op("i32.add").op("local.set", sums);
  code.op("local.get", column).op("i32.const", 16 * PAIRS).op("i32.add").op("local.tee", column);
  code.op("local.get", columnsEnd).op("i32.ne").op("br_if", 0);
  code.op("end");
  code.op("local.get", rowEnd).op("local.set", a);
  code.op("local.get", m).op("i32.const", 1).op("i32.sub").op("local.tee", m);
  code.op("br_if", 0);
  code.op("end");
}

function newWorkspace(): Workspace {
  const bytes = 8 * (A_ELEMENTS + B_ELEMENTS + SUM_ELEMENTS);
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: CAN_SHARE });
  const module = new WasmModule();
  module.importMemory("matrix", "memory");
  const { index, code } = module.function(["i32", "i32", "i32", "i32", "i32", "i32"], []);
  writeKernel(code);
  module.export("multiply", "function", index);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.encode()), {
    matrix: { memory },
  });
  const kernel = exports["multiply"];
  const run = must(kernel instanceof Function ? kernel : undefined, "kernel of matrix products");
  const bBytes = 8 * A_ELEMENTS;
  const sumBytes = bBytes + 8 * B_ELEMENTS;
  return {
    a: new Float64Array(memory.buffer, 0, A_ELEMENTS),
    b: new Float64Array(memory.buffer, bBytes, B_ELEMENTS),
    sums: new Float64Array(memory.buffer, sumBytes, SUM_ELEMENTS),
    multiply: (a, b, sums, m, n, k) => {
      run(8 * a, bBytes + 8 * b, sumBytes + 8 * sums, m, n, k);
    },
  };
}

const workspaces = new WeakMap<Machine, Workspace>();

/** The workspace of a machine, which all its instructions share: none is interrupted. */
export function workspaceOf(machine: Machine): Workspace {
  const known = workspaces.get(machine);
  if (known !== undefined) return known;
  const made = newWorkspace();
  workspaces.set(machine, made);
  return made;
}
