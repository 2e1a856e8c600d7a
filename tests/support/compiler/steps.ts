/**
 * Steps of the compiler: how often blocks of its functions ran, as bodies of loops and sides of branches, and how many elements of
 * arrays, sets and maps were taken one by one. V8 counts, so the numbers do not depend on the machine or on what else it does.
 */
import { type Profiler, Session } from "node:inspector";

const COMPILER = new URL("../../../compiler/", import.meta.url).href;

/** Steps by function: its file in compiler/, its name and where it begins; `elements` are those that were taken. */
export type Steps = ReadonlyMap<string, number>;

/** Elements taken since the last count. */
let taken = 0;

/** An iterator that counts what it gives. */
class Counted implements IterableIterator<unknown> {
  readonly #iterator: Iterator<unknown>;

  constructor(iterator: Iterator<unknown>) {
    this.#iterator = iterator;
  }

  next(): IteratorResult<unknown> {
    taken++;
    return this.#iterator.next();
  }

  [Symbol.iterator](): this {
    return this;
  }
}

/** Runs with iterators that count. */
function withCountedElements(run: () => void): void {
  const real = [Array.prototype, Set.prototype, Map.prototype].map((prototype) =>
    [prototype, prototype[Symbol.iterator] as () => Iterator<unknown>] as const
  );
  const put = (prototype: object, value: () => Iterator<unknown>): void => {
    Object.defineProperty(prototype, Symbol.iterator, {
      value,
      configurable: true,
      writable: true,
    });
  };
  taken = 0;
  real.forEach(([prototype, iterate]) =>
    put(prototype, function (this: unknown): Iterator<unknown> {
      return new Counted(iterate.call(this));
    })
  );
  try {
    run();
  } finally {
    real.forEach((pair) => put(pair[0], pair[1]));
  }
}

/** Counts the steps of several runs, one after the other. */
export async function stepsOf(runs: readonly (() => void)[]): Promise<readonly Steps[]> {
  const session = new Session();
  session.connect();
  const take = (): Promise<readonly Profiler.ScriptCoverage[]> =>
    new Promise((resolve, reject) =>
      session.post(
        "Profiler.takePreciseCoverage",
        (error, found) => error === null ? resolve(found.result) : reject(error),
      )
    );
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  try {
    const found: Steps[] = [];
    for (const run of runs) {
      await take();
      withCountedElements(run);
      found.push(new Map([["elements", taken], ...stepsIn(await take())]));
    }
    return found;
  } finally {
    session.post("Profiler.stopPreciseCoverage");
    session.post("Profiler.disable");
    session.disconnect();
  }
}

function stepsIn(scripts: readonly Profiler.ScriptCoverage[]): [string, number][] {
  return scripts.filter(({ url }) => url.startsWith(COMPILER)).flatMap(({ url, functions }) =>
    functions.flatMap(({ functionName, ranges: [whole, ...blocks] }): [string, number][] =>
      // Calls of what V8 has put into the caller's code are not counted, blocks are.
      whole === undefined || blocks.length === 0 ? [] : [[
        `${url.slice(COMPILER.length)} ${functionName} ${whole.startOffset}`,
        Math.max(...blocks.map(({ count }) => count)),
      ]]
    )
  );
}
