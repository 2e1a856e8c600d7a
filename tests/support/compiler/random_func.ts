/** Random valid tile IR, for properties of printer, verifier and passes. The same seed gives the same function. */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarValue } from "../../../compiler/support/arith.ts";
import type { Span } from "../../../compiler/support/source.ts";
import {
  type Attrs,
  type Func,
  newFunc,
  newOp,
  newValue,
  type Region,
  type Value,
} from "../../../compiler/ir/func.ts";
import type { TileOp } from "../../../compiler/ir/ops.ts";
import {
  type Element,
  type IrType,
  isPointer,
  sameElement,
  sameShape,
} from "../../../compiler/ir/types.ts";

const FLOAT_POINTER: Element = { kind: "pointer", pointee: "float32", space: "global" };
const ELEMENTS: readonly Element[] = [
  "int32",
  "uint32",
  "int64",
  "int8",
  "bool",
  "float32",
  "float16",
  FLOAT_POINTER,
];
const SHAPES: readonly (readonly number[])[] = [[], [4], [1, 4], [4, 1], [4, 4], [2, 4]];
const SPAN: Span = { file: { name: "<random>", text: "" }, start: 0, end: 0 };
const CONSTANTS: readonly number[] = [0, 0, 1, 1, -1, 2, 7, 100];

