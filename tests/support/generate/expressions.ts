/** Random expressions of a given element type and shape, right by construction. */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { commonName } from "../../../compiler/front/convert.ts";
import type { Feature } from "./features.ts";
import { loadedTile } from "./memory.ts";
import { countOf, isFloat, isInt, isNarrow, rowMajor, sameShape, type Workshop } from "./scope.ts";
import { type Node, type Shape, spell, spellTile } from "./tree.ts";

export type Wanted = { readonly type: ScalarName; readonly shape: Shape };
/** Makes an expression, or gives up because nothing of this kind fits. */
type Production = (shop: Workshop, wanted: Wanted, fuel: number) => Node | undefined;

const node = ({ type, shape }: Wanted, ...parts: (string | Node)[]): Node => ({
  type,
  shape,
  parts,
});

/** An expression; `fuel` bounds its depth. */
export function makeExpr(shop: Workshop, wanted: Wanted, fuel: number): Node {
  if (fuel <= 0 || shop.dice.oneIn(6)) return makeLeaf(shop, wanted);
  for (let attempt = 0; attempt < 4; attempt++) {
    const made = shop.dice.weighted(PRODUCTIONS)(shop, wanted, fuel - 1);
    if (made !== undefined) return made;
  }
  return makeLeaf(shop, wanted);
}

function makeLeaf(shop: Workshop, wanted: Wanted): Node {
  const { dice } = shop;
  const fitting = shop.variables.filter(({ type, shape }) =>
    type === wanted.type && sameShape(shape, wanted.shape)
  );
  if (fitting.length > 0 && !dice.oneIn(4)) return node(wanted, dice.pick(fitting).name);
  if (!shop.inHelper && dice.oneIn(2)) {
    const loaded = loadedTile(shop, wanted);
    if (loaded !== undefined) return loaded;
  }
  if (wanted.shape.length > 0 && wanted.type === "int32" && dice.oneIn(2)) {
    return shop.indexTile(wanted.shape, rowMajor(wanted.shape));
  }
  if (wanted.type === "int32" && wanted.shape.length === 0 && !shop.inHelper && dice.oneIn(3)) {
    return node(
      wanted,
      dice.pick(["get_program_id(0)", "get_num_programs(0)", "get_program_id(1)"]),
    );
  }
  return literal(shop, wanted);
}

/** A constant, as a tile by a cast. */
export function literal(shop: Workshop, wanted: Wanted): Node {
  const { dice } = shop;
  const { type } = wanted;
  // In parentheses, as a subscript behind it would belong to the number.
  const constant = (text: string): Node =>
    node(wanted, `((${spellTile(type, wanted.shape)})${text})`);
  if (type === "bool") return constant(dice.pick(["true", "false"]));
  if (isFloat(type)) {
    if (dice.oneIn(8)) return constant(dice.pick(["INFINITY", "NAN", "(-0.0f)", "1.0e-30f"]));
    const quarters = dice.between(-16, 16);
    return constant(`(${quarters / 4}${quarters % 4 === 0 ? ".0" : ""}f)`);
  }
  const { bits, signed } = SCALARS[type];
  if (!dice.oneIn(6)) return constant(`${dice.between(0, 12)}`);
  return constant(`(${dice.pick([0, -1, bits - 1, bits, signed ? -(bits / 8) : bits / 2])})`);
}

/** Shapes that stretch to a shape. */
function stretching(shop: Workshop, shape: Shape): Shape {
  const { dice } = shop;
  if (shape.length === 0 || dice.oneIn(4)) return [];
  const from = dice.oneIn(3) ? shape.slice(dice.between(0, shape.length - 1)) : [...shape];
  return from.map((extent) => dice.oneIn(3) ? 1 : extent);
}

/** Types whose common type with `type` is `type`. */
function partners(shop: Workshop, type: ScalarName): ScalarName[] {
  const found = shop.types.filter((other) => commonName(type, other) === type);
  return found.length === 0 ? [type] : found; // narrow types have none: they are promoted
}

