/** What a launch must fulfil so that what was found of its programs is true; each demand once. */
import { apply, constant, printExpr } from "../contract/expr.ts";
import { normalKey } from "../contract/normal.ts";
import type { ContractExpr, Requirement } from "../contract/types.ts";

export class Demands {
  readonly #found = new Map<string, Requirement>();

  add(condition: ContractExpr): void {
    if (condition.op === "const" && condition.value !== 0) return;
    this.#found.set(normalKey(condition), { condition, text: printExpr(condition) });
  }

  atMost(expr: ContractExpr, most: ContractExpr | bigint): void {
    this.add(apply("<=", expr, typeof most === "bigint" ? constant(most) : most));
  }

  atLeast(expr: ContractExpr, least: bigint): void {
    this.add(apply(">=", expr, constant(least)));
  }

  list(): readonly Requirement[] {
    return [...this.#found.values()];
  }
}
