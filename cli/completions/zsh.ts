/** Completion for zsh: `_arguments` gets the options of the command that was typed. */
import type { CommandWords, OptionWords, Values } from "./model.ts";

/** The script: the file `_tri` of a folder in `fpath`, or sourced after `compinit`. */
export function zshCompletions(commands: readonly CommandWords[]): string {
  return [
    "#compdef tri",
    "# Completion of tri for zsh: put it as _tri into a folder of fpath, or source it after compinit.",
    "_tri() {",
    "  local -a commands",
    "  commands=(",
    ...commands.map(({ name, summary }) =>
      `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`
    ),
    "  )",
    "  if (( CURRENT == 2 )); then",
    "    _describe -t commands command commands",
    "    return",
    "  fi",
    "  local command=$words[2]",
    "  shift words",
    "  (( CURRENT-- ))",
    "  case $command in",
    "    help) _describe -t commands command commands ;;",
    ...commands.flatMap(commandCase),
    "  esac",
    "}",
    'if [[ ${funcstack[1]} == _tri ]]; then _tri "$@"; else compdef _tri tri; fi',
    "",
  ].join("\n");
}

function commandCase({ name, options, operands }: CommandWords): string[] {
  const specs = [
    ...options.flatMap(optionSpecs),
    ...(operands.kind === "nothing" ? [] : [`*:${name}:${actionOf(operands)}`]),
  ];
  return [
    `    ${name})`,
    "      _arguments \\",
    `        ${specs.map(quoted).join(" \\\n        ")}`,
    "      ;;",
  ];
}

function optionSpecs({ name, short, help, many, placeholder, values }: OptionWords): string[] {
  const value = values.kind === "nothing" ? "" : `:${placeholder}:${actionOf(values)}`;
  const repeat = many ? "*" : "";
  const about = `[${help.replaceAll("\\", "\\\\").replace(/[[\]:]/g, "\\$&")}]`;
  return [
    `${repeat}--${name}${values.kind === "nothing" ? "" : "="}${about}${value}`,
    ...(short === undefined ? [] : [`${repeat}-${short}${about}${value}`]),
  ];
}

function actionOf(values: Values): string {
  switch (values.kind) {
    case "words":
      return `(${values.words.join(" ")})`;
    case "sources":
      return '_files -g "*.tc(-.)"';
    case "folders":
      return "_files -/";
    case "files":
      return "_files";
    case "nothing":
    case "text":
      return " ";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
