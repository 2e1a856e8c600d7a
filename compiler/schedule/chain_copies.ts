/**
 * The copies of the boxes of a loop of chained dots, by one thread beside those of the program (chain_loop.ts). Where tables say
 * which boxes an iteration takes, they are read an iteration early.
 */
import { loopOf } from "../ir/flow.ts";
import { newOp, newValue, type Region, type Value } from "../ir/func.ts";
import { type IrType, scalarType } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import { copySlice, parametersNeeded } from "./backward_slice.ts";
import { ScheduleBuilder } from "./builder.ts";
import { nextPosition, type Position, positionValues } from "./chain_dots.ts";
import { type ChainPlan, ringOf, type Rings, type TensorBox, vectorsBeside } from "./chain_plan.ts";
import { copyOfIteration, firstIteration } from "./prefetch.ts";

/** All copies, in the order in which they are needed. */
export function produceBoxes(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
): void {
  const { func, loop, boxes, carried } = plan;
  const zero = build.int(0);
  for (const box of boxes) {
    if (box.kind === "tensor" && !box.isRing) {
      copyBox(plan, rings, build, box, zero, (value) => value);
    }
  }
  if (readsTables(plan)) return produceAhead(plan, rings, build);
  const original = loopOf(loop);
  const { span } = loop;
  const types = (values: readonly Value[]): IrType[] => values.map(({ type }) => type);
  const pick = (values: readonly Value[], indices: readonly number[]): Value[] =>
    indices.map((i) => must(values[i], "carried value"));
  const regionOf = (values: readonly Value[]): ScheduleRegion => {
    const state = values.map(({ type }) => newValue(func, type));
    const [slot, parity] = [
      newValue(func, scalarType("int32")),
      newValue(func, scalarType("int32")),
    ];
    return { state, slot, parity, build: new ScheduleBuilder(func, [], span) };
  };

  const entering = pick(original.test.params, carried.entering);
  const test = regionOf(entering);
  const known = new Map(zip(entering, test.state));
  const copyTest = copySlice(func, original.test, known, test.build.out);
  const leaving = pick(original.leaving, carried.leaving).map(copyTest);
  test.build.effect("condition", [
    copyTest(original.continues),
    ...leaving,
    test.slot,
    test.parity,
  ]);

  const params = pick(original.body.params, carried.leaving);
  const body = regionOf(params);
  const knownInBody = new Map(zip(params, body.state));
  const inBody = body.build;
  const copyBody = copySlice(func, original.body, knownInBody, inBody.out, inBody.true());
  copyBoxes(plan, rings, inBody, body, copyBody);
  const next = pick(original.repeated, carried.entering).map(copyBody);
  const { slot, parity } = nextPosition(inBody, plan, body);
  inBody.effect("yield", [...next, slot, parity]);

  const initial = [...pick(original.initial, carried.entering), zero, zero];
  const results = types([...leaving, body.slot, body.parity]);
  const regions = [test, body].map(({ state, slot, parity, build: { out } }): Region => ({
    params: [...state, slot, parity],
    ops: out,
  }));
  build.out.push(newOp(func, "while", initial, results, span, {}, regions));
}

/** Whether memory says where the boxes of an iteration are. */
function readsTables({ loop, boxes }: ChainPlan): boolean {
  const from = boxes.flatMap((box) => box.isRing ? box.from : []);
  return parametersNeeded(loopOf(loop).body, from, false) === undefined;
}

/** The copies of all iterations, where each is read from tables an iteration early: copies need not wait for those. */
function produceAhead(plan: ChainPlan, rings: Rings, build: ScheduleBuilder): void {
  const { func, loop: { span }, boxes } = plan;
  const first = copyOfIteration(plan, build, firstIteration(plan, build));
  const from = new Set(boxes.flatMap((box) => box.isRing ? box.from : []));
  const places = [...from].filter((value) => first.copy(value) !== value);
  const zero = build.int(0);
  const second = first.next();
  const initial = [second.runs, zero, zero, ...places.map(first.copy), ...second.state];
  const fresh = (): Value[] => initial.map(({ type }) => newValue(func, type));
  const [tested, values] = [fresh(), fresh()];
  const test = new ScheduleBuilder(func, [], span);
  test.effect("condition", [must(tested[0], "test"), ...tested]);
  const inside = new ScheduleBuilder(func, [], span);
  const [runs, slot, parity, ...rest] = values;
  const state = rest.slice(places.length);
  const { copy, next } = copyOfIteration(plan, inside, { runs: must(runs, "test"), state });
  const after = next();
  const ahead = places.map(copy);
  const known = new Map(zip(places, rest.slice(0, places.length)));
  const at: Position = { slot: must(slot, "slot"), parity: must(parity, "phase") };
  copyBoxes(plan, rings, inside, at, (value) => known.get(value) ?? value);
  const position = positionValues(nextPosition(inside, plan, at));
  inside.effect("yield", [after.runs, ...position, ...ahead, ...after.state]);
  const regions = [{ params: tested, ops: test.out }, { params: values, ops: inside.out }];
  const types = initial.map(({ type }) => type);
  build.out.push(newOp(func, "while", initial, types, span, {}, regions));
}

/** Copies the boxes of an iteration, each when its slot is empty. */
function copyBoxes(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  { slot, parity }: Position,
  known: (value: Value) => Value,
): void {
  const previous = build.value("xor", [parity, build.int(1)], parity.type);
  for (const box of plan.boxes) {
    const { empty } = ringOf(rings, box);
    if (box.kind === "vector" || empty === undefined) continue;
    build.effect("mbarrier_wait", [empty, slot, previous]);
    copyBox(plan, rings, build, box, slot, known);
  }
}

/** A region with a state that it carries. */
interface ScheduleRegion extends Position {
  readonly state: readonly Value[];
  readonly build: ScheduleBuilder;
}

/** Copies a box, and the vectors that come with it; `known` gives what they are computed from. */
function copyBox(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  box: TensorBox,
  slot: Value,
  known: (value: Value) => Value,
): void {
  const { tiles, full } = ringOf(rings, box);
  const vectors = vectorsBeside(plan, box);
  const bytes = vectors.reduce((sum, vector) => sum + vector.bytes, box.bytes);
  const copy = (inside: ScheduleBuilder): void => {
    inside.effect("mbarrier_expect", [full, slot], { bytes });
    const [, ...coordinates] = box.load.operands.map(known);
    const { map } = box.load.attrs;
    inside.effect("tensor_copy", [tiles, full, slot, ...coordinates], { map });
  };
  if (box.when === undefined) copy(build);
  else {
    build.either(known(box.when), copy, (inside) => {
      inside.effect("mbarrier_expect", [full, slot], { bytes: 0 });
    });
  }
  for (const vector of vectors) {
    const [pointer] = vector.from.map(known);
    const operands = [must(pointer, "pointer"), ringOf(rings, vector).tiles, full, slot];
    build.effect("bulk_copy", operands, { bytes: vector.bytes });
  }
}
