/**
 * Tile IR as text. `parseFunc` reads it back; printing what was read gives the same text.
 *
 *     func @copy(%0 X: float32* {multipleof = 16, readonly}, %1 Y: float32*) {
 *       %2 r: int32[64] = range 0
 *       %3: float32*[64] = splat %0
 *       %4: float32*[64] = offset %3, %2
 *       %5: float32[64] = load %4 {modifiers = []}
 *       …
 *     }
 *
 * Values are numbered in print order; the word after a number is the variable of the source, for reading
 * only. An operation without operands and with one attribute writes the attribute bare. Regions follow the
 * operation, each with its parameters: `while %1, %2 (%3: int32, %4: bool) {…} (%5: int32, %6: bool) {…}`.
 * After layout assignment tiles read `float32[64] #l0`, and `#l0 = [64] register(…) lane(…) warp(…)` stands
 * above the function. Buffers in shared memory read `float16[128, 64] shared #s0`, with
 * `#s0 = [128, 64] offset(…) vector(8)` above. A function that is scheduled says how many bytes of shared memory it uses:
 * `func @copy(…) shared(4096) {`. Tensor maps follow (tensor_map.ts).
 */
import { layoutKey, type LinearLayout, spellLayout } from "../linear/linear.ts";
import { type SharedLayout, sharedLayoutKey, spellSharedLayout } from "../linear/shared_layout.ts";
import { must } from "../support/bug.ts";
import type { Attrs, AttrValue, Func, Op, ParamFacts, Region, Value } from "./func.ts";
import { spellTensorMap } from "./tensor_map.ts";
import type { Element, IrType } from "./types.ts";
import { isPointer } from "./types.ts";
import type { TileOpRow } from "./ops.ts";
import { rowOf } from "./table.ts";

export function printFunc(func: Func): string {
  const printer = new Printer();
  const params = func.params.map((value, index) =>
    printer.define(value) + printFacts(must(func.paramFacts[index], "facts of a parameter"))
  );
  const shared = func.sharedBytes === undefined ? "" : ` shared(${func.sharedBytes})`;
  const maps = func.maps.map((map) => ` ${spellTensorMap(map)}`).join("");
  printer.lines.push(`func @${func.name}(${params.join(", ")})${shared}${maps} {`);
  printer.region(func.body, "  ");
  printer.lines.push("}", "");
  return [...printer.layoutLines, ...printer.lines].join("\n");
}

/** One operation for a message, its values numbered by their ids. */
export function describeOp(op: Op): string {
  const results = op.results.map((value) => `%${value.id}: ${spellIrType(value.type)}`);
  const operands = op.operands.map((value) => ` %${value.id}: ${spellIrType(value.type)}`);
  return `${results.join(", ")}${results.length > 0 ? " = " : ""}${op.name}${operands.join(",")}`;
}

/** `float32[64, 32]`, `int8 constant*`, `float16*[16]`; without the layout. */
export function spellIrType(type: IrType): string {
  const element = spellElement(type.element);
  const tile = type.shape.length === 0 ? element : `${element}[${type.shape.join(", ")}]`;
  return type.shared === undefined ? tile : `${tile} shared`;
}

/** Equal for equal types, layouts included. */
export function typeKey(type: IrType): string {
  return spellIrType(type) + (type.layout === undefined ? "" : layoutKey(type.layout)) +
    (type.shared === undefined ? "" : sharedLayoutKey(type.shared));
}

function spellElement(element: Element | "void"): string {
  if (element === "void" || !isPointer(element)) return element;
  const pointee = spellElement(element.pointee);
  return element.space === "constant" ? `${pointee} constant*` : `${pointee}*`;
}

