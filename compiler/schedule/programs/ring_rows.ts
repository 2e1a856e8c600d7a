/**
 * Passes rows through a ring of slots in shared memory, in a form of an entry for long rows: a block does the rows of several
 * programs in turn, and has its part of the weights that belong to all rows in registers meanwhile.
 *
 *     program                             load W; make barriers ready; copy the first rows but one into slots
 *       load X; sum = reduce f(x)         wait for the slot; sum = reduce f(read x)
 *       load W; store g(x, w, sum)        while program = block_id < num_programs: program += num_blocks
 *                                           wait for the next slot; next = reduce f(read its x)
 *                                           copy the row after that into the slot before this one
 *                                           put g(read x, w, sum) into the slot; store the slot; sum = next
 *
 * What blocks exchange for the first reduction of a row is under way while they store the row before it, and where there are
 * more reductions, the last one of that row too: each takes a microsecond or two, and a block has nothing else to do.
 *
 * A row comes and goes by one bulk copy of the vectors that it has as a whole, wherever it starts, and its ends apart
 * (lower/memory/runs.ts). Threads have elements of it that are as far apart as there are threads, or vectors where rows are
 * aligned, so they read and write shared memory without conflicts, and weights are the same elements for each row. A slot begins
 * where its row does modulo 128 bytes: copies between addresses that differ there take more requests.
 *
 * Layer norm of rows of 32,767, 65,535 and 131,071 floats on an H200: 0.71, 0.67 and 0.64 of a copy without, 0.90 with it, of
 * 262,144 0.80 and 0.90; slots that begin at 16 bytes 0.04 less; without the overlap 262,144 0.69 (tests/gpu/results/rows.md).
 */
import { loopOf } from "../../ir/flow.ts";
import {
  type Func,
  isOp,
  newOp,
  newUncheckedOp,
  type Op,
  setAttrs,
  takeNames,
  type Value,
} from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { loopOverPrograms } from "../../ir/program_loop.ts";
import { type IrType, isPointer, scalarType } from "../../ir/types.ts";
import { crossesBlocks } from "../../layout/exchanges.ts";
import { must } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import { times } from "../../support/times.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { derivedFrom, isZero, type Section, sectionsOf } from "../row_loads.ts";
import { BARRIER, BARRIER_BYTES } from "../staging_area.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";
import { ScalarsAgain } from "./row_scalars.ts";
import { LINE, planRing, type RingPlan, SLOTS } from "./ring_plan.ts";
import { takeTurns, turnsAlongFirst } from "./turns.ts";

/** Of a warp's lanes, which copy the ends of a run, and of the one that starts its bulk copy. */
const ARRIVALS = 33;

export const ringRows: Pass<TargetContext> = {
  name: "ring-rows",
  doc: "long rows are in a ring, and blocks do them in turn, in a form for them",
  run: (func, context) => {
    if (context.form !== "ring") return false;
    const plan = planRing(func, context);
    if (plan === undefined) return false;
    new Passing(func, plan).run();
    return true;
  },
};

const INT32 = scalarType("int32");
const BOOL = scalarType("bool");

/** A run in memory, and its place in the buffer. */
interface Place {
  readonly pointer: Value;
  readonly count: Value;
  readonly slot: Value;
}

class Passing {
  readonly #out: Op[] = [];
  readonly #build: ScheduleBuilder;
  #buffer: Value | undefined;
  #again: ReadonlySet<Value> = new Set();
  /** Weights in registers, and what the first section of a program comes to. */
  readonly #known = new Map<Value, Value>();
  /** What is computed again in the section. */
  readonly #made = new Map<Value, Value>();
  #place: Place | undefined;

  constructor(
    readonly func: Func,
    readonly plan: RingPlan,
  ) {
    this.#build = new ScheduleBuilder(func, this.#out, plan.load.span);
  }

