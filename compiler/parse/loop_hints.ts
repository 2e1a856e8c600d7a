/** The hints of one `#pragma tri loop` line (language.md 10.3, `hint`). */
import type { Reporter } from "../support/diagnostic.ts";
import type { LoopHint } from "./ast.ts";
import type { Token } from "../preprocess/token.ts";

interface HintRow {
  /** What is allowed between the parentheses. */
  readonly argument: RegExp;
  readonly optional: boolean;
  readonly form: string;
}

/** Every hint. */
export const HINTS: Readonly<Record<LoopHint["name"], HintRow>> = {
  unroll: { argument: /^[1-9]\d*$/, optional: true, form: "`unroll` or `unroll(4)`" },
  num_stages: { argument: /^[1-9]\d*$/, optional: false, form: "`num_stages(3)`" },
  pipeline: {
    argument: /^(?:on|off)$/,
    optional: false,
    form: "`pipeline(on)` or `pipeline(off)`",
  },
  flatten: { argument: /^(?!)/, optional: true, form: "`flatten`" },
};

function isHintName(text: string): text is LoopHint["name"] {
  return Object.hasOwn(HINTS, text);
}

/** Reads the text of a `loop-pragma` token; what is wrong in it is reported and left out. */
export function parseLoopHints({ text, span }: Token, reporter: Reporter): LoopHint[] {
  const hints: LoopHint[] = [];
  // A word with an optional argument, or one stray character.
  for (const [piece, name, argument] of text.matchAll(/(\w+)\s*(?:\(([^()]*)\))?|\S/g)) {
    if (name === undefined || !isHintName(name)) {
      reporter.error("E9005", span, `unknown loop hint \`${name ?? piece}\``, {
        hint: `hints are ${Object.keys(HINTS).join(", ")}`,
      });
      continue;
    }
    const { argument: wanted, optional, form } = HINTS[name];
    const value = argument?.trim();
    if (value === undefined ? !optional : !wanted.test(value)) {
      reporter.error("E9014", span, `wrong value in loop hint \`${piece.trim()}\``, {
        hint: `write ${form}`,
      });
      continue;
    }
    hints.push(value === undefined ? { name, span } : { name, argument: value, span });
  }
  return hints;
}
