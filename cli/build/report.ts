/** The report of `tri build`: how the build ended, as text on stderr or as JSON on stdout. */
import { format } from "@std/fmt/duration";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { addCounts, type AssemblerWarning, type Progress, type Rejected } from "./build.ts";
import type { BuildInputs, BuildState, Counts, Skipped, SourceState } from "./state.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT } from "../failure.ts";
import { formatOf, plural, showDiagnostics, type View } from "../diagnostics/format.ts";
import type { WriteReport } from "../files/output_folder.ts";
import { labelOf, type Source } from "../project/project.ts";
import type { Assemblers } from "../tools/ptxas.ts";
import { jsonText } from "../json.ts";

/** A source with the reason it must be built; no reason: it is up to date. */
export interface Judged {
  readonly source: Source;
  readonly inputs: BuildInputs;
  readonly reason: string | undefined;
}

/** What went wrong, and what of it has no output therefore. */
export interface Problems {
  readonly diagnostics: readonly Diagnostic[];
  readonly rejected: readonly Rejected[];
  /** Errors with `--werror`. */
  readonly warnings: readonly AssemblerWarning[];
  /** Sources that were to be built and were not. */
  readonly failed: readonly string[];
}

const NO_PROBLEMS: Pick<Problems, "rejected" | "warnings"> = { rejected: [], warnings: [] };

const VERBS = {
  compile: "compiling",
  assemble: "assembling",
  fetch: "fetching",
  store: "storing",
} as const satisfies Record<Parameters<Progress>[0], string>;

/** What a remote cache did for a build, in sources. */
export interface RemoteCounts {
  readonly fetched: number;
  readonly stored: number;
}

/** Reports how a build ended, as text or as JSON; returns the exit code. */
export class BuildReport {
  readonly #view: View;
  readonly #json: boolean;
  readonly #watching: boolean;

  constructor(
    private readonly invocation: Invocation,
    private readonly context: CommandContext,
    root: string,
    private readonly started: number,
  ) {
    this.#view = { format: formatOf(invocation), root };
    this.#json = this.#view.format === "json";
    this.#watching = invocation.flag("watch");
  }

  readonly progress: Progress = (step, done, total, what) => {
    this.context.terminal.progress(`${VERBS[step]} ${done + 1}/${total} ${what}`);
  };