/** Integers as digits, floats always with a point, an exponent or a name, so that the two differ. */
export function spellAttr(value: AttrValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spellAttr).join(", ")}]`;
  return String(value);
}

function spellFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (Math.abs(value) === Infinity) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Attributes in the order of the op's row. Empty lists are left out; a `?` shows one that is missing. */
function printAttrs(op: Op): string {
  const row = rowOf(op);
  const given: Attrs = op.attrs;
  const attrs = Object.entries(row.attrs ?? {}).flatMap(([name, kind]) => {
    const value = given[name];
    if (value === undefined) return kind.endsWith("?") ? [] : [{ name, text: "?" }];
    if (Array.isArray(value) && value.length === 0) return [];
    const isFloat = kind === "number" && typeof value === "number";
    return [{ name, text: isFloat ? spellFloat(value) : spellAttr(value) }];
  });
  const [first] = attrs;
  if (first === undefined) return "";
  if (isBareAttr(row)) return ` ${first.text}`;
  return ` {${attrs.map(({ name, text }) => `${name} = ${text}`).join(", ")}}`;
}

/** Whether an operation writes its attribute without name and braces. */
export function isBareAttr(row: TileOpRow): boolean {
  return Object.keys(row.args).length === 0 && Object.keys(row.attrs ?? {}).length === 1;
}

function printFacts(facts: ParamFacts): string {
  const words: string[] = [];
  if (facts.multipleof !== 1) words.push(`multipleof = ${facts.multipleof}`);
  if (facts.least !== undefined) words.push(`least = ${facts.least}`);
  if (facts.most !== undefined) words.push(`most = ${facts.most}`);
  if (facts.noalias) words.push("noalias");
  if (facts.readonly) words.push("readonly");
  if (facts.writeonly) words.push("writeonly");
  return words.length === 0 ? "" : ` {${words.join(", ")}}`;
}

class Printer {
  readonly lines: string[] = [];
  readonly layoutLines: string[] = [];
  readonly #numbers = new Map<Value, number>();
  readonly #layouts = new Map<string, string>();
  readonly #sharedLayouts = new Map<string, string>();

  type(type: IrType): string {
    const { layout, shared } = type;
    const names = [
      ...layout === undefined ? [] : [this.layout(layout)],
      ...shared === undefined ? [] : [this.sharedLayout(shared)],
    ];
    return [spellIrType(type), ...names].join(" ");
  }

  layout(layout: LinearLayout): string {
    const key = layoutKey(layout);
    let name = this.#layouts.get(key);
    if (name === undefined) {
      name = `#l${this.#layouts.size}`;
      this.#layouts.set(key, name);
      this.layoutLines.push(`${name} = [${layout.shape.join(", ")}] ${spellLayout(layout)}`);
    }
    return name;
  }

  sharedLayout(layout: SharedLayout): string {
    const key = sharedLayoutKey(layout);
    let name = this.#sharedLayouts.get(key);
    if (name === undefined) {
      name = `#s${this.#sharedLayouts.size}`;
      this.#sharedLayouts.set(key, name);
      this.layoutLines.push(`${name} = [${layout.shape.join(", ")}] ${spellSharedLayout(layout)}`);
    }
    return name;
  }

  define(value: Value): string {
    const number = this.#numbers.size;
    this.#numbers.set(value, number);
    const name = value.name === undefined ? "" : ` ${value.name}`;
    return `%${number}${name}: ${this.type(value.type)}`;
  }

  /** A value that nothing defined prints by its id, so that a broken function can still be looked at. */
  use(value: Value): string {
    const number = this.#numbers.get(value);
    return number === undefined ? `%undefined${value.id}` : `%${number}`;
  }

  region(region: Region, indent: string): void {
    for (const op of region.ops) this.op(op, indent);
  }

  op(op: Op, indent: string): void {
    const operands = op.operands.map((value) => this.use(value)).join(", ");
    const results = op.results.map((value) => this.define(value)).join(", ");
    const head = `${indent}${results}${results === "" ? "" : " = "}${op.name}`;
    let line = `${head}${operands === "" ? "" : ` ${operands}`}${printAttrs(op)}`;
    for (const region of op.regions) {
      const params = region.params.map((value) => this.define(value)).join(", ");
      this.lines.push(`${line}${params === "" ? "" : ` (${params})`} {`);
      this.region(region, `${indent}  `);
      line = `${indent}}`;
    }
    this.lines.push(line);
  }
}
