/** Settings that the options of `#pragma tri` (language.md 10.3) select. Their values were checked when read. */
import type { OptionSetting } from "../pragma/pragma.ts";
import type { OptionName } from "../pragma/pragma_options.ts";
import type { FloatOptions } from "../support/float_options.ts";

/** The value of `__TRI_NUM_WARPS__`, and the warps of a text that uses it, where `num_warps` is not stated. */
export const ASKED_WARPS = 4;

/** Settings of one instance that the compiler acts on. */
export interface KernelOptions {
  /** Undefined: the compiler chooses them by the tiles of the kernel. */
  readonly numWarps: number | undefined;
  /** Blocks of a program. */
  readonly numCtas: number;
  /** Depth of software pipelining; undefined: the compiler chooses. */
  readonly numStages: number | undefined;
  /** Registers that a thread may use; undefined: the compiler and the assembler choose. */
  readonly maxRegisters: number | undefined;
  readonly literals: "weak" | "double";
  readonly floats: FloatOptions;
  /** How `@` multiplies `float` tiles. */
  readonly dot: DotMode;
}

const DOT_MODES = ["ieee", "tf32", "tf32x3", "bf16x3"] as const;
type DotMode = (typeof DOT_MODES)[number];

/** The options that settings make; a later one wins. */
export function readOptions(settings: readonly OptionSetting[]): KernelOptions {
  const last = new Map(settings.map(({ name, value }) => [name, value]));
  // A bare switch means `on`.
  const isOn = (name: OptionName, otherwise: boolean): boolean =>
    last.has(name) ? last.get(name) !== "off" : otherwise;
  return {
    numWarps: last.has("num_warps") ? Number(last.get("num_warps")) : undefined,
    numCtas: Number(last.get("num_ctas") ?? 1),
    numStages: last.has("num_stages") ? Number(last.get("num_stages")) : undefined,
    maxRegisters: last.has("max_registers") ? Number(last.get("max_registers")) : undefined,
    floats: {
      contract: isOn("fp_contract", true),
      flush: isOn("ftz", false),
      fastDivision: isOn("fast_div", false),
      precise: last.get("math") === "precise",
    },
    literals: last.get("literals") === "double" ? "double" : "weak",
    dot: DOT_MODES.find((mode) => mode === last.get("dot")) ?? "ieee",
  };
}
