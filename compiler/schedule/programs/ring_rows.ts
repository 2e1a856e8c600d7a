/**
 * Passes rows through a ring of slots in shared memory, in a form of an entry for long rows: a block does the rows of several
 * programs in turn, and has its part of the weights that belong to all rows in registers meanwhile.
 *
 *     program                             make barriers ready; copy the row of a program into a slot
 *       load X; sum = reduce f(x)         wait for the slot; sum = reduce f(read x)
 *       load W; store g(x, w, sum)        copy the row of the next program; load W
 *                                         while program < num_programs
 *                                           copy the row of a program from the queue into the slot before this one
 *                                           wait for the next slot; later = reduce f(read its x)
 *                                           put g(read x, w, sum) into the slot; store the slot
 *                                           program = next; next = that of the queue; sum = later
 *
 * Blocks take programs from a queue (lower/memory/queue.ts) and not in turn, since multiprocessors do not get equal parts of the
 * memory's throughput. On an H200, blocks that copied rows through such a ring in turn ended after 141 to 270 µs: those of a group of
 * few multiprocessors early, and what they left was too little for the others to make up; 0.92 of a copy, and 0.97 with a queue.
 *
 * What blocks exchange for the first reduction of a row is under way while they store the row before it, and where there are
 * more reductions, the last one of that row too: each takes a microsecond or two, and a block has nothing else to do.
 *
 * Weights and the second row come when the first one is there: it takes 4 µs so, of 270 of a launch, and 6 beside them.
 * A row comes and goes by one bulk copy of the vectors that it has as a whole, wherever it starts, and its ends apart
 * (lower/memory/runs.ts). Threads have elements of it that are as far apart as there are threads, or vectors where rows are
 * aligned, so they read and write shared memory without conflicts, and weights are the same elements for each row. A slot begins
 * where its row does modulo 128 bytes: copies between addresses that differ there take more requests.
 *
 * Powers that a section has computed stay in registers until the row is stored, where weights leave any; masks say only what is
 * beyond a row, not whether there is one.
 * Layer norm of rows of 32,767, 65,535 and 131,071 floats on an H200: 0.71, 0.67 and 0.64 of a copy without, 0.94, 0.94 and 0.96
 * with it, of 262,144 0.80 and 0.95; slots that begin at 16 bytes 0.04 less; without the overlap 262,144 lost 0.2. Between
 * its first and last rows it is as fast as a copy (tests/gpu/results/rows.md).
 */
import { loopOf } from "../../ir/flow.ts";
import {
  type Func,
  isOp,
  newUncheckedOp,
  type Op,
  type OpOf,
  setAttrs,
  takeNames,
  type Value,
} from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { loopOverPrograms } from "../../ir/program_loop.ts";
import { type IrType, isPointer, scalarType } from "../../ir/types.ts";
import { crossesBlocks } from "../../layout/exchanges.ts";
import { must } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { derivedFrom, isZero, type Section, sectionsOf, wordsOf } from "../row_loads.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";
import { ScalarsAgain } from "./row_scalars.ts";
import { ringArea } from "./ring_area.ts";
import { LINE, planRing, type RingPlan, SLOTS } from "./ring_plan.ts";
import { takeTurns, turnsAhead } from "./turns.ts";
import { addZeroOnce } from "./zero_sums.ts";

/** Programs that a block knows: that of the row in hand, and those of rows that come. */
const AHEAD = SLOTS - 1;

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

