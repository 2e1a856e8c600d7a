/** `tri config`: the settings that a build with the same words would use, and where each of them comes from. */
import type { CompileOptions } from "../../compiler/options.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { showDiagnostics } from "../diagnostics/format.ts";
import { readEnv } from "../host/environment.ts";
import { EXIT } from "../failure.ts";
import { relativePath } from "../files/paths.ts";
import { jsonText } from "../json.ts";
import { labelOf, type Project, settingsOf, type Source } from "./project.ts";
import { remoteSettings } from "../remote/settings.ts";
import { hasErrors, openSession } from "./session.ts";
import { selectTargets } from "./targets.ts";
import type { ExportNames } from "./export_names.ts";
import { printTable } from "../report/table.ts";
import { tunePathOf } from "../tune/file.ts";

/** A setting in force. */
interface Setting {
  /** The source that it is for; `*`: all. */
  readonly file: string;
  readonly setting: string;
  readonly value: string;
  /** An option, a variable of the environment, a file, or `default`. */
  readonly from: string;
}

/** What finds programs and devices. */
const VARIABLES = ["TRI_PTXAS", "CUDA_HOME", "CUDA_PATH", "TRI_DEVICE"];

/** The body of the command. */
export async function runConfig(invocation: Invocation, context: CommandContext): Promise<number> {
  const { terminal, toolchain } = context;
  const { project, sources, optionsFor, exportsFor } = await openSession(invocation);
  const { root, configFile, reporter: { diagnostics } } = project;
  const settings = [
    ...await sharedSettings(invocation, project),
    ...sources.flatMap((source) =>
      fileSettings(source, project, optionsFor(source), exportsFor(source))
    ),
  ];
  const ok = !hasErrors(diagnostics);
  if (invocation.flag("json")) {
    const { json } = await toolchain.render();
    terminal.print(
      jsonText({ ok, root, config: configFile, settings, diagnostics: diagnostics.map(json) }),
    );
  } else {
    await showDiagnostics(diagnostics, context, { format: "pretty", root });
    terminal.say(`project: ${root} (${configFile ?? "without settings"})`);
    terminal.print(printTable({
      columns: ["file", "setting", "value", "from"],
      words: 4,
      rows: settings.map(({ file, setting, value, from }) => [file, setting, value, from]),
    }));
  }
  return ok ? EXIT.ok : EXIT.kernels;
}

async function sharedSettings(
  invocation: Invocation,
  project: Project,
): Promise<Setting[]> {
  const targets = await selectTargets(invocation.list("arch"));
  const variables = VARIABLES.flatMap((setting): Setting[] => {
    const value = readEnv(setting);
    return value === undefined ? [] : [{ file: "*", setting, value, from: "environment" }];
  });
  const remote = remoteSettings(invocation, project);
  const from = invocation.flag("arch") ? "--arch" : "default";
  return [
    { file: "*", setting: "targets", value: targets.join(" "), from },
    ...variables,
    ...remote === undefined ? [] : [{
      file: "*",
      setting: "remote cache",
      value: `${remote.url}${remote.write ? ", also stored" : ""}`,
      from: remote.from,
    }],
  ];
}

function fileSettings(
  source: Source,
  project: Project,
  { defines = [], overrides = [], configurations }: CompileOptions,
  exports: ExportNames,
): Setting[] {
  const { root, configFile } = project;
  const [name, fromFiles] = [labelOf(source), settingsOf(project, source)];
  return [
    ...defines.map((define): Setting => ({
      file: name,
      setting: `macro ${define.name}`,
      value: define.value ?? "(undefined)",
      from: fromFiles.some(({ defines }) => defines.includes(define))
        ? configFile ?? ""
        : define.value === null
        ? "-U"
        : "-D",
    })),
    ...overrides.map(({ kernel, text, origin }): Setting => ({
      file: name,
      setting: kernel === undefined ? "pragma" : `pragma of ${kernel}`,
      value: text,
      from: origin.replace(/^<(.*)>$/, "$1"),
    })),
    ...Object.entries(exports).map(([kernel, chosen]): Setting => ({
      file: name,
      setting: `export of ${kernel}`,
      value: chosen,
      from: fromFiles.some(({ exports }) => exports.some((one) => one.name === chosen))
        ? configFile ?? ""
        : "--export",
    })),
    ...(typeof configurations === "object" && "also" in configurations
      ? [{
        file: name,
        setting: "configurations",
        value: "fastest measured",
        from: relativePath(root, tunePathOf(source.path)),
      }]
      : []),
  ];
}