  get #out(): string {
    return this.invocation.text("out") ?? "generated";
  }

  /** Nothing was written. */
  async failed(
    diagnostics: readonly Diagnostic[],
    { rejected, warnings }: Pick<Problems, "rejected" | "warnings"> = NO_PROBLEMS,
  ): Promise<number> {
    if (this.#json) await this.#print({ ok: false, rejected, warnings }, diagnostics);
    else {
      await this.#showProblems(diagnostics, rejected, warnings);
      this.#say("nothing was written");
    }
    return EXIT.kernels;
  }

  /** Waits for another build into the folder. */
  waiting(): void {
    this.#say(`waiting for another build into ${this.#out}`);
  }

  async checked(
    stale: readonly Judged[],
    gone: readonly string[],
    judged: readonly Judged[],
  ): Promise<number> {
    const list = [
      ...stale.map(({ source, reason }) => ({ source: labelOf(source), reason: reason ?? "" })),
      ...gone.map((stem) => ({ source: stem, reason: "the source is gone" })),
    ];
    const ok = list.length === 0;
    await showDiagnostics([], this.context, this.#view);
    if (this.#json) await this.#print({ ok, stale: list }, []);
    else if (ok) this.#remark(`${plural(judged.length, "file")} up to date in ${this.#out}`);
    else {
      for (const { source, reason } of list) this.#say(`stale: ${source}: ${reason}`);
      this.#say(`${this.#out} is not up to date; run tri build`);
    }
    return ok ? EXIT.ok : EXIT.kernels;
  }

  /** Reports why sources are built, before the work begins. */
  explained(stale: readonly Judged[], gone: readonly string[]): void {
    for (const { source, reason } of stale) this.#say(`${labelOf(source)}: ${reason}`);
    for (const stem of gone) this.#say(`${stem}: the source is gone`);
  }

  async nothingToDo(judged: readonly Judged[], state: BuildState): Promise<number> {
    const counts = addCounts(
      judged.flatMap(({ source }) => state.sources[source.stem]?.counts ?? []),
    );
    await showDiagnostics([], this.context, this.#view);
    if (this.#json) await this.#print({ ok: true, upToDate: true, ...counts }, []);
    else {
      const count = plural(counts.kernels, "kernel");
      this.#remark(`nothing to do: ${count} up to date in ${this.#out}`);
    }
    return EXIT.ok;
  }

  async built(
    sources: Readonly<Record<string, SourceState>>,
    builtSources: number,
    { diagnostics, rejected, warnings, failed }: Problems,
    written: WriteReport,
    assemblers: Assemblers | undefined,
    remote: RemoteCounts | undefined,
  ): Promise<number> {
    const counts = addCounts(Object.values(sources).map((source) => source.counts));
    const skipped = Object.values(sources).flatMap((source) => source.skipped);
    const ok = failed.length === 0;
    if (this.#json) {
      const facts = { ok, upToDate: false, ...counts, ...written, skipped, warnings, remote };
      await this.#print({ ...facts, ...ok ? {} : { failed, rejected } }, diagnostics);
      return ok ? EXIT.ok : EXIT.kernels;
    }
    await this.#showProblems(diagnostics, rejected, warnings);
    this.#sayCounts(counts, builtSources, written);
    this.#sayAliases(sources);
    if (remote !== undefined) this.#sayRemote(remote, builtSources);
    const empty = Object.values(sources).filter((source) => source.counts.kernels === 0);
    if (empty.length > 0) {
      this.#say(
        `without a kernel, so without a wrapper: ${empty.map(({ file }) => file).join(", ")}`,
      );
    }
    for (const name of failed) {
      const isKept = Object.values(sources).some(({ file }) => file === name);
      this.#say(`not built: ${name}${isKept ? "; the output of its last build stays" : ""}`);
    }
    this.#saySkipped(skipped, assemblers);
    return ok ? EXIT.ok : EXIT.kernels;
  }

  async #showProblems(
    diagnostics: readonly Diagnostic[],
    rejected: readonly Rejected[],
    warnings: readonly AssemblerWarning[],
  ): Promise<void> {
    await showDiagnostics(diagnostics, this.context, this.#view);
    for (const { kernel, arch, assembler, message } of rejected) {
      this.#say(
        `error: ${assembler} refused the code of ${kernel} for ${arch}. This is a defect in tri; please report it.`,
      );
      this.#say(`  ${message.replaceAll("\n", "\n  ")}`);
    }
    this.#sayWarnings(warnings);
  }

  #sayCounts(
    { kernels, variants, instances }: Counts,
    builtSources: number,
    { written, unchanged, removed }: WriteReport,
  ): void {
    const milliseconds = Math.ceil(performance.now() - this.started);
    const files = [
      `${written.length} written`,
      `${unchanged} unchanged`,
      ...(removed.length > 0 ? [`${removed.length} removed`] : []),
    ];
    const built = `built ${plural(builtSources, "source")}: ${plural(kernels, "kernel")}, ${
      plural(variants, "variant")
    }, ${plural(instances, "instance")} in ${this.#out} in ${
      format(milliseconds, { ignoreZero: true })
    }`;
    const changes = `files: ${files.join(", ")}`;
    // With `--watch` each build is one line.
    for (const line of this.#watching ? [`${built}; ${changes}`] : [built, changes]) {
      this.#remark(line);
    }
  }

  /** Kernels of one name; types follow their kernels. */
  #sayAliases(sources: Readonly<Record<string, SourceState>>): void {
    const exported = Object.entries(sources).flatMap(([stem, { exports }]) =>
      exports.values.map((name) => ({ stem, name }))
    );
    for (const [name, same] of groupBy(exported, ({ name }) => name)) {
      if (same.length === 1 || this.#watching) continue;
      const stems = same.map(({ stem }) => stem).join(", ");
      this.#remark(
        `note: ${name} is exported by ${stems}; the index has an alias for each, ${name} and the path. ` +
          'Other names: "exports" of the file in the settings, or --export KERNEL=NAME',
      );
    }
  }

  #sayRemote({ fetched, stored }: RemoteCounts, builtSources: number): void {
    const parts = [
      `${fetched} of ${plural(builtSources, "source")} fetched`,
      ...(stored > 0 ? [`${stored} stored`] : []),
    ];
    this.#remark(`remote cache: ${parts.join(", ")}`);
  }

  #sayWarnings(warnings: readonly AssemblerWarning[]): void {
    const { terminal } = this.context;
    const severity = this.invocation.flag("werror")
      ? terminal.style("red", "error")
      : terminal.style("yellow", "warning");
    for (const { kernel, arch, message } of warnings) {
      this.#say(`${severity}: ${kernel} for ${arch}: ${message}`);
    }
  }

  #saySkipped(skipped: readonly Skipped[], assemblers: Assemblers | undefined): void {
    const reasons = groupBy(skipped, ({ arch, reason }) => `${arch}: ${reason}`);
    if (reasons.size === 0 || this.#watching) return;
    this.#say(
      "cubins not made (the PTX is there; the driver compiles it when a wrapper is first used):",
    );
    for (const [reason, { length }] of reasons) {
      this.#say(`  ${reason} (${plural(length, "kernel")})`);
    }
    for (const { path, reason } of assemblers?.rejected ?? []) {
      this.#say(`  not used: ${path}: ${reason}`);
    }
    this.#say("  tri doctor shows what was found; TRI_PTXAS may list more assemblers");
  }

  #say(line: string): void {
    this.context.terminal.say(line);
  }

  #remark(line: string): void {
    this.context.terminal.remark(line);
  }

  async #print(
    facts: Readonly<Record<string, unknown>>,
    diagnostics: readonly Diagnostic[],
  ): Promise<void> {
    const renderer = await this.context.toolchain.render();
    const document = { ...facts, out: this.#out, diagnostics: diagnostics.map(renderer.json) };
    this.context.terminal.print(jsonText(document, this.#watching ? "lines" : "pretty"));
  }
}
