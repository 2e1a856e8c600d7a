/**
 * TILE_OPS: every operation of the tile IR, once. Printer, parser, verifier, passes, layouts and lowering read this
 * table, and the types of operations (func.ts) and of their operands (op.ts) are derived from it.
 *
 * `args` names the operands in order, each with its class:
 *   any     any value                       num     any arithmetic element
 *   int     integer or bool element         ptr     pointer element
 *   bool    bool element                    same    the type of the first operand
 *   shape   any element, shape of the first operand
 *   buffer  a buffer in shared memory; only operands of this class are buffers
 * A trailing `?` marks one that may be absent, with all after it; `*` any number of them, the last entry only.
 * Result classes: same (as the first operand), bool (shape of the first operand), pointee, attr (the result type given
 * at construction, checked by the op's own rule), none, many.
 */
import type { ScalarValue } from "../support/arith.ts";
import type { SharedAccess } from "./shared_access.ts";

export const OPERAND_CLASSES = [
  ...["any", "num", "int", "ptr", "bool", "same", "shape", "buffer"] as const,
] as const;
export type OperandClass = (typeof OPERAND_CLASSES)[number];
/** `output`: must happen, but no operation of the program observes it. */
export type Effect = "pure" | "read" | "write" | "sync" | "output" | "control";

/** What an attribute of each kind is. */
interface AttrKinds {
  readonly int: number;
  readonly ints: readonly number[];
  /** A bigint for integers, bool and pointers, a number for floats, as the result's element says. */
  readonly number: ScalarValue;
  readonly bigint: bigint;
  readonly string: string;
  readonly bool: boolean;
  readonly strings: readonly string[];
  readonly access: SharedAccess;
}
export type AttrKind = keyof AttrKinds;

export interface TileOpRow {
  readonly doc: string;
  readonly args: Readonly<
    Record<string, OperandClass | `${OperandClass}?` | `${OperandClass}*`>
  >;
  readonly result: "same" | "bool" | "pointee" | "attr" | "none" | "many";
  readonly effect: Effect;
  /** A trailing `?` marks those that may be absent. */
  readonly attrs?: Readonly<Record<string, AttrKind | `${AttrKind}?`>>;
  /** The names of the regions, in order. */
  readonly regions?: readonly string[];

  // Traits (hasTrait of table.ts).
  /** Pure, and element i of the result depends on element i of the operands only; any layout does. */
  readonly elementwise?: true;
  /** Operands may be exchanged. */
  readonly commutes?: true;
  /** Adds the second operand to the first, or subtracts it: where it is uniform, the result steps from the first. */
  readonly adds?: true;
  /** `reduce` and `scan` may combine elements with it. */
  readonly folds?: true;
  /** The operand's elements in another shape; nothing is computed. */
  readonly reshapes?: true;
  /** Register r of the result is register r of the operand, once their layouts fit: it emits no code. */
  readonly renames?: true;
  /** A pointer that comes out points into what the first operand points to. */
  readonly derives?: true;
  /** Threads do it together, or it costs too much to be computed again in every layout that a user wants. */
  readonly once?: true;
  /** Narrow elements come out packed in 32-bit words. */
  readonly packs?: true;
  /** An access to memory that chooses its layout by its addresses. */
  readonly anchors?: true;
  /** Known to use no shared memory whatever the layouts, except what is planned for the operands of a `dot`. */
  readonly avoidsShared?: true;
  /** Contains a barrier of the whole block, whatever the layouts. */
  readonly blocks?: true;
  /** Ends a region. */
  readonly ends?: true;
}

/**
 * Where an operation that exchanges elements between warps does so in shared memory, how far from there the next partition
 * does, and whether it begins with a block barrier; set by the last pass of scheduling.
 */
const EXCHANGE = { address: "int?", partition_bytes: "int?", barrier: "bool?" } as const;

