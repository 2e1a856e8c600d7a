/** What can be completed, from the tables of commands and options; each shell prints it in its own language. */
import { type CommandName, commandRow, COMMANDS, isCommand } from "../words/commands.ts";
import { optionRow } from "../words/options.ts";

/** Candidates at a position. */
export type Values =
  | { readonly kind: "nothing" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** `.tc` files and folders. */
  | { readonly kind: "sources" }
  | { readonly kind: "folders" }
  | { readonly kind: "files" }
  /** Any text. */
  | { readonly kind: "text" };

export interface OptionWords {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly help: string;
  readonly many: boolean;
  readonly placeholder: string;
  /** `nothing` for a flag. */
  readonly values: Values;
}

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  readonly operands: Values;
}

/** Every command of tri. */
export function commandWords(): CommandWords[] {
  return Object.keys(COMMANDS).filter(isCommand).map((name) => {
    const { summary, options } = commandRow(name);
    return { name, summary, options: options.map(optionWords), operands: operandsOf(name) };
  });
}

function optionWords(name: Parameters<typeof optionRow>[0]): OptionWords {
  const { type, short, value = "", help, many, choices } = optionRow(name);
  return {
    name,
    ...(short === undefined ? {} : { short }),
    help,
    many: many === true,
    placeholder: value,
    values: type === "flag"
      ? { kind: "nothing" }
      : choices !== undefined
      ? { kind: "words", words: choices }
      : BY_PLACEHOLDER[value] ?? { kind: "text" },
  };
}

const BY_PLACEHOLDER: Readonly<Record<string, Values>> = {
  DIR: { kind: "folders" },
  FILE: { kind: "files" },
};

function operandsOf(name: CommandName): Values {
  const { operands, operandChoices } = commandRow(name);
  if (operandChoices !== undefined) return { kind: "words", words: operandChoices };
  if (operands === "") return { kind: "nothing" };
  return /DIR|FILE/.test(operands) ? { kind: "sources" } : { kind: "text" };
}
