/**
 * MATH_FUNCTIONS: the element-wise functions of the language (language.md 7.4), one row each. The checker, the tile
 * IR, the documentation and the editors read the row; `lower/math/float.ts` and `lower/math/integer.ts` have a formula for
 * each name, and `tests/support/reference/math.ts` a reference. A name without its formula or reference does not
 * compile.
 */

/** What the arguments may be, what they are converted to, and what the result is. */
export type MathRule =
  /** Numbers, computed in float, in double if one of them is double; the result likewise, or bool. */
  | { readonly kind: "float"; readonly result: "same" | "bool" }
  /** Floats of a common type, which the result has too. */
  | { readonly kind: "keep-float" }
  /** A number of the promoted type, which the result has too. */
  | { readonly kind: "promoted" }
  /** Numbers of a common type; for integers an operator of the typed tree. */
  | { readonly kind: "numbers"; readonly operator: "min" | "max" }
  /** Integers of a common type, 32 or 64 bits. */
  | { readonly kind: "integers"; readonly result: "same" | "int" | "signed" | "unsigned" };

/** One function. */
export interface MathFunction {
  /** Its parameters, as documentation spells them. */
  readonly params: "x" | "a, b" | "x, y" | "a, b, c";
  readonly rule: MathRule;
  /** In a line. */
  readonly doc: string;
  /** Other names for it. */
  readonly also?: readonly string[];
  /** The function that it is another name for, where its documentation or its types differ. */
  readonly computedBy?: string;
  /** Its value in double, if that, rounded to the type, is the result on every target: then constants are folded. */
  readonly fold?: (x: number) => number;
  /** As `fold`, of integers. */
  readonly foldInteger?: (x: bigint) => bigint;
}

const FLOAT = { kind: "float", result: "same" } as const;
const TEST = { kind: "float", result: "bool" } as const;
const KEEP = { kind: "keep-float" } as const;

/** All of them, in the order of documentation. */
// deno-fmt-ignore: one row each
export const MATH_FUNCTIONS = {
  exp: { params: "x", rule: FLOAT, also: ["expf"], doc: "e to the power x" },
  log: { params: "x", rule: FLOAT, also: ["logf"], doc: "natural logarithm" },
  sqrt: { params: "x", rule: FLOAT, also: ["sqrtf"], doc: "square root, correctly rounded", fold: Math.sqrt },
  exp2: { params: "x", rule: FLOAT, also: ["exp2f"], doc: "2 to the power x" },
  log2: { params: "x", rule: FLOAT, also: ["log2f"], doc: "logarithm to base 2" },
  log10: { params: "x", rule: FLOAT, also: ["log10f"], doc: "logarithm to base 10" },
  log1p: { params: "x", rule: FLOAT, also: ["log1pf"], doc: "log(1 + x), accurate near 0" },
  expm1: { params: "x", rule: FLOAT, also: ["expm1f"], doc: "exp(x) - 1, accurate near 0" },
  sin: { params: "x", rule: FLOAT, also: ["sinf"], doc: "sine" },
  cos: { params: "x", rule: FLOAT, also: ["cosf"], doc: "cosine" },
  tan: { params: "x", rule: FLOAT, also: ["tanf"], doc: "tangent" },
  sinh: { params: "x", rule: FLOAT, also: ["sinhf"], doc: "hyperbolic sine" },
  cosh: { params: "x", rule: FLOAT, also: ["coshf"], doc: "hyperbolic cosine" },
  tanh: { params: "x", rule: FLOAT, also: ["tanhf"], doc: "hyperbolic tangent" },
  asinh: { params: "x", rule: FLOAT, also: ["asinhf"], doc: "inverse hyperbolic sine" },
  acosh: { params: "x", rule: FLOAT, also: ["acoshf"], doc: "inverse hyperbolic cosine; NaN below 1" },
  atanh: { params: "x", rule: FLOAT, also: ["atanhf"], doc: "inverse hyperbolic tangent; NaN beyond -1 and 1" },
  sigmoid: { params: "x", rule: FLOAT, doc: "1 / (1 + exp(-x))" },
  erf: { params: "x", rule: FLOAT, also: ["erff"], doc: "error function" },
  rsqrt: { params: "x", rule: FLOAT, also: ["rsqrtf"], doc: "1 / sqrt(x)" },
  sqrt_rn: { params: "x", rule: FLOAT, doc: "square root, correctly rounded", computedBy: "sqrt" },
  div_rn: { params: "a, b", rule: FLOAT, doc: "quotient, correctly rounded" },
  pow: { params: "x, y", rule: FLOAT, also: ["powf"], doc: "x to the power y" },
  fma: { params: "a, b, c", rule: FLOAT, also: ["fmaf"], doc: "a * b + c, rounded once" },
  floor: { params: "x", rule: KEEP, also: ["floorf"], doc: "rounded down", fold: Math.floor },
  ceil: { params: "x", rule: KEEP, also: ["ceilf"], doc: "rounded up", fold: Math.ceil },
  round: { params: "x", rule: KEEP, also: ["roundf"], doc: "rounded to the nearest integer, halves away from zero" },
  rint: { params: "x", rule: KEEP, also: ["rintf"], doc: "rounded to the nearest integer, halves to the even one" },
  trunc: { params: "x", rule: KEEP, also: ["truncf"], doc: "rounded towards zero", fold: Math.trunc },
  fmod: { params: "x, y", rule: KEEP, also: ["fmodf"], doc: "remainder with the sign of x" },
  copysign: { params: "x, y", rule: KEEP, also: ["copysignf"], doc: "x with the sign of y" },
  isnan: { params: "x", rule: TEST, doc: "whether x is NaN" },
  isinf: { params: "x", rule: TEST, doc: "whether x is infinite" },
  isfinite: { params: "x", rule: TEST, doc: "whether x is neither infinite nor NaN" },
  abs: {
    params: "x", rule: { kind: "promoted" }, also: ["fabs", "fabsf"], doc: "magnitude",
    fold: Math.abs, foldInteger: (x) => x < 0n ? -x : x,
  },
  minimum: { params: "a, b", rule: { kind: "numbers", operator: "min" }, doc: "the smaller; NaN wins" },
  maximum: { params: "a, b", rule: { kind: "numbers", operator: "max" }, doc: "the larger; NaN wins" },
  mulhi: {
    params: "a, b", rule: { kind: "integers", result: "signed" }, doc: "the upper half of the product of signed integers",
  },
  umulhi: {
    params: "a, b", rule: { kind: "integers", result: "unsigned" }, computedBy: "mulhi",
    doc: "the upper half of the product of unsigned integers",
  },
  popc: { params: "x", rule: { kind: "integers", result: "int" }, doc: "the number of bits that are set" },
  clz: { params: "x", rule: { kind: "integers", result: "int" }, doc: "the number of leading zero bits" },
  ffs: {
    params: "x", rule: { kind: "integers", result: "int" },
    doc: "1 plus the index of the lowest bit that is set; 0 if none is",
  },
  brev: { params: "x", rule: { kind: "integers", result: "same" }, doc: "the bits in reverse order" },
} as const satisfies Readonly<Record<string, MathFunction>>;