// deno-fmt-ignore: a row per operation
export const TILE_OPS = {
  // ---- leaves
  constant: { doc: "one value in every element", args: {}, result: "attr", effect: "pure", attrs: { value: "number" }, elementwise: true },
  program_id: { doc: "index of this program along an axis of the grid", args: {}, result: "attr", effect: "pure", attrs: { axis: "int" }, avoidsShared: true },
  num_programs: { doc: "extent of the grid along an axis", args: {}, result: "attr", effect: "pure", attrs: { axis: "int" }, avoidsShared: true },
  program_step: { doc: "how far along an axis of the grid the next program of a block is, where they do several in turn", args: {}, result: "attr", effect: "pure", attrs: { axis: "int" }, avoidsShared: true },
  block_id: { doc: "index of this block along the first axis of the launch, where blocks do several programs in turn", args: {}, result: "attr", effect: "pure", avoidsShared: true },
  num_blocks: { doc: "blocks along the first axis of the launch, where they do several programs in turn", args: {}, result: "attr", effect: "pure", avoidsShared: true },
  partition: { doc: "which partition of the block the thread is in, where each does programs of its own", args: {}, result: "attr", effect: "pure", avoidsShared: true },
  constant_buffer: { doc: "address of a constant buffer of the file", args: {}, result: "attr", effect: "pure", attrs: { buffer: "string", bytes: "int" } },
  range: { doc: "lo, lo+1, …: a 1-D tile", args: {}, result: "attr", effect: "pure", attrs: { lo: "number" }, avoidsShared: true },
  // ---- element-wise arithmetic; meaning follows the element type (signed, unsigned, float)
  add: { doc: "a + b", args: { left: "num", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, adds: true, folds: true },
  sub: { doc: "a - b; if it is `apart`, products that it takes are rounded first", args: { left: "num", right: "same" }, result: "same", effect: "pure", attrs: { apart: "bool?" }, elementwise: true, adds: true },
  mul: { doc: "a * b, low half for integers", args: { left: "num", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  div: { doc: "a / b, towards zero for integers", args: { left: "num", right: "same" }, result: "same", effect: "pure", elementwise: true },
  rem: { doc: "a % b, sign of a", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true },
  min: { doc: "the smaller; numbers win over NaN", args: { left: "num", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  max: { doc: "the larger; numbers win over NaN", args: { left: "num", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  and: { doc: "a & b", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  or: { doc: "a | b", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  xor: { doc: "a ^ b", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true, commutes: true, folds: true },
  shl: { doc: "a << b; a count of the width or more gives 0", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true },
  shr: { doc: "a >> b, by signedness", args: { left: "int", right: "same" }, result: "same", effect: "pure", elementwise: true },
  neg: { doc: "-a", args: { value: "num" }, result: "same", effect: "pure", elementwise: true },
  not: { doc: "~a; on bool the negation", args: { value: "int" }, result: "same", effect: "pure", elementwise: true },
  lt: { doc: "a < b", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true },
  le: { doc: "a <= b", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true },
  gt: { doc: "a > b", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true },
  ge: { doc: "a >= b", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true },
  eq: { doc: "a == b", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true, commutes: true },
  ne: { doc: "a != b, true for NaN", args: { left: "any", right: "same" }, result: "bool", effect: "pure", elementwise: true, commutes: true },
  select: { doc: "c ? a : b, both evaluated; if it `covers` them, all elements that loads read for a are chosen", args: { condition: "bool", then: "shape", otherwise: "shape" }, result: "attr", effect: "pure", attrs: { covers: "bool?" }, elementwise: true },
  convert: { doc: "the value in another element type (rules: language.md 9)", args: { value: "any" }, result: "attr", effect: "pure", elementwise: true, derives: true },
  bitcast: { doc: "the same bits in another element type", args: { value: "any" }, result: "attr", effect: "pure", elementwise: true },
  hold: { doc: "the operand, whose elements are computed here and not where they are used, in other registers than those of some carried values, which change", args: { value: "any", changing: "any*" }, result: "same", effect: "sync", once: true },
  pack: { doc: "the operand, whose narrow elements share registers from here on", args: { value: "any" }, result: "same", effect: "pure", derives: true, packs: true, avoidsShared: true },
  round_tf32: { doc: "the nearest TF32 number", args: { value: "num" }, result: "same", effect: "pure", elementwise: true },
  offset: { doc: "pointer plus count elements; the count widens to 64 bits by its own signedness", args: { pointer: "ptr", count: "shape" }, result: "same", effect: "pure", elementwise: true, derives: true, adds: true },
  difference: { doc: "elements between two pointers, int64", args: { left: "ptr", right: "same" }, result: "attr", effect: "pure", elementwise: true },
  math: { doc: "an element-wise function by name: exp, log, sqrt, abs, fma, …; if it `flushes`, zero may be the result in place of a subnormal one", args: { value: "any", others: "any*" }, result: "attr", effect: "pure", attrs: { function: "string", flushes: "bool?" }, elementwise: true },
  /** The operand, with a promise: divisible by n (integers), address divisible by n bytes (pointers). */
  assume_multiple: { doc: "the operand, promised to be a multiple of n", args: { value: "any" }, result: "same", effect: "pure", attrs: { n: "int" }, elementwise: true, renames: true, derives: true },
  // ---- shape
  splat: { doc: "a scalar in every element", args: { value: "any" }, result: "attr", effect: "pure", reshapes: true, derives: true, avoidsShared: true },
  expand_dims: { doc: "inserts an axis of extent 1", args: { value: "any" }, result: "attr", effect: "pure", attrs: { axis: "int" }, reshapes: true, renames: true, derives: true, avoidsShared: true },
  broadcast: { doc: "stretches axes of extent 1; equal rank", args: { value: "any" }, result: "attr", effect: "pure", reshapes: true, renames: true, derives: true, avoidsShared: true },
  reshape: { doc: "row-major reshape, any; scalar from one element", args: { value: "any" }, result: "attr", effect: "pure", reshapes: true, renames: true, derives: true, avoidsShared: true },
  permute: { doc: "result axis d is operand axis order[d]", args: { value: "any" }, result: "attr", effect: "pure", attrs: { order: "ints" }, reshapes: true, renames: true, derives: true, avoidsShared: true },
  slice: { doc: "the elements from `first` on along the axis where the result is shorter, a multiple of its extent; made before layouts are known", args: { value: "any" }, result: "attr", effect: "pure", attrs: { axis: "int", first: "int" }, avoidsShared: true },
  // ---- memory
  load: { doc: "loads lanes whose mask is set; others give `other`, or zero; if `beside`, threads load what they combine with other data, or, if `wide`, their warp does in wide accesses; of a `slice`, when what they load of the one before is there; where `inside`, by words along axis `words`, for `rows` (layout/rows/word_rows.ts); if `in_vectors`, threads have as many side by side as accesses could cover if they were aligned, and what lies before and behind is there too where elements are less than a word (lower/memory/unaligned_vectors.ts)", args: { pointer: "ptr", mask: "bool?", other: "any?", inside: "bool?", rows: "bool?" }, result: "pointee", effect: "read", attrs: { modifiers: "strings", beside: "bool?", wide: "bool?", slice: "int?", words: "int?", in_vectors: "bool?" }, anchors: true, avoidsShared: true, packs: true },
  tensor_load: { doc: "a box of the tensor of map i, at coordinates innermost first; elements outside of the tensor are zero", args: { pointer: "ptr", coordinates: "int*" }, result: "attr", effect: "read", attrs: { map: "int" }, avoidsShared: true },
  store: { doc: "stores lanes whose mask is set; those that are slices of one store, by its number, need no order; where `inside`, by words along axis `words`, for `rows`, if these are rotated so that words are `aligned`", args: { pointer: "ptr", value: "shape", mask: "bool?", inside: "bool?", rows: "bool?" }, result: "none", effect: "write", attrs: { modifiers: "strings", slice_of: "int?", words: "int?", aligned: "bool?" }, anchors: true, avoidsShared: true },
  atomic: { doc: "changes memory in one step where the mask is set; gives what was there, or zero, unless it is `unused`", args: { pointer: "ptr", value: "shape", mask: "bool?" }, result: "pointee", effect: "write", attrs: { operator: "string", order: "string", scope: "string", unused: "bool?", ...EXCHANGE } },
  atomic_cas: { doc: "writes the value where memory equals the expected one, in one step; gives what was there, unless it is `unused`", args: { pointer: "ptr", expected: "shape", value: "shape" }, result: "pointee", effect: "write", attrs: { order: "string", scope: "string", unused: "bool?", ...EXCHANGE } },
  // ---- communication
  convert_layout: { doc: "the same tile in another layout (the result type's); an exchange may store with `stmatrix` if `matrices`, and each warp has memory of its own if `by_warp`", args: { value: "any" }, result: "attr", effect: "pure", attrs: { matrices: "bool?", by_warp: "bool?", ...EXCHANGE }, derives: true, packs: true },
  reduce: { doc: "combines the elements along an axis; if it `alternates`, what is done several times has memory for two times; if `in_blocks`, the warps of each block combine their parts before blocks do", args: { value: "any" }, result: "attr", effect: "pure", attrs: { axis: "int", operator: "string", alternates: "bool?", in_blocks: "bool?", ...EXCHANGE }, once: true },
  scan: { doc: "combines each element with all before it along an axis", args: { value: "num" }, result: "same", effect: "pure", attrs: { axis: "int", operator: "string", ...EXCHANGE }, once: true },
  exchange: { doc: "element i along the axis is element i ^ mask", args: { value: "any" }, result: "same", effect: "pure", attrs: { axis: "int", mask: "int", ...EXCHANGE }, once: true },
  gather: { doc: "element i along the axis is the one at index i", args: { value: "any", index: "int" }, result: "attr", effect: "pure", attrs: { axis: "int", ...EXCHANGE }, once: true, blocks: true },
  histogram: { doc: "how often 0, 1, … are in the operand", args: { value: "int" }, result: "attr", effect: "pure", attrs: EXCHANGE, once: true, blocks: true },
  dot: { doc: "sum + a @ b", args: { a: "any", b: "any", sum: "any" }, result: "attr", effect: "pure", attrs: { mode: "string" }, once: true, avoidsShared: true },
  // Operands of dots in slots of shared memory, and how they get there; made after layouts are known.
  shared_buffer: { doc: "slots in shared memory, from an offset of the staging area on; no exchange may use its memory if it is exclusive; if it `overlaps`, a tile from a slot on goes over those behind it", args: {}, result: "attr", effect: "pure", attrs: { slots: "int", slot_bytes: "int", offset: "int", exclusive: "bool", overlaps: "bool?", address: "int?" } },
  async_copy: { doc: "starts copying a tile from memory into the slot, if the scalar `when` holds; masked lanes become zero, all if the scalar `inside` does not hold; one of several parts of the copy", args: { pointer: "ptr", buffer: "buffer", slot: "int", when: "bool", inside: "bool", mask: "bool?" }, result: "none", effect: "sync", attrs: { part: "int", parts: "int" } },
  copy_rows: { doc: "starts copying rows of the tile along the axis, which may start anywhere, as the aligned chunks that they lie in, into the slot, if `when`; rows whose mask is not set become zero, and of the others what is not among the `count` elements from each on; if they go on where those of the slot before end, chunks are copied once, and without `when`, but with `before`, what those need", args: { pointer: "ptr", buffer: "buffer", slot: "int", when: "bool", before: "bool", count: "int", rows: "bool" }, result: "none", effect: "sync", attrs: { axis: "int", continued: "bool" } },
  commit_group: { doc: "ends a group of asynchronous copies", args: {}, result: "none", effect: "sync" },
  wait_group: { doc: "waits until at most so many of the thread's groups of copies are under way", args: {}, result: "none", effect: "sync", attrs: { pending: "int" } },
  async_proxy_fence: { doc: "lets instructions that access shared memory through the asynchronous proxy see what the thread's copies and stores have put there", args: {}, result: "none", effect: "sync" },
  warp_group_dot: { doc: "starts sum + a @ b by warp groups, of tiles in slots whose axes `a_depth` and `b_depth` are k, as a group of its own; until a wait for the group only another one may take the result as sum; of one that is `apart`, which adds what the instructions sum over 128 elements of k at most, only a part is started, and only `finish_dot` may take the result; if `registers`, threads read a from its slot; if `anew`, a @ b in the registers of a sum that the loop carries, which nothing reads any more", args: { sum: "any", a: "buffer", a_slot: "int", b: "buffer", b_slot: "int" }, result: "same", effect: "sync", attrs: { a_depth: "int", b_depth: "int", apart: "bool", registers: "bool?", anew: "bool?" }, once: true },
  register_group_dot: { doc: "as `warp_group_dot`, with a in registers, which nothing changes before the wait; if `in_steps`, a is computed before each instruction, which is a group of its own, and the dot before is done", args: { sum: "any", a: "any", b: "buffer", b_slot: "int" }, result: "same", effect: "sync", attrs: { b_depth: "int", in_steps: "bool?" }, once: true },
  finish_dot: { doc: "does what is left of a dot of warp groups that is `apart`, and waits for it", args: { dot: "num" }, result: "same", effect: "sync", once: true },
  wait_dots: { doc: "waits until at most so many of the warp group's groups of dots are under way", args: {}, result: "none", effect: "sync", attrs: { pending: "int" } },
  mbarrier_init: { doc: "makes the barriers of all slots ready, each for so many arrivals a phase; seen by other threads after a block barrier", args: { barriers: "buffer" }, result: "none", effect: "sync", attrs: { arrivals: "int" } },
  mbarrier_end: { doc: "ends the barriers of all slots, so that their memory may be used again", args: { barriers: "buffer" }, result: "none", effect: "sync" },
  mbarrier_expect: { doc: "arrives at the slot's barrier, whose phase ends when so many bytes are copied", args: { barriers: "buffer", slot: "int" }, result: "none", effect: "sync", attrs: { bytes: "int" } },
  mbarrier_arrive: { doc: "arrives at the slot's barrier, once for each warp; if `reads`, when all threads of the warp have read the slot", args: { barriers: "buffer", slot: "int" }, result: "none", effect: "sync", attrs: { reads: "bool?" } },
  mbarrier_wait: { doc: "waits for the end of a phase of the slot's barriers, the first, third, … for parity 0", args: { barriers: "buffer", slot: "int", parity: "int", others: "buffer*" }, result: "none", effect: "sync" },
  bulk_copy: { doc: "starts copying so many bytes from a pointer on into the slot; counts at the slot's barrier", args: { pointer: "ptr", buffer: "buffer", barriers: "buffer", slot: "int" }, result: "none", effect: "sync", attrs: { bytes: "int" } },
  copy_run: { doc: "starts copying the block's part of `count` elements from a pointer on, which may be any of its type, into the buffer, from a slot on that lies as the part does modulo 128 bytes; one warp's lanes arrive at the barrier, and one more, and the bytes count there; puts zeros there before that if `empty`", args: { pointer: "ptr", count: "int", buffer: "buffer", slot: "int", barriers: "buffer", barrier: "int", empty: "bool" }, result: "none", effect: "sync" },
  store_run: { doc: "starts storing what the threads of the block have put into the buffer from a slot on: its part of `count` elements from a pointer on, which lies as the slot does modulo 16 bytes", args: { pointer: "ptr", count: "int", buffer: "buffer", slot: "int" }, result: "none", effect: "sync" },
  wait_runs: { doc: "waits until stored runs have been read", args: {}, result: "none", effect: "sync" },
  draw_program: { doc: "takes the number of a program that no block has from the launch's queue, which begins again when it has given the last one; only the first thread of a program's first block has the result", args: { last: "int" }, result: "attr", effect: "sync", once: true },
  send_program: { doc: "sends a number, that of the first thread of the program's first block, to a slot of each of its blocks, without waiting for them", args: { number: "int", mail: "buffer", slot: "int" }, result: "none", effect: "sync" },
  receive_program: { doc: "waits for the number that was sent to the slot, in its first, third, … turn for parity 0", args: { mail: "buffer", slot: "int", parity: "int" }, result: "attr", effect: "sync", once: true },
  tensor_copy: { doc: "starts copying a box of the tensor of map i into the slot; elements outside of the tensor become zero; counts at the slot's barrier", args: { buffer: "buffer", barriers: "buffer", slot: "int", coordinates: "int*" }, result: "none", effect: "sync", attrs: { map: "int" } },
  local_store: { doc: "puts the tile into the slot", args: { value: "any", buffer: "buffer", slot: "int" }, result: "none", effect: "sync" },
  local_load: { doc: "the tile in the slot, read by vectors, by matrices, by transposed matrices, or by transposed matrices of pairs of bytes; where its elements are used, or all here if `at_once`", args: { buffer: "buffer", slot: "int" }, result: "attr", effect: "pure", attrs: { access: "access", at_once: "bool?" }, once: true },
  local_load_slice: { doc: "slice i of the tile in the slot along the axis where the result is shorter; its accesses are put between those of the dots that follow", args: { buffer: "buffer", slot: "int" }, result: "attr", effect: "pure", attrs: { access: "access", slice: "int" }, once: true, packs: true },
  local_rows: { doc: "the tile whose rows `copy_rows` has put into the slot, and, if they go on, into the one after it; each starts at so many bytes, modulo those of a chunk", args: { buffer: "buffer", slot: "int", start: "int" }, result: "attr", effect: "pure", attrs: { axis: "int", continued: "bool" }, once: true },
  // Rows rotated by amounts known at run time; made with layouts (layout/rows/rotate.ts).
  rotate: { doc: "position i along the axis is element (i - amount) mod extent; amount < bound; by words of narrow elements if `words`", args: { value: "any", amount: "int" }, result: "same", effect: "pure", attrs: { axis: "int", bound: "int", words: "bool?", ...EXCHANGE }, once: true, blocks: true },
  rotated_range: { doc: "position i along the axis is lo + (i - amount) mod extent; amount < bound", args: { amount: "int" }, result: "attr", effect: "pure", attrs: { lo: "number", axis: "int", bound: "int" } },
  fence: { doc: "orders the program's memory operations for all of the GPU", args: {}, result: "none", effect: "sync", blocks: true },
  barrier: { doc: "orders all memory operations of the program before and after it", args: {}, result: "none", effect: "sync", avoidsShared: true, blocks: true },
  // ---- beside the program's own work
  prefetch: { doc: "loads memory where the mask is set into a cache", args: { pointer: "ptr", mask: "bool?" }, result: "none", effect: "output", anchors: true },
  print: { doc: "prints the operands by a format, each element of tiles on a line of its own", args: { values: "any*" }, result: "none", effect: "output", attrs: { format: "string" } },
  check: { doc: "ends the launch unless all elements are true", args: { condition: "bool" }, result: "none", effect: "output", attrs: { text: "string" } },
  // ---- structured control; scalar conditions
  if: { doc: "runs one of two regions; results are what they yield", args: { condition: "bool" }, result: "many", effect: "control", regions: ["then", "otherwise"], avoidsShared: true },
  once: { doc: "runs its region in one thread of the block, if the scalar `when` holds; made by scheduling", args: { when: "bool" }, result: "none", effect: "control", regions: ["body"] },
  produce: { doc: "waits for all threads of the block; then one thread of a warp beside those of the program runs the region, and that warp ends; made by scheduling", args: {}, result: "none", effect: "control", regions: ["body"], blocks: true },
  while: { doc: "region 0 ends in `condition`, region 1 in `yield`; operands are the first carried values; an iteration is a whole program if `programs`, done by one of so many `partitions` of warps if there are several, for launches of two programs a block at least if `several`, of all axes of the grid for launches `within`: an axis of a tensor map, by their numbers, with so many elements at most; for all launches if that is empty, or if `all_axes`; so many iterations follow each other in code if `unrolled`, and the last part of a dot may be under way from one to the next; if `anew`, the first iteration has code of its own, whose dot of warp groups makes the sums that are zero before it; `single`: there is one iteration, for a dot that is in no loop; `rolled`: the text says how many copies of the body there are", args: { initial: "any*" }, result: "many", effect: "control", attrs: { num_stages: "int?", rolled: "bool?", programs: "bool?", partitions: "int?", several: "bool?", within: "ints?", unrolled: "int?", anew: "bool?", single: "bool?", all_axes: "bool?" }, regions: ["test", "body"], avoidsShared: true },
  condition: { doc: "ends region 0 of a while: whether to continue, and the carried values", args: { continues: "bool", carried: "any*" }, result: "none", effect: "control", avoidsShared: true, ends: true },
  yield: { doc: "ends a region with its results", args: { values: "any*" }, result: "none", effect: "control", avoidsShared: true, ends: true },
  leave: { doc: "ends the program if the scalar condition is true; made by scheduling", args: { condition: "bool" }, result: "none", effect: "control", avoidsShared: true },
  return: { doc: "ends the program", args: {}, result: "none", effect: "control", avoidsShared: true, ends: true },
} as const satisfies Record<string, TileOpRow>;

export type TileOp = keyof typeof TILE_OPS;

/** Operations whose rows have a value in a column. */
export type OpWhere<Column> = {
  [N in TileOp]: (typeof TILE_OPS)[N] extends Column ? N : never;
}[TileOp];

/** `a < b` and its like. */
export type ComparisonOp = OpWhere<{ readonly result: "bool" }>;
/** Element-wise arithmetic of two operands of one type. */
export type BinaryOp = OpWhere<
  {
    readonly args: { readonly left: "num" | "int"; readonly right: "same" };
    readonly result: "same";
  }
>;
/** Operations that may exchange elements between threads through shared memory. */
export type ExchangeOp = OpWhere<{ readonly attrs: typeof EXCHANGE }>;
/** Operations that `reduce` and `scan` combine elements with. */
export type FoldOp = OpWhere<{ readonly folds: true }>;

type AttrOf<Kind> = Kind extends `${infer Required extends AttrKind}?` ? AttrKinds[Required]
  : Kind extends AttrKind ? AttrKinds[Kind]
  : never;

type Flat<T> = { readonly [K in keyof T]: T[K] };

type AttrsIn<Row> = Row extends { readonly attrs: infer A } ? Flat<
    & { readonly [K in keyof A as A[K] extends `${string}?` ? never : K]: AttrOf<A[K]> }
    & { readonly [K in keyof A as A[K] extends `${string}?` ? K : never]?: AttrOf<A[K]> }
  >
  : Readonly<Record<never, never>>;

/** The attributes of an operation, by the column `attrs`. */
export type AttrsOf<N extends TileOp> = { readonly [K in N]: AttrsIn<(typeof TILE_OPS)[K]> }[N];

/** Operations that need no attributes. */
export type BareOp = {
  [N in TileOp]: Readonly<Record<never, never>> extends AttrsOf<N> ? N : never;
}[TileOp];