  run(): void {
    const { func, plan: { load, rows } } = this;
    const { span } = load;
    takeTurns(func, turnsAlongFirst(func, span), { programs: true, several: true });
    const loop = must(loopOverPrograms(func), "loop over programs");
    const { body, end } = loopOf(loop);
    const program = must(body.params[0], "program");
    const first = must(loop.operands[0], "first program");
    this.#again = derivedFrom({ body }, (op) => op === load);
    const ops = { body: { ...body, ops: body.ops.slice(0, -1) } };
    const [beginning = [], ...others] = sectionsOf(ops);

    const before = new ScheduleBuilder(func, [], span);
    const [buffer, barriers] = this.#buffers();
    this.#buffer = buffer;
    const step = before.value("num_blocks", [], INT32);
    const count = before.value("num_programs", [], INT32, { axis: 0 });
    before.once(
      before.true(),
      (inside) => inside.effect("mbarrier_init", [barriers], { arrivals: ARRIVALS }),
    );
    before.barrier();
    /** Starts the copy of a program's row; of nothing, where there is no program. */
    const copy = (build: ScheduleBuilder, one: Value, slot: Value): void => {
      const isOne = build.value("lt", [one, count], BOOL);
      const at = this.#placeOf(build, slot, { from: program, to: one }, isOne);
      build.effect("copy_run", [at.pointer, at.count, buffer, at.slot, barriers, slot]);
    };
    /** What the first section of a program reduces its row to, when that is there. */
    const reduce = (build: ScheduleBuilder, one: Value, { slot, parity }: Position): Value => {
      build.effect("mbarrier_wait", [barriers, slot, parity]);
      // Nothing was copied for what is no program: masks of rows say so, where there are any.
      const isOne = rows.length > 0 ? undefined : build.value("lt", [one, count], BOOL);
      return this.#reduce(build, beginning, { from: program, to: one, isOne }, slot);
    };
    times(SLOTS - 1, (i) => i).reduce((one, slot) => {
      copy(before, one, before.int(slot));
      return before.value("add", [one, step], INT32);
    }, first);
    this.#loadWeights(before, { from: program, to: first });
    const zero = before.int(0);
    const start = { slot: zero, parity: zero };
    const initial = { at: start, sum: reduce(before, first, start) };

    const { inBody: { at, sum }, yields } = carry({ func, loop }, initial);
    const build = this.#build;
    this.#known.set(resultOf(lastOf(beginning)), sum);
    this.#section(beginning.slice(0, -1));
    this.#place = this.#placeOf(build, at.slot, { from: program, to: program });
    others.slice(0, -1).forEach((section) => this.#section(section));
    const next = build.value("add", [program, step], INT32);
    const later = nextPosition(build, { slots: SLOTS }, at);
    const ofNext = reduce(build, next, later);
    alternate(ofNext.def);
    build.effect("wait_runs", []);
    copy(build, build.value("add", [next, step], INT32), build.advance(later.slot, SLOTS));
    others.slice(-1).forEach((section) => this.#section(section));
    yields({ at: later, sum: ofNext });
    body.ops = [...this.#out, end];

    const after = new ScheduleBuilder(func, [], span);
    after.effect("wait_runs", []);
    const index = func.body.ops.indexOf(loop);
    func.body.ops.splice(index, 1, ...before.out, loop, ...after.out);
  }

  #buffers(): readonly [Value, Value] {
    const { func, plan: { load, extent, elementBytes, vectorBits } } = this;
    const { element, shape } = resultOf(load).type;
    const bytes = SLOTS * (extent * elementBytes + LINE);
    // A row begins at any element of its slot.
    const shared = { shape, columns: times(Math.log2(extent), (bit) => 1 << bit), vectorBits };
    const area = [
      {
        type: { element, shape, shared },
        slots: bytes / elementBytes,
        slot_bytes: elementBytes,
        offset: 0,
        overlaps: true,
      },
      { type: BARRIER, slots: SLOTS, slot_bytes: BARRIER_BYTES, offset: bytes },
    ];
    const [buffer, barriers] = area.map(({ type, ...attrs }) =>
      newOp(func, "shared_buffer", [], [type], load.span, { ...attrs, exclusive: true })
    );
    const made = [must(buffer, "buffer"), must(barriers, "barriers")] as const;
    func.body.ops.unshift(...made);
    return [resultOf(made[0]), resultOf(made[1])];
  }

  /** Where the row of a program is that a slot has. */
  #placeOf(
    build: ScheduleBuilder,
    slot: Value,
    program: { readonly from: Value; readonly to: Value },
    isOne?: Value,
  ): Place {
    const { plan: { from, isThere, extent, elementBytes }, func } = this;
    const again = new ScalarsAgain(func, build.out, program);
    const start = again.of(from);
    const uint64 = scalarType("uint64");
    const address = build.value("convert", [build.value("convert", [start], uint64)], INT32);
    const inLine = build.value("and", [address, build.int(LINE - 1)], INT32);
    const shift = build.value("shr", [inLine, build.int(Math.log2(elementBytes))], INT32);
    const first = build.value("mul", [slot, build.int(extent + LINE / elementBytes)], INT32);
    const isCopied = isOne === undefined ? again.of(isThere) : build.both(isOne, again.of(isThere));
    return {
      pointer: start,
      count: build.value("select", [isCopied, this.#length(build), build.int(0)], INT32),
      slot: build.value("add", [first, shift], INT32),
    };
  }

  /** Elements of a row. */
  #length(build: ScheduleBuilder): Value {
    const { bound, load } = this.plan;
    const most = resultOf(load).type.shape.at(-1) ?? 1;
    return bound === undefined
      ? build.int(most)
      : build.value("min", [bound, build.int(most)], INT32);
  }

  /** Loads what all rows share before the first one, if there is one. */
  #loadWeights(
    build: ScheduleBuilder,
    program: { readonly from: Value; readonly to: Value },
  ): void {
    const { plan: { weights, isThere, inRow }, func } = this;
    const condition = new ScalarsAgain(func, build.out, program).of(isThere);
    weights.forEach((load, i) => {
      const { pointer, other } = operandsOf(load);
      const mask = build.maskBy(condition, inRow[i], pointer.type);
      const rest = other === undefined ? [] : [other];
      // At once: those with a modifier are loaded where they are first used.
      const value = build.value("load", [pointer, mask, ...rest], resultOf(load).type, {
        ...load.attrs,
        modifiers: [],
      });
      takeNames(value, resultOf(load));
      this.#known.set(resultOf(load), value);
    });
  }

  /** What the first section of a program reduces the row in a slot to. */
  #reduce(
    build: ScheduleBuilder,
    section: Section,
    program: { readonly from: Value; readonly to: Value; readonly isOne: Value | undefined },
    slot: Value,
  ): Value {
    const { func, plan: { load } } = this;
    const sum = resultOf(lastOf(section));
    const known = new Map(this.#known);
    known.delete(sum);
    const again = new ScalarsAgain(func, build.out, program, known);
    const place = this.#placeOf(build, slot, program);
    const read = this.#read(build, place, (value) => again.of(value), program.isOne);
    known.set(resultOf(load), read);
    return again.of(sum);
  }

  #section(section: Section): void {
    const { plan } = this;
    const build = this.#build;
    this.#made.clear();
    for (const op of section) {
      if (op === plan.store) this.#store(build);
      else if (!op.results.some((value) => this.#again.has(value) || this.#known.has(value))) {
        op.operands = op.operands.map((value) => this.#valueOf(value));
        alternate(op);
        this.#out.push(op);
      }
    }
  }

  #store(build: ScheduleBuilder): void {
    const { plan: { store, to } } = this;
    const { slot, count } = must(this.#place, "place of a row");
    const buffer = must(this.#buffer, "buffer");
    build.effect("local_store", [this.#valueOf(operandsOf(store).value), buffer, slot]);
    build.effect("store_run", [to, count, buffer, slot]);
  }

  /** A value for a user in the section. */
  #valueOf(value: Value): Value {
    const known = this.#known.get(value) ?? this.#made.get(value);
    if (known !== undefined) return known;
    const { def } = value;
    if (def === undefined || !this.#again.has(value)) return value;
    const again = def === this.plan.load
      ? this.#read(this.#build, must(this.#place, "place of a row"), (one) => one)
      : this.#remade(value.type, def);
    takeNames(again, value);
    this.#made.set(value, again);
    return again;
  }

  #remade(type: IrType, def: Op): Value {
    const operands = def.operands.map((one) => this.#valueOf(one));
    const op = newUncheckedOp(this.func, def.name, operands, [type], def.span, def.attrs);
    this.#out.push(op);
    return resultOf(op);
  }

  /** The row at a place, and what is beyond it, by values of its program; nothing of it where there is none. */
  #read(
    build: ScheduleBuilder,
    { slot }: Place,
    ofProgram: (value: Value) => Value,
    isOne?: Value,
  ): Value {
    const { load } = this.plan;
    const { mask, other } = operandsOf(load);
    const { type } = resultOf(load);
    const operands = [must(this.#buffer, "buffer"), slot];
    const read = build.value("local_load", operands, type, { access: "vectors" });
    const own = mask && ofProgram(mask);
    const inRow = isOne === undefined ? own : build.maskBy(isOne, own, type);
    if (inRow === undefined) return read;
    const fill = other === undefined || isZero(other)
      ? build.value("constant", [], type, { value: zeroOf(type) })
      : ofProgram(other);
    return build.value("select", [inRow, read, fill], type);
  }
}

/** Gives a reduction memory for two times if it is over several blocks: parts of two rows may be under way at once. */
function alternate(op: Op | undefined): void {
  if (isOp(op, "reduce") && crossesBlocks(op)) setAttrs(op, { alternates: true });
}

/** The reduction that ends a section. */
const lastOf = (section: Section): Op => must(section.at(-1), "reduction");

/** Zero as constants of a type say it. */
const zeroOf = ({ element }: IrType): number | bigint =>
  !isPointer(element) && SCALARS[element].class === "int" ? 0n : 0;
