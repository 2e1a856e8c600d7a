/**
 * Which programs a block does in turn (loop_programs.ts), and the loop that does them. They are as far apart as there
 * are blocks, along the first axis of the grid or along all of them. Along all axes a block carries its position along
 * each, and adds the distance digit by digit, because divisions would delay short programs; or it counts programs, where these
 * are long, and divides; or it goes to and fro.
 */
import { type Func, newOp, type Op, type Region, type Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import type { AttrsOf } from "../../ir/ops.ts";
import { hasTrait, rowOf } from "../../ir/table.ts";
import { scalarType } from "../../ir/types.ts";
import { replaceUses, terminatorOf } from "../../ir/walk.ts";
import type { Span } from "../../support/source.ts";
import { times } from "../../support/times.ts";
import { ScheduleBuilder } from "../builder.ts";
import { newLike } from "../carried.ts";

/** What a block carries from one program to the next. */
interface Turns<At extends readonly Value[]> {
  /** Computed once. */
  readonly before: readonly Op[];
  readonly first: At;
  /** Whether there is a program. */
  readonly continues: (build: ScheduleBuilder, at: At) => Value;
  /** Its indices along the axes of the grid, the first ones or all. */
  readonly indices: (build: ScheduleBuilder, at: At) => readonly Value[];
  readonly next: (build: ScheduleBuilder, at: At) => At;
}

/** Indices along all axes of the grid. */
type Indices = readonly [x: Value, y: Value, z: Value];

const INT32 = scalarType("int32");
const UINT32 = scalarType("uint32");
const BOOL = scalarType("bool");

/** Programs along the first axis. */
export function turnsAlongFirst(func: Func, span: Span): Turns<readonly [Value]> {
  const build = new ScheduleBuilder(func, [], span);
  const first = build.value("block_id", [], INT32);
  const step = build.value("num_blocks", [], INT32);
  const count = build.value("num_programs", [], INT32, { axis: 0 });
  return {
    before: build.out,
    first: [first],
    continues: (inside, at) => inside.value("lt", [...at, count], BOOL),
    indices: (_inside, at) => at,
    next: (inside, at) => [inside.value("add", [...at, step], INT32)],
  };
}

/**
 * Programs along the first axis, of which a block knows the next ones too, so many in all. The first ones are as far apart as there
 * are blocks; the one after those is what the loop yields in place of the last value.
 */
export function turnsAhead(func: Func, span: Span, known: number): Turns<readonly Value[]> {
  const build = new ScheduleBuilder(func, [], span);
  const first = build.value("block_id", [], INT32);
  const step = build.value("num_blocks", [], INT32);
  const count = build.value("num_programs", [], INT32, { axis: 0 });
  return {
    before: build.out,
    first: times(known - 1, () => step).reduce<readonly Value[]>(
      (all, by) => [...all, build.value("add", [all.at(-1) ?? first, by], INT32)],
      [first],
    ),
    continues: (inside, [at = first]) => inside.value("lt", [at, count], BOOL),
    indices: (_inside, [at = first]) => [at],
    next: (_inside, at) => [...at.slice(1), at.at(-1) ?? first],
  };
}

/** Programs along all axes, the first one fastest; from its end if later programs take longer. */
export function turnsAlongAll(func: Func, span: Span, isReversed: boolean): Turns<Indices> {
  const build = new ScheduleBuilder(func, [], span);
  const binary = (
    inside: ScheduleBuilder,
    name: "add" | "sub" | "div" | "rem",
    a: Value,
    b: Value,
  ): Value => inside.value(name, [a, b], INT32);
  const count = (axis: number): Value => build.value("num_programs", [], INT32, { axis });
  const step = (axis: number): Value => build.value("program_step", [], INT32, { axis });
  const [width, height, depth] = [count(0), count(1), count(2)];
  const [dx, dy, dz] = [step(0), step(1), step(2)];
  const block = build.value("block_id", [], INT32);
  const row = binary(build, "div", block, width);
  const first: Indices = [
    binary(build, "rem", block, width),
    binary(build, "rem", row, height),
    binary(build, "div", row, height),
  ];
  const last = binary(build, "sub", width, build.int(1));
  return {
    before: build.out,
    first,
    continues: (inside, [, , z]) => inside.value("lt", [z, depth], BOOL),
    indices: (inside, [x, y, z]) => [isReversed ? binary(inside, "sub", last, x) : x, y, z],
    next: (inside, [x, y, z]) => {
      const across = wrapped(inside, binary(inside, "add", x, dx), width);
      const down = binary(inside, "add", binary(inside, "add", y, dy), across.more);
      const { index, more } = wrapped(inside, down, height);
      return [across.index, index, binary(inside, "add", binary(inside, "add", z, dz), more)];
    },
  };
}

/**
 * Programs along all axes by their number, the first axis fastest. Divisions take little of programs that fill a
 * multiprocessor, and leave its registers to their sums.
 */
export function turnsByNumber(func: Func, span: Span): Turns<readonly [Value]> {
  const build = new ScheduleBuilder(func, [], span);
  const unsigned = (value: Value): Value => build.value("convert", [value], UINT32);
  const extent = (axis: number): Value =>
    unsigned(build.value("num_programs", [], INT32, { axis }));
  const [width, height, depth] = [extent(0), extent(1), extent(2)];
  const first = unsigned(build.value("block_id", [], INT32));
  const step = unsigned(build.value("num_blocks", [], INT32));
  const row = build.value("mul", [width, height], UINT32);
  const count = build.value("mul", [row, depth], UINT32);
  return {
    before: build.out,
    first: [first],
    continues: (inside, at) => inside.value("lt", [...at, count], BOOL),
    indices: (inside, [at]) => {
      const divided = (name: "div" | "rem", a: Value, b: Value): Value =>
        inside.value(name, [a, b], UINT32);
      const across = divided("div", at, width);
      return [
        divided("rem", at, width),
        divided("rem", across, height),
        divided("div", across, height),
      ]
        .map((index) => inside.value("convert", [index], INT32));
    },
    next: (inside, at) => [inside.value("add", [...at, step], UINT32)],
  };
}

/**
 * Programs along all axes to and fro, the first axis fastest: block b of n does program b, then 2 n - 1 - b, 2 n + b, …
 * Of programs that take less and less time, blocks that got a long one get the shorter ones later. All else is computed
 * from the number of a program, by divisions, which take little of programs that fill a multiprocessor: few registers
 * are left to the warp that starts copies.
 */
export function turnsToAndFro(
  func: Func,
  span: Span,
  isReversed: boolean,
): Turns<readonly [Value]> {
  const build = new ScheduleBuilder(func, [], span);
  const binary = (
    inside: ScheduleBuilder,
    name: "add" | "sub" | "mul" | "div" | "rem",
    a: Value,
    b: Value,
  ): Value => inside.value(name, [a, b], INT32);
  const extent = (axis: number): Value => build.value("num_programs", [], INT32, { axis });
  const [width, height, depth] = [extent(0), extent(1), extent(2)];
  const blocks = build.value("num_blocks", [], INT32);
  const one = build.int(1);
  const rowAt = (inside: ScheduleBuilder, at: Value): Value => binary(inside, "div", at, width);
  return {
    before: build.out,
    first: [build.value("block_id", [], INT32)],
    continues: (inside, [at]) => {
      const z = binary(inside, "div", rowAt(inside, at), height);
      return inside.value("lt", [z, depth], BOOL);
    },
    indices: (inside, [at]) => {
      const row = rowAt(inside, at);
      const [x, y] = [binary(inside, "rem", at, width), binary(inside, "rem", row, height)];
      const last = binary(inside, "sub", width, one);
      const z = binary(inside, "div", row, height);
      return [isReversed ? binary(inside, "sub", last, x) : x, y, z];
    },
    // The place of a program and of the next one are as far from the end of its turn.
    next: (inside, [at]) => {
      const turns = binary(inside, "add", binary(inside, "div", at, blocks), one);
      const end = binary(inside, "mul", turns, blocks);
      const beyond = binary(inside, "sub", end, binary(inside, "add", at, one));
      return [binary(inside, "add", end, beyond)];
    },
  };
}

/** An index that may be beyond an axis by less than its extent, as one within it, and what that adds to the next axis. */
function wrapped(
  build: ScheduleBuilder,
  index: Value,
  extent: Value,
): { readonly index: Value; readonly more: Value } {
  const isBeyond = build.value("ge", [index, extent], BOOL);
  const less = build.value("sub", [index, extent], INT32);
  return {
    index: build.value("select", [isBeyond, less, index], INT32),
    more: build.value("select", [isBeyond, build.int(1), build.int(0)], INT32),
  };
}

/** Puts all that depends on the indices of a program, or has an effect, into a loop over programs. */
export function takeTurns<At extends readonly Value[]>(
  func: Func,
  turns: Turns<At>,
  attrs: AttrsOf<"while">,
): void {
  const { ops } = func.body;
  const end = terminatorOf(func.body);
  const [{ span } = end] = ops;
  const tested = newLike(func, turns.first);
  const at = newLike(func, turns.first);
  for (const index of at) index.name = "program";
  const test = new ScheduleBuilder(func, [], span);
  const body = new ScheduleBuilder(func, [], span);
  const indices = turns.indices(body, at);
  const before: Op[] = [...turns.before];
  const varying = new Set<Value>();
  const ids = new Map<Value, Value>();
  for (const op of ops.slice(0, -1)) {
    const index = indexOf(op, indices);
    if (index !== undefined) {
      ids.set(resultOf(op), index);
      varying.add(resultOf(op));
      continue;
    }
    if (isFixed(op) && !op.operands.some((value) => varying.has(value))) before.push(op);
    else {
      body.out.push(op);
      for (const value of op.results) varying.add(value);
    }
  }
  for (const region of body.out.flatMap(({ regions }) => regions)) replaceIds(region, indices, ids);
  test.effect("condition", [turns.continues(test, tested), ...tested]);
  body.effect("yield", turns.next(body, at));
  const regions = [{ params: [...tested], ops: test.out }, { params: [...at], ops: body.out }];
  const types = tested.map(({ type }) => type);
  const loop = newOp(func, "while", turns.first, types, span, attrs, regions);
  func.body.ops = [...before, loop, end];
  replaceUses(func, ids);
}

/** What takes the place of the index of a program along an axis. */
const indexOf = (op: Op, indices: readonly Value[]): Value | undefined =>
  op.name === "program_id" ? indices[op.attrs.axis] : undefined;

/** Whether an operation may be done once for all programs of a block, as far as its operands allow. */
export function isFixed(op: Op): boolean {
  return rowOf(op).effect === "pure" && op.regions.length === 0 && op.name !== "convert_layout" &&
    !hasTrait(op, "once");
}

/** Takes the indices of programs out of inner regions. */
function replaceIds(region: Region, indices: readonly Value[], ids: Map<Value, Value>): void {
  region.ops = region.ops.filter((op) => {
    for (const inner of op.regions) replaceIds(inner, indices, ids);
    const index = indexOf(op, indices);
    if (index !== undefined) ids.set(resultOf(op), index);
    return index === undefined;
  });
}
