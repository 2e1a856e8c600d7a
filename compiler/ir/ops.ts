/**
 * TILE_OPS: every operation of the tile IR, once. Printer, parser, verifier, folding, CSE and lowering read
 * this table. Operand classes:
 *   any     any value                       num     any arithmetic element
 *   int     integer or bool element         ptr     pointer element
 *   bool    bool element                    same    the type of the first operand
 *   shape   any element, shape of the first operand
 *   buffer  a buffer in shared memory; only operands of this class are buffers
 * A trailing `?` marks an optional last operand (then an attribute says which are there), `*` any number.
 * Result classes: same (as operand 0), bool (shape of operand 0), pointee, attr (from the op's result type
 * given at construction and checked by the op's own rule), none.
 */

export type OperandClass = "any" | "num" | "int" | "ptr" | "bool" | "same" | "shape" | "buffer";
/** `aside`: must happen, but no operation of the program can tell whether it did. */
export type Effect = "pure" | "read" | "write" | "sync" | "aside" | "control";
/** `number` is a bigint for integers, bool and pointers and a number for floats, as the result's element says. */
export type AttrKind = "int" | "ints" | "number" | "bigint" | "string" | "bool" | "strings";

export interface TileOpRow {
  readonly doc: string;
  readonly args: readonly (OperandClass | `${OperandClass}?` | `${OperandClass}*`)[];
  readonly result: "same" | "bool" | "pointee" | "attr" | "none" | "many";
  readonly effect: Effect;
  /** A trailing `?` marks those that may be absent. */
  readonly attrs?: Readonly<Record<string, AttrKind | `${AttrKind}?`>>;
  /** Element i of the result depends on element i of the operands only; any layout does. */
  readonly elementwise?: true;
  /** Operands may be exchanged. */
  readonly commutes?: true;
  readonly regions?: number;
}

