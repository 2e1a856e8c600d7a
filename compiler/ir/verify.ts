/**
 * The rules of tile IR, checked. Between passes in tests; a violation is a defect of tri, so all of them end
 * up in one {@linkcode CompilerBug}.
 *
 * Checked for every operation, from its row in TILE_OPS: number and classes of operands, results, attributes,
 * number of regions, that each operand is defined before its use and in an enclosing region, that each value
 * is defined once. Checked by rules here (`RULES`): what a row cannot say.
 * Not checked: that promises (`assume_multiple`) hold; layouts, except that they have the tile's shape.
 */
import { CompilerBug, must } from "../support/bug.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Attrs, AttrValue, Func, Op, OpOf, Region, Value } from "./func.ts";
import { type AttrKind, type OperandClass, TILE_OPS, type TileOp, type TileOpRow } from "./ops.ts";
import { describeOp, printFunc, spellIrType } from "./print.ts";
import { type Rule, RULES } from "./rules.ts";
import { SHARED_ACCESSES } from "./shared_access.ts";
import { type Element, isPointer, sameElement, sameShape } from "./types.ts";
import { type ArgRow, argsOf, requiredKind, rowOf, TILE_OP_NAMES } from "./table.ts";
import { operandsOf } from "./op.ts";
import { coordinatesOf, MOST_AXES, type TensorMap, tileElement, windowAxes } from "./tensor_map.ts";

/** Throws one {@linkcode CompilerBug} that lists every violation. */
export function verifyFunc(func: Func): void {
  const verifier = new Verifier(func);
  if (func.paramFacts.length !== func.params.length) {
    verifier.report("parameters and their facts differ in number");
  }
  for (const param of func.params) verifier.define(param, undefined);
  if (func.body.params.length > 0) {
    verifier.report("the body of a function has no parameters of its own");
  }
  for (const map of func.maps) {
    const violation = brokenMap(func, map);
    if (violation !== undefined) verifier.report(`the tensor map of ${map.param} ${violation}`);
  }
  verifier.region(func.body, "return");
  if (verifier.violations.length === 0) return;
  throw new CompilerBug(
    `@${func.name} is not valid tile IR:\n${
      verifier.violations.map((line) => `  ${line}\n`).join("")
    }${printFunc(func)}`,
  );
}

const OPERAND_CLASSES: Readonly<Record<OperandClass, (value: Value, first: Value) => boolean>> = {
  any: () => true,
  num: ({ type }) => !isPointer(type.element),
  int: ({ type }) => isInteger(type.element),
  ptr: ({ type }) => isPointer(type.element),
  bool: ({ type }) => type.element === "bool",
  same: (value, first) =>
    sameElement(value.type.element, first.type.element) &&
    sameShape(value.type.shape, first.type.shape),
  shape: (value, first) => sameShape(value.type.shape, first.type.shape),
  buffer: ({ type }) => type.shared !== undefined,
};

const isList = (value: AttrValue, kind: string): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === kind);

const ATTR_KINDS: Readonly<Record<AttrKind, (value: AttrValue) => boolean>> = {
  int: (value) => typeof value === "number" && Number.isInteger(value),
  ints: (value) => isList(value, "number"),
  number: (value) => typeof value === "number" || typeof value === "bigint",
  bigint: (value) => typeof value === "bigint",
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  strings: (value) => isList(value, "string"),
  access: (value) => SHARED_ACCESSES.some((access) => access === value),
};

function isInteger(element: Element): boolean {
  return !isPointer(element) && SCALARS[element].class === "int";
}

/** What a row says of an operation's operands and attributes, taken apart once: functions are verified after every pass. */
interface Expected {
  readonly row: TileOpRow;
  readonly args: readonly ArgRow[];
  readonly isVariadic: boolean;
  readonly leastOperands: number;
  readonly attrs: readonly {
    readonly name: string;
    readonly kind: string;
    readonly isOptional: boolean;
    readonly holds: (value: AttrValue) => boolean;
  }[];
}

const EXPECTED: ReadonlyMap<TileOp, Expected> = new Map(
  TILE_OP_NAMES.map((name) => [name, expectedOf(name)]),
);

