/** Random expressions that work element by element, and choices. */
import { commonName } from "../../../compiler/check/expressions/convert.ts";
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { isFloat, isInt, isNarrow, type ProgramContext } from "./scope.ts";
import { type Node, node, type Shape, spell, spellTile, type Wanted } from "./tree.ts";

/** Shapes that stretch to a shape. */
export function stretching(cx: ProgramContext, shape: Shape): Shape {
  const { choices } = cx;
  if (shape.length === 0 || choices.oneIn(4)) return [];
  const from = choices.oneIn(3) ? shape.slice(choices.between(0, shape.length - 1)) : [...shape];
  return from.map((extent) => choices.oneIn(3) ? 1 : extent);
}

/** A value for a destination, which it is converted and stretched to as it is assigned. */
export function assignable(cx: ProgramContext, { type, shape }: Wanted, fuel: number): Node {
  const { choices } = cx;
  return cx.expr({
    type: choices.oneIn(4) ? choices.pick(cx.types) : type,
    shape: choices.oneIn(5) ? stretching(cx, shape) : shape,
  }, fuel);
}

/** Types whose common type with `type` is `type`. */
function partners(cx: ProgramContext, type: ScalarName): ScalarName[] {
  const found = cx.types.filter((other) => commonName(type, other) === type);
  return found.length === 0 ? [type] : found; // narrow types have none: they are promoted
}

/** Two operands of which one has the type and shape, the other may be narrower and smaller. */
function operandPair(
  cx: ProgramContext,
  { type, shape }: Wanted,
  fuel: number,
): readonly [Node, Node] {
  const { choices } = cx;
  const other = choices.oneIn(2) ? type : choices.pick(partners(cx, type));
  const small = choices.oneIn(3) ? stretching(cx, shape) : shape;
  const pair: readonly [Node, Node] = [
    cx.expr({ type, shape }, fuel),
    cx.expr({ type: other, shape: small }, fuel),
  ];
  return choices.oneIn(2) ? pair : [pair[1], pair[0]];
}

export function arithmetic(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type === "bool" || isNarrow(wanted.type)) return undefined;
  const { choices } = cx;
  const operators = isFloat(wanted.type)
    ? ["+", "-", "*", "+", "-", "*", "/"]
    : ["+", "-", "*", "&", "|", "^", ...(cx.has("integer-division") ? ["/", "%"] : [])];
  const operator = choices.pick(operators);
  const [a, b] = operandPair(cx, wanted, fuel);
  // A constant divisor of 0 is an error, and any other 0 gives nothing to compare.
  const isDivision = !isFloat(wanted.type) && (operator === "/" || operator === "%");
  const divisor = isDivision ? ["((", spell(wanted.type), ")", b, " | 1)"] : [b];
  return node(wanted, "(", a, ` ${operator} `, ...divisor, ")");
}

export function shift(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (!isInt(wanted.type) || isNarrow(wanted.type)) return undefined;
  const type = cx.choices.pick(cx.types.filter(isInt));
  const count = cx.expr({ type, shape: wanted.shape }, fuel - 1);
  const operator = cx.choices.pick([" << ", " >> "]);
  const limited = cx.choices.oneIn(4) ? [count] : ["(", count, " & 15)"];
  return node(wanted, "(", cx.expr(wanted, fuel), operator, ...limited, ")");
}

export function minmax(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type === "bool" || isNarrow(wanted.type)) return undefined;
  const [a, b] = operandPair(cx, wanted, fuel);
  return node(wanted, `${cx.choices.pick(["min", "max"])}(`, a, ", ", b, ")");
}

export function unary(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const operand = cx.expr(wanted, fuel);
  if (wanted.type === "bool") return node(wanted, "(!", operand, ")");
  if (isNarrow(wanted.type)) return undefined;
  const operators = isFloat(wanted.type) ? ["-", "+"] : ["-", "~", "+"];
  return node(wanted, `(${cx.choices.pick(operators)}`, operand, ")");
}

export function comparison(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type !== "bool") return undefined;
  const { choices } = cx;
  const type = choices.pick(cx.types);
  const [a, b] = operandPair(cx, { type, shape: wanted.shape }, fuel);
  return node(wanted, "(", a, ` ${choices.pick(["<", "<=", ">", ">=", "==", "!="])} `, b, ")");
}

export function logical(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type !== "bool") return undefined;
  const { choices } = cx;
  const lazy = cx.has("masked-and") && (wanted.shape.length > 0 || cx.has("conditional-load"));
  const operator = choices.pick(lazy ? ["&&", "||"] : ["&", "|", "!="]);
  const rest = choices.oneIn(3) ? stretching(cx, wanted.shape) : wanted.shape;
  const other = cx.whileLazy(
    wanted.shape.length > 0,
    () => cx.expr({ type: "bool", shape: rest }, fuel),
  );
  return node(wanted, "(", cx.expr(wanted, fuel), ` ${operator} `, other, ")");
}

