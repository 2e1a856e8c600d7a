/** `tri lsp`: a language server on stdin and stdout, until its editor sends `exit` or disconnects. */
import process from "node:process";
import type { CommandContext, Invocation } from "../command.ts";
import { serve } from "./server.ts";
import { workspaceFor } from "./workspace.ts";
import { selectTargets } from "../project/targets.ts";

/** The body of the command. */
export async function runLsp(
  invocation: Invocation,
  { toolchain }: CommandContext,
): Promise<number> {
  const targets = await selectTargets(invocation.list("arch"));
  const compiler = await toolchain.compiler();
  const { stdin, stdout } = process;
  return await serve(stdin, stdout, workspaceFor(invocation, targets), compiler);
}