/** Two operands of which one has the type and shape, the other may be narrower and smaller. */
function operandPair(shop: Workshop, { type, shape }: Wanted, fuel: number): readonly [Node, Node] {
  const { dice } = shop;
  const other = dice.oneIn(2) ? type : dice.pick(partners(shop, type));
  const small = dice.oneIn(3) ? stretching(shop, shape) : shape;
  const pair: readonly [Node, Node] = [
    makeExpr(shop, { type, shape }, fuel),
    makeExpr(shop, { type: other, shape: small }, fuel),
  ];
  return dice.oneIn(2) ? pair : [pair[1], pair[0]];
}

const arithmetic: Production = (shop, wanted, fuel) => {
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
};

const shift: Production = (shop, wanted, fuel) => {
  if (!isInt(wanted.type) || isNarrow(wanted.type)) return undefined;
  const type = shop.dice.pick(shop.types.filter(isInt));
  const count = makeExpr(shop, { type, shape: wanted.shape }, fuel - 1);
  const operator = shop.dice.pick([" << ", " >> "]);
  const limited = shop.dice.oneIn(4) ? [count] : ["(", count, " & 15)"];
  return node(wanted, "(", makeExpr(shop, wanted, fuel), operator, ...limited, ")");
};

const minmax: Production = (shop, wanted, fuel) => {
  if (wanted.type === "bool" || isNarrow(wanted.type)) return undefined;
  const [a, b] = operandPair(shop, wanted, fuel);
  return node(wanted, `${shop.dice.pick(["min", "max"])}(`, a, ", ", b, ")");
};

const unary: Production = (shop, wanted, fuel) => {
  const operand = makeExpr(shop, wanted, fuel);
  if (wanted.type === "bool") return node(wanted, "(!", operand, ")");
  if (isNarrow(wanted.type)) return undefined;
  const operators = isFloat(wanted.type) ? ["-", "+"] : ["-", "~", "+"];
  return node(wanted, `(${shop.dice.pick(operators)}`, operand, ")");
};

const comparison: Production = (shop, wanted, fuel) => {
  if (wanted.type !== "bool") return undefined;
  const { dice } = shop;
  const type = dice.pick(shop.types);
  const [a, b] = operandPair(shop, { type, shape: wanted.shape }, fuel);
  return node(wanted, "(", a, ` ${dice.pick(["<", "<=", ">", ">=", "==", "!="])} `, b, ")");
};

const logical: Production = (shop, wanted, fuel) => {
  if (wanted.type !== "bool") return undefined;
  const { dice } = shop;
  const lazy = shop.has("masked-and") && (wanted.shape.length > 0 || shop.has("conditional-load"));
  const operator = dice.pick(lazy ? ["&&", "||"] : ["&", "|", "!="]);
  const rest = dice.oneIn(3) ? stretching(shop, wanted.shape) : wanted.shape;
  const other = shop.whileLazy(
    wanted.shape.length > 0,
    () => makeExpr(shop, { type: "bool", shape: rest }, fuel),
  );
  return node(wanted, "(", makeExpr(shop, wanted, fuel), ` ${operator} `, other, ")");
};

const conversion: Production = (shop, wanted, fuel) => {
  const from = makeExpr(shop, { type: shop.dice.pick(shop.types), shape: wanted.shape }, fuel);
  return node(wanted, `((${spell(wanted.type)})`, from, ")");
};

const WIDTHS: Readonly<Record<number, readonly ScalarName[]>> = {
  8: ["int8", "uint8", "float8e4", "float8e5"],
  16: ["int16", "uint16", "float16", "bfloat16"],
  32: ["int32", "uint32", "float32"],
  64: ["int64", "uint64", "float64"],
};

const bits: Production = (shop, wanted, fuel) => {
  const width = WIDTHS[SCALARS[wanted.type].bits] ?? [];
  const types = width.filter((type) => shop.types.includes(type) && type !== wanted.type);
  if (types.length === 0 || !shop.has("bitcast")) return undefined;
  const from = makeExpr(shop, { type: shop.dice.pick(types), shape: wanted.shape }, fuel);
  return node(wanted, `bitcast<${spellTile(wanted.type, wanted.shape)}>(`, from, ")");
};