export function conversion(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const from = cx.expr({ type: cx.choices.pick(cx.types), shape: wanted.shape }, fuel);
  return node(wanted, `((${spell(wanted.type)})`, from, ")");
}

const WIDTHS: Readonly<Record<number, readonly ScalarName[]>> = {
  8: ["int8", "uint8", "float8e4", "float8e5"],
  16: ["int16", "uint16", "float16", "bfloat16"],
  32: ["int32", "uint32", "float32"],
  64: ["int64", "uint64", "float64"],
};

export function bits(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const width = WIDTHS[SCALARS[wanted.type].bits] ?? [];
  const types = width.filter((type) => cx.types.includes(type) && type !== wanted.type);
  if (types.length === 0 || !cx.has("bitcast")) return undefined;
  const from = cx.expr({ type: cx.choices.pick(types), shape: wanted.shape }, fuel);
  return node(wanted, `bitcast<${spellTile(wanted.type, wanted.shape)}>(`, from, ")");
}

/** An unsuffixed literal takes the floating type that it meets. */
export function weakLiteral(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (!isFloat(wanted.type) || isNarrow(wanted.type)) return undefined;
  const { choices } = cx;
  const value = choices.pick(["0.1", "0.5", "1.25", "-2.0", "3.0e0", "0x1p-2"]);
  const operand = cx.expr(wanted, fuel);
  return choices.oneIn(2)
    ? node(wanted, "(", operand, ` ${choices.pick(["+", "-", "*"])} ${value})`)
    : node(wanted, `(${value} ${choices.pick(["+", "-", "*", "/"])} `, operand, ")");
}

/** `cdiv` of integers that are not negative. */
export function quotient(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (!isInt(wanted.type) || isNarrow(wanted.type)) return undefined;
  if (!cx.has("integer-division")) return undefined;
  const one = `(${spell(wanted.type)})1`;
  const [a, b] = [cx.expr(wanted, fuel), cx.expr(wanted, fuel)];
  return node(wanted, "cdiv((", a, ` & 1023), ((`, b, ` & 15) + ${one}))`);
}

/** An assignment or a step in the middle of an expression. */
export function change(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const { type, shape } = wanted;
  const open = cx.variables.filter((one) =>
    one.type === type && one.shape.join() === shape.join() && !cx.fixed.has(one.name)
  );
  if (cx.isLazy || cx.inHelper || open.length === 0) return undefined;
  const { name } = choices.pick(open);
  if (type !== "bool" && !(isFloat(type) && isNarrow(type)) && choices.oneIn(2)) {
    return node(wanted, `(${choices.pick([`${name}++`, `${name}--`, `++${name}`, `--${name}`])})`);
  }
  const operator = type === "bool" || isNarrow(type) ? "=" : choices.pick(["=", "+=", "-=", "*="]);
  const value = cx.expr(wanted, fuel);
  if (choices.oneIn(4)) return node(wanted, `(${name} = `, value, `, ${name})`);
  return node(wanted, `(${name} ${operator} `, value, ")");
}

export function stretchCast(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.shape.length === 0) return undefined;
  const shape = stretching(cx, wanted.shape);
  const type = cx.choices.oneIn(2) ? wanted.type : cx.choices.pick(cx.types);
  return node(
    wanted,
    `((${cx.spellTile(wanted.type, wanted.shape)})`,
    cx.expr({ type, shape }, fuel),
    ")",
  );
}

export function choice(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const { shape } = wanted;
  if (isNarrow(wanted.type)) return undefined;
  const eager = shape.length > 0 && cx.has("select") && choices.oneIn(4);
  const lazy = shape.length === 0 ? cx.has("conditional-load") : cx.has("lazy-tile");
  if (!lazy && !eager) return undefined;
  const mask = choices.oneIn(3) ? stretching(cx, shape) : shape;
  const scalarMask = mask.length === 0 && !cx.has("conditional-load");
  const condition = cx.expr({ type: "bool", shape: scalarMask ? shape : mask }, fuel);
  const [a, b] = cx.whileLazy(!eager && shape.length > 0, () => operandPair(cx, wanted, fuel));
  return eager
    ? node(wanted, choices.pick(["select(", "where("]), condition, ", ", a, ", ", b, ")")
    : node(wanted, "(", condition, " ? ", a, " : ", b, ")");
}

export function orElse(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (isNarrow(wanted.type) || !cx.has("elvis")) return undefined;
  if (wanted.shape.length === 0 && !cx.has("conditional-load")) return undefined;
  const isLazy = wanted.shape.length > 0;
  const make = (): Node => cx.whileLazy(isLazy, () => cx.expr(wanted, fuel));
  return node(wanted, "(", make(), " ?: ", make(), ")");
}
