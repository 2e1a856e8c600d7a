/**
 * Functions as files from which compiling continues. Above each is what the text of the function does not say:
 *
 *     after cse.2 {target = "sm_90", num_warps = 4, floats = ["contract"]}
 *     func @copy(…) {
 *
 * `after build` is above a function before its first pass. `num_stages` and `max_registers` are there if the kernel
 * sets them, `num_ctas` if it is not 1, `form` if it is not the plain one, `target` from the phase `layout` on. A
 * function without this line is one after `build`, with 4 warps.
 */
import { readOptions } from "../../instances/kernel_options.ts";
import type { StatedOptions } from "../entry_options.ts";
import type { Func } from "../../ir/func.ts";
import { parseFunc } from "../../ir/parse.ts";
import { printFunc, spellAttr } from "../../ir/print.ts";
import { verifyFunc } from "../../ir/verify.ts";
import { bug } from "../../support/bug.ts";
import type { FloatOptions } from "../../support/float_options.ts";
import { ALL_TARGETS, type Target } from "../../targets.ts";
import { type Form, FORMS } from "../../tile/pass.ts";

/** What the line above a function says. */
export interface IrHeader {
  /** The last step that has run; undefined: none. */
  readonly after: string | undefined;
  readonly target: Target | undefined;
  readonly entry: StatedOptions;
  /** Which code of the entry it becomes; `plain` is not spelled. */
  readonly form?: Form | undefined;
}

/** A function with its line. */
export interface IrFunc {
  readonly header: IrHeader;
  readonly func: Func;
}

const NO_STEP = "build";

const FLOATS: Readonly<Record<string, keyof FloatOptions>> = {
  contract: "contract",
  flush: "flush",
  fast_div: "fastDivision",
  precise: "precise",
};

/** The line above a function, with its newline. */
export function printHeader({ after = NO_STEP, target, entry, form }: IrHeader): string {
  const { floats, numWarps, numCtas, numStages, maxRegisters } = entry;
  const words = Object.entries(FLOATS).flatMap(([word, name]) => floats[name] ? [word] : []);
  const settings = {
    target: target?.name,
    num_warps: numWarps,
    num_ctas: numCtas === 1 ? undefined : numCtas,
    num_stages: numStages,
    max_registers: maxRegisters,
    form: form === "plain" ? undefined : form,
    floats: words,
  };
  const spelled = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} = ${spellAttr(value)}`]
  );
  return `after ${after} {${spelled.join(", ")}}\n`;
}

/** A function with its line as text. */
export function printIr({ header, func }: IrFunc): string {
  return printHeader(header) + printFunc(func);
}

const HEADER = /^after ([\w.-]+) \{(.*)\}$/;
const SETTING = /^(\w+) = ("\w*"|\d+|\[.*\])$/;

/** The functions of a text, verified. A mistake is a {@linkcode CompilerBug} with the line. */
export function parseIr(text: string, name: string): readonly IrFunc[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, index) => line.startsWith("after ") ? [index] : []);
  // What has no line of its own begins at the top.
  const isBare = lines.slice(0, starts[0]).some((line) => /^\s*(func|#l\d)/.test(line));
  return [...isBare ? [-1] : [], ...starts].map((start, index, all) => {
    const end = all[index + 1] ?? lines.length;
    // Empty lines in place of the others keep the numbers of lines.
    const own = lines.map((line, at) => at > start && at < end ? line : "");
    const func = parseFunc(own.join("\n"), name);
    verifyFunc(func);
    return { header: parseHeader(lines[start] ?? `after ${NO_STEP} {}`, name, start + 1), func };
  });
}

type Setting = string | number | readonly string[];

function parseHeader(line: string, name: string, number: number): IrHeader {
  const fail = (what: string): never => bug(`${name}, line ${number}: ${what} in \`${line}\``);
  const [, after = NO_STEP, list = ""] = HEADER.exec(line.trim()) ??
    fail("expected `after STEP {…}`");
  const settings = new Map<string, Setting>();
  for (const part of list.split(/, (?=\w+ = )/).filter((text) => text !== "")) {
    const [, key = "", value = ""] = SETTING.exec(part) ?? fail(`\`${part}\` is no setting`);
    if (!KEYS.includes(key)) fail(`${key} is no setting; there are ${KEYS.join(", ")}`);
    settings.set(key, parseSetting(value));
  }
  const numberOf = (key: string): number | undefined => {
    const value = settings.get(key);
    return value === undefined || typeof value === "number" ? value : fail(`${key} is a number`);
  };
  const wanted = settings.get("target");
  const target = Object.values(ALL_TARGETS).find(({ name }) => name === wanted);
  if (wanted !== undefined && target === undefined) fail(`${wanted} is no target`);
  const defaults = readOptions([]);
  const wantedForm = settings.get("form") ?? "plain";
  const form = FORMS.find((one) => one === wantedForm) ??
    fail(`a form is one of ${FORMS.join(", ")}`);
  return {
    after: after === NO_STEP ? undefined : after,
    target,
    form,
    entry: {
      numWarps: numberOf("num_warps") ?? defaults.numWarps,
      numCtas: numberOf("num_ctas") ?? defaults.numCtas,
      numStages: numberOf("num_stages"),
      maxRegisters: numberOf("max_registers"),
      floats: floatsOf(settings.get("floats")) ?? defaults.floats,
    },
  };
}

const KEYS: readonly string[] = [
  ...["target", "num_warps", "num_ctas", "num_stages", "max_registers", "form", "floats"],
];

function parseSetting(text: string): Setting {
  if (text.startsWith('"')) return text.slice(1, -1);
  return text.startsWith("[") ? [...text.matchAll(/\w+/g)].map(([word]) => word) : Number(text);
}

/** Words that are not there are off. */
function floatsOf(words: Setting | undefined): FloatOptions | undefined {
  if (!Array.isArray(words)) return undefined;
  const has = (name: keyof FloatOptions): boolean =>
    words.some((word) => FLOATS[String(word)] === name);
  return {
    contract: has("contract"),
    flush: has("flush"),
    fastDivision: has("fastDivision"),
    precise: has("precise"),
  };
}