const stretchCast: Production = (shop, wanted, fuel) => {
  if (wanted.shape.length === 0) return undefined;
  const shape = stretching(shop, wanted.shape);
  const type = shop.dice.oneIn(2) ? wanted.type : shop.dice.pick(shop.types);
  return node(
    wanted,
    `((${spellTile(wanted.type, wanted.shape)})`,
    makeExpr(shop, { type, shape }, fuel),
    ")",
  );
};

const choice: Production = (shop, wanted, fuel) => {
  const { dice } = shop;
  const { shape } = wanted;
  if (isNarrow(wanted.type)) return undefined;
  const eager = shape.length > 0 && shop.has("select") && dice.oneIn(4);
  const lazy = shape.length === 0 ? shop.has("conditional-load") : shop.has("lazy-tile");
  if (!lazy && !eager) return undefined;
  const mask = dice.oneIn(3) ? stretching(shop, shape) : shape;
  const scalarMask = mask.length === 0 && !shop.has("conditional-load");
  const condition = makeExpr(shop, { type: "bool", shape: scalarMask ? shape : mask }, fuel);
  const [a, b] = shop.whileLazy(!eager && shape.length > 0, () => operandPair(shop, wanted, fuel));
  return eager
    ? node(wanted, "select(", condition, ", ", a, ", ", b, ")")
    : node(wanted, "(", condition, " ? ", a, " : ", b, ")");
};

const orElse: Production = (shop, wanted, fuel) => {
  if (isNarrow(wanted.type) || !shop.has("elvis")) return undefined;
  if (wanted.shape.length === 0 && !shop.has("conditional-load")) return undefined;
  const isLazy = wanted.shape.length > 0;
  const make = (): Node => shop.whileLazy(isLazy, () => makeExpr(shop, wanted, fuel));
  return node(wanted, "(", make(), " ?: ", make(), ")");
};

const newaxis: Production = (shop, wanted, fuel) => {
  const ones = wanted.shape.flatMap((extent, axis) => extent === 1 ? [axis] : []);
  if (ones.length === 0 || wanted.shape.length === 1) return undefined;
  const axis = shop.dice.pick(ones);
  const items = wanted.shape.map((_, at) => at === axis ? "newaxis" : ":").join(", ");
  const from = makeExpr(shop, { ...wanted, shape: wanted.shape.toSpliced(axis, 1) }, fuel);
  return node(wanted, from, `[${items}]`);
};

const permutation: Production = (shop, wanted, fuel) => {
  const { shape } = wanted;
  const rank = shape.length;
  if (rank < 2 || !shop.has("permute")) return undefined;
  const [last = 1, ...rest] = shape.toReversed();
  if (shop.dice.oneIn(2)) {
    // `^x` rotates the axes left by one, so its operand is the result rotated right.
    return node(
      wanted,
      "(^",
      makeExpr(shop, { ...wanted, shape: [last, ...rest.reverse()] }, fuel),
      ")",
    );
  }
  const order = shape.map((_, axis) => axis);
  order.sort(() => shop.dice.between(-1, 1));
  const from = order.map((_, source) => shape[order.indexOf(source)] ?? 1);
  const items = order.map((axis) => `^${axis}`).join(", ");
  return node(wanted, makeExpr(shop, { ...wanted, shape: from }, fuel), `[${items}]`);
};

const reshaping: Production = (shop, wanted, fuel) => {
  const { shape } = wanted;
  const others = shop.shapes.filter((other) =>
    countOf(other) === countOf(shape) && !sameShape(other, shape)
  );
  if (shape.length === 0 || others.length === 0 || !shop.has("reshape")) return undefined;
  const other = shop.dice.pick(others);
  const from = makeExpr(shop, { ...wanted, shape: other }, fuel);
  return other.length > shape.length && shop.dice.oneIn(2)
    ? node(wanted, `((${spellTile(wanted.type, shape)})`, from, ")")
    : node(wanted, "reshape(", from, `, ${shape.join(", ")})`);
};

