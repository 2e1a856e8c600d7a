/** A mistake of a kernel as pages and panels show it. */
import type { CheckChoice, EmulatorError, EmulatorWarning } from "../../ffi/mod.ts";

/** A mistake of the kernel, as the emulator found it. */
export interface Finding {
  readonly kind: string;
  readonly message: string;
  readonly detail: string;
  readonly hint: string;
  readonly block?: readonly [number, number, number];
  readonly thread?: readonly [number, number, number];
  readonly instruction?: string;
  readonly source?: string;
  /** The launch ended there. */
  readonly isLast: boolean;
}

/** Findings are listed and the launch goes on, so that one run says all of them. */
export const LISTED_CHECKS: CheckChoice = {
  bounds: "warn",
  alignment: "warn",
  uninitialized: "warn",
  races: "warn",
  copies: "warn",
  proxies: "warn",
  readOnly: "warn",
};

/** Of a warning; of an error, which ended the launch. */
export function findingOf(found: EmulatorWarning | EmulatorError, isLast: boolean): Finding {
  const { kind, detail, block, thread, instruction, source } = found;
  const [message = "", hint = ""] = found.message.split("\nhint: ");
  return {
    kind,
    detail,
    message,
    hint,
    ...(block === undefined ? {} : { block }),
    ...(thread === undefined ? {} : { thread }),
    ...(instruction === undefined ? {} : { instruction }),
    ...(source === undefined ? {} : { source }),
    isLast,
  };
}
