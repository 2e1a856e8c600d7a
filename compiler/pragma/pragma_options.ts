/** The options of `#pragma tri` and the values they take (language.md, 10.3). */
import type { OptionSetting } from "./pragma.ts";

interface OptionRow {
  /** How it is written: `num_warps=4` or `math(precise)`. */
  readonly form: "number" | "word";
  /** The legal values, or a range of numbers. */
  readonly values: readonly string[] | { readonly from: number; readonly to: number };
  /** May be written without a value, which means its first one. */
  readonly bare: boolean;
}

const SWITCH = { form: "word", values: ["on", "off"], bare: true } as const;

export const OPTIONS = {
  num_warps: { form: "number", values: ["1", "2", "4", "8", "16", "32"], bare: false },
  num_ctas: { form: "number", values: ["1", "2", "4", "8", "16"], bare: false },
  num_stages: { form: "number", values: { from: 1, to: 8 }, bare: false },
  max_registers: { form: "number", values: { from: 24, to: 255 }, bare: false },
  fp_contract: SWITCH,
  ftz: SWITCH,
  fast_div: SWITCH,
  math: { form: "word", values: ["fast", "precise"], bare: false },
  dot: { form: "word", values: ["ieee", "tf32", "tf32x3", "bf16x3"], bare: false },
  literals: { form: "word", values: ["weak", "double"], bare: false },
} as const satisfies Record<string, OptionRow>;

export type OptionName = keyof typeof OPTIONS;

/** The options that a configuration may list as axes. */
export const OPTION_AXES: readonly OptionName[] = [
  "num_warps",
  "num_ctas",
  "num_stages",
  "max_registers",
];

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

/** Whether it is written `name=4`, not `name(word)`. */
export function isNumberOption(name: string): boolean {
  return isOptionName(name) && OPTIONS[name].form === "number";
}

/** How to write the option, for hints: `write math(fast|precise)`. */
export function optionUsage(name: OptionName): string {
  const { form, values }: OptionRow = OPTIONS[name];
  const shown = "from" in values ? `${values.from}…${values.to}` : values.join("|");
  return form === "number" ? `write \`${name}=N\` with N ${shown}` : `write \`${name}(${shown})\``;
}

/** Whether the option may have this value; `undefined` is the bare option. */
export function acceptsValue(name: OptionName, value: OptionSetting["value"]): boolean {
  const { values, bare }: OptionRow = OPTIONS[name];
  if (value === undefined) return bare;
  if (!("from" in values)) return values.includes(value);
  return /^[0-9]{1,9}$/.test(value) && Number(value) >= values.from && Number(value) <= values.to;
}