interface Reduction {
  readonly item: string;
  readonly feature: Feature;
  readonly fits: (type: ScalarName) => boolean;
}

const wide = (type: ScalarName): boolean => type !== "bool" && !isNarrow(type);
const wideInt = (type: ScalarName): boolean => wide(type) && !isFloat(type);
const REDUCTIONS: readonly Reduction[] = [
  { item: "+", feature: "reduce-sum", fits: wide },
  { item: "max", feature: "reduce-max", fits: wide },
  { item: "min", feature: "reduce-min", fits: wide },
  { item: "*", feature: "reduce-product", fits: wide },
  { item: "&", feature: "reduce-bits", fits: wideInt },
  { item: "|", feature: "reduce-bits", fits: wideInt },
  { item: "xor", feature: "reduce-bits", fits: wideInt },
  { item: "any", feature: "reduce-bool", fits: (type) => type === "bool" },
  { item: "all", feature: "reduce-bool", fits: (type) => type === "bool" },
];

/** A tile with one more axis, which is then reduced. */
function widerShape(
  shop: Workshop,
  shape: Shape,
): { readonly shape: Shape; readonly axis: number } | undefined {
  const fitting = shop.shapes.flatMap((wider) =>
    wider.flatMap((_, axis) =>
      wider.length === shape.length + 1 && sameShape(wider.toSpliced(axis, 1), shape)
        ? [{ shape: wider, axis }]
        : []
    )
  );
  return fitting.length === 0 ? undefined : shop.dice.pick(fitting);
}

const reduction: Production = (shop, wanted, fuel) => {
  const wider = widerShape(shop, wanted.shape);
  if (shop.isLazy || wider === undefined) return undefined;
  const { dice } = shop;
  const items = wider.shape.map((_, axis) => axis === wider.axis ? "" : ":");
  const text = (item: string): string => `[${items.map((one) => one || item).join(", ")}]`;
  if (wanted.type === "int32" && dice.oneIn(4) && shop.has("reduce-arg")) {
    const type = dice.pick(shop.types.filter((one) => one !== "bool"));
    return node(
      wanted,
      makeExpr(shop, { type, shape: wider.shape }, fuel),
      text(dice.pick(["argmax", "argmin"])),
    );
  }
  const rows = REDUCTIONS.filter(({ feature, fits }) => fits(wanted.type) && shop.has(feature));
  if (rows.length === 0) return undefined;
  const { item } = dice.pick(rows);
  // Integers below int and bool are promoted first.
  const narrow = shop.types.filter((type) => type !== "bool" && isNarrow(type) && !isFloat(type));
  const type = wanted.type === "int32" && narrow.length > 0 && dice.oneIn(3)
    ? dice.pick(narrow)
    : wanted.type === "bool" && dice.oneIn(3)
    ? dice.pick(shop.types)
    : wanted.type;
  return node(wanted, makeExpr(shop, { type, shape: wider.shape }, fuel), text(item));
};

const SCANS: readonly (readonly [string, Feature])[] = [
  ["cumsum", "cumsum"],
  ["cumprod", "cumprod"],
  ["cummax", "cummax"],
  ["cummin", "cummax"],
  ["flip", "flip"],
];

const scan: Production = (shop, wanted, fuel) => {
  const known = SCANS.filter(([, feature]) => shop.has(feature));
  if (shop.isLazy || wanted.shape.length === 0 || known.length === 0 || !wide(wanted.type)) {
    return undefined;
  }
  const [name] = shop.dice.pick(known);
  const axis = shop.dice.between(0, wanted.shape.length - 1);
  return node(wanted, `${name}(`, makeExpr(shop, wanted, fuel), `, ${axis})`);
};

const sorting: Production = (shop, wanted, fuel) => {
  if (shop.isLazy || wanted.shape.length === 0 || !shop.has("sort") || wanted.type === "bool") {
    return undefined;
  }
  const axis = shop.dice.between(0, wanted.shape.length - 1);
  return node(
    wanted,
    "sort(",
    makeExpr(shop, wanted, fuel),
    `, ${axis}, ${shop.dice.between(0, 1)})`,
  );
};

