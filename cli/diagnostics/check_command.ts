/** `tri check`: compiles in memory and shows what is wrong. */
import { dropLocalUnusedDefines } from "../build/build.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT } from "../failure.ts";
import { formatOf, plural, showDiagnostics } from "./format.ts";
import { unwrappableDiagnostic } from "./unwrappable.ts";
import { includeFinder, type Probes } from "../project/include.ts";
import { checkKernelNames, hasErrors, openSession } from "../project/session.ts";
import { unknownExports } from "../project/export_names.ts";
import { labelOf, settingsOf } from "../project/project.ts";
import { must } from "../../compiler/support/bug.ts";
import { tuneProbe } from "../tune/tuned.ts";
import { jsonText } from "../json.ts";

/** The body of the command. */
export async function runCheck(invocation: Invocation, context: CommandContext): Promise<number> {
  if (!invocation.flag("watch")) return await checkOnce(invocation, context, {});
  const { watch } = await import("../watch.ts");
  return await watch(invocation, context, (probes) => checkOnce(invocation, context, probes));
}

/** Adds to `seen` where included files were looked for. */
async function checkOnce(
  invocation: Invocation,
  context: CommandContext,
  seen: Probes,
): Promise<number> {
  const { terminal, toolchain } = context;
  const format = formatOf(invocation);
  const { project, all, sources, optionsFor, exportsFor } = await openSession(invocation);
  const compiler = await toolchain.compiler();
  const mistakes = project.reporter.diagnostics;
  const results = sources.map((source, index) => {
    terminal.progress(`checking ${index + 1}/${sources.length} ${labelOf(source)}`);
    const { resolve, probes } = includeFinder(project.root, invocation.list("include"));
    const options = { ...optionsFor(source), include: resolve };
    const result = compiler.compileFile(source.file, options);
    Object.assign(seen, probes, tuneProbe(project.root, source.path));
    return result;
  });
  terminal.endProgress();
  const { check } = await toolchain.codegen();
  const found = results.map(({ diagnostics, kernels }, index) => {
    const source = must(sources[index], "the source of a result");
    if (kernels.length === 0) return diagnostics;
    const exports = settingsOf(project, source).flatMap(({ exports }) => exports);
    const unknown = unknownExports(exports, kernels.map(({ name }) => name));
    const bad = check(kernels, exportsFor(source));
    return [
      ...diagnostics,
      ...unknown,
      ...bad === undefined ? [] : [unwrappableDiagnostic(bad, kernels)],
    ];
  });
  const diagnostics = [...mistakes, ...dropLocalUnusedDefines(found, true)];
  const ok = !hasErrors(diagnostics);
  if (ok) {
    checkKernelNames(
      invocation,
      results.flatMap(({ kernels }) => kernels.map(({ name }) => name)),
    );
  }
  if (format === "json") {
    const renderer = await toolchain.render();
    terminal.print(
      jsonText(
        { ok, files: all.length, diagnostics: diagnostics.map(renderer.json) },
        invocation.flag("watch") ? "lines" : "pretty",
      ),
    );
  } else {
    await showDiagnostics(diagnostics, context, { format, root: project.root });
    if (diagnostics.length === 0) {
      terminal.remark(`${plural(all.length, "file")} checked, nothing to report`);
      const empty = sources.filter((_, index) => results[index]?.kernels.length === 0);
      if (empty.length > 0) {
        terminal.remark(`without a kernel: ${empty.map(({ file }) => file.name).join(", ")}`);
      }
    }
  }
  return ok ? EXIT.ok : EXIT.kernels;
}
