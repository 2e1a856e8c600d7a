/**
 * BUILTINS: every built-in function of the language (language.md, section 7), one row each. Names live in a
 * scope outside the file, so any declaration hides them. Checking by rule is in check_builtin.ts.
 */
import type * as ast from "../../parse/ast.ts";
import { arityOf, MATH_ROWS, type MathRule } from "../../support/math_functions.ts";
import type { Span } from "../../support/source.ts";

/** How arguments become operands and what the result is. */
export type BuiltinRule =
  | MathRule
  /** Checked by a function of its own, named like this. */
  | { readonly kind: "own"; readonly check: OwnRule };

export type OwnRule =
  | "argmaxLike"
  | "assert"
  | "assume"
  | "atomic"
  | "barrier"
  | "calloc"
  | "cat"
  | "cdiv"
  | "clamp"
  | "constantOnly"
  | "dot"
  | "gather"
  | "hint"
  | "histogram"
  | "load"
  | "make"
  | "minmax"
  | "philox"
  | "prefetch"
  | "printf"
  | "program"
  | "random"
  | "range"
  | "reduction"
  | "scan"
  | "select"
  | "shape"
  | "sort"
  | "split"
  | "store"
  | "staticPrint";

export interface Builtin {
  readonly name: string;
  /** The name in the typed tree; synonyms share one. */
  readonly canonical: string;
  /** How it is called, for messages and documentation. */
  readonly signature: string;
  /** Fewest and most arguments, trailing modifier strings not counted. */
  readonly least: number;
  readonly most: number;
  readonly rule: BuiltinRule;
  /** Only its result matters. */
  readonly pure: boolean;
  /** Each element of the result depends on the same elements of the arguments, so a mask passes through. */
  readonly elementwise: boolean;
  /** May end with modifier strings. */
  readonly strings: boolean;
}

/** A call of a built-in, taken apart. */
export interface BuiltinCall {
  readonly builtin: Builtin;
  readonly args: readonly ast.Argument[];
  /** Trailing strings, without quotes. */
  readonly strings: readonly { readonly text: string; readonly span: Span }[];
  readonly span: Span;
}

const own = (check: OwnRule): BuiltinRule => ({ kind: "own", check });

/** Rows as written: `?` after a parameter makes it optional, `...` allows any number of it. */
interface Row {
  readonly rule: BuiltinRule;
  readonly also?: readonly string[];
  readonly impure?: true;
  readonly elementwise?: true;
  readonly strings?: true;
}