const gathering: Production = (shop, wanted, fuel) => {
  const { shape } = wanted;
  if (shop.isLazy || shape.length === 0 || !shop.has("gather")) return undefined;
  const axis = shop.dice.between(0, shape.length - 1);
  const index = makeExpr(shop, { type: "int32", shape }, fuel - 1);
  const last = (shape[axis] ?? 1) - 1;
  return node(
    wanted,
    "gather(",
    makeExpr(shop, wanted, fuel),
    ", (",
    index,
    ` & ${last}), ${axis})`,
  );
};

/** Result, operand types and feature of each kind of `@`. */
export const PRODUCTS: readonly (readonly [ScalarName, readonly ScalarName[], Feature])[] = [
  ["float32", ["float16"], "dot-half"],
  ["float32", ["bfloat16"], "dot-bfloat16"],
  ["float32", ["float32"], "dot-float"],
  ["float64", ["float64"], "dot-double"],
  ["int32", ["int8", "uint8"], "dot-int8"],
  ["float32", ["float8e4", "float8e5"], "dot-float8"],
];

export const matmul: Production = (shop, wanted, fuel) => {
  const { dice } = shop;
  const [m, n, ...batch] = wanted.shape;
  if (shop.isLazy || m === undefined || n === undefined) return undefined;
  if (batch.length > 0 && !shop.has("dot-batch")) return undefined;
  const rows = PRODUCTS.filter(([result, , feature]) =>
    result === wanted.type && shop.has(feature)
  );
  if (rows.length === 0) return undefined;
  const [, types] = dice.pick(rows);
  const k = dice.pick([1, 2, 4, 8, 16, 32]);
  const lhs = makeExpr(shop, { type: dice.pick(types), shape: [m, k, ...batch] }, fuel - 1);
  const rhs = makeExpr(shop, { type: dice.pick(types), shape: [k, n, ...batch] }, fuel - 1);
  return dice.oneIn(3)
    ? node(wanted, "dot(", lhs, ", ", rhs, ", ", makeExpr(shop, wanted, fuel), ")")
    : node(wanted, "(", lhs, " @ ", rhs, ")");
};

interface Function {
  readonly name: string;
  readonly feature: Feature;
  readonly arity: number;
  /** Of arguments; results are of the same type. */
  readonly fits: (type: ScalarName) => boolean;
}

const single = (type: ScalarName): boolean => type === "float32" || type === "float64";
const anyFloat = (type: ScalarName): boolean => isFloat(type) && !isNarrow(type);
const row = (
  name: string,
  fits: Function["fits"],
  arity = 1,
  feature: string = name,
): readonly Function[] => isFeature(feature) ? [{ name, feature, arity, fits }] : [];

function isFeature(name: string): name is Feature {
  return ALL.has(name);
}

const ALL: ReadonlySet<string> = new Set<Feature>([
  ...["exp", "exp2", "log", "log2", "log1p", "expm1", "sin", "cos", "tan", "tanh"] as const,
  ...["sigmoid", "erf", "pow", "rsqrt", "sqrt", "fma", "floor", "fmod", "copysign"] as const,
  ...["abs", "clamp", "bits", "mulhi", "minimum"] as const,
]);

const FUNCTIONS: readonly Function[] = [
  ...["exp", "exp2", "log", "log2", "log1p", "expm1", "sin", "cos", "tan", "tanh"]
    .flatMap((name) => row(name, single)),
  ...["sigmoid", "erf", "rsqrt", "sqrt"].flatMap((name) => row(name, single)),
  ...["floor", "ceil", "trunc", "round"].flatMap((name) => row(name, anyFloat, 1, "floor")),
  ...row("pow", single, 2),
  ...row("fma", single, 3),
  ...row("fmod", anyFloat, 2),
  ...row("copysign", anyFloat, 2),
  ...row("abs", wide),
  ...row("clamp", wide, 3),
  ...["minimum", "maximum"].flatMap((name) => row(name, wide, 2, "minimum")),
  ...row("popc", (type) => type === "int32", 1, "bits"),
  ...row("clz", (type) => type === "int32", 1, "bits"),
  ...row("ffs", (type) => type === "int32", 1, "bits"),
  ...row("brev", wideInt, 1, "bits"),
  ...row("mulhi", (type) => type === "int32" || type === "int64", 2),
  ...row("umulhi", (type) => type === "uint32" || type === "uint64", 2, "mulhi"),
];

