/** Which loops go over the same addresses: by the same operations, from the same start in the same steps. */
import { edgesOf, loopOf, sourceOf } from "../ir/flow.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { spellIrType } from "../ir/print.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import { attrsKey } from "../tile/cse.ts";

/** A value of a loop's body. */
export interface InLoop {
  readonly loop: OpOf<"while">;
  readonly value: Value;
}

/** Whether two values are the same in all iterations. */
export function isSameInLoops(a: InLoop, b: InLoop): boolean {
  const seen = new Set<string>();
  const pairs: (readonly [Value, Value])[] = [[a.value, b.value]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [x, y] = [withoutLayout(pair[0]), withoutLayout(pair[1])];
    const key = `${x.id},${y.id}`;
    if (x === y || seen.has(key)) continue;
    seen.add(key);
    const [from, other] = [sourcesIn(a.loop, x), sourcesIn(b.loop, y)];
    if (from.kind !== other.kind || from.values.length !== other.values.length) return false;
    pairs.push(...zip(from.values, other.values));
  }
  return true;
}

/**
 * Numbers of values that are equal for values that are the same, and mostly not for others: programs may have thousands of
 * loads, of which each would be compared with each. What a loop carries counts as what it begins with.
 */
export class Signatures {
  readonly #numbers = new Map<string, number>();
  readonly #known = new Map<Value, number>();

  of({ loop, value }: InLoop): number {
    const start = withoutLayout(value);
    const isKnown = (one: Value): boolean => this.#known.has(one);
    for (const one of sourcesFirst(start, isKnown, (one) => firstSources(loop, one).values)) {
      const { kind, values } = firstSources(loop, one);
      const key = `${kind}(${values.map((source) => this.#known.get(source)).join()})`;
      const number = this.#numbers.get(key) ?? this.#numbers.size;
      this.#numbers.set(key, number);
      this.#known.set(one, number);
    }
    return must(this.#known.get(start), "signature");
  }
}

function withoutLayout(value: Value): Value {
  for (let at = value;;) {
    const convert = madeBy(at, "convert_layout");
    if (convert === undefined) return at;
    at = operandsOf(convert).value;
  }
}

/** A kind, and the same values of the same kind give the same value. */
interface Sources {
  readonly kind: string;
  readonly values: readonly Value[];
}

/** What a value of a loop is made of. */
function sourcesIn(loop: OpOf<"while">, value: Value): Sources {
  const { def, type } = value;
  if (def !== undefined && def.regions.length === 0 && def.results.length === 1) {
    return { kind: `${attrsKey(def)} ${spellIrType(type)}`, values: def.operands };
  }
  const values = edgesOf(loop).flatMap((edge) => sourceOf(edge, value) ?? []);
  // What comes from elsewhere is the same as itself only.
  return { kind: values.length > 0 ? "carried" : `value ${value.id}`, values };
}

/** The same, of what is carried only from where it is: its source in the test, or before the loop. */
function firstSources(loop: OpOf<"while">, value: Value): Sources {
  const { kind, values } = sourcesIn(loop, value);
  const [first] = values;
  const isParameter = loopOf(loop).test.params.includes(value);
  const some = kind === "carried" && isParameter && first !== undefined ? [first] : values;
  return { kind, values: some.map(withoutLayout) };
}