const ROWS: Readonly<Record<string, Row>> = {
  // ---- 7.1
  "get_program_id(axis)": { rule: own("program"), also: ["program_id"] },
  "get_num_programs(axis)": { rule: own("program"), also: ["num_programs"] },
  "min(a, b?)": { rule: own("minmax"), elementwise: true },
  "max(a, b?)": { rule: own("minmax"), elementwise: true },
  "select(c, a, b)": { rule: own("select"), also: ["where"] },
  "atomic_cas(p, cmp, val)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_xchg(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_add(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "f32_atomic_add(p, val)": { rule: own("atomic"), impure: true },
  "calloc(n)": { rule: own("calloc") },
  "__debug_barrier()": { rule: own("barrier"), impure: true },
  // ---- 7.3
  "load(p, mask?, other?)": { rule: own("load"), strings: true },
  "store(p, v, mask?)": { rule: own("store"), impure: true, strings: true },
  "prefetch(p, mask?)": { rule: own("prefetch"), impure: true },
  "atomic_min(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_max(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_and(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_or(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_xor(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "atomic_sub(p, val, mask?)": { rule: own("atomic"), impure: true, strings: true },
  "threadfence()": { rule: own("barrier"), impure: true },
  // ---- 7.4, element-wise; the others are rows of MATH_FUNCTIONS
  "clamp(x, lo, hi)": { rule: own("clamp"), elementwise: true },
  "cdiv(a, b)": { rule: own("cdiv"), elementwise: true },
  // ---- 7.4, constants only
  "next_pow2(n)": { rule: own("constantOnly") },
  "ilog2(n)": { rule: own("constantOnly") },
  // ---- 7.4, making and shape
  "zeros(type)": { rule: own("make") },
  "full(type, v)": { rule: own("make") },
  "arange(lo, hi)": { rule: own("range") },
  "reshape(x, extents...)": { rule: own("shape") },
  "permute(x, axes...)": { rule: own("shape") },
  "trans(x)": { rule: own("shape") },
  "broadcast_to(x, extents...)": { rule: own("shape") },
  "expand_dims(x, axis)": { rule: own("shape") },
  "flip(x, axis)": { rule: own("shape") },
  "cat(a, b)": { rule: own("cat") },
  "join(a, b)": { rule: own("cat") },
  "interleave(a, b)": { rule: own("cat") },
  "split0(x)": { rule: own("split") },
  "split1(x)": { rule: own("split") },
  // ---- 7.4, reductions, scans, order
  "sum(x, axis?)": { rule: own("reduction") },
  "prod(x, axis?)": { rule: own("reduction") },
  "any(x, axis?)": { rule: own("reduction") },
  "all(x, axis?)": { rule: own("reduction") },
  "xor_sum(x, axis?)": { rule: own("reduction") },
  "reduce_max(x, axis?)": { rule: own("reduction") },
  "reduce_min(x, axis?)": { rule: own("reduction") },
  "argmax(x, axis?)": { rule: own("argmaxLike") },
  "argmin(x, axis?)": { rule: own("argmaxLike") },
  "cumsum(x, axis)": { rule: own("scan") },
  "cumprod(x, axis)": { rule: own("scan") },
  "cummax(x, axis)": { rule: own("scan") },
  "cummin(x, axis)": { rule: own("scan") },
  "sort(x, axis?, descending?)": { rule: own("sort") },
  "bitonic_merge(x, axis?, descending?)": { rule: own("sort") },
  "gather(x, index, axis)": { rule: own("gather") },
  "histogram(x, bins)": { rule: own("histogram") },
  // ---- 7.4, products, random numbers, hints, debugging
  "dot(a, b, acc?)": { rule: own("dot"), strings: true },
  "philox(seed, offset, word)": { rule: own("philox"), elementwise: true },
  "randint(seed, offset)": { rule: own("random"), elementwise: true },
  "rand(seed, offset)": { rule: own("random"), elementwise: true },
  "randn(seed, offset)": { rule: own("random"), elementwise: true },
  "multiple_of(x, n)": { rule: own("hint"), elementwise: true },
  "max_contiguous(x, n)": { rule: own("hint"), elementwise: true },
  "max_constancy(x, n)": { rule: own("hint"), elementwise: true },
  "assume(c)": { rule: own("assume"), impure: true },
  "printf(format, values...)": { rule: own("printf"), impure: true },
  "assert(c)": { rule: own("assert"), impure: true, strings: true },
  "static_print(values...)": { rule: own("staticPrint"), impure: true },
};

/** All built-in functions by name, synonyms included. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ...MATH_ROWS.flatMap(([canonical, row]) =>
    named(row.also, {
      name: canonical,
      canonical,
      signature: `${canonical}(${row.params})`,
      least: arityOf(row),
      most: arityOf(row),
      rule: row.rule,
      pure: true,
      elementwise: true,
      strings: false,
    })
  ),
  ...Object.entries(ROWS).flatMap(([text, row]) => {
    const [canonical = "", list = ""] = text.replace(/\)$/, "").split("(");
    const params = list === "" ? [] : list.split(", ");
    const variadic = list.endsWith("...");
    return named(row.also, {
      name: canonical,
      canonical,
      signature: text.replace(/(, )?(\w+)\?/g, "[$1$2]").replace(/(\w+)\.\.\./, "$1, …"),
      least: params.filter((param) => !/[?.]$/.test(param)).length,
      most: variadic ? Infinity : params.length,
      rule: row.rule,
      pure: row.impure !== true,
      elementwise: row.elementwise === true,
      strings: row.strings === true,
    });
  }),
]);

/** A row under its own name and under its synonyms. */
function named(also: readonly string[] = [], builtin: Builtin): readonly [string, Builtin][] {
  return [builtin.name, ...also].map((name) => [name, { ...builtin, name }]);
}

/** Whether a mask passes through a call to its arguments. */
export function isElementwise(canonical: string): boolean {
  return BUILTINS.get(canonical)?.elementwise === true;
}

/** Built-in constants (2.2): the type, and the value as a number. */
export const BUILTIN_CONSTANTS = {
  INFINITY: { type: "float32", value: Infinity },
  NAN: { type: "float32", value: NaN },
  F32_INFINITY: { type: "float32", value: Infinity },
  F16_INFINITY: { type: "float16", value: Infinity },
  BF16_INFINITY: { type: "bfloat16", value: Infinity },
  F64_INFINITY: { type: "float64", value: Infinity },
} as const;
