/**
 * The typed tree: the result of the checker. All names are resolved, all constants folded, every implicit
 * conversion, stretch and mask is explicit, helpers are inlined only later (by the builder). A consumer
 * needs no rule of the language beyond what each node says: the tile IR builder reads it, and so will the
 * reference interpreter of the tests.
 */
import type { Span } from "../../support/source.ts";
import type { ElementType, PointerType, ScalarType, TileType, Type } from "./types.ts";
import type { LoopHint } from "../../parse/ast.ts";

/** A value's type: never void or poison. */
export type ValueType = ScalarType | PointerType | TileType;

export interface TypedUnit {
  readonly kernels: readonly TypedKernel[];
}

export interface Variable {
  readonly id: number; // unique in its unit
  readonly name: string;
  readonly type: ValueType;
  readonly span: Span;
}

/** Promises of section 4.3; absent when not stated. */
export interface ParamAttributes {
  readonly multipleof?: number;
  readonly aligned?: number;
  readonly noalias: boolean;
  readonly readonly: boolean;
  readonly writeonly: boolean;
  readonly retune: boolean;
}

export interface TypedParam {
  readonly variable: Variable;
  readonly attributes: ParamAttributes;
}

export interface TypedKernel {
  readonly name: string;
  readonly doc: string;
  readonly params: readonly TypedParam[];
  readonly body: readonly TypedStmt[];
  readonly span: Span;
}

/** A helper function, called with tiles by value; the builder inlines it. */
export interface TypedHelper {
  readonly name: string;
  /** The values of its constant parameters, which {@linkcode params} leave out. */
  readonly constants?: readonly bigint[];
  readonly params: readonly Variable[];
  readonly result: ValueType | undefined;
  readonly body: readonly TypedStmt[];
  readonly span: Span;
}

export type TypedStmt =
  | {
    readonly kind: "declare";
    readonly variable: Variable;
    /** Already converted and stretched to the variable's type. */
    readonly value?: TypedExpr;
    /** Promise about this initialiser only: `__multipleof(n)` elements, `__aligned(n)` bytes. */
    readonly multipleof?: number;
    readonly aligned?: number;
    readonly span: Span;
  }
  | { readonly kind: "expression"; readonly expr: TypedExpr; readonly span: Span }
  | {
    readonly kind: "if";
    readonly condition: TypedExpr;
    readonly then: readonly TypedStmt[];
    readonly else: readonly TypedStmt[];
    readonly span: Span;
  }
  | {
    /** `for`, `while` (testFirst) and `do` (not testFirst). */
    readonly kind: "loop";
    readonly init: readonly TypedStmt[];
    readonly condition?: TypedExpr; // scalar bool
    readonly step?: TypedExpr;
    readonly body: readonly TypedStmt[];
    readonly testFirst: boolean;
    readonly hints: readonly LoopHint[];
    readonly span: Span;
  }
  | { readonly kind: "break"; readonly span: Span }
  | { readonly kind: "continue"; readonly span: Span }
  | { readonly kind: "return"; readonly value?: TypedExpr; readonly span: Span };

/** Element-wise operators; operands have equal shape and, but for shifts, equal element type. */
export type TypedBinaryOperator =
  | "add"
  | "sub"
  | "mul"
  | "div"
  | "rem"
  | "shl"
  | "shr"
  | "and"
  | "or"
  | "xor"
  | "lt"
  | "le"
  | "gt"
  | "ge"
  | "eq"
  | "ne"
  | "min"
  | "max";
export type TypedUnaryOperator = "neg" | "not"; // `not` is bitwise; on bool it is logical

export type ReduceOperator =
  | "add"
  | "mul"
  | "min"
  | "max"
  | "and"
  | "or"
  | "xor"
  | "argmin"
  | "argmax";

