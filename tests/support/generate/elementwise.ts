/** Random expressions that work element by element, and choices. */
import { commonName } from "../../../compiler/check/convert.ts";
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { isFloat, isInt, isNarrow, type Workshop } from "./scope.ts";
import { type Node, node, type Shape, spell, spellTile, type Wanted } from "./tree.ts";

/** Shapes that stretch to a shape. */
export function stretching(shop: Workshop, shape: Shape): Shape {
  const { dice } = shop;
  if (shape.length === 0 || dice.oneIn(4)) return [];
  const from = dice.oneIn(3) ? shape.slice(dice.between(0, shape.length - 1)) : [...shape];
  return from.map((extent) => dice.oneIn(3) ? 1 : extent);
}

/** A value for a destination, which it is converted and stretched to as it is assigned. */
export function assignable(shop: Workshop, { type, shape }: Wanted, fuel: number): Node {
  const { dice } = shop;
  return shop.expr({
    type: dice.oneIn(4) ? dice.pick(shop.types) : type,
    shape: dice.oneIn(5) ? stretching(shop, shape) : shape,
  }, fuel);
}

/** Types whose common type with `type` is `type`. */
function partners(shop: Workshop, type: ScalarName): ScalarName[] {
  const found = shop.types.filter((other) => commonName(type, other) === type);
  return found.length === 0 ? [type] : found; // narrow types have none: they are promoted
}

/** Two operands of which one has the type and shape, the other may be narrower and smaller. */
function operandPair(
  shop: Workshop,
  { type, shape }: Wanted,
  fuel: number,
): readonly [Node, Node] {
  const { dice } = shop;
  const other = dice.oneIn(2) ? type : dice.pick(partners(shop, type));
  const small = dice.oneIn(3) ? stretching(shop, shape) : shape;
  const pair: readonly [Node, Node] = [
    shop.expr({ type, shape }, fuel),
    shop.expr({ type: other, shape: small }, fuel),
  ];
  return dice.oneIn(2) ? pair : [pair[1], pair[0]];
}

export function arithmetic(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type === "bool" || isNarrow(wanted.type)) return undefined;
  const { dice } = shop;
  const operators = isFloat(wanted.type)
    ? ["+", "-", "*", "+", "-", "*", "/"]
    : ["+", "-", "*", "&", "|", "^", ...(shop.has("integer-division") ? ["/", "%"] : [])];
  const operator = dice.pick(operators);
  const [a, b] = operandPair(shop, wanted, fuel);
  // A constant divisor of 0 is an error, and any other 0 gives nothing to compare.
  const isDivision = !isFloat(wanted.type) && (operator === "/" || operator === "%");
  const divisor = isDivision ? ["((", spell(wanted.type), ")", b, " | 1)"] : [b];
  return node(wanted, "(", a, ` ${operator} `, ...divisor, ")");
}

export function shift(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (!isInt(wanted.type) || isNarrow(wanted.type)) return undefined;
  const type = shop.dice.pick(shop.types.filter(isInt));
  const count = shop.expr({ type, shape: wanted.shape }, fuel - 1);
  const operator = shop.dice.pick([" << ", " >> "]);
  const limited = shop.dice.oneIn(4) ? [count] : ["(", count, " & 15)"];
  return node(wanted, "(", shop.expr(wanted, fuel), operator, ...limited, ")");
}

export function minmax(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type === "bool" || isNarrow(wanted.type)) return undefined;
  const [a, b] = operandPair(shop, wanted, fuel);
  return node(wanted, `${shop.dice.pick(["min", "max"])}(`, a, ", ", b, ")");
}

export function unary(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const operand = shop.expr(wanted, fuel);
  if (wanted.type === "bool") return node(wanted, "(!", operand, ")");
  if (isNarrow(wanted.type)) return undefined;
  const operators = isFloat(wanted.type) ? ["-", "+"] : ["-", "~", "+"];
  return node(wanted, `(${shop.dice.pick(operators)}`, operand, ")");
}

export function comparison(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type !== "bool") return undefined;
  const { dice } = shop;
  const type = dice.pick(shop.types);
  const [a, b] = operandPair(shop, { type, shape: wanted.shape }, fuel);
  return node(wanted, "(", a, ` ${dice.pick(["<", "<=", ">", ">=", "==", "!="])} `, b, ")");
}

export function logical(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.type !== "bool") return undefined;
  const { dice } = shop;
  const lazy = shop.has("masked-and") && (wanted.shape.length > 0 || shop.has("conditional-load"));
  const operator = dice.pick(lazy ? ["&&", "||"] : ["&", "|", "!="]);
  const rest = dice.oneIn(3) ? stretching(shop, wanted.shape) : wanted.shape;
  const other = shop.whileLazy(
    wanted.shape.length > 0,
    () => shop.expr({ type: "bool", shape: rest }, fuel),
  );
  return node(wanted, "(", shop.expr(wanted, fuel), ` ${operator} `, other, ")");
}

