/** Functions as text after the steps that were asked for: `tri inspect --after`. */
import type { Func } from "../ir/func.ts";
import { printFunc } from "../ir/print.ts";
import { type IrHeader, printHeader } from "./ir_text.ts";
import type { PassWatch } from "./run_passes.ts";

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

  /** A watch that adds what is asked for; `header` is what stands above the function, but for the step. */
  watch(header: Omit<IrHeader, "after">, verify: boolean): PassWatch {
    return {
      verify,
      after: (step, _milliseconds, func) => {
        if (func !== undefined) this.add(step, func, header);
      },
    };
  }

  /** Adds the function after a step, if that was asked for. */
  add(after: string, func: Func, header: Omit<IrHeader, "after">): void {
    if (this.#after !== EVERY_STEP && this.#after !== after) return;
    const text = printFunc(func);
    this.#texts.push(
      text === this.#last
        ? `// ${after}: unchanged\n`
        : `${printHeader({ ...header, after })}${text}`,
    );
    this.#last = text;
  }

  /** All of it, under a line that says which specialisation it is. */
  text(title: string): string {
    return title + this.#texts.join("\n");
  }
}
