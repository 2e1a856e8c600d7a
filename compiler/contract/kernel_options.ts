/** What the options of `#pragma tri` (language.md 10.3) turn into. Their values were checked when read. */
import type { OptionSetting } from "../front/pragma.ts";

/** Settings of one instance that the compiler acts on. */
export interface KernelOptions {
  readonly numWarps: number;
  /** Depth of software pipelining; 1 unless asked for. */
  readonly numStages: number;
  readonly literals: "weak" | "double";
}

/** The options that settings make; a later one wins. */
export function readOptions(settings: readonly OptionSetting[]): KernelOptions {
  const last = new Map(settings.map(({ name, value }) => [name, value]));
  return {
    numWarps: Number(last.get("num_warps") ?? 4),
    numStages: Number(last.get("num_stages") ?? 1),
    literals: last.get("literals") === "double" ? "double" : "weak",
  };
}
