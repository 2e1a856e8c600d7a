/** What `tri build` has to do: what the output folder holds, what is wanted, and the difference. */
import { sha256 } from "../files/hash.ts";
import type { BuildPlan } from "./build.ts";
import type { Judged } from "./report.ts";
import { type BuildInputs, type BuildState, readState, stableJson, whyStale } from "./state.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { usageError } from "../failure.ts";
import { probeAgain } from "../project/include.ts";
import { jobCount } from "../words/jobs.ts";
import { hashOnDisk } from "../files/output_folder.ts";
import { absolutePath, folderOf, joinPath } from "../files/paths.ts";
import { isFile, readTextIfThere } from "../project/project.ts";
import { type Assemblers, findAssemblers } from "../tools/ptxas.ts";
import { remoteSettings } from "../remote/settings.ts";
import type { Session } from "../project/session.ts";

/** The module that re-exports all wrappers, without its ending. */
export const INDEX = "mod";
export const MANIFEST_FILE = "manifest.json";

/** What is there, what is wanted, and the difference. */
export interface Inventory {
  readonly plan: BuildPlan;
  readonly assemblers: Assemblers | undefined;
  readonly state: BuildState;
  /** The facts of the last build by stem; undefined: lost or changed. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
  readonly judged: readonly Judged[];
  readonly stale: readonly Judged[];
  /** Stems whose source is no longer there. */
  readonly gone: readonly string[];
}

/** Whether there is nothing to do. */
export function isDone({ stale, gone, state }: Inventory): boolean {
  return stale.length === 0 && gone.length === 0 && Object.keys(state.removing).length === 0;
}

/** Looks at the output folder. */
export async function takeInventory(
  invocation: Invocation,
  session: Session,
  { toolchain }: CommandContext,
): Promise<Inventory> {
  const out = absolutePath(invocation.text("out") ?? "generated");
  if (isFile(out)) throw usageError(`--out ${out} is a file`, "Name a folder.");
  const state = readState(out);
  const assemblers = invocation.flag("no-cubin") ? undefined : await findAssemblers();
  const plan: BuildPlan = {
    project: session.project,
    includeFolders: invocation.list("include"),
    assemblers: assemblers?.usable ?? [],
    cubins: assemblers !== undefined,
    // A bundle has no files beside it.
    embed: invocation.flag("embed") || invocation.flag("bundle"),
    compact: invocation.flag("compact"),
    emit: invocation.text("emit") === "js" ? "js" : "ts",
    out,
    jobs: jobCount(invocation.text("jobs")),
    remote: remoteSettings(invocation, session.project),
  };
  const manifest = readManifest(out, state, `${INDEX}.${plan.emit}`);
  const known = manifest === undefined ? undefined : state;
  const identity = await toolchain.identity();
  const judged = judge(session, invocation.flag("force"), plan, identity, known);
  const stale = judged.filter(({ reason }) => reason !== undefined);
  const gone = goneSources(state, session);
  return { plan, assemblers, state, manifest, judged, stale, gone };
}

/** The manifest's facts by stem, if the file is the one that the state records. */
function readManifest(
  out: string,
  state: BuildState,
  indexFile: string,
): Readonly<Record<string, unknown>> | undefined {
  const text = readTextIfThere(joinPath(out, MANIFEST_FILE));
  if (text === undefined || state.shared[MANIFEST_FILE] !== sha256(text)) return undefined;
  const index = hashOnDisk(out, indexFile);
  if (index === undefined || index !== state.shared[indexFile]) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("sources" in value)) return undefined;
  return typeof value.sources === "object" && value.sources !== null
    ? { ...value.sources }
    : undefined;
}

function judge(
  { project, sources, optionsFor, measuredFor, exportsFor }: Session,
  isForced: boolean,
  plan: BuildPlan,
  tri: string,
  state: BuildState | undefined,
): Judged[] {
  return sources.map((source) => {
    const options = optionsFor(source);
    // Verifying changes nothing in the output.
    const { verify: _verify, ...decisive } = options;
    const measured = measuredFor(source);
    const exports = exportsFor(source);
    const earlier = state?.sources[source.stem];
    const inputs: BuildInputs = {
      source: sha256(`${source.file.name}\n${source.file.text}`),
      includes: earlier === undefined ? {} : probeAgain(project.root, earlier.inputs.includes),
      options: sha256(
        stableJson([
          decisive,
          plan.includeFolders,
          plan.embed,
          plan.compact,
          plan.emit,
          ...measured,
          ...Object.keys(exports).length === 0 ? [] : [exports],
        ]),
      ),
      tri,
      assemblers: plan.cubins ? assemblersFor(plan, options.targets) : "not wanted",
    };
    const reason = isForced
      ? "--force"
      : whyStale(earlier, inputs, (path) => hashOnDisk(plan.out, path));
    return {
      source,
      inputs,
      reason: state === undefined ? reason ?? "the manifest changed" : reason,
    };
  });
}

/** Versions that matter for these targets. Where the programs lie does not. */
function assemblersFor(plan: BuildPlan, targets: readonly string[]): string {
  const versions = plan.assemblers.flatMap(({ version, archs }) => {
    const known = targets.filter((target) => archs.includes(target));
    return known.length === 0 ? [] : [`${version}: ${known.join(" ")}`];
  });
  return [...new Set(versions)].join("; ");
}

/** Stems of an earlier build whose source is no longer there, or is built under other names. */
function goneSources(state: BuildState, { project, all }: Session): string[] {
  return Object.entries(state.sources).filter(([stem, { file }]) =>
    !all.some((source) => source.stem === stem) &&
    (!isFile(joinPath(project.root, file)) ||
      all.some((source) => source.file.name === file && folderOf(source.stem) === folderOf(stem)))
  ).map(([stem]) => stem);
}
