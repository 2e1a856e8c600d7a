/** Heads of functions: what the checker reads from them. */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import type { Type } from "../tree/types.ts";
import type { ValueType } from "../tree/typed.ts";

/** One parameter; the type is undefined when it is wrong. */
export interface Param {
  readonly name: ast.Name | undefined;
  readonly type: ValueType | undefined;
  /** Of a helper: a compile-time constant. */
  readonly isConstant: boolean;
  readonly syntax: ast.Param;
  readonly span: Span;
}

/** What a function's head says. */
export interface Head {
  readonly name: ast.Name;
  readonly result: Type;
  readonly params: readonly Param[];
  readonly isGlobal: boolean;
  readonly isStatic: boolean;
  readonly variadic: Span | undefined;
}
