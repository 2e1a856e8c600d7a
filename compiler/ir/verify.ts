/**
 * The rules of tile IR, checked. Between passes in tests; a violation is a defect of tri, so all of them end
 * up in one {@linkcode CompilerBug}.
 *
 * Checked for every operation, from its row in TILE_OPS: number and classes of operands, results, attributes,
 * number of regions, that each operand is defined before its use and in an enclosing region, that each value
 * is defined once. Checked by rules here (`RULES`): what a row cannot say.
 * Not checked: that promises (`assume_multiple`) hold; layouts, except that they have the tile's shape.
 */
import { CompilerBug } from "../support/bug.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Attrs, AttrValue, Func, Op, OpOf, Region, Value } from "./func.ts";
import type { AttrKind, OperandClass, TileOp, TileOpRow } from "./ops.ts";
import { describeOp, printFunc, spellIrType } from "./print.ts";
import { type Rule, RULES } from "./rules.ts";
import { SHARED_ACCESSES } from "./shared_access.ts";
import { type Element, isPointer, sameElement, sameShape } from "./types.ts";
import { argsOf, requiredKind, rowOf } from "./table.ts";
import { operandsOf } from "./op.ts";
import { coordinatesAlong, MOST_AXES, type TensorMap, tileElement } from "./tensor_map.ts";
import { walkOps } from "./walk.ts";

/** Throws one {@linkcode CompilerBug} that lists every violation. */
export function verifyFunc(func: Func): void {
  const verifier = new Verifier();
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
  walkOps(func.body, (op) => {
    if (op.name !== "tensor_load" && op.name !== "tensor_copy") return;
    const violation = op.name === "tensor_load" ? brokenLoad(func, op) : brokenCopy(func, op);
    if (violation !== undefined) verifier.report(violation, op);
  });
  verifier.region(func.body, "return");
  for (const value of verifier.seen) {
    if (value.id >= func.nextId) {
      verifier.report(`%${value.id} is not below nextId, ${func.nextId}`);
    }
  }
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

class Verifier {
  readonly violations: string[] = [];
  /** Every value defined so far. */
  readonly seen = new Set<Value>();
  readonly #ids = new Set<number>();
  /** The values that may be used here. */
  readonly #visible = new Set<Value>();

  report(message: string, op?: Op): void {
    this.violations.push(op === undefined ? message : `${describeOp(op)}: ${message}`);
  }

  define(value: Value, by: Op | undefined): void {
    const name = `%${value.id}`;
    if (this.seen.has(value)) this.report(`${name} is defined twice`);
    else if (this.#ids.has(value.id)) this.report(`two values have the id ${name}`);
    if (value.def !== by) this.report(`${name} does not know the operation that defines it`);
    this.seen.add(value);
    this.#ids.add(value.id);
    this.#visible.add(value);
    const { shape, layout, shared } = value.type;
    if (shared !== undefined && by?.name !== "shared_buffer") {
      this.report(`${name} is a buffer that no shared_buffer made`);
    }
    if (shape.some((extent) => extent < 1 || !Number.isInteger(Math.log2(extent)))) {
      this.report(`${name} has an extent that is not a power of two: ${spellIrType(value.type)}`);
    }
    if (layout !== undefined && !sameShape(layout.shape, shape)) {
      this.report(
        `${name} has a layout for [${layout.shape.join(", ")}]: ${spellIrType(value.type)}`,
      );
    }
  }

  region(region: Region, terminator: TileOp): void {
    const local = [...region.params];
    for (const param of region.params) this.define(param, undefined);
    region.ops.forEach((op, index) => {
      const last = index === region.ops.length - 1;
      this.op(op);
      local.push(...op.results);
      const ends = rowOf(op).ends === true;
      if (ends !== last) {
        this.report(last ? "the region does not end" : "is not the last of its region", op);
      } else if (ends && op.name !== terminator) this.report(`is no ${terminator}`, op);
    });
    if (region.ops.length === 0) {
      this.report(`an empty region, without its ${terminator}`);
    }
    for (const value of local) this.#visible.delete(value);
  }

  op(op: Op): void {
    const row = rowOf(op);
    for (const value of op.operands) {
      if (!this.#visible.has(value)) this.report(`%${value.id} is not defined here`, op);
    }
    const before = this.violations.length;
    this.operands(op);
    this.attributes(op.attrs, row.attrs ?? {}, op);
    if (op.regions.length !== (row.regions?.length ?? 0)) {
      this.report(`has ${op.regions.length} regions`, op);
    }
    op.regions.forEach((region, index) =>
      this.region(region, op.name === "while" && index === 0 ? "condition" : "yield")
    );
    for (const value of op.results) this.define(value, op);
    if (row.result !== "many" && op.results.length !== (row.result === "none" ? 0 : 1)) {
      this.report(`has ${op.results.length} results`, op);
    }
    // The rules may assume the shape of an operation that the table describes.
    if (this.violations.length > before) return;
    this.result(op);
    const violation = broken(op);
    if (violation !== undefined) this.report(violation, op);
  }

  operands(op: Op): void {
    const args = argsOf(op.name);
    const variadic = args.at(-1)?.count === "any";
    const least = args.filter(({ count }) => count === "one").length;
    const { length } = op.operands;
    if (length < least || (!variadic && length > args.length)) {
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

  attributes(attrs: Attrs, kinds: NonNullable<TileOpRow["attrs"]>, op: Op): void {
    for (const [name, kind] of Object.entries(kinds)) {
      const value = attrs[name];
      if (value === undefined) {
        if (!kind.endsWith("?")) this.report(`lacks attribute ${name}`, op);
      } else if (!ATTR_KINDS[requiredKind(kind)](value)) {
        this.report(`attribute ${name} is not of kind ${kind}`, op);
      }
    }
    for (const name of Object.keys(attrs)) {
      if (!(name in kinds)) this.report(`has an unknown attribute ${name}`, op);
    }
  }

  result(op: Op): void {
    const [result, first] = [op.results[0]?.type, op.operands[0]?.type];
    if (result === undefined || first === undefined) return;
    const { element } = first;
    const wanted = {
      same: element,
      bool: "bool" as const,
      pointee: isPointer(element) ? element.pointee : element,
      attr: undefined,
      none: undefined,
      many: undefined,
    }[rowOf(op).result];
    if (wanted === undefined) return;
    if (!sameElement(result.element, wanted) || !sameShape(result.shape, first.shape)) {
      this.report("has a result of another type than its row says", op);
    }
  }
}

function brokenMap({ params }: Func, { param, element, axes }: TensorMap): string | undefined {
  const at = params.find(({ name }) => name === param)?.type.element;
  if (at === undefined || !isPointer(at) || at.pointee !== tileElement(element)) {
    return "is of no parameter with its elements";
  }
  if (axes.length < 1 || axes.length > MOST_AXES) return `has ${axes.length} axes`;
  const tileAxes = axes.flatMap(({ tile }) => tile ?? []);
  if (new Set(tileAxes).size < tileAxes.length) return "has two axes for one of the tile";
  return undefined;
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

const coordinatesOf = ({ axes }: TensorMap, shape: readonly number[]): number =>
  axes.reduce((sum, axis) => sum + coordinatesAlong(axis, shape), 0);

/** What is wrong by the operation's own rule. */
function broken<N extends TileOp>(op: OpOf<N>): string | undefined {
  const rule: Rule<N> | undefined = RULES[op.name];
  return rule?.(op);
}
