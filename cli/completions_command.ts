/** `tri completions SHELL`: prints the script by which a shell completes commands and options. */
import type { CommandContext, Invocation } from "./command.ts";
import { SHELLS } from "./options.ts";
import { bashCompletions } from "./completions/bash.ts";
import { fishCompletions } from "./completions/fish.ts";
import { commandWords } from "./completions/model.ts";
import { powershellCompletions } from "./completions/powershell.ts";
import { zshCompletions } from "./completions/zsh.ts";
import { EXIT, usageError } from "./failure.ts";

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
