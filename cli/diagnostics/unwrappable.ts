/** E9041: a kernel that no wrapper can be written for, found by `tri check` as by `tri build`. */
import type { KernelOutline } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { Unwrappable } from "../tools/toolchain.ts";

export function unwrappableDiagnostic(
  { unwrappable, reason }: Unwrappable,
  kernels: readonly KernelOutline[],
): Diagnostic {
  const { span } = must(kernels.find(({ name }) => name === unwrappable), "an unwrappable kernel");
  const message = `No wrapper can be written for kernel ${unwrappable}: ${reason}`;
  return { code: "E9041", severity: "error", message, span, notes: [] };
}
