/** Grid and tensors of a kernel's contract, as text. */
import { must } from "../../../../compiler/support/bug.ts";
import { evaluate, printExpr } from "../../../../compiler/contract/expr.ts";
import type { KernelContract } from "../../../../compiler/contract/types.ts";
import { assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";

export interface Shown {
  readonly grid: readonly string[] | null;
  readonly tensors: readonly string[];
}

/** The contract of a kernel of these parameters and this body; `pragmas` are lines above it. */
export function contractOf(parameters: string, body: string, pragmas = ""): Shown {
  const { grid, tensors } = compiled(parameters, body, pragmas);
  const list = (exprs: readonly Parameters<typeof printExpr>[0][]): string =>
    exprs.map((expr) => printExpr(expr)).join(", ");
  return {
    grid: grid && grid.map((expr) => printExpr(expr)),
    tensors: tensors.map(({ param, extents, strides }) =>
      `${param}[${list(extents)}] strides [${list(strides)}]`
    ),
  };
}

/** How its pointers are used. */
export function accessOf(parameters: string, body: string): Readonly<Record<string, string>> {
  const { params } = compiled(parameters, body, "");
  return Object.fromEntries(
    params.flatMap((param) => param.kind === "pointer" ? [[param.name, param.access]] : []),
  );
}

/** What launches must meet. */
export function requiresOf(parameters: string, body: string): readonly string[] {
  return compiled(parameters, body, "").requires.map(({ text }) => text);
}

/** The first and last element that a launch touches of each pointer, for values of the other parameters. */
export function touchedBy(
  parameters: string,
  body: string,
  values: Readonly<Record<string, number>>,
): Readonly<Record<string, readonly [number, number]>> {
  const names = {
    param: (name: string): number | undefined => values[name],
    grid: () => values["programs"],
  };
  const { ranges } = compiled(parameters, body, "");
  return Object.fromEntries(
    ranges.map(({ param, first, last }) => [
      param,
      [Number(evaluate(first, names)), Number(evaluate(last, names))] as const,
    ]),
  );
}

function compiled(parameters: string, body: string, pragmas: string): KernelContract {
  const text = `${pragmas}\n__global__ void k(${parameters}) {\n${body}\n}`;
  const { kernels: [kernel], diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_80"],
  });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  return must(kernel?.instances[0], "an instance").contract;
}