const call: Production = (shop, wanted, fuel) => {
  const fitting = FUNCTIONS.filter(({ feature, fits }) => fits(wanted.type) && shop.has(feature));
  if (fitting.length === 0) return undefined;
  const { name, arity } = shop.dice.pick(fitting);
  const args = Array.from({ length: arity }, () => makeExpr(shop, wanted, fuel));
  return node(wanted, `${name}(`, ...args.flatMap((arg, i) => i === 0 ? [arg] : [", ", arg]), ")");
};

const floatTest: Production = (shop, wanted, fuel) => {
  const floats = shop.types.filter(anyFloat);
  if (wanted.type !== "bool" || floats.length === 0 || !shop.has("tests")) return undefined;
  const name = shop.dice.pick(["isnan", "isinf", "isfinite"]);
  return node(
    wanted,
    `${name}(`,
    makeExpr(shop, { ...wanted, type: shop.dice.pick(floats) }, fuel),
    ")",
  );
};

/** A random number of the language's own generator. */
const noise: Production = (shop, wanted, fuel) => {
  if (!shop.has("random") || wanted.shape.length === 0) return undefined;
  const offset = makeExpr(shop, { type: "int32", shape: wanted.shape }, fuel - 1);
  const seed = shop.dice.between(0, 1000);
  if (wanted.type === "float32") {
    return node(wanted, `${shop.dice.pick(["rand", "rand", "randn"])}(${seed}, `, offset, ")");
  }
  return wanted.type === "uint32" ? node(wanted, `randint(${seed}, `, offset, ")") : undefined;
};

/** A call of a helper function made for it. */
const helperCall: Production = (shop, wanted, fuel) => {
  if (shop.isLazy || shop.inHelper || !shop.has("helper") || shop.dice.oneIn(2)) return undefined;
  const parameters = [wanted, {
    type: shop.dice.pick(shop.types),
    shape: stretching(shop, wanted.shape),
  }]
    .map((one) => ({ ...one, name: shop.name("a") }));
  const name = shop.name("h");
  const outer = shop.variables.splice(0);
  shop.inHelper = true;
  shop.variables.push(...parameters);
  const early = shop.has("helper-if") && shop.dice.oneIn(2)
    ? [
      "if (",
      makeExpr(shop, { type: "bool", shape: [] }, fuel - 1),
      ") return ",
      makeExpr(shop, wanted, fuel - 1),
      "; ",
    ]
    : [];
  const body = makeExpr(shop, wanted, fuel);
  shop.variables.splice(0, shop.variables.length, ...outer);
  shop.inHelper = false;
  const list = parameters.map((one) =>
    `${spell(one.type)} ${one.name}${one.shape.length === 0 ? "" : `[${one.shape.join(", ")}]`}`
  );
  shop.helpers.push({
    parts: [
      `static ${spellTile(wanted.type, wanted.shape)} ${name}(${list.join(", ")}) { `,
      ...early,
      "return ",
      body,
      "; }",
    ],
  });
  const args = parameters.map((one) => makeExpr(shop, one, fuel));
  return node(wanted, `${name}(`, ...args.flatMap((arg, i) => i === 0 ? [arg] : [", ", arg]), ")");
};

const PRODUCTIONS: readonly (readonly [number, Production])[] = [
  [10, arithmetic],
  [2, shift],
  [3, minmax],
  [3, unary],
  [8, comparison],
  [4, logical],
  [6, conversion],
  [2, bits],
  [3, stretchCast],
  [5, choice],
  [1, orElse],
  [3, newaxis],
  [4, permutation],
  [3, reshaping],
  [5, reduction],
  [2, scan],
  [1, sorting],
  [1, gathering],
  [4, matmul],
  [4, call],
  [1, floatTest],
  [1, noise],
  [1, helperCall],
];
