/** Expressions, conditions and contracts as rows of a wrapper: what `ffi/kernel/facts/rows.ts` describes. */
import type { ContractExpr, KernelContract } from "../compiler/contract/types.ts";
import { isOperation } from "../compiler/contract/expr.ts";
import { must } from "../compiler/support/bug.ts";
import { SCALARS } from "../compiler/support/scalar.ts";
import { array, type Doc, flat, LINE_WIDTH, object, quote } from "./doc.ts";
import {
  type ArithmeticName,
  boundOfBits,
  type ExpressionScope,
  namesRead,
  printSource,
  printTypeScript,
} from "./expression.ts";
import { safeIdentifier } from "./names.ts";
import type { KernelPlan } from "./plan.ts";

/** A condition of an instance or a contract. */
export interface ConditionInfo {
  readonly condition: ContractExpr;
  readonly text: string;
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
/** How the range of 32 bits is written of an integer. */
const INT32_TEXT = new RegExp(`^${INT32_MIN} <= (.*) && \\1 <= ${INT32_MAX}$`);

/** Prints what reads a launch's numbers, and notes what that calls of the run time. */
export class ContractRowPrinter {
  readonly calls = new Set<ArithmeticName>();
  readonly #plan: KernelPlan;
  /** Largest magnitude of each compile-time constant over the instances. */
  readonly #macroBounds: ReadonlyMap<string, number>;

  constructor(plan: KernelPlan, macroBounds: ReadonlyMap<string, number>) {
    this.#plan = plan;
    this.#macroBounds = macroBounds;
  }

