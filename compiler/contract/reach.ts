/**
 * Which parameters a value is computed from, through operations and control flow. A load ends the search:
 * what memory holds is not a parameter.
 */
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";

/** The data flow of one function, backwards. */
export class Reach {
  /** Values that enter through the regions of an operation: their parameters, and the results. */
  readonly #carried = new Map<Value, readonly Value[]>();
  readonly #params: ReadonlySet<Value>;

  constructor(func: Func) {
    this.#params = new Set(func.params);
    walkOps(func.body, (op) => {
      if (op.regions.length === 0) return;
      const sources = [...op.operands, ...op.regions.flatMap(leaving)];
      for (const value of [...op.results, ...op.regions.flatMap((region) => region.params)]) {
        this.#carried.set(value, sources);
      }
    });
  }

  /** Parameters of the function that the value depends on, each once. */
  params(value: Value): readonly Value[] {
    const seen = new Set<Value>();
    const open = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...this.#sources(next));
    }
    return [...this.#params].filter((param) => seen.has(param));
  }

  #sources(value: Value): readonly Value[] {
    const op: Op | undefined = value.def;
    return this.#carried.get(value) ?? (op === undefined || op.name === "load" ? [] : op.operands);
  }
}

function leaving(region: Region): readonly Value[] {
  return region.ops.length === 0 ? [] : terminatorOf(region).operands;
}
