/** Where kernels are defined, for maps from declarations to sources. */
import type { KernelOutline } from "../compiler/options.ts";
import { positionOf } from "../compiler/support/source.ts";
import { type ChosenNames, exportedNames } from "./plan.ts";

/** The location of a kernel in its source: lines and columns from 0, in UTF-16 units as editors count. */
export interface Definition {
  /** The names of the wrapper and of its interface. */
  readonly exportName: string;
  readonly interfaceName: string;
  readonly line: number;
  readonly column: number;
  /** Length of the kernel's name. */
  readonly length: number;
}

/** The kernels' names in their sources. */
export function definitionsOf(
  kernels: readonly KernelOutline[],
  chosen: ChosenNames = {},
): Definition[] {
  const names = exportedNames(kernels.map(({ name }) => name), chosen);
  return names.flatMap(({ exportName, typeName }, index) => {
    const kernel = kernels[index];
    if (kernel === undefined) return [];
    const { file, start, end } = kernel.span;
    // A name that a macro produces is not in the text.
    const at = file.text.slice(start, end).search(new RegExp(`\\b${kernel.name}\\b`));
    const { line, column } = positionOf(file, start + Math.max(at, 0));
    return [{
      exportName,
      interfaceName: `${typeName}Kernel`,
      line: line - 1,
      column: column - 1,
      length: kernel.name.length,
    }];
  });
}
