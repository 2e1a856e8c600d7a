/** Completion for fish: one `complete` per word. */
import type { CommandWords, OptionWords, Values } from "./model.ts";

/** The script, for a folder such as `~/.config/fish/completions/tri.fish`. */
export function fishCompletions(commands: readonly CommandWords[]): string {
  return [
    "# Completion of tri for fish: put it as tri.fish into ~/.config/fish/completions.",
    "complete -c tri -f",
    ...commands.map(({ name, summary }) =>
      `complete -c tri -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`
    ),
    ...commands.flatMap(({ name, options, operands }) => [
      ...options.map((option) => optionLine(name, option)),
      ...operandLines(name, operands),
    ]),
    "",
  ].join("\n");
}

function within(command: string): string {
  return `complete -c tri -n '__fish_seen_subcommand_from ${command}'`;
}

function optionLine(command: string, { name, short, help, values }: OptionWords): string {
  return [
    within(command),
    ...(short === undefined ? [] : [`-s ${short}`]),
    `-l ${name}`,
    ...valueWords(values),
    `-d ${quoted(help)}`,
  ].join(" ");
}

function valueWords(values: Values): string[] {
  switch (values.kind) {
    case "words":
      return ["-x", `-a ${quoted(values.words.join(" "))}`];
    case "folders":
      return ["-x", "-a '(__fish_complete_directories)'"];
    case "sources":
    case "files":
      return ["-r", "-F"];
    case "text":
      return ["-x"];
    case "nothing":
      return [];
  }
}

function operandLines(command: string, operands: Values): string[] {
  switch (operands.kind) {
    case "words":
      return [`${within(command)} -a ${quoted(operands.words.join(" "))}`];
    case "sources":
      return [`${within(command)} -a '(__fish_complete_suffix .tc)'`];
    case "folders":
    case "files":
      return [`${within(command)} -F`];
    case "nothing":
    case "text":
      return [];
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
