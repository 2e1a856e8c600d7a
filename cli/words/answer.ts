/**
 * Command lines that the tables answer: `--help` and `--version`. Nothing that this file imports uses a built-in module of Node,
 * which would double the time that they take on Deno.
 */
import { runtimeVersions } from "../host/runtime.ts";
import { jsonText } from "../json.ts";
import { VERSION } from "../version.ts";
import { isCommand } from "./commands.ts";
import { commandHelpText, helpText } from "./help.ts";

/** What is printed for the words after `tri`; undefined: they ask for something else, or are wrong. */
export function answerOf(words: readonly string[]): string | undefined {
  const [first, ...rest] = words;
  if (first === undefined || isHelp(first)) return helpText();
  if (first === "--version" || first === "-V") return versionText(rest.includes("--json"));
  if (first === "help") {
    const [command] = rest;
    if (command === undefined) return helpText();
    return isCommand(command) ? commandHelpText(command) : undefined;
  }
  return isCommand(first) && rest.some(isHelp) ? commandHelpText(first) : undefined;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function versionText(json: boolean): string {
  return json ? jsonText({ tri: VERSION, ...runtimeVersions() }) : `tri ${VERSION}\n`;
}
