/** From what was built to the files of the output folder, with its index, its manifest and its record. */
import { WRAPPER_ABI } from "../../compiler/support/abi.ts";
import { must } from "../../compiler/support/bug.ts";
import { type Built, stateOf } from "./build.ts";
import type { Judged } from "./report.ts";
import { type BuildState, hashesOf, printState, stableJson, STATE_FILE } from "./state.ts";
import type { SourceState } from "./state.ts";
import { INDEX, type Inventory, MANIFEST_FILE } from "./inventory.ts";
import {
  guardFolders,
  guardForeignFiles,
  hashOnDisk,
  updateFolder,
  type WriteReport,
} from "../files/output_folder.ts";
import { joinPath } from "../files/paths.ts";
import { isFile } from "../project/project.ts";
import type { Staged, Staging } from "../files/staging.ts";
import type { Codegen } from "../tools/toolchain.ts";
import { VERSION } from "../version.ts";

/** JSR serves the files of a package. */
const MANIFEST_SCHEMA = `https://jsr.io/@tri/tri/${VERSION}/docs/manifest.schema.json`;

/** What the folder holds in the end. */
export interface Output {
  readonly sources: BuildState["sources"];
  readonly report: WriteReport;
}

/** Writes the folder. Sources that were not built keep what an earlier build made of them. */
export async function writeOutput(
  { plan: { out, emit }, state, manifest, judged, gone }: Inventory,
  built: readonly Built[],
  isForced: boolean,
  codegen: Codegen,
  staging: Staging,
): Promise<Output> {
  const kept = manifest === undefined ? [] : keptSources(state, built, gone);
  const sources = Object.fromEntries([...kept, ...newSources(judged, built)]);
  const stems = Object.keys(sources).sort();
  const isThere = (stem: string): boolean =>
    built.some(({ source }) => source.stem === stem) || isFile(joinPath(out, `${stem}.${emit}`));
  const indexed = stems.flatMap((stem) => {
    const { outputs, exports } = must(sources[stem], "a source");
    return `${stem}.${emit}` in outputs && isThere(stem) ? [{ stem, exports }] : [];
  });
  const facts = Object.fromEntries(
    stems.map((stem) => [
      stem,
      built.find(({ source }) => source.stem === stem)?.manifest ?? manifest?.[stem],
    ]),
  );
  const index = await codegen.index(indexed, { javascript: emit === "js" });
  const shared: [string, Staged][] = [
    ...[...index].map(([end, text]): [string, Staged] => [`${INDEX}${end}`, staging.add(text)]),
    [
      MANIFEST_FILE,
      staging.add(
        `${
          stableJson({
            $schema: MANIFEST_SCHEMA,
            format: 1,
            abi: WRAPPER_ABI,
            generator: VERSION,
            sources: facts,
          })
        }\n`,
      ),
    ],
  ];
  const files = new Map([...built.flatMap(({ files }) => [...files]), ...shared]);
  const earlier = hashesOf(state);
  if (!isForced) guardForeignFiles(out, files, new Set(earlier.keys()));

  const keptFiles = new Set(kept.flatMap(([, { outputs }]) => Object.keys(outputs)));
  guardFolders([...files.keys(), ...keptFiles]);
  const changing = [...earlier].filter(([path]) => !keptFiles.has(path));
  const obsolete = new Map(changing.filter(([path]) => !files.has(path)));
  // As they are until this build has removed or replaced them; the next one has to know them if it does not come to that.
  const before = changing.flatMap(([path, hashes]): [string, string][] => {
    const found = hashOnDisk(out, path);
    const isOurs = found !== undefined && hashes.has(found);
    return isOurs && found !== files.get(path)?.hash ? [[path, found]] : [];
  });
  const hashes = Object.fromEntries(shared.map(([path, { hash }]) => [path, hash]));
  const record = (removing: readonly (readonly [string, string])[]): [string, Staged] => {
    const text = printState({ sources, shared: hashes, removing: Object.fromEntries(removing) });
    return [STATE_FILE, staging.add(text)];
  };
  const report = updateFolder(out, new Map([record(before), ...files]), obsolete);
  if (before.length > 0) updateFolder(out, new Map([record([])]), new Map());
  return { sources, report: { ...report, unchanged: report.unchanged + keptFiles.size } };
}

/** What stays as it is: the sources that were not built and are still there. */
function keptSources(
  state: BuildState,
  built: readonly Built[],
  gone: readonly string[],
): [string, SourceState][] {
  return Object.entries(state.sources).filter(([stem]) =>
    !gone.includes(stem) && !built.some(({ source }) => source.stem === stem)
  );
}

function newSources(judged: readonly Judged[], built: readonly Built[]): [string, SourceState][] {
  return built.map((one) => {
    const found = judged.find(({ source }) => source === one.source);
    return [one.source.stem, stateOf(one, must(found, "the inputs of a built source").inputs)];
  });
}
