/**
 * The tuning key (language.md 10.3): the parameters whose values decide which configuration is best. What `key` and
 * `__retune` name, integers and `bool`; without them, the integers that the grid or the bound of a loop depends on.
 */
import { zip } from "../support/zip.ts";
import { walkOps } from "../ir/walk.ts";
import { edgesOf, loopOf } from "../ir/flow.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { paramsOf } from "./expr.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import { type KernelParam, type KernelParams, mayBeKey } from "./kernel_params.ts";
import type { KernelContract } from "./types.ts";

/** Names in the kernel's order. */
export function keyOf(
  { params }: KernelParams,
  items: readonly SourcedItem[],
  { grid }: KernelContract,
  func: Func,
): readonly string[] {
  const named = items.flatMap(({ item }) => item.kind === "key" ? [item] : []);
  const asked = new Set(named.flatMap(({ names }) => names.map(({ name }) => name)));
  const isAsked = ({ name, attributes }: KernelParam): boolean =>
    attributes.retune || asked.has(name);
  const found = new Set(
    named.length > 0 || params.some(({ attributes }) => attributes.retune)
      ? []
      : [...(grid ?? []).flatMap(paramsOf), ...loopBounds(params.map(({ name }) => name), func)],
  );
  return params.filter((param) =>
    mayBeKey(param) && isAsked(param) || param.isInteger && found.has(param.name)
  ).map(({ name }) => name);
}

/** Parameters that the conditions of loops are computed from, other than through memory. */
function loopBounds(names: readonly string[], func: Func): readonly string[] {
  /** What the parameters of a loop's regions start as. */
  const starts = new Map<Value, Value>();
  const open: Value[] = [];
  walkOps(func.body, (op) => {
    if (op.name !== "while") return;
    for (const { kind, from, to } of edgesOf(op)) {
      if (kind !== "entry" && kind !== "continue") continue;
      for (const [param, value] of zip(to, from)) starts.set(param, value);
    }
    open.push(loopOf(op).continues);
  });
  const seen = new Set<Value>(open);
  for (const value of seen) {
    const start = starts.get(value);
    for (const next of [...operandsOf(value.def), ...(start === undefined ? [] : [start])]) {
      seen.add(next);
    }
  }
  return names.filter((_, index) => {
    const param = func.params[index];
    return param !== undefined && seen.has(param);
  });
}

const operandsOf = (def: Op | undefined): readonly Value[] =>
  def === undefined || def.name === "load" ? [] : def.operands;