/** A linear congruential generator: enough for tests, and the same everywhere. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 12345) >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  pick<T>(list: readonly T[]): T {
    return must(list[this.below(list.length)], "choice");
  }
}

export function randomFunc(seed: number, size = 40): Func {
  return new Generator(new Choices(seed)).func(size);
}

class Generator {
  readonly #choices: Choices;
  readonly #func = newFunc("random");
  #region: Region = this.#func.body;
  #pool: Value[] = [];
  #nesting = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  func(size: number): Func {
    const params: readonly Element[] = [FLOAT_POINTER, "int32", "int64", "float32", "bool"];
    for (const [index, element] of params.entries()) {
      const value = newValue(this.#func, { element, shape: [] }, `p${index}`);
      this.#func.params.push(value);
      this.#func.paramFacts.push({
        multipleof: 1,
        noalias: false,
        readonly: false,
        writeonly: false,
      });
      this.#pool.push(value);
    }
    this.#fill(size, 2);
    // What was computed is stored, so that it matters.
    for (const element of ["float32", "int32"] as const) {
      this.#store(this.#value({ element, shape: [4, 4] }));
    }
    this.#emit("return", [], []);
    return this.#func;
  }

  #fill(size: number, depth: number): void {
    for (let i = 0; i < size; i++) {
      const kind = this.#choices.below(20);
      if (kind === 0 && depth > 0) this.#if(depth);
      else if (kind === 1 && depth > 0) this.#while(depth);
      else if (kind === 2) {
        this.#store(this.#value({ element: "float32", shape: this.#choices.pick(SHAPES) }));
      } else this.#pool.push(this.#make(this.#type()));
    }
  }

  #type(): IrType {
    return { element: this.#choices.pick(ELEMENTS), shape: this.#choices.pick(SHAPES) };
  }

  #emit(
    name: TileOp,
    operands: readonly Value[],
    types: readonly IrType[],
    attrs: Attrs = {},
    regions: Region[] = [],
  ): Value[] {
    const op = newOp(this.#func, name, operands, types, SPAN, attrs, regions);
    this.#region.ops.push(op);
    return op.results;
  }

  #one(name: TileOp, operands: readonly Value[], type: IrType, attrs: Attrs = {}): Value {
    return must(this.#emit(name, operands, [type], attrs)[0], "result");
  }

  /** A value of this type: mostly one that is there already. */
  #value(type: IrType): Value {
    const fitting = this.#pool.filter((value) => sameType(value.type, type));
    return fitting.length > 0 && this.#choices.below(5) > 0
      ? this.#choices.pick(fitting)
      : this.#make(type);
  }

  #constant(type: IrType): Value {
    const value = this.#choices.pick(CONSTANTS);
    return this.#one("constant", [], type, { value: constantFor(type.element, value) });
  }

  /** Operands that are not there yet are made too, down to constants. */
  #make(type: IrType): Value {
    if (this.#nesting > 4) return this.#constant(type);
    this.#nesting++;
    const value = this.#makeNew(type);
    this.#nesting--;
    return value;
  }

  #makeNew(type: IrType): Value {
    const { element, shape } = type;
    const kind = this.#choices.below(12);
    if (kind === 0) return this.#constant(type);
    if (kind === 1) {
      return this.#one("select", [
        this.#value({ element: "bool", shape }),
        this.#value(type),
        this.#value(type),
      ], type);
    }
    if (kind < 5 && shape.length > 0) return this.#reshaped(type);
    if (isPointer(element)) {
      if (shape.length === 0) return must(this.#func.params[0], "pointer");
      return this.#one("offset", [
        this.#value(type),
        this.#value({ element: this.#choices.pick(["int32", "int64"]), shape }),
      ], type);
    }
    if (kind === 5 && element === "float32") {
      const mask = this.#choices.below(2) === 0 ? [] : [this.#value({ element: "bool", shape })];
      return this.#one("load", [this.#value({ element: FLOAT_POINTER, shape }), ...mask], type, {
        modifiers: [],
      });
    }
    if (kind === 6 && !sameElement(element, "bool")) {
      const from = this.#choices.pick(["int32", "int64", "int8", "float32", "bool"] as const);
      return this.#one("convert", [this.#value({ element: from, shape })], type);
    }
    if (element === "bool") {
      const operand = { element: this.#choices.pick(ELEMENTS), shape };
      const name = this.#choices.pick(["lt", "le", "gt", "ge", "eq", "ne"] as const);
      if (this.#choices.below(3) === 0) {
        return this.#one(this.#choices.pick(["and", "or", "xor"] as const), [
          this.#value(type),
          this.#value(type),
        ], type);
      }
      if (this.#choices.below(4) === 0) return this.#one("not", [this.#value(type)], type);
      return this.#one(name, [this.#value(operand), this.#value(operand)], type);
    }
    if (kind === 7) return this.#one("neg", [this.#value(type)], type);
    const names: readonly TileOp[] = element === "float32" || element === "float16"
      ? ["add", "sub", "mul", "min", "max"]
      : ["add", "sub", "mul", "and", "or", "xor", "shl", "shr", "min", "max", "rem"];
    return this.#one(this.#choices.pick(names), [this.#value(type), this.#value(type)], type);
  }

  #reshaped(type: IrType): Value {
    const { element, shape } = type;
    const from = (source: readonly number[]): Value => this.#value({ element, shape: source });
    if (sameShape(shape, [4, 4]) || sameShape(shape, [2, 4])) {
      if (sameShape(shape, [4, 4]) && this.#choices.below(3) === 0) {
        return this.#one("permute", [from(shape)], type, { order: [1, 0] });
      }
      return this.#one("broadcast", [from([1, 4])], type);
    }
    if (shape.length === 1) {
      const start = this.#choices.below(3);
      if (element === "int32" && start === 0) return this.#one("range", [], type, { lo: 3n });
      if (start === 1) return this.#one("reshape", [from([4, 1])], type);
      return this.#one("splat", [from([])], type);
    }
    const other = shape[0] === 1 ? [4, 1] : [1, 4];
    if (this.#choices.below(2) === 0) {
      return this.#one("permute", [from(other)], type, { order: [1, 0] });
    }
    return this.#one("expand_dims", [from([4])], type, { axis: shape[0] === 1 ? 0 : 1 });
  }

  #store(value: Value): void {
    const { shape } = value.type;
    const pointee = value.type.element;
    const pointer = this.#value({ element: FLOAT_POINTER, shape });
    const typed = sameElement(pointee, "float32") ? pointer : this.#one("convert", [pointer], {
      element: { kind: "pointer", pointee, space: "global" },
      shape,
    });
    const mask = this.#choices.below(2) === 0 ? [] : [this.#value({ element: "bool", shape })];
    this.#emit("store", [typed, value, ...mask], [], { modifiers: [] });
  }

  #inside(params: readonly IrType[], build: (params: readonly Value[]) => void): Region {
    const outer = { region: this.#region, pool: this.#pool };
    const region: Region = { params: params.map((type) => newValue(this.#func, type)), ops: [] };
    this.#region = region;
    this.#pool = [...outer.pool, ...region.params];
    build(region.params);
    this.#region = outer.region;
    this.#pool = outer.pool;
    return region;
  }

  #if(depth: number): void {
    const types = Array.from({ length: this.#choices.below(3) }, () => this.#type());
    const condition = this.#value({ element: "bool", shape: [] });
    const branch = (): Region =>
      this.#inside([], () => {
        this.#fill(this.#choices.below(5), depth - 1);
        this.#emit("yield", types.map((type) => this.#value(type)), []);
      });
    this.#pool.push(...this.#emit("if", [condition], types, {}, [branch(), branch()]));
  }

  /** Counts a carried int32 to a small bound, so that it ends; carries other values too. */
  #while(depth: number): void {
    const counter: IrType = { element: "int32", shape: [] };
    const types = [counter, ...Array.from({ length: this.#choices.below(3) }, () => this.#type())];
    const initial = [
      this.#one("constant", [], counter, { value: 0n }),
      ...types.slice(1).map((type) => this.#value(type)),
    ];
    const number = (value: bigint): Value => this.#one("constant", [], counter, { value });
    const test = this.#inside(types, (params) => {
      const go = this.#one("lt", [must(params[0], "counter"), number(3n)], {
        element: "bool",
        shape: [],
      });
      this.#emit("condition", [go, ...params], []);
    });
    const body = this.#inside(types, (params) => {
      this.#fill(this.#choices.below(8), depth - 1);
      const next = this.#one("add", [must(params[0], "counter"), number(1n)], counter);
      this.#emit("yield", [next, ...types.slice(1).map((type) => this.#value(type))], []);
    });
    this.#pool.push(...this.#emit("while", initial, types, {}, [test, body]));
  }
}

const sameType = (a: IrType, b: IrType): boolean =>
  sameElement(a.element, b.element) && sameShape(a.shape, b.shape);

function constantFor(element: Element, value: number): ScalarValue {
  if (isPointer(element)) return 0n;
  if (element === "float32" || element === "float16") return value === 7 ? -0 : value;
  if (element === "bool") return value === 0 ? 0n : 1n;
  return element.startsWith("u") ? BigInt(Math.abs(value)) : BigInt(value);
}
