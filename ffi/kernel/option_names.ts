/** The options that calls of every kernel take. */
import { optionNames } from "../arguments/options.ts";
import type { CallOptions, TuneOptions, VariantOptions } from "./types.ts";

/** `profile` is `true`, or `false` where it is decided at run time. */
export const CALL_OPTIONS = optionNames<CallOptions & { readonly profile?: boolean }>({
  stream: true,
  variant: true,
  grid: true,
  form: true,
  profile: true,
});

/** Each configuration has a grid of its own. */
export const TUNE_OPTIONS = optionNames<Omit<CallOptions, "grid"> & TuneOptions>({
  stream: true,
  variant: true,
  form: true,
  save: true,
});

export const GRID_OPTIONS = optionNames<VariantOptions>({ variant: true });
