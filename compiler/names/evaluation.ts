/**
 * Elements of values where a kernel is: read from registers, or computed again from what is there. Passes and lowering
 * leave out what nothing needs, merge, and move; what they took away and can be repeated is computed by the operations
 * of the function as it was built.
 */
import type { Func, Op, Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { rowOf } from "../ir/table.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { definedIn, walkOps } from "../ir/walk.ts";
import type { Home, HomeRef, Homes } from "../lower/homes.ts";
import type { ScalarValue } from "../support/arith.ts";
import type { ProgramReader, WarpRegister } from "../support/variables.ts";
import { valueOfBytes, valueOfRegister } from "./element_bits.ts";
import { type TestedValue, testedValues } from "./loop_tests.ts";
import { repeat, type Surroundings } from "./repeat.ts";
import { laneOf, type Owner, Owners, warpOf } from "./owners.ts";

/** Kinds of elements, as `NamedValue.kinds` has them. */
export const KIND = { held: 0, computed: 1, notSet: 2, gone: 3 } as const;

/** An element: how it is known, and what it is if it is known. */
export interface KnownElement {
  readonly kind: (typeof KIND)[keyof typeof KIND];
  readonly value?: ScalarValue;
}

type RegisterRef = Exclude<HomeRef, { readonly kind: "constant" }>;

const GONE: KnownElement = { kind: KIND.gone };
const NOT_SET: KnownElement = { kind: KIND.notSet };
/** Operations in a row that are computed; a chain in a program written by hand is shorter. */
const MOST_DEPTH = 400;

/** What is known of a function before it runs. */
export class Evaluator {
  readonly values: ReadonlyMap<number, Value>;
  readonly owners = new Owners();
  readonly #homes = new Map<number, Home[]>();
  readonly #offsets = new Map<Value, number>();
  /** Loads from memory that the kernel does not write. */
  readonly #repeatable = new Set<Op>();
  readonly written: readonly Value[];
  /** Parameters of loops' tests that are what they came from. */
  readonly tested: ReadonlyMap<Value, TestedValue>;

  readonly #partitions: Homes["partitions"];

  constructor(func: Func, { homes, partitions }: Pick<Homes, "homes" | "partitions">) {
    this.#partitions = partitions;
    const values = [...func.params, ...definedIn(func.body)];
    this.values = new Map(values.map((value) => [value.id, value]));
    for (const home of homes) {
      for (const id of home.sources) {
        const list = this.#homes.get(id);
        if (list === undefined) this.#homes.set(id, [home]);
        else list.push(home);
      }
    }
    this.tested = testedValues(func, (id) => this.homesOf(id));
    let end = 0;
    for (const param of func.params) {
      const bytes = bytesOf(param.type.element);
      const offset = Math.ceil(end / bytes) * bytes;
      this.#offsets.set(param, offset);
      end = offset + bytes;
    }
    const pointers = new Set(func.params.filter(({ type }) => isPointer(type.element)));
    const rootOf = rootsOf(func, pointers);
    const written = new Set<Value | undefined>();
    const loads: Op[] = [];
    walkOps(func.body, (op) => {
      if (op.name === "load") loads.push(op);
      if (rowOf(op).effect === "write" && op.operands[0] !== undefined) {
        written.add(rootOf(op.operands[0]));
      }
    });
    this.written = [...written].filter((value) => value !== undefined);
    if (written.has(undefined)) return;
    for (const op of loads) {
      const root = op.operands[0] && rootOf(op.operands[0]);
      if (root !== undefined && !written.has(root)) this.#repeatable.add(op);
    }
  }

  /** The first warp of the program that a warp works on, or the last one's if it is beside those of programs. */
  firstWarp(warp: number): number {
    const { count, warps } = this.#partitions;
    return Math.min(Math.floor(warp / warps), count - 1) * warps;
  }

  homesOf(id: number): readonly Home[] {
    return this.#homes.get(id) ?? [];
  }

  offsetOf(value: Value): number | undefined {
    return this.#offsets.get(value);
  }

  isRepeatable(op: Op): boolean {
    return this.#repeatable.has(op);
  }
}

/** What is known of one program at one time. */
export class Evaluation {
  readonly #evaluator: Evaluator;
  readonly #reader: ProgramReader;
  readonly #isWithin: (loop: number) => boolean;
  readonly #known = new Map<Value, (KnownElement | undefined)[]>();
  readonly #registers = new Map<Home, WarpRegister[]>();
  readonly #surroundings: Surroundings;
  /** Of the program that the focused thread works on. */
  readonly #firstWarp: number;
  #depth = 0;

  /** `isWithin` says of the loops of the code whether the program is in them. */
  constructor(
    evaluator: Evaluator,
    reader: ProgramReader,
    isWithin: (loop: number) => boolean,
  ) {
    this.#isWithin = isWithin;
    this.#evaluator = evaluator;
    this.#reader = reader;
    this.#firstWarp = evaluator.firstWarp(reader.warp);
    this.#surroundings = {
      program: reader.program,
      grid: reader.grid,
      at: (value, index) => this.element(value, index).value,
      load: (op, address) => this.#load(op, address),
    };
  }

  /** An element of a value by its row-major index. */
  element(value: Value, index: number): KnownElement {
    let elements = this.#known.get(value);
    if (elements === undefined) this.#known.set(value, elements = []);
    return elements[index] ??= this.#find(value, index);
  }

  #find(value: Value, index: number): KnownElement {
    const held = this.#held(value, index);
    if (held.value !== undefined || this.#depth >= MOST_DEPTH) return held;
    this.#depth++;
    const tested = this.#evaluator.tested.get(value);
    if (tested !== undefined) {
      const isAgain = [...tested.loops].some(this.#isWithin);
      const came = this.element(isAgain ? tested.repeated : tested.initial, index);
      this.#depth--;
      return came;
    }
    const computed = this.#compute(value, index);
    this.#depth--;
    return computed === undefined ? held : { kind: KIND.computed, value: computed };
  }

  #held(value: Value, index: number): KnownElement {
    let isExpected = false;
    for (const home of this.#evaluator.homesOf(value.id)) {
      const { type: { element, layout }, refs } = home;
      // Elements in other blocks of a cluster cannot be looked at.
      if (layout?.block.some((basis) => basis !== 0) === true) continue;
      const registers = refs.length;
      const owners = layout === undefined
        ? [this.#reader.warp * 32 + this.#reader.lane]
        : this.#evaluator.owners.of(layout)[index] ?? [];
      for (const owner of owners) {
        const ref = refs[owner % registers];
        if (ref === undefined) continue;
        if (ref.kind === "constant") {
          return { kind: KIND.computed, value: valueOfRegister(ref.bits, ref, element) };
        }
        const register = this.#registerOf(home, ref, owner);
        const lane = laneOf(owner, registers);
        const isWritten = (register.lanes >>> lane & 1) === 1;
        if (register.state === "set" && isWritten) {
          return { kind: KIND.held, value: valueOfRegister(register.read(lane), ref, element) };
        }
        isExpected ||= register.state !== "gone";
      }
    }
    return isExpected ? NOT_SET : GONE;
  }

  /** A warp's register is asked once for all elements in it. */
  #registerOf(home: Home, { register }: RegisterRef, owner: Owner): WarpRegister {
    const registers = home.refs.length;
    const warp = this.#firstWarp + warpOf(owner, registers);
    let known = this.#registers.get(home);
    if (known === undefined) this.#registers.set(home, known = []);
    return known[warp * registers + owner % registers] ??= this.#reader.register(
      register,
      warp,
      home.within,
    );
  }

  #compute(value: Value, index: number): ScalarValue | undefined {
    const { def, type: { element } } = value;
    if (def !== undefined) return repeat(def, index, this.#surroundings);
    const offset = this.#evaluator.offsetOf(value);
    const bytes = offset === undefined
      ? undefined
      : this.#reader.parameter(offset, bytesOf(element));
    return bytes && valueOfBytes(bytes, element);
  }

  /** What memory has that no pointer leads to that the kernel writes through. */
  #load(op: Op, address: bigint): ScalarValue | undefined {
    const { written } = this.#evaluator;
    const { element } = resultOf(op).type;
    if (!this.#evaluator.isRepeatable(op)) return undefined;
    const others: bigint[] = [];
    for (const param of written) {
      const { value } = this.element(param, 0);
      if (typeof value !== "bigint") return undefined;
      others.push(value);
    }
    const bytes = this.#reader.memory(address, bytesOf(element), others);
    return bytes && valueOfBytes(bytes, element);
  }
}