/** Of the operands of `select`. */
const CONDITION = 0;
const THEN = 1;

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
  /** What is computed again in the section; the same where only elements of the row are wanted. */
  readonly #made = new Map<Value, Value>();
  readonly #inRow = new Map<Value, Value>();
  /** What the last section wants again, and costs more to compute than a register. */
  readonly #held = new Map<Value, Value>();
  #place: Place | undefined;

  constructor(
    readonly func: Func,
    readonly plan: RingPlan,
  ) {
    this.#build = new ScheduleBuilder(func, this.#out, plan.load.span);
  }

  run(): void {
    const { func, plan: { load, weighsFirst } } = this;
    const { span } = load;
    addZeroOnce(func);
    takeTurns(func, turnsAhead(func, span, AHEAD), { programs: true, several: true });
    const loop = must(loopOverPrograms(func), "loop over programs");
    const { body, end } = loopOf(loop);
    const [program, next] = [must(body.params[0], "program"), must(body.params[1], "next program")];
    const starts = loop.operands.slice(0, AHEAD);
    const [first, second] = [must(starts[0], "first program"), must(starts[1], "second program")];
    this.#again = derivedFrom({ body }, (op) => op === load);
    const ops = { body: { ...body, ops: body.ops.slice(0, -1) } };
    const [beginning = [], ...others] = sectionsOf(ops);

    const before = new ScheduleBuilder(func, [], span);
    const { rows: buffer, barriers, mail } = ringArea(func, this.plan);
    this.#buffer = buffer;
    const count = before.value("num_programs", [], INT32, { axis: 0 });
    before.once(before.true(), (inside) => {
      inside.effect("mbarrier_init", [barriers], { arrivals: ARRIVALS });
      inside.effect("mbarrier_init", [mail], { arrivals: 1 });
    });
    before.barrier();
    /** Where a program's row is in a slot, of which nothing is copied if there is none. */
    const placeOf = (build: ScheduleBuilder, one: Value, slot: Value): Place =>
      this.#placeOf(build, slot, { from: program, to: one }, build.value("lt", [one, count], BOOL));
    const copy = (build: ScheduleBuilder, one: Value, slot: Value, isFirst = false): void => {
      const at = placeOf(build, one, slot);
      const empty = isFirst ? isNone(build, at) : build.value("constant", [], BOOL, { value: 0n });
      build.effect("copy_run", [at.pointer, at.count, buffer, at.slot, barriers, slot, empty]);
    };
    const wait = (build: ScheduleBuilder, { slot, parity }: Position): void =>
      build.effect("mbarrier_wait", [barriers, slot, parity]);
    /** What the first section of a program reduces its row to, which is there. */
    const reduce = (build: ScheduleBuilder, one: Value, place: Value): Value =>
      this.#reduce(build, beginning, { from: program, to: one }, place);
    copy(before, first, before.int(0), true);
    // Two numbers are under way: what is drawn in one iteration is sent in the next one, and wanted in the one after that.
    const blocks = before.value("num_blocks", [], INT32);
    const known = before.value("mul", [blocks, before.int(AHEAD)], INT32);
    const draws = before.value("add", [count, before.value("add", [blocks, blocks], INT32)], INT32);
    const last = before.value("sub", [draws, before.int(1)], INT32);
    const draw = (build: ScheduleBuilder): Value => build.value("draw_program", [last], INT32);
    const receive = (build: ScheduleBuilder, { slot, parity }: Position): Value =>
      build.value("receive_program", [mail, slot, parity], INT32);
    const zero = before.int(0);
    const start = { slot: zero, parity: zero };
    const number = draw(before);
    if (weighsFirst) this.#loadWeights(before, { from: program, to: first });
    before.effect("send_program", [number, mail, zero]);
    const drawnFirst = draw(before);
    wait(before, start);
    const place = placeOf(before, first, zero).slot;
    const initial = { at: start, place, drawn: drawnFirst, sum: reduce(before, first, place) };
    copy(before, second, before.int(1));
    if (!weighsFirst) this.#loadWeights(before, { from: program, to: first });

    const { inBody: { at, place: own, drawn, sum }, yields, results } = carry(
      { func, loop },
      initial,
    );
    const build = this.#build;
    this.#known.set(resultOf(lastOf(beginning)), sum);
    this.#section(beginning.slice(0, -1));
    this.#place = { ...this.#placeOf(build, at.slot, { from: program, to: program }), slot: own };
    others.slice(0, -1).forEach((section) => {
      this.#section(section);
      this.#hold();
    });
    const later = nextPosition(build, { slots: SLOTS }, at);
    const following = build.value("add", [known, receive(build, at)], INT32);
    end.operands[AHEAD - 1] = following;
    build.effect("wait_runs", []);
    copy(build, following, build.advance(later.slot, SLOTS));
    wait(build, later);
    // What is no row is computed as the last one that there was: nothing shows it, and no mask need say so.
    const itsPlace = placeOf(build, next, later.slot);
    const placeAfter = build.value("select", [isNone(build, itsPlace), own, itsPlace.slot], INT32);
    const ofNext = reduce(build, next, placeAfter);
    alternate(ofNext.def);
    // While what blocks have sent each other is under way.
    build.effect("send_program", [drawn, mail, later.slot]);
    const numberAfter = draw(build);
    others.slice(-1).forEach((section) => this.#section(section));
    yields({ at: later, place: placeAfter, drawn: numberAfter, sum: ofNext });
    body.ops = [...this.#out, end];

    const after = new ScheduleBuilder(func, [], span);
    after.effect("wait_runs", []);
    // A block must be there until all that is sent to it has arrived.
    receive(after, results.at);
    const index = func.body.ops.indexOf(loop);
    func.body.ops.splice(index, 1, ...before.out, loop, ...after.out);
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

  /** What the first section of a program reduces the row at a place to. */
  #reduce(
    build: ScheduleBuilder,
    section: Section,
    program: { readonly from: Value; readonly to: Value },
    place: Value,
  ): Value {
    const { func, plan: { load } } = this;
    const sum = resultOf(lastOf(section));
    const known = new Map(this.#known);
    known.delete(sum);
    const again = new ScalarsAgain(func, build.out, program, known);
    const read = this.#read(build, place, (value) => again.of(value));
    known.set(resultOf(load), read);
    return again.of(sum);
  }

  #section(section: Section): void {
    const { plan } = this;
    const build = this.#build;
    this.#made.clear();
    this.#inRow.clear();
    for (const op of section) {
      if (op === plan.store) this.#store(build);
      else if (!op.results.some((value) => this.#again.has(value) || this.#known.has(value))) {
        op.operands = op.operands.map((value) => this.#valueOf(value));
        alternate(op);
        this.#out.push(op);
      }
    }
  }

  /** Keeps powers that a section has computed of the row, if weights leave registers for them. */
  #hold(): void {
    const { weights, most } = this.plan;
    const inUse = [...weights.map(resultOf), ...this.#held.values()];
    let words = inUse.reduce((sum, one) => sum + wordsOf(one), 0);
    for (const [value, made] of this.#made) {
      if (madeBy(value, "math") === undefined || words + wordsOf(made) > most) continue;
      words += wordsOf(made);
      this.#held.set(value, made);
    }
  }

  #store(build: ScheduleBuilder): void {
    const { plan: { store, to } } = this;
    const { slot, count } = must(this.#place, "place of a row");
    const buffer = must(this.#buffer, "buffer");
    build.effect("local_store", [this.#inRowOf(operandsOf(store).value), buffer, slot]);
    build.effect("store_run", [to, count, buffer, slot]);
  }

  /** A value for a user in the section. */
  #valueOf(value: Value): Value {
    return this.#again.has(value)
      ? this.#remade(value, this.#made)
      : this.#known.get(value) ?? value;
  }

  /** The same for a user that takes elements of the row alone: no other ones need to be chosen before. */
  #inRowOf(value: Value): Value {
    const choice = madeBy(value, "select");
    if (choice !== undefined && this.#isRow(choice)) return this.#inRowOf(operandsOf(choice).then);
    return this.#again.has(value)
      ? this.#remade(value, this.#inRow)
      : this.#known.get(value) ?? value;
  }

  /** Whether an operation chooses elements of the row, and something else beyond it. */
  #isRow(op: OpOf<"select">): boolean {
    const { mask } = operandsOf(this.plan.load);
    return mask !== undefined && operandsOf(op).condition === mask;
  }

  #remade(value: Value, made: Map<Value, Value>): Value {
    const known = this.#known.get(value) ?? made.get(value) ?? this.#held.get(value);
    if (known !== undefined) return known;
    const again = this.#make(value, made === this.#inRow);
    takeNames(again, value);
    made.set(value, again);
    return again;
  }

  #make({ def, type }: Value, isInRow: boolean): Value {
    const { load, inAny } = this.plan;
    const op = must(def, "operation");
    if (op === load) {
      const place = must(this.#place, "place of a row");
      return isInRow
        ? this.#readAll(this.#build, place.slot)
        : this.#read(this.#build, place.slot, (one) => one);
    }
    const isChoice = isOp(op, "select") && this.#isRow(op);
    const operands = op.operands.map((one, i) => {
      if (isChoice && i === CONDITION && inAny !== undefined) return inAny;
      return isInRow || (isChoice && i === THEN) ? this.#inRowOf(one) : this.#valueOf(one);
    });
    const again = newUncheckedOp(this.func, op.name, operands, [type], op.span, op.attrs);
    this.#out.push(again);
    return resultOf(again);
  }

  /** The row at a place, with whatever is beyond it. */
  #readAll(build: ScheduleBuilder, slot: Value): Value {
    const operands = [must(this.#buffer, "buffer"), slot];
    return build.value("local_load", operands, resultOf(this.plan.load).type, {
      access: "vectors",
    });
  }

  /** The row at a place, and what is beyond it, by values of its program; anything where there is no row. */
  #read(build: ScheduleBuilder, place: Value, ofProgram: (value: Value) => Value): Value {
    const { load, inAny } = this.plan;
    const { other } = operandsOf(load);
    const { type } = resultOf(load);
    const read = this.#readAll(build, place);
    if (inAny === undefined) return read;
    const fill = other === undefined || isZero(other)
      ? build.value("constant", [], type, { value: zeroOf(type) })
      : ofProgram(other);
    return build.value("select", [inAny, read, fill], type);
  }
}

/** Whether nothing is copied to a place. */
const isNone = (build: ScheduleBuilder, { count }: Place): Value =>
  build.value("le", [count, build.int(0)], BOOL);

/** Gives a reduction memory for two times if it is over several blocks: parts of two rows may be under way at once. */
function alternate(op: Op | undefined): void {
  if (isOp(op, "reduce") && crossesBlocks(op)) setAttrs(op, { alternates: true });
}

/** The reduction that ends a section. */
const lastOf = (section: Section): Op => must(section.at(-1), "reduction");

/** Zero as constants of a type say it. */
const zeroOf = ({ element }: IrType): number | bigint =>
  !isPointer(element) && SCALARS[element].class === "int" ? 0n : 0;