  /** `tensors` are those that the kernel's contracts have unless they say others. */
  contract(contract: KernelContract, tensors: Doc): Doc {
    const own = this.tensors(contract);
    const requires = [...contract.requires, ...this.#ownMultiples(contract)];
    return object({
      grid: contract.grid === null
        ? "null"
        : array(contract.grid.map((extent) => this.expression(extent))),
      tensors: flat(own) === flat(tensors) ? undefined : own,
      ranges: contract.ranges.length === 0 ? undefined : array(
        contract.ranges.map(({ param, first, last }) =>
          array([quote(param), this.expression(first), this.expression(last)])
        ),
      ),
      requires: requires.length === 0 ? undefined : this.conditions(requires),
    });
  }

  tensors({ tensors }: KernelContract): Doc {
    return array(tensors.map(({ param, extents, strides, optional }) =>
      array([
        quote(param),
        array(extents.map((extent) => this.dimension(extent))),
        array(strides.map((stride) => this.dimension(stride))),
        ...optional === true ? [quote("optional")] : [],
      ])
    ));
  }

  /** `__multipleof` demands that the instances do not share. */
  #ownMultiples({ params }: KernelContract): readonly ConditionInfo[] {
    return params.flatMap((param, position): ConditionInfo[] => {
      if (param.kind !== "scalar" || param.multipleof === undefined) return [];
      const { name, multipleof } = param;
      if (this.#plan.params[position]?.multipleof !== undefined) return [];
      const remainder: ContractExpr = {
        op: "%",
        args: [{ op: "param", name }, { op: "const", value: multipleof }],
      };
      const condition: ContractExpr = { op: "==", args: [remainder, { op: "const", value: 0 }] };
      return [{ condition, text: printSource(condition) }];
    });
  }

  dimension(expr: ContractExpr): Doc {
    if (expr.op === "param") return quote(expr.name);
    if (expr.op === "const" && expr.macro === undefined) return String(expr.value);
    return this.expression(expr);
  }

  expression(expr: ContractExpr): Doc {
    return array([quote(printSource(expr)), this.#function(expr, "int")]);
  }

  /** Conditions that are multiples alone as one row, others as a list. */
  conditionSet(conditions: readonly ConditionInfo[]): Doc {
    const rows = this.conditions(conditions);
    const [only, ...others] = typeof rows !== "string" && rows.kind === "array" ? rows.items : [];
    const isMultiples = typeof only === "object" && only.kind === "object" && others.length === 0;
    return isMultiples ? only : rows;
  }

  /** Conditions in order, multiples that follow each other in one row. */
  conditions(conditions: readonly ConditionInfo[]): Doc {
    const rows: Doc[] = [];
    let multiples = new Map<string, Doc>();
    const flush = (): void => {
      if (multiples.size > 0) rows.push(object(Object.fromEntries(multiples)));
      multiples = new Map();
    };
    for (const info of conditions) {
      const multiple = multipleOf(info);
      if (multiple === undefined) {
        flush();
        rows.push(this.#condition(info));
        continue;
      }
      if (multiples.has(multiple.name)) flush();
      multiples.set(multiple.name, String(multiple.of));
    }
    flush();
    return array(rows);
  }

  #condition({ condition, text }: ConditionInfo): Doc {
    const integer = int32Of(condition);
    const name = INT32_TEXT.exec(text)?.[1];
    if (integer !== undefined && name !== undefined) {
      return array([quote("int32"), quote(name), this.#function(integer, "int")]);
    }
    return array([quote(text), this.#function(condition, "bool")]);
  }

  /** An arrow function that takes apart what it reads, or takes it whole where that would fill the line. */
  #function(expr: ContractExpr, want: "int" | "bool"): Doc {
    const names = namesRead(expr);
    const pattern = `({ ${names.map(bindingOf).join(", ")} })`;
    const head = names.length === 0 ? "()" : pattern.length > LINE_WIDTH / 2 ? "(of)" : pattern;
    const scope: ExpressionScope = {
      read: (name) => head === "(of)" ? `of.${name}` : safeIdentifier(name),
      bound: (name) => this.#macroBounds.get(name) ?? boundOfBits(this.#bitsOf(name)),
    };
    const { doc, calls } = printTypeScript(expr, want, scope);
    for (const call of calls) this.calls.add(call);
    return { kind: "arrow", head, body: doc };
  }

  #bitsOf(name: string): number {
    const param = must(
      this.#plan.params.find((param) => param.name === name),
      `parameter ${name} of an expression`,
    );
    return param.kind === "pointer"
      ? 64
      : Math.max(...param.types.map((type) => SCALARS[type].bits));
  }
}

/** The condition `name % of == 0` as a pair. */
function multipleOf(
  { condition, text }: ConditionInfo,
): { readonly name: string; readonly of: number } | undefined {
  if (!isOperation(condition) || condition.op !== "==") return undefined;
  const [remainder, zero] = condition.args;
  if (zero?.op !== "const" || zero.value !== 0 || zero.macro !== undefined) return undefined;
  if (remainder === undefined || !isOperation(remainder) || remainder.op !== "%") return undefined;
  const [dividend, divisor] = remainder.args;
  if (dividend?.op !== "param" || divisor?.op !== "const" || divisor.macro !== undefined) {
    return undefined;
  }
  const { name } = dividend;
  const of = divisor.value;
  return of > 0 && text === `${name} % ${of} == 0` ? { name, of } : undefined;
}

/** What a condition demands to be a 32-bit integer. */
function int32Of(condition: ContractExpr): ContractExpr | undefined {
  if (!isOperation(condition) || condition.op !== "&&") return undefined;
  const [least, most] = condition.args;
  if (least === undefined || !isOperation(least) || least.op !== "<=") return undefined;
  if (most === undefined || !isOperation(most) || most.op !== "<=") return undefined;
  const [min, integer] = least.args;
  const [same, max] = most.args;
  const isRange = min?.op === "const" && min.value === INT32_MIN && max?.op === "const" &&
    max.value === INT32_MAX;
  if (!isRange || integer === undefined || same === undefined) return undefined;
  return JSON.stringify(integer) === JSON.stringify(same) ? integer : undefined;
}

/** `M`, or `in: in_` for a name that cannot be a variable. */
function bindingOf(name: string): string {
  const local = safeIdentifier(name);
  return local === name ? name : `${name}: ${local}`;
}
