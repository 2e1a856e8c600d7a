/** COMMANDS: every command of `tri`. Parsing, `--help` and "did you mean" read this table and OPTIONS. */
import { CODES } from "../../compiler/support/codes.ts";
import type { CommandRow } from "../command.ts";
import { type OptionName, optionRow, SHELLS } from "./options.ts";

/** Options that say what is compiled; the same for every command that compiles. */
const COMPILE: readonly OptionName[] = [
  "arch",
  "define",
  "undefine",
  "include",
  "kernel",
  "variant",
  "config",
  "grid",
  "key",
  "num-warps",
  "num-stages",
  "require",
  "max-tile-elements",
  "debug",
];
const WARNINGS: readonly OptionName[] = ["werror", "no-warn", "warn"];

export const COMMANDS = {
  build: {
    summary: "compile .tc files to PTX, cubins and typed wrappers",
    operands: "[DIR, FILE or GLOB]...",
    options: [
      "out",
      ...COMPILE,
      ...WARNINGS,
      "export",
      "configs",
      "embed",
      "compact",
      "bundle",
      "platform",
      "emit",
      "no-cubin",
      "remote-cache",
      "remote-cache-write",
      "jobs",
      "check",
      "watch",
      "quiet",
      "explain",
      "force",
      "verify",
      "json",
      "format",
      "help",
    ],
  },
  check: {
    summary: "report the diagnostics of .tc files; write nothing",
    operands: "[DIR, FILE or GLOB]...",
    options: [
      ...COMPILE,
      ...WARNINGS,
      "export",
      "configs",
      "watch",
      "quiet",
      "json",
      "format",
      "help",
    ],
  },
  fmt: {
    summary: "format .tc files and headers in place, or text on stdin",
    operands: "[DIR, FILE or GLOB, or -]...",
    options: ["check", "quiet", "help"],
  },
  inspect: {
    summary: "print the output of one phase of the compiler",
    operands: "FILE.tc or FILE.ir",
    options: [
      "stage",
      "after",
      "passes",
      "time",
      "verify",
      ...COMPILE,
      "configs",
      "size",
      "json",
      "help",
    ],
    defaults: { arch: "sm_90" },
  },
  lsp: {
    summary: "run the language server, on stdin and stdout",
    operands: "",
    options: [...COMPILE, ...WARNINGS, "help"],
  },
  debug: {
    summary: "run the debug adapter for one kernel on the emulator, on stdin and stdout",
    operands: "FILE.tc",
    options: [...COMPILE, "configs", "size", "help"],
    defaults: { arch: "sm_90", configs: "first" },
  },
  config: {
    summary: "show the settings that a build would use, and where each comes from",
    operands: "[DIR, FILE or GLOB]...",
    options: [
      ...COMPILE,
      "configs",
      "remote-cache",
      "remote-cache-write",
      "json",
      "help",
    ],
  },
  cache: {
    summary: "list or verify what the last build recorded, or remove its output",
    operands: "[list or verify or clear]",
    operandChoices: ["list", "verify", "clear"],
    options: ["out", "remote-cache", "json", "help"],
  },
  new: {
    summary: "create a kernel, its test and its benchmark, in this project or in a new one",
    operands: "NAME",
    options: ["package", "help"],
  },
  completions: {
    summary: "print the completion script of a shell",
    operands: "SHELL",
    operandChoices: SHELLS,
    options: ["help"],
  },
  explain: {
    summary: "explain a diagnostic, with a wrong and a correct program",
    operands: "[CODE]...",
    operandChoices: Object.keys(CODES),
    options: ["help"],
  },
  bench: {
    summary: "time a benchmark module on a GPU; plot and compare recordings",
    operands: "MODULE.ts or RECORDING.json...",
    options: [
      "rounds",
      "cache",
      "save",
      "with",
      "date",
      "compare",
      "least-change",
      "fail-if-slower",
      "json",
      "help",
    ],
  },
  test: {
    summary: "build kernels, then run their tests and the examples in their comments",
    operands: "[DIR, FILE or GLOB]...",
    options: [
      "out",
      ...COMPILE,
      ...WARNINGS,
      "configs",
      "emit",
      "no-cubin",
      "jobs",
      "filter",
      "device",
      "help",
    ],
  },
  tune: {
    summary: "time the configurations of kernels on the local GPUs, for the next build",
    operands: "[DIR, FILE or GLOB]...",
    options: [
      ...COMPILE,
      "size",
      "timeout",
      "shard",
      "merge",
      "estimate",
      "force",
      "jobs",
      "help",
    ],
    defaults: { arch: "sm_90", configs: "first" },
  },
  doc: {
    summary: "print Markdown about kernels, or with --out write pages of Markdown and HTML",
    operands: "[DIR, FILE or GLOB]...",
    options: ["out", ...COMPILE, "help"],
    defaults: { out: "", arch: "sm_90", configs: "first" },
  },
  doctor: {
    summary: "list GPUs, driver, assemblers and permissions",
    operands: "",
    options: ["json", "help"],
  },
} as const satisfies Record<string, CommandRow>;

export type CommandName = keyof typeof COMMANDS;

/** The row of a command. */
export function commandRow(name: CommandName): CommandRow {
  return COMMANDS[name];
}

/** Narrows a word to the name of a command. */
export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** What an option of a command is when it is not given. */
export function defaultOf(command: CommandName, name: OptionName): string | undefined {
  return commandRow(command).defaults?.[name] ?? optionRow(name).default;
}