export type TypedExpr =
  /** Integers (and bool as 0n/1n) are bigint in the type's range; floats are the exactly rounded number. Tile: a splat. */
  | {
    readonly kind: "constant";
    readonly value: bigint | number;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "variable";
    readonly variable: Variable;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "binary";
    readonly operator: TypedBinaryOperator;
    readonly lhs: TypedExpr;
    readonly rhs: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "unary";
    readonly operator: TypedUnaryOperator;
    readonly operand: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Pointer plus a count of elements (any integer type, own signedness); equal shapes. */
  | {
    readonly kind: "offset";
    readonly pointer: TypedExpr;
    readonly count: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Element count between two pointers, int64. */
  | {
    readonly kind: "difference";
    readonly lhs: TypedExpr;
    readonly rhs: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Element conversion by value, same shape; also pointer to pointer, pointer to int64 and back, to bool (`!= 0`). */
  | {
    readonly kind: "convert";
    readonly operand: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "bitcast";
    readonly operand: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Scalar or tile to a larger shape: left-pads with 1s, then stretches extents of 1. */
  | {
    readonly kind: "broadcast";
    readonly operand: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Row-major reshape: newaxis, dropped extents of 1, flattening casts, 1-element tile to scalar. */
  | {
    readonly kind: "reshape";
    readonly operand: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Result axis d is operand axis `order[d]`. `^x` of rank 2 is [1, 0], of rank 3 [1, 2, 0]. */
  | {
    readonly kind: "permute";
    readonly operand: TypedExpr;
    readonly order: readonly number[];
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "range";
    readonly lo: bigint;
    readonly hi: bigint;
    readonly type: TileType;
    readonly span: Span;
  }
  | {
    readonly kind: "reduce";
    readonly operator: ReduceOperator;
    readonly operand: TypedExpr;
    readonly axis: number;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "dot";
    readonly lhs: TypedExpr;
    readonly rhs: TypedExpr;
    readonly mode: string;
    readonly type: TileType;
    readonly span: Span;
  }
  /** Mask and pointer have the result's shape; lanes without mask give `other`, or zero. */
  | {
    readonly kind: "load";
    readonly pointer: TypedExpr;
    readonly mask?: TypedExpr;
    readonly other?: TypedExpr;
    readonly modifiers: readonly string[];
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Void-like: its value is `value`. All three have one shape. */
  | {
    readonly kind: "store";
    readonly pointer: TypedExpr;
    readonly mask?: TypedExpr;
    readonly value: TypedExpr;
    readonly modifiers: readonly string[];
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Eager choice, all of one shape. */
  | {
    readonly kind: "select";
    readonly condition: TypedExpr;
    readonly then: TypedExpr;
    readonly else: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Scalar `?:`, `&&`, `||` (the latter two as conditionals): only the chosen side runs. */
  | {
    readonly kind: "conditional";
    readonly condition: TypedExpr;
    readonly then: TypedExpr;
    readonly else: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "assign";
    readonly variable: Variable;
    readonly value: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  /** Evaluates `value` once and names it for `body`: compound stores, postfix steps, `c ?: b`. */
  | {
    readonly kind: "let";
    readonly variable: Variable;
    readonly value: TypedExpr;
    readonly body: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "comma";
    readonly first: TypedExpr;
    readonly then: TypedExpr;
    readonly type: ValueType;
    readonly span: Span;
  }
  | {
    readonly kind: "program-id";
    readonly axis: 0 | 1 | 2;
    readonly type: ScalarType;
    readonly span: Span;
  }
  | {
    readonly kind: "num-programs";
    readonly axis: 0 | 1 | 2;
    readonly type: ScalarType;
    readonly span: Span;
  }
  /** Any other built-in, by its row in check/builtins.ts; element-wise ones have arguments of one shape. */
  | {
    readonly kind: "builtin";
    readonly name: string;
    readonly args: readonly TypedExpr[];
    readonly options: readonly string[];
    readonly type: ValueType | { readonly kind: "void" };
    readonly span: Span;
  }
  | {
    readonly kind: "call";
    readonly helper: TypedHelper;
    readonly args: readonly TypedExpr[];
    readonly type: ValueType | { readonly kind: "void" };
    readonly span: Span;
  };

export type { ElementType, Type };
