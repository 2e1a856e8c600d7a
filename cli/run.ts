/** Runs one command line to its exit code. Nothing but our own defects ends in a stack trace. */
import { PassFailure } from "../compiler/driver/passes/pass_failure.ts";
import { BODIES } from "./bodies.ts";
import { parseCommandLine } from "./words/parse.ts";
import { asksForJson } from "./diagnostics/format.ts";
import { failureOf, tellFailure } from "./failure.ts";
import type { JsonLayout } from "./json.ts";
import { Terminal } from "./terminal.ts";
import type { Toolchain } from "./tools/toolchain.ts";

/** `words` are what follows `tri`. */
export async function runTri(
  words: readonly string[],
  toolchain: Toolchain,
  terminal: Terminal = new Terminal(),
): Promise<number> {
  let out = "generated";
  try {
    const parsed = parseCommandLine(words);
    switch (parsed.kind) {
      case "answer":
        terminal.print(parsed.text);
        return 0;
      case "run": {
        out = parsed.invocation.text("out") ?? out;
        terminal.isQuiet = parsed.invocation.flag("quiet");
        const body = await BODIES[parsed.command]();
        return await body(parsed.invocation, { terminal, toolchain });
      }
    }
  } catch (error) {
    const failure = failureOf(error);
    if (error instanceof PassFailure) {
      const { repeatHint, saveLastGood } = await import("./inspect/last_good.ts");
      const path = saveLastGood(error, out);
      if (path !== undefined) error.message += `\n${repeatHint(error, path)}`;
    }
    if (failure === undefined) throw error;
    tellFailure(failure, terminal, jsonLayout(words));
    return failure.exitCode;
  } finally {
    terminal.endProgress();
  }
}

/** How a failure is printed as JSON, if it is. */
function jsonLayout(words: readonly string[]): JsonLayout | undefined {
  if (!asksForJson(words)) return undefined;
  return words.includes("--watch") ? "lines" : "pretty";
}
