/** The text of `--help`, from the tables of commands and options. */
import { type CommandName, commandRow, COMMANDS, defaultOf, isCommand } from "./commands.ts";
import { type OptionName, optionRow } from "./options.ts";

/** `tri --help`. */
export function helpText(): string {
  const names = Object.keys(COMMANDS).filter(isCommand);
  return [
    "tri: compiles Triton-C kernels ahead of time, with typed TypeScript wrappers.",
    "",
    "Usage: tri COMMAND [OPTIONS]",
    "",
    "Commands:",
    ...columns(names.map((name) => [name, commandRow(name).summary])),
    "",
    "Options:",
    ...columns([["-h, --help", "help on a command: tri COMMAND --help"], [
      "-V, --version",
      optionRow("version").help,
    ]]),
    "",
    "Exit codes: 0 success, 1 errors in kernels, 2 wrong usage, 3 incomplete environment,",
    "4 interrupted (Ctrl-C).",
    "",
  ].join("\n");
}

/** `tri COMMAND --help`. */
export function commandHelpText(command: CommandName): string {
  const row = commandRow(command);
  return [
    `tri ${command}: ${row.summary}.`,
    "",
    `Usage: tri ${command} ${row.operands === "" ? "" : `${row.operands} `}[OPTIONS]`,
    "",
    "Options:",
    ...columns(row.options.map((name) => [optionHead(name), optionHelp(command, name)])),
    "",
  ].join("\n");
}

function optionHead(name: OptionName): string {
  const { short, value } = optionRow(name);
  return `${short === undefined ? "    " : `-${short}, `}--${name}${
    value === undefined ? "" : ` ${value}`
  }`;
}

function optionHelp(command: CommandName, name: OptionName): string {
  const preset = defaultOf(command, name);
  const { help, choices } = optionRow(name);
  const values = choices === undefined ? "" : `: ${choices.join(", ")}`;
  return help + values + (preset === undefined || preset === "" ? "" : ` (default: ${preset})`);
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([head]) => head.length));
  return rows.map(([head, text]) => `  ${head.padEnd(width)}  ${text}`);
}