// deno-fmt-ignore: a row per operation
export const TILE_OPS = {
  // ---- leaves
  constant: { doc: "one value in every element", args: [], result: "attr", effect: "pure", attrs: { value: "number" }, elementwise: true },
  program_id: { doc: "index of this program along an axis of the grid", args: [], result: "attr", effect: "pure", attrs: { axis: "int" } },
  num_programs: { doc: "extent of the grid along an axis", args: [], result: "attr", effect: "pure", attrs: { axis: "int" } },
  constant_buffer: { doc: "address of a constant buffer of the file", args: [], result: "attr", effect: "pure", attrs: { buffer: "string", bytes: "int" } },
  range: { doc: "lo, lo+1, …: a 1-D tile", args: [], result: "attr", effect: "pure", attrs: { lo: "number" } },
  // ---- element-wise arithmetic; meaning follows the element type (signed, unsigned, float)
  add: { doc: "a + b", args: ["num", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  sub: { doc: "a - b", args: ["num", "same"], result: "same", effect: "pure", elementwise: true },
  mul: { doc: "a * b, low half for integers", args: ["num", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  div: { doc: "a / b, towards zero for integers", args: ["num", "same"], result: "same", effect: "pure", elementwise: true },
  rem: { doc: "a % b, sign of a", args: ["int", "same"], result: "same", effect: "pure", elementwise: true },
  min: { doc: "the smaller; numbers win over NaN", args: ["num", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  max: { doc: "the larger; numbers win over NaN", args: ["num", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  and: { doc: "a & b", args: ["int", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  or: { doc: "a | b", args: ["int", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  xor: { doc: "a ^ b", args: ["int", "same"], result: "same", effect: "pure", elementwise: true, commutes: true },
  shl: { doc: "a << b; a count of the width or more gives 0", args: ["int", "same"], result: "same", effect: "pure", elementwise: true },
  shr: { doc: "a >> b, by signedness", args: ["int", "same"], result: "same", effect: "pure", elementwise: true },
  neg: { doc: "-a", args: ["num"], result: "same", effect: "pure", elementwise: true },
  not: { doc: "~a; on bool the negation", args: ["int"], result: "same", effect: "pure", elementwise: true },
  lt: { doc: "a < b", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true },
  le: { doc: "a <= b", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true },
  gt: { doc: "a > b", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true },
  ge: { doc: "a >= b", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true },
  eq: { doc: "a == b", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true, commutes: true },
  ne: { doc: "a != b, true for NaN", args: ["any", "same"], result: "bool", effect: "pure", elementwise: true, commutes: true },
  select: { doc: "c ? a : b, both evaluated", args: ["bool", "shape", "shape"], result: "attr", effect: "pure", elementwise: true },
  convert: { doc: "the value in another element type (rules: language.md 9)", args: ["any"], result: "attr", effect: "pure", elementwise: true },
  bitcast: { doc: "the same bits in another element type", args: ["any"], result: "attr", effect: "pure", elementwise: true },
  offset: { doc: "pointer plus count elements; the count widens to 64 bits by its own signedness", args: ["ptr", "shape"], result: "same", effect: "pure", elementwise: true },
  difference: { doc: "elements between two pointers, int64", args: ["ptr", "same"], result: "attr", effect: "pure", elementwise: true },
  math: { doc: "an element-wise function by name: exp, log, sqrt, abs, fma, …", args: ["any*"], result: "attr", effect: "pure", attrs: { function: "string" }, elementwise: true },
  /** The operand, with a promise: divisible by n (integers), address divisible by n bytes (pointers). */
  assume_multiple: { doc: "the operand, promised to be a multiple of n", args: ["any"], result: "same", effect: "pure", attrs: { n: "int" }, elementwise: true },
  // ---- shape
  splat: { doc: "a scalar in every element", args: ["any"], result: "attr", effect: "pure" },
  expand_dims: { doc: "inserts an axis of extent 1", args: ["any"], result: "attr", effect: "pure", attrs: { axis: "int" } },
  broadcast: { doc: "stretches axes of extent 1; equal rank", args: ["any"], result: "attr", effect: "pure" },
  reshape: { doc: "row-major reshape, any; scalar from one element", args: ["any"], result: "attr", effect: "pure" },
  permute: { doc: "result axis d is operand axis order[d]", args: ["any"], result: "attr", effect: "pure", attrs: { order: "ints" } },
  // ---- memory
  load: { doc: "loads lanes whose mask is set; others give `other`, or zero", args: ["ptr", "bool?", "any?"], result: "pointee", effect: "read", attrs: { modifiers: "strings" } },
  store: { doc: "stores lanes whose mask is set", args: ["ptr", "shape", "bool?"], result: "none", effect: "write", attrs: { modifiers: "strings" } },
  atomic: { doc: "changes memory in one step where the mask is set; gives what was there, or zero", args: ["ptr", "shape", "bool?"], result: "pointee", effect: "write", attrs: { operator: "string", order: "string", scope: "string" } },
  atomic_cas: { doc: "writes operand 2 where memory equals operand 1, in one step; gives what was there", args: ["ptr", "shape", "shape"], result: "pointee", effect: "write", attrs: { order: "string", scope: "string" } },
  // ---- communication
  convert_layout: { doc: "the same tile in another layout (the result type's)", args: ["any"], result: "attr", effect: "pure" },
  reduce: { doc: "combines the elements along an axis", args: ["any"], result: "attr", effect: "pure", attrs: { axis: "int", operator: "string" } },
  scan: { doc: "combines each element with all before it along an axis", args: ["num"], result: "same", effect: "pure", attrs: { axis: "int", operator: "string" } },
  exchange: { doc: "element i along the axis is element i ^ mask", args: ["any"], result: "same", effect: "pure", attrs: { axis: "int", mask: "int" } },
  gather: { doc: "element i along the axis is the one at operand 1", args: ["any", "int"], result: "attr", effect: "pure", attrs: { axis: "int" } },
  histogram: { doc: "how often 0, 1, … are in the operand", args: ["int"], result: "attr", effect: "pure" },
  dot: { doc: "acc + a @ b", args: ["any", "any", "any"], result: "attr", effect: "pure", attrs: { mode: "string" } },
  // Operands of products in slots of shared memory, and how they get there; made after layouts are known.
  shared_buffer: { doc: "a buffer of so many slots in shared memory, which begin at an offset of the staging area and have so many bytes each", args: [], result: "attr", effect: "pure", attrs: { slots: "int", offset: "int", slot_bytes: "int" } },
  async_copy: { doc: "starts copying a tile from memory into slot c, if the scalar d holds; masked lanes become zero, all if the scalar e does not hold; one of several parts of the copy", args: ["ptr", "buffer", "int", "bool", "bool", "bool?"], result: "none", effect: "sync", attrs: { part: "int", parts: "int" } },
  commit_group: { doc: "ends a group of asynchronous copies", args: [], result: "none", effect: "sync" },
  wait_group: { doc: "waits until at most so many of the thread's groups of copies are under way", args: [], result: "none", effect: "sync", attrs: { pending: "int" } },
  local_store: { doc: "puts the tile into slot c", args: ["any", "buffer", "int"], result: "none", effect: "sync" },
  local_load: { doc: "the tile in slot b, read by vectors, by matrices or by transposed matrices", args: ["buffer", "int"], result: "attr", effect: "pure", attrs: { access: "string" } },
  local_load_slice: { doc: "slice i of the tile in slot b along the axis where the result is shorter; its accesses are put between those of the products that follow", args: ["buffer", "int"], result: "attr", effect: "pure", attrs: { access: "string", slice: "int" } },
  // Rows turned by amounts known at run time; made with layouts (layout/rotate.ts).
  rotate: { doc: "position i along the axis is element (i - b) mod extent of a; b < bound", args: ["any", "int"], result: "same", effect: "pure", attrs: { axis: "int", bound: "int" } },
  rotated_range: { doc: "position i along the axis is lo + (i - a) mod extent; a < bound", args: ["int"], result: "attr", effect: "pure", attrs: { lo: "number", axis: "int", bound: "int" } },
  fence: { doc: "orders the program's memory operations for all of the GPU", args: [], result: "none", effect: "sync" },
  barrier: { doc: "orders all memory operations of the program before and after it", args: [], result: "none", effect: "sync" },
  // ---- beside the program's own work
  prefetch: { doc: "brings memory where the mask is set into a cache", args: ["ptr", "bool?"], result: "none", effect: "aside" },
  print: { doc: "prints the operands by a format, each element of tiles on a line of its own", args: ["any*"], result: "none", effect: "aside", attrs: { format: "string" } },
  check: { doc: "ends the launch unless all elements are true", args: ["bool"], result: "none", effect: "aside", attrs: { text: "string" } },
  // ---- structured control; scalar conditions
  if: { doc: "runs one of two regions; results are what they yield", args: ["bool"], result: "many", effect: "control", regions: 2 },
  while: { doc: "region 0 ends in `condition`, region 1 in `yield`; operands are the first carried values", args: ["any*"], result: "many", effect: "control", attrs: { num_stages: "int?" }, regions: 2 },
  condition: { doc: "ends region 0 of a while: go on?, and the carried values", args: ["bool", "any*"], result: "none", effect: "control" },
  yield: { doc: "ends a region with its results", args: ["any*"], result: "none", effect: "control" },
  return: { doc: "ends the program", args: [], result: "none", effect: "control" },
} as const satisfies Record<string, TileOpRow>;

export type TileOp = keyof typeof TILE_OPS;
