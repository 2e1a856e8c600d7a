/** What an entry is compiled with, whatever the target. */
import { ASKED_WARPS, type KernelOptions } from "../instances/kernel_options.ts";
import type { Func } from "../ir/func.ts";
import { defaultBlock } from "./default_warps.ts";
import type { CheckedKernel } from "./front/instance_front.ts";

/** What is stated; the warps may be left to the compiler. */
export type StatedOptions = Pick<
  KernelOptions,
  "floats" | "numWarps" | "numCtas" | "numStages" | "maxRegisters"
>;

export interface EntryOptions extends StatedOptions {
  readonly numWarps: number;
}

/**
 * The options of an entry. Where `num_warps` is not stated, the tiles decide; a text that uses `__TRI_NUM_WARPS__` has
 * `ASKED_WARPS`, the value of that macro, since macros are expanded before there are tiles.
 */
export function entryOptions(
  func: Func,
  stated: StatedOptions,
  texts: readonly { readonly value: CheckedKernel }[] = [],
): EntryOptions {
  const isAsked = texts.some(({ value: { parsed } }) =>
    parsed.preprocessed.usedMacros.has("__TRI_NUM_WARPS__")
  );
  if (stated.numWarps !== undefined) return { ...stated, numWarps: stated.numWarps };
  if (isAsked) return { ...stated, numWarps: ASKED_WARPS };
  const { numWarps, maxRegisters } = defaultBlock(func, stated.numCtas);
  return { ...stated, numWarps, maxRegisters: stated.maxRegisters ?? maxRegisters };
}
