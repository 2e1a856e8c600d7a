/** Functions as text after the steps that were asked for: `tri inspect --after`. */
import { printFunc } from "../../ir/print.ts";
import type { PassWatch } from "../passes/run_passes.ts";

/** After every step. */
export const EVERY_STEP = "*";

/** What there is to see of one function. */
export class FuncDumps {
  readonly #after: string;
  readonly #texts: string[] = [];
  #last = "";

  /** `after` is the name of a step, or {@linkcode EVERY_STEP}: then a step that changes nothing says so in one line. */
  constructor(after: string) {
    this.#after = after;
  }

  /** A callback for passes that adds what is asked for; `header` gives the line above a function after a step. */
  watch(header: (after: string) => string): NonNullable<PassWatch["after"]> {
    return (after, _milliseconds, func) => {
      if (func === undefined || (this.#after !== EVERY_STEP && this.#after !== after)) return;
      const text = printFunc(func);
      this.#texts.push(
        text === this.#last ? `// ${after}: unchanged\n` : `${header(after)}${text}`,
      );
      this.#last = text;
    };
  }

  /** All of it, under a line that says which specialisation it is. */
  text(title: string): string {
    return title + this.#texts.join("\n");
  }
}
