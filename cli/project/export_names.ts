/** Names that wrappers export for kernels, where the user chooses them: by the settings of a file, or by `--export`. */
import { RESERVED_NAMES } from "../../codegen/names.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { Span } from "../../compiler/support/source.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import { usageError } from "../failure.ts";

/** The name that a wrapper exports for a kernel. */
export interface ExportName {
  readonly kernel: string;
  readonly name: string;
  /** The kernel's name in the settings. */
  readonly span: Span;
}

/** The chosen name by the kernel's. */
export type ExportNames = Readonly<Record<string, string>>;

/** Why a wrapper cannot export the name; undefined: it can. */
export function mistakeInExport(name: string): string | undefined {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `Not a name that a module can export: ${name}`;
  return RESERVED_NAMES.has(name) ? `${name} is a word of TypeScript or of wrappers` : undefined;
}

/** The values `KERNEL=NAME` of `--export`. */
export function exportsOfCommandLine(values: readonly string[]): ExportNames {
  const pairs = values.map((text): [string, string] => {
    const [, kernel, name] = /^(\w+)=(.+)$/.exec(text) ?? [];
    if (kernel === undefined || name === undefined) {
      throw usageError(
        `--export ${text}: not of the form KERNEL=NAME`,
        "Such as --export transpose=transposeMatrix.",
      );
    }
    const mistake = mistakeInExport(name);
    if (mistake !== undefined) {
      throw usageError(`--export ${text}: ${mistake}`, "Take another name.");
    }
    return [kernel, name];
  });
  return Object.fromEntries(pairs);
}

/** The settings name a kernel that the file does not have. */
export function unknownExports(
  exports: readonly ExportName[],
  kernels: readonly string[],
): readonly Diagnostic[] {
  return exports.filter(({ kernel }) => !kernels.includes(kernel)).map(({ kernel, span }) => ({
    code: "E9020",
    severity: "error",
    message: `No kernel ${kernel} to export in this file`,
    span,
    notes: [],
    hint: didYouMean(kernel, kernels, JSON.stringify) ?? `Its kernels: ${kernels.join(", ")}.`,
  }));
}
