/** A pass that broke, with the function as it was before: what is needed to repeat the failure. */
import { CompilerBug } from "../../support/bug.ts";

export class PassFailure extends CompilerBug {
  constructor(
    /** The step, as the list of passes names it; `emit` for what makes PTX of the function. */
    readonly step: string,
    /** The function's name. */
    readonly func: string,
    /** The function before the step, as text that `tri inspect` reads. */
    readonly ir: string,
    cause: unknown,
  ) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Pass ${step} failed on @${func}: ${reason}`);
    this.cause = cause;
  }
}
