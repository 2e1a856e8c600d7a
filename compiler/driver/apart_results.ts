/**
 * Results that lie apart from everything else. A launch whose results (`out`) share memory with arguments is refused, unless a
 * result may take the place of an argument (language.md 8.5, `contract/in_place.ts`): so what a program stores to the others is
 * reached through no other parameter, as `__noalias` promises.
 */
import type { Func } from "../ir/func.ts";
import { nameOf } from "../contract/accesses.ts";
import type { ContractParam } from "../contract/types.ts";

/** What nothing else may share memory with. */
function apartParams(params: readonly ContractParam[]): ReadonlySet<string> {
  return new Set(params.flatMap((param) => {
    const isApart = param.kind === "pointer" && param.access === "out" &&
      (param.inPlace ?? []).length === 0;
    return isApart ? [param.name] : [];
  }));
}

/** For passes after the contract is known: it says where results may be what arguments are. */
export function assumeApart(func: Func, params: readonly ContractParam[]): void {
  const apart = apartParams(params);
  func.paramFacts = func.paramFacts.map((facts, index) => {
    const param = func.params[index];
    return param !== undefined && apart.has(nameOf(param)) ? { ...facts, noalias: true } : facts;
  });
}
