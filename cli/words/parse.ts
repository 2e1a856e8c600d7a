/**
 * The command line as data. `node:util` splits the words, because std's `parseArgs` loses their order, which `--kernel` needs,
 * and reads `-DTM=32` as `-D` with the value 32; the tables say which words exist.
 */
import { parseArgs } from "node:util";
import type { Override } from "../../compiler/options.ts";
import { didYouMean } from "./did_you_mean.ts";
import { Invocation } from "../command.ts";
import { answerOf } from "./answer.ts";
import { type CommandName, commandRow, COMMANDS, defaultOf, isCommand } from "./commands.ts";
import { type OptionName, optionRow, OPTIONS } from "./options.ts";
import { usageError } from "../failure.ts";

export type Parsed =
  | { readonly kind: "run"; readonly command: CommandName; readonly invocation: Invocation }
  | { readonly kind: "answer"; readonly text: string };

/** Reads the words after `tri`; throws a usage {@linkcode Failure} that names the bad one. */
export function parseCommandLine(words: readonly string[]): Parsed {
  const text = answerOf(words);
  if (text !== undefined) return { kind: "answer", text };
  const [first = "", ...rest] = words;
  const command = commandNamed(first === "help" ? rest[0] ?? "" : first);
  return { kind: "run", command, invocation: parseOptions(command, rest) };
}

function commandNamed(word: string): CommandName {
  if (isCommand(word)) return word;
  if (word === "") throw usageError("The command is an empty word", "See tri --help.");
  const what = word.startsWith("-")
    ? `An option cannot come before the command: ${word}`
    : `Unknown command: ${word}`;
  throw usageError(what, didYouMean(word, Object.keys(COMMANDS)) ?? "See tri --help.");
}

function parseOptions(command: CommandName, words: readonly string[]): Invocation {
  const allowed = commandRow(command).options;
  const values = new Map<OptionName, string[]>();
  const overrides: Override[] = [];
  const operands: string[] = [];
  let kernel: { readonly name: string; bound: boolean } | undefined;

  for (const token of tokenize(words)) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (token.value === "") {
        throw usageError(
          `tri ${command} got an empty word`,
          "A variable of the shell may be empty; leave the word out if nothing is meant.",
        );
      }
      operands.push(token.value);
      continue;
    }
    const name = allowed.find((option) => option === token.name);
    if (name === undefined) {
      throw usageError(
        `tri ${command} has no option ${token.rawName}`,
        didYouMean(token.name, allowed, (near) => `--${near}`) ?? `See tri ${command} --help.`,
      );
    }
    const value = checkedValue(name, token.value);
    if (name === "kernel") {
      kernel = { name: value, bound: false };
    }
    const pragma = optionRow(name).pragma;
    if (pragma !== undefined) {
      overrides.push({
        ...(kernel === undefined ? {} : { kernel: kernel.name }),
        text: pragma(value),
        origin: `<--${name}>`,
      });
      if (kernel !== undefined) kernel.bound = true;
    }
    const earlier = values.get(name);
    if (earlier === undefined) values.set(name, [value]);
    else if (optionRow(name).many === true) earlier.push(value);
    else throw usageError(`--${name} is given twice`, "Leave one of them out.");
  }
  const [operand] = operands;
  if (operand !== undefined && commandRow(command).operands === "") {
    throw usageError(`tri ${command} takes no file: ${operand}`, `See tri ${command} --help.`);
  }
  if (command !== "inspect" && command !== "tune" && kernel?.bound === false) {
    throw usageError(
      `--kernel ${kernel.name} has no effect: no --grid, --config, … follows it`,
      "Put it before the options of that kernel.",
    );
  }
  return new Invocation(
    command,
    operands,
    overrides,
    values,
    (name) => defaultOf(command, name),
  );
}

type Token = NonNullable<ReturnType<typeof tokenize>>[number];

function tokenize(words: readonly string[]): NonNullable<ReturnType<typeof parseArgs>["tokens"]> {
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, row]: [string, ReturnType<typeof optionRow>]) => [
      name,
      {
        type: row.type === "flag" ? "boolean" as const : "string" as const,
        multiple: true,
        ...(row.short === undefined ? {} : { short: row.short }),
      },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  return tokens;
}

function checkedValue(
  name: OptionName,
  value: Extract<Token, { kind: "option" }>["value"],
): string {
  const { type, value: placeholder, choices } = optionRow(name);
  if (type === "flag") {
    if (value !== undefined) throw usageError(`--${name} takes no value`);
    return "";
  }
  if (value === undefined || value === "") {
    throw usageError(`--${name} needs a value: --${name} ${placeholder ?? "VALUE"}`);
  }
  if (choices?.includes(value) === false) {
    throw usageError(
      `--${name} ${value}: not one of ${choices.join(", ")}`,
      didYouMean(value, choices),
    );
  }
  return value;
}
