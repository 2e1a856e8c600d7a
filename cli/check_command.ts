/** `tri check`: compiles in memory and shows what is wrong. */
import { dropLocalUnusedDefines } from "./build.ts";
import type { CommandContext } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { includeFinder } from "./include.ts";
import type { Invocation } from "./parse.ts";
import { hasErrors, openSession, plural, showDiagnostics } from "./session.ts";

/** The body of the command. */
export async function runCheck(invocation: Invocation, context: CommandContext): Promise<number> {
  const { terminal, toolchain } = context;
  const { project, sources, optionsFor } = await openSession(invocation);
  const compiler = await toolchain.compiler();
  const results = sources.map((source, index) => {
    terminal.progress(`checking ${index + 1}/${sources.length} ${source.file.name}`);
    const { resolve } = includeFinder(project.root, invocation.list("include"));
    return compiler.compileFile(source.file, { ...optionsFor(source), include: resolve })
      .diagnostics;
  });
  terminal.endProgress();
  const diagnostics = [...project.reporter.diagnostics, ...dropLocalUnusedDefines(results, true)];
  const ok = !hasErrors(diagnostics);
  if (invocation.flag("json")) {
    const renderer = await toolchain.render();
    terminal.print(
      `${
        JSON.stringify(
          { ok, files: sources.length, diagnostics: diagnostics.map(renderer.json) },
          null,
          2,
        )
      }\n`,
    );
  } else {
    await showDiagnostics(diagnostics, context);
    if (diagnostics.length === 0) {
      terminal.say(`${plural(sources.length, "file")} checked, nothing to report`);
    }
  }
  return ok ? EXIT.ok : EXIT.kernels;
}
