/**
 * Lets a block of a form with tensor copies do several programs, one after the other:
 *
 *     program                              while program = block_id < num_programs: program; program += num_blocks
 *
 * Copies can then run on from one program into the next (tensor_programs.ts), so that they are under way while results
 * are stored. Programs have no order (language.md 8.2), so any of them may follow another one.
 *
 * It is done where the sums of a block leave no registers for a second one on its multiprocessor: two blocks overlap
 * without it, and smaller tiles are for products that have a program for each multiprocessor at most.
 */
import {
  type Func,
  newOp,
  newValue,
  type Op,
  type OpOf,
  type Region,
  setAttrs,
  type Value,
} from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { bytesOf, type IrType, scalarType } from "../ir/types.ts";
import { replaceUses, terminatorOf, walkOps } from "../ir/walk.ts";
import { exchangeBytes, isExchange } from "../layout/exchanges.ts";
import { fillsMultiprocessor, registerCount, tileBytes } from "../layout/tiles.ts";
import { must } from "../support/bug.ts";
import { query } from "../targets.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { GROUP_STAGES } from "./pipeline.ts";

export const loopPrograms: Pass<TargetContext> = {
  name: "loop-programs",
  doc: "blocks do several programs in turn where copies of one can begin during the one before",
  run: (func, context) => {
    const loop = loadingLoop(func);
    if (loop === undefined || !isUnordered(func, loop)) return false;
    if (!isAlone(loop, context)) return false;
    const slots = slotsBeside(func, loop, context);
    if (slots === undefined) return false;
    setAttrs(loop, { num_stages: slots });
    wrap(func);
    return true;
  },
};

/** The loop with all tensor loads of a function, where it is the only one with such and no control is around it. */
function loadingLoop({ body }: Func): OpOf<"while"> | undefined {
  let loads = 0;
  walkOps(body, ({ name }) => loads += name === "tensor_load" ? 1 : 0);
  for (const op of body.ops) {
    if (op.name !== "while") continue;
    const here = loopOf(op).body.ops.filter(({ name }) => name === "tensor_load");
    if (here.length > 0) return here.length === loads && !gathers(op) ? op : undefined;
  }
  return undefined;
}

/** Whether a dot of a loop takes a tile that threads load: its copies do not run on into the next program. */
function gathers(loop: OpOf<"while">): boolean {
  return loopOf(loop).body.ops.some((op) =>
    op.name === "dot" &&
    [operandsOf(op).a, operandsOf(op).b].some((operand) => {
      let { def } = operand;
      while (def?.name === "permute" || def?.name === "convert_layout") {
        ({ def } = operandsOf(def).value);
      }
      return def?.name === "load";
    })
  );
}

/**
 * Whether nothing in a program says when it happens, and all it stores comes after the loop. Rotated rows are left out:
 * with them ptxas 13.0 lets the wgmma instructions of such a loop wait for each other (C7514).
 */
function isUnordered({ body }: Func, loop: Op): boolean {
  let isFree = true;
  const visit = (op: Op, mayStore: boolean): void => {
    const { effect } = rowOf(op);
    const isStore = op.name === "store" && mayStore && op.attrs.modifiers.length === 0;
    const isLoad = op.name === "tensor_load" ||
      (op.name === "load" && !op.attrs.modifiers.includes("volatile"));
    if (op.name === "rotate") isFree = false;
    isFree &&= effect === "pure" || effect === "control" || isStore || isLoad;
  };
  const at = body.ops.indexOf(loop);
  body.ops.forEach((op, index) => {
    visit(op, index > at);
    for (const region of op.regions) walkOps(region, (inner) => visit(inner, index > at));
  });
  return isFree;
}

/** Whether the registers of a multiprocessor do not suffice for two blocks. */
function isAlone(loop: OpOf<"while">, { numWarps, target }: TargetContext): boolean {
  let sums = 0;
  for (const { name, results } of loopOf(loop).body.ops) {
    if (name !== "dot") continue;
    for (const sum of results) sums += registerCount(sum) * bytesOf(sum.type.element) / 4;
  }
  return fillsMultiprocessor(sums, numWarps, target);
}

