/** What conditions say of single parameters: divisors, values and bounds. */
import { constantValue } from "./expr.ts";
import type { ContractExpr } from "./types.ts";

/** The facts in a condition that are of the form `p % n == 0`, joined by `&&`. */
export function divisibilityIn(condition: ContractExpr): ReadonlyMap<string, number> {
  return new Map(
    equationsIn(condition).flatMap(([left, value]) => {
      if (left.op !== "%" || value !== 0) return [];
      const [name, divisor] = left.args;
      const by = divisor === undefined ? undefined : constantValue(divisor);
      return name?.op === "param" && by !== undefined && by >= 1 ? [[name.name, by] as const] : [];
    }),
  );
}

/** The facts in a condition that are of the form `p == n`, joined by `&&`. */
export function valuesIn(condition: ContractExpr): ReadonlyMap<string, number> {
  return new Map(
    equationsIn(condition).flatMap(([left, value]) =>
      left.op === "param" ? [[left.name, value] as const] : []
    ),
  );
}

/** Inclusive bounds of an integer. */
export interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

/** The facts in a condition that are of the form `p <= n` and its like, either way round, joined by `&&`. */
export function boundsIn(condition: ContractExpr): ReadonlyMap<string, Bounds> {
  const found = new Map<string, Bounds>();
  for (const part of conjunctsOf(condition)) {
    const bound = boundOf(part);
    if (bound === undefined) continue;
    const before = found.get(bound.name) ?? {};
    const least = bound.least === undefined
      ? before.least
      : Math.max(bound.least, before.least ?? bound.least);
    const most = bound.most === undefined
      ? before.most
      : Math.min(bound.most, before.most ?? bound.most);
    found.set(bound.name, {
      ...least === undefined ? {} : { least },
      ...most === undefined ? {} : { most },
    });
  }
  return found;
}

/** What `p op n` says of p. */
const BOUNDS: Readonly<Record<string, (n: number) => Bounds>> = {
  "<": (n) => ({ most: n - 1 }),
  "<=": (n) => ({ most: n }),
  ">": (n) => ({ least: n + 1 }),
  ">=": (n) => ({ least: n }),
  "==": (n) => ({ least: n, most: n }),
};

/** `n op p` is `p MIRRORED[op] n`. */
const MIRRORED: Readonly<Record<string, string>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
};

function boundOf(part: ContractExpr): Bounds & { readonly name: string } | undefined {
  if (!("args" in part)) return undefined;
  const [left, right] = part.args;
  if (left === undefined || right === undefined) return undefined;
  const isMirrored = right.op === "param";
  const [of, by] = isMirrored ? [right, left] : [left, right];
  const value = constantValue(by);
  const bounds = BOUNDS[isMirrored ? MIRRORED[part.op] ?? "" : part.op];
  if (of.op !== "param" || value === undefined || bounds === undefined) return undefined;
  return { name: of.name, ...bounds(value) };
}

/** The parts of a conjunction that say that something equals a constant. */
function equationsIn(
  condition: ContractExpr,
): readonly (readonly [left: ContractExpr, value: number])[] {
  return conjunctsOf(condition).flatMap((part) => {
    if (part.op !== "==") return [];
    const [left, right] = part.args;
    const value = right === undefined ? undefined : constantValue(right);
    return left === undefined || value === undefined ? [] : [[left, value] as const];
  });
}

export function conjunctsOf(condition: ContractExpr): readonly ContractExpr[] {
  const found: ContractExpr[] = [];
  const add = (part: ContractExpr): void => {
    if (part.op === "&&") part.args.forEach(add);
    else found.push(part);
  };
  add(condition);
  return found;
}