export function conversion(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const from = shop.expr({ type: shop.dice.pick(shop.types), shape: wanted.shape }, fuel);
  return node(wanted, `((${spell(wanted.type)})`, from, ")");
}

const WIDTHS: Readonly<Record<number, readonly ScalarName[]>> = {
  8: ["int8", "uint8", "float8e4", "float8e5"],
  16: ["int16", "uint16", "float16", "bfloat16"],
  32: ["int32", "uint32", "float32"],
  64: ["int64", "uint64", "float64"],
};

export function bits(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const width = WIDTHS[SCALARS[wanted.type].bits] ?? [];
  const types = width.filter((type) => shop.types.includes(type) && type !== wanted.type);
  if (types.length === 0 || !shop.has("bitcast")) return undefined;
  const from = shop.expr({ type: shop.dice.pick(types), shape: wanted.shape }, fuel);
  return node(wanted, `bitcast<${spellTile(wanted.type, wanted.shape)}>(`, from, ")");
}

/** An unsuffixed literal takes the floating type that it meets. */
export function weakLiteral(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (!isFloat(wanted.type) || isNarrow(wanted.type)) return undefined;
  const { dice } = shop;
  const value = dice.pick(["0.1", "0.5", "1.25", "-2.0", "3.0e0", "0x1p-2"]);
  const operand = shop.expr(wanted, fuel);
  return dice.oneIn(2)
    ? node(wanted, "(", operand, ` ${dice.pick(["+", "-", "*"])} ${value})`)
    : node(wanted, `(${value} ${dice.pick(["+", "-", "*", "/"])} `, operand, ")");
}

/** `cdiv` of integers that are not negative. */
export function quotient(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (!isInt(wanted.type) || isNarrow(wanted.type)) return undefined;
  if (!shop.has("integer-division")) return undefined;
  const one = `(${spell(wanted.type)})1`;
  const [a, b] = [shop.expr(wanted, fuel), shop.expr(wanted, fuel)];
  return node(wanted, "cdiv((", a, ` & 1023), ((`, b, ` & 15) + ${one}))`);
}

/** An assignment or a step in the middle of an expression. */
export function change(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { dice } = shop;
  const { type, shape } = wanted;
  const open = shop.variables.filter((one) =>
    one.type === type && one.shape.join() === shape.join() && !shop.fixed.has(one.name)
  );
  if (shop.isLazy || shop.inHelper || open.length === 0) return undefined;
  const { name } = dice.pick(open);
  if (type !== "bool" && !(isFloat(type) && isNarrow(type)) && dice.oneIn(2)) {
    return node(wanted, `(${dice.pick([`${name}++`, `${name}--`, `++${name}`, `--${name}`])})`);
  }
  const operator = type === "bool" || isNarrow(type) ? "=" : dice.pick(["=", "+=", "-=", "*="]);
  const value = shop.expr(wanted, fuel);
  if (dice.oneIn(4)) return node(wanted, `(${name} = `, value, `, ${name})`);
  return node(wanted, `(${name} ${operator} `, value, ")");
}

export function stretchCast(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (wanted.shape.length === 0) return undefined;
  const shape = stretching(shop, wanted.shape);
  const type = shop.dice.oneIn(2) ? wanted.type : shop.dice.pick(shop.types);
  return node(
    wanted,
    `((${shop.spellTile(wanted.type, wanted.shape)})`,
    shop.expr({ type, shape }, fuel),
    ")",
  );
}

export function choice(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { dice } = shop;
  const { shape } = wanted;
  if (isNarrow(wanted.type)) return undefined;
  const eager = shape.length > 0 && shop.has("select") && dice.oneIn(4);
  const lazy = shape.length === 0 ? shop.has("conditional-load") : shop.has("lazy-tile");
  if (!lazy && !eager) return undefined;
  const mask = dice.oneIn(3) ? stretching(shop, shape) : shape;
  const scalarMask = mask.length === 0 && !shop.has("conditional-load");
  const condition = shop.expr({ type: "bool", shape: scalarMask ? shape : mask }, fuel);
  const [a, b] = shop.whileLazy(!eager && shape.length > 0, () => operandPair(shop, wanted, fuel));
  return eager
    ? node(wanted, dice.pick(["select(", "where("]), condition, ", ", a, ", ", b, ")")
    : node(wanted, "(", condition, " ? ", a, " : ", b, ")");
}

export function orElse(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (isNarrow(wanted.type) || !shop.has("elvis")) return undefined;
  if (wanted.shape.length === 0 && !shop.has("conditional-load")) return undefined;
  const isLazy = wanted.shape.length > 0;
  const make = (): Node => shop.whileLazy(isLazy, () => shop.expr(wanted, fuel));
  return node(wanted, "(", make(), " ?: ", make(), ")");
}