/** Slots with which copies for later iterations are on their way while one multiplies and one before it ends. */
const LEAST_SLOTS = 3;

/** Slots that fit beside what the exchanges of a program need, which overlap with copies; undefined where they are too few. */
function slotsBeside(
  func: Func,
  loop: OpOf<"while">,
  { target, numStages }: TargetContext,
): number | undefined {
  let slotBytes = 0;
  for (const op of loopOf(loop).body.ops) {
    if (op.name === "tensor_load") slotBytes += tileBytes(resultOf(op).type);
  }
  let exchanged = 0;
  for (const op of func.body.ops) {
    if (op === loop) continue;
    const note = (one: Op): void => {
      if (isExchange(one)) exchanged = Math.max(exchanged, exchangeBytes(one));
    };
    note(op);
    op.regions.forEach((region) => walkOps(region, note));
  }
  const wanted = loop.attrs.num_stages ?? numStages ?? GROUP_STAGES;
  const slots = query(target, ({ sharedBytesPerBlock }) => {
    const fitting = Math.floor((sharedBytesPerBlock - exchanged - SPARE_BYTES) / slotBytes);
    return Math.min(wanted, fitting);
  });
  return slots < LEAST_SLOTS ? undefined : slots;
}

/** For barriers and for the alignment of swizzled buffers. */
const SPARE_BYTES = 2048;

const INT32: IrType = scalarType("int32");
const BOOL: IrType = scalarType("bool");

/** Puts all that depends on the program's index along the first axis, or has an effect, into a loop over programs. */
function wrap(func: Func): void {
  const { ops } = func.body;
  const { span } = must(ops[0], "operation of a function");
  const make = (name: "block_id" | "num_blocks"): Op => newOp(func, name, [], [INT32], span);
  const [first, step] = [make("block_id"), make("num_blocks")];
  const count = newOp(func, "num_programs", [], [INT32], span, { axis: 0 });
  const [tested, program] = [newValue(func, INT32), newValue(func, INT32, "program")];
  const before: Op[] = [first, step, count];
  const inside: Op[] = [];
  const varying = new Set<Value>();
  const ids = new Map<Value, Value>();
  for (const op of ops.slice(0, -1)) {
    if (op.name === "program_id" && op.attrs.axis === 0) {
      ids.set(resultOf(op), program);
      varying.add(resultOf(op));
      continue;
    }
    if (isFixed(op) && !op.operands.some((value) => varying.has(value))) before.push(op);
    else {
      inside.push(op);
      for (const value of op.results) varying.add(value);
    }
  }
  for (const region of inside.flatMap(({ regions }) => regions)) replaceIds(region, program, ids);
  const continues = newOp(func, "lt", [tested, resultOf(count)], [BOOL], span);
  const test: Region = {
    params: [tested],
    ops: [continues, newOp(func, "condition", [resultOf(continues), tested], [], span)],
  };
  const next = newOp(func, "add", [program, resultOf(step)], [INT32], span);
  const end = newOp(func, "yield", [resultOf(next)], [], span);
  const body: Region = { params: [program], ops: [...inside, next, end] };
  const attrs = { programs: true };
  const loop = newOp(func, "while", [resultOf(first)], [INT32], span, attrs, [test, body]);
  func.body.ops = [...before, loop, terminatorOf(func.body)];
  replaceUses(func, ids);
}

/** Whether an operation may be done once for all programs of a block, as far as its operands allow. */
function isFixed(op: Op): boolean {
  return rowOf(op).effect === "pure" && op.regions.length === 0 && op.name !== "convert_layout" &&
    !hasTrait(op, "once");
}

/** Takes the indices of programs out of inner regions. */
function replaceIds(region: Region, program: Value, ids: Map<Value, Value>): void {
  region.ops = region.ops.filter((op) => {
    for (const inner of op.regions) replaceIds(inner, program, ids);
    if (op.name !== "program_id" || op.attrs.axis !== 0) return true;
    ids.set(resultOf(op), program);
    return false;
  });
}