function expectedOf(name: TileOp): Expected {
  const row: TileOpRow = TILE_OPS[name];
  const args = argsOf(name);
  return {
    row,
    args,
    isVariadic: args.at(-1)?.count === "any",
    leastOperands: args.filter(({ count }) => count === "one").length,
    attrs: Object.entries(row.attrs ?? {}).map(([attr, kind]) => ({
      name: attr,
      kind,
      isOptional: kind.endsWith("?"),
      holds: ATTR_KINDS[requiredKind(kind)],
    })),
  };
}

class Verifier {
  readonly violations: string[] = [];
  readonly #func: Func;
  /** Every value defined so far, by its id. */
  readonly #values = new Map<number, Value>();
  /** The values that may be used here. */
  readonly #visible = new Set<Value>();

  constructor(func: Func) {
    this.#func = func;
  }

  report(message: string, op?: Op): void {
    this.violations.push(op === undefined ? message : `${describeOp(op)}: ${message}`);
  }

  define(value: Value, by: Op | undefined): void {
    const { id, type } = value;
    const known = this.#values.get(id);
    if (known === value) this.report(`%${id} is defined twice`);
    else if (known !== undefined) this.report(`two values have the id %${id}`);
    if (id >= this.#func.nextId) this.report(`%${id} is not below nextId, ${this.#func.nextId}`);
    if (value.def !== by) this.report(`%${id} does not know the operation that defines it`);
    this.#values.set(id, value);
    this.#visible.add(value);
    const { shape, layout, shared } = type;
    if (shared !== undefined && by?.name !== "shared_buffer") {
      this.report(`%${id} is a buffer that no shared_buffer made`);
    }
    if (!shape.every(isPowerOfTwo)) {
      this.report(`%${id} has an extent that is not a power of two: ${spellIrType(type)}`);
    }
    if (layout !== undefined && !sameShape(layout.shape, shape)) {
      this.report(`%${id} has a layout for [${layout.shape.join(", ")}]: ${spellIrType(type)}`);
    }
  }

  region({ params, ops }: Region, terminator: TileOp): void {
    for (const param of params) this.define(param, undefined);
    ops.forEach((op, index) => {
      const last = index === ops.length - 1;
      this.op(op);
      const ends = rowOf(op).ends === true;
      if (ends !== last) {
        this.report(last ? "the region does not end" : "is not the last of its region", op);
      } else if (ends && op.name !== terminator) this.report(`is no ${terminator}`, op);
    });
    if (ops.length === 0) {
      this.report(`an empty region, without its ${terminator}`);
    }
    for (const param of params) this.#visible.delete(param);
    for (const { results } of ops) for (const value of results) this.#visible.delete(value);
  }

  op(op: Op): void {
    const expected = must(EXPECTED.get(op.name), "row of an operation");
    const { regions = [], result } = expected.row;
    for (const value of op.operands) {
      if (!this.#visible.has(value)) this.report(`%${value.id} is not defined here`, op);
    }
    const before = this.violations.length;
    this.operands(op, expected);
    this.attributes(op, expected);
    if (op.regions.length !== regions.length) {
      this.report(`has ${op.regions.length} regions`, op);
    }
    op.regions.forEach((region, index) =>
      this.region(region, op.name === "while" && index === 0 ? "condition" : "yield")
    );
    for (const value of op.results) this.define(value, op);
    if (result !== "many" && op.results.length !== (result === "none" ? 0 : 1)) {
      this.report(`has ${op.results.length} results`, op);
    }
    // The rules may assume the shape of an operation that the table describes.
    if (this.violations.length > before) return;
    this.result(op, result);
    const violation = broken(op) ?? brokenMapUse(this.#func, op);
    if (violation !== undefined) this.report(violation, op);
  }

  operands(op: Op, { args, isVariadic, leastOperands }: Expected): void {
    const { length } = op.operands;
    if (length < leastOperands || (!isVariadic && length > args.length)) {
      this.report(`has ${length} operands`, op);
      return;
    }
    const first = op.operands[0];
    op.operands.forEach((value, index) => {
      const arg = args[index] ?? args.at(-1);
      if (arg === undefined || first === undefined) return;
      const isBuffer = value.type.shared !== undefined;
      const isClass = OPERAND_CLASSES[arg.class](value, first);
      if (!isClass || isBuffer !== (arg.class === "buffer")) {
        this.report(`operand ${index} is not of class ${arg.class}`, op);
      }
    });
  }

  attributes(op: Op, { attrs }: Expected): void {
    const given: Attrs = op.attrs;
    for (const { name, kind, isOptional, holds } of attrs) {
      const value = given[name];
      if (value === undefined) {
        if (!isOptional) this.report(`lacks attribute ${name}`, op);
      } else if (!holds(value)) {
        this.report(`attribute ${name} is not of kind ${kind}`, op);
      }
    }
    for (const name of Object.keys(given)) {
      if (!attrs.some((attr) => attr.name === name)) {
        this.report(`has an unknown attribute ${name}`, op);
      }
    }
  }

  result(op: Op, kind: TileOpRow["result"]): void {
    const [result, first] = [op.results[0]?.type, op.operands[0]?.type];
    if (result === undefined || first === undefined) return;
    const wanted = wantedElement(kind, first.element);
    if (wanted === undefined) return;
    if (!sameElement(result.element, wanted) || !sameShape(result.shape, first.shape)) {
      this.report("has a result of another type than its row says", op);
    }
  }
}

const isPowerOfTwo = (extent: number): boolean =>
  extent >= 1 && Number.isInteger(Math.log2(extent));

/** The element of the result that a row asks for, by that of the first operand; undefined: the row does not say. */
function wantedElement(
  kind: TileOpRow["result"],
  element: Element,
): Element | "void" | undefined {
  if (kind === "same") return element;
  if (kind === "bool") return "bool";
  if (kind === "pointee") return isPointer(element) ? element.pointee : element;
  return undefined;
}

/** What is wrong with the use of a tensor map. */
function brokenMapUse(func: Func, op: Op): string | undefined {
  if (op.name === "tensor_load") return brokenLoad(func, op);
  return op.name === "tensor_copy" ? brokenCopy(func, op) : undefined;
}

function brokenMap({ params }: Func, { param, element, axes }: TensorMap): string | undefined {
  const at = params.find(({ name }) => name === param)?.type.element;
  if (at === undefined || !isPointer(at) || at.pointee !== tileElement(element)) {
    return "is of no parameter with its elements";
  }
  if (axes.length < 1 || axes.length > MOST_AXES) return `has ${axes.length} axes`;
  const tileAxes = axes.flatMap(({ tile }) => tile ?? []);
  if (new Set(tileAxes).size < tileAxes.length) return "has two axes for one of the tile";
  const withWindows = windowAxes({ axes });
  const between = axes.slice(1, -1);
  if (withWindows.length > 0 && between.some(({ windows }) => windows === undefined)) {
    return "has windows along some of the axes of pictures";
  }
  return withWindows.length > 0 && withWindows.length !== between.length
    ? "has windows along the innermost or the outermost axis"
    : undefined;
}

function brokenLoad({ maps }: Func, op: OpOf<"tensor_load">): string | undefined {
  const map = maps[op.attrs.map];
  if (map === undefined) return "there is no such tensor map";
  const { pointer, coordinates } = operandsOf(op);
  if (pointer.name !== map.param) return "its map is of another parameter";
  const shape = op.results[0]?.type.shape ?? [];
  if (coordinates.length !== coordinatesOf(map, shape)) {
    return `has ${coordinates.length} coordinates`;
  }
  const rank = shape.length;
  return map.axes.filter(({ tile }) => tile !== undefined && tile < rank).length === rank
    ? undefined
    : "its map does not have each axis of the tile";
}

function brokenCopy({ maps }: Func, op: OpOf<"tensor_copy">): string | undefined {
  const map = maps[op.attrs.map];
  if (map?.copied === undefined) return "there is no such tensor map with a box";
  const { buffer: { type: { element, shape } }, coordinates } = operandsOf(op);
  const fits = element === tileElement(map.element) &&
    coordinates.length === coordinatesOf(map, shape) &&
    map.copied.box.length === map.axes.length;
  return fits ? undefined : "its map has other elements or axes";
}

/** What is wrong by the operation's own rule. */
function broken<N extends TileOp>(op: OpOf<N>): string | undefined {
  const rule: Rule<N> | undefined = RULES[op.name];
  return rule?.(op);
}
