/** `tri completions SHELL`: prints the script by which a shell completes commands and options. */
import type { CommandContext, Invocation } from "../command.ts";
import { SHELLS } from "../words/options.ts";
import { bashCompletions } from "./bash.ts";
import { fishCompletions } from "./fish.ts";
import { commandWords } from "./model.ts";
import { powershellCompletions } from "./powershell.ts";
import { zshCompletions } from "./zsh.ts";
import { EXIT, usageError } from "../failure.ts";

const PRINTERS = {
  bash: bashCompletions,
  zsh: zshCompletions,
  fish: fishCompletions,
  powershell: powershellCompletions,
} as const;

/** The body of the command. */
export function runCompletions(
  { operands }: Invocation,
  { terminal }: CommandContext,
): Promise<number> {
  const shell = SHELLS.find((name) => name === operands[0]);
  if (shell === undefined || operands.length > 1) {
    throw usageError(
      "tri completions takes the name of a shell",
      `For this session of bash: source <(tri completions bash). There are ${SHELLS.join(", ")}.`,
    );
  }
  terminal.print(PRINTERS[shell](commandWords()));
  return Promise.resolve(EXIT.ok);
}
