/** Kernels without something that they need: the emulator must find what is missing. */
import { Fault } from "../../../emulator/fault.ts";
import { assert, assertEquals } from "../assert.ts";

/** A change of a kernel's PTX. */
export interface Mistake {
  /** What is wrong with the kernel then: "does not wait for the last dot". */
  readonly title: string;
  readonly change: (ptx: string) => string;
  /** What the fault is about, where only one is right. */
  readonly kind?: Fault["kind"];
}

/** Without the first match in a text, after other words, each after the one before it. */
export function without(
  pattern: string | RegExp,
  ...after: readonly string[]
): (text: string) => string {
  return (text) => {
    const start = after.reduce((from, word) => text.indexOf(word, from), 0);
    return text.slice(0, start) + text.slice(start).replace(pattern, "");
  };
}

/** Where the form with tensor copies begins in the PTX of an entry. */
export const FORM = "_tensor(";

/** Runs a kernel with each of the mistakes; each is a fault. */
export function assertFound(
  ptx: string,
  mistakes: readonly Mistake[],
  run: (ptx: string, title: string) => void,
): void {
  for (const { title, change, kind } of mistakes) {
    const changed = change(ptx);
    assert(changed !== ptx, `there is nothing to change: ${title}`);
    let found: unknown;
    try {
      run(changed, title);
    } catch (error) {
      found = error;
    }
    assert(found instanceof Fault, `a kernel that ${title}: ${found}`);
    if (kind !== undefined) assertEquals(found.kind, kind, `a kernel that ${title}`);
  }
}