type Rows = typeof MATH_FUNCTIONS;

/** Names of functions, without synonyms. */
export type MathName = keyof Rows;

/** Names whose rule is one of these kinds. */
type OfKind<Kind extends MathRule["kind"]> = {
  [Name in MathName]: Rows[Name]["rule"]["kind"] extends Kind ? Name : never;
}[MathName];

/** Names of what other functions compute. */
type Alias = {
  [Name in MathName]: Rows[Name] extends { readonly computedBy: string } ? Name : never;
}[MathName];

/** Functions that floats are passed to. */
export type FloatFunction = Exclude<
  OfKind<"float" | "keep-float" | "promoted" | "numbers">,
  Alias
>;

/** Functions that integers are passed to. */
export type IntegerFunction = Exclude<OfKind<"promoted" | "integers">, Alias>;

/** Whether a built-in is one of these functions. */
export function isMathName(name: string): name is MathName {
  return Object.hasOwn(MATH_FUNCTIONS, name);
}

/** All names with their rows. */
export const MATH_ROWS: readonly (readonly [name: MathName, row: MathFunction])[] = Object.keys(
  MATH_FUNCTIONS,
).filter(isMathName).map((name) => [name, MATH_FUNCTIONS[name]]);

/** How many arguments a function takes. */
export function arityOf(row: MathFunction): number {
  return row.params.split(", ").length;
}

/** The name under which tile IR has a function. */
export function operationOf(name: MathName): string {
  const row: MathFunction = MATH_FUNCTIONS[name];
  return row.computedBy ?? name;
}

/** How many operands a function of tile IR has; undefined for other names. Words of Philox are functions there, too. */
export function operandCountOf(operation: string): number | undefined {
  if (/^philox[0-3]$/.test(operation)) return 2;
  const row: MathFunction | undefined = isMathName(operation)
    ? MATH_FUNCTIONS[operation]
    : undefined;
  return row === undefined || row.computedBy !== undefined ? undefined : arityOf(row);
}
