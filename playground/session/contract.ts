/** What a launch must fulfil, and why one is refused: the contract as rows. */
import { chooseArguments } from "../../cli/report/arguments.ts";
import { instancesOn } from "../../cli/report/facts.ts";
import { type Environment, evaluate, printExpr } from "../../compiler/contract/expr.ts";
import type { ContractExpr, InstanceInfo } from "../../compiler/contract/types.ts";
import { compileFile } from "../../compiler/driver/compile_file.ts";
import { SCALARS } from "../../compiler/support/scalar.ts";
import { prepare, type Program, targetOf } from "./program.ts";
import type { Call } from "./run.ts";

/** A row: what is demanded, where that comes from, and what it is for the sizes of the call. */
export interface ContractRow {
  readonly about: string;
  readonly text: string;
  readonly value: string;
  /** Undefined: nothing that can fail. */
  readonly holds?: boolean;
}

/** The contract of an entry. */
export interface EntryContract {
  readonly entry: string;
  readonly rows: readonly ContractRow[];
  /** Whether a wrapper would take this entry for the call. */
  readonly isTaken: boolean;
}

/** The contract of each entry of the chosen instances, with the sizes of a call. */
export function contractsOf(program: Program, call: Call): readonly EntryContract[] {
  const { file, options } = prepare(program, "chosen");
  const { kernels: [kernel] } = compileFile(file, { ...options, checkOnly: true });
  if (kernel === undefined) return [];
  return instancesOn(kernel, targetOf(program)).map((instance) => entryContract(instance, call));
}

function entryContract(instance: InstanceInfo, { sizes, extent }: Call): EntryContract {
  const { contract, specialization, symbol } = instance;
  // Conditions of an entry would change the sizes, and here they are to be judged.
  const general = { ...instance, specialization: [] };
  const chosen = chooseArguments(general, new Map(Object.entries(sizes)), extent);
  const known = typeof chosen === "string" ? new Map<string, number>() : chosen.scalars;
  const environment: Environment = {
    // Allocations begin at multiples of every alignment.
    param: (name) => known.get(name) ?? 0,
    grid: (axis) => Number(evaluate(contract.grid?.[axis] ?? ONE, environment)),
  };
  const valueOf = (expr: ContractExpr): number => Number(evaluate(expr, environment));
  const list = (exprs: readonly ContractExpr[]): string => exprs.map(printExpr).join(", ");
  const values = (exprs: readonly ContractExpr[]): string => exprs.map(valueOf).join(", ");
  const demand = (about: string) =>
  (
    { condition, text }: { readonly condition: ContractExpr; readonly text: string },
  ): ContractRow => {
    const holds = evaluate(condition, environment) !== 0n;
    return { about, text, value: holds ? "holds" : "does not hold", holds };
  };
  const required = contract.requires.map(demand("required"));
  const special = specialization.map(demand("this entry"));
  const multiples = contract.params.flatMap((param): ContractRow[] => {
    if (param.kind !== "scalar" || param.multipleof === undefined) return [];
    const { name, multipleof } = param;
    const holds = (known.get(name) ?? 0) % multipleof === 0;
    const value = holds ? "holds" : `${name} is ${known.get(name)}`;
    return [{ about: "required", text: `${name} % ${multipleof} == 0`, value, holds }];
  });
  const rows: ContractRow[] = [
    contract.grid === null ? { about: "grid", text: "the caller gives it", value: "" } : {
      about: `grid (${contract.gridOrigin})`,
      text: list(contract.grid),
      value: values(contract.grid),
    },
    ...contract.params.map((param): ContractRow => {
      if (param.kind === "scalar") {
        return {
          about: "parameter",
          text: `${SCALARS[param.type].spelling} ${param.name}`,
          value: `${known.get(param.name) ?? ""}`,
        };
      }
      const { name, type, access, align, noalias } = param;
      const words = [access, ...noalias ? ["noalias"] : [], `aligned to ${align} bytes`];
      return {
        about: "pointer",
        text: `${SCALARS[type].spelling} *${name}`,
        value: words.join(", "),
      };
    }),
    ...contract.tensors.map(({ param, extents, strides, origin, optional }): ContractRow => ({
      about: `tensor (${origin})`,
      text: `${param}[${list(extents)}] strides [${list(strides)}]${optional ? ", optional" : ""}`,
      value: `[${values(extents)}] strides [${values(strides)}]`,
    })),
    ...contract.ranges.map(({ param, first, last }): ContractRow => ({
      about: "elements",
      text: `${param}: ${printExpr(first)} … ${printExpr(last)}`,
      value: `${valueOf(first)} … ${valueOf(last)}`,
    })),
    ...multiples,
    ...required,
    ...special,
  ];
  return { entry: symbol, rows, isTaken: rows.every(({ holds }) => holds !== false) };
}

const ONE: ContractExpr = { op: "const", value: 1 };
