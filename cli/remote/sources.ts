/**
 * What a source gave, to and from a remote cache. An action is one source with everything that decides its output; its value
 * lists the files of the output folder, and a record of other facts of a build. Which files a source includes is only known
 * once it was compiled, so a first action, without them, lists the sets of paths that builds looked at.
 */
import type { Built } from "../build/build.ts";
import type { Judged } from "../build/report.ts";
import { type BuildInputs, stableJson } from "../build/state.ts";
import type { Inventory } from "../build/inventory.ts";
import { sha256 } from "../files/hash.ts";
import type { Staged, Staging } from "../files/staging.ts";
import { probeAgain, type Probes } from "../project/include.ts";
import type { Source } from "../project/project.ts";
import { mapPool } from "../tools/process.ts";
import { type OutputFile, readActionResult, writeActionResult } from "./action_result.ts";
import type { BuildCache } from "./build_cache.ts";
import { parsePathSets, parseRecord, printRecord, type SourceRecord } from "./record.ts";

/** Goes into every key: values of another form have other keys. */
const FORMAT = 1;
/** The name of the record among the files of an action. No file of the output folder has it. */
const RECORD = ".tri-record.json";
/** Requests at once. */
const REQUESTS = 24;
/** Sets of paths that are kept for a source: its headers differ between branches. */
const MOST_PATH_SETS = 8;

/** Called with how much is done. */
export type FetchProgress = (done: number, total: number, what: string) => void;

type Plan = Inventory["plan"];

/** The key of a source without its includes, or with what was found at the paths looked at. */
function keyOf(plan: Plan, source: Source, inputs: BuildInputs, includes: Probes | null): string {
  const { source: text, options, tri, assemblers } = inputs;
  // Maps of JavaScript name the source by its path from the output folder.
  const out = plan.emit === "js" ? plan.out.slice(plan.project.root.length) : null;
  return sha256(
    stableJson([FORMAT, source.stem, text, options, tri, assemblers, out, includes]),
  );
}

/** A source that the cache has, before its files. */
interface Hit {
  readonly source: Source;
  readonly includes: Probes;
  readonly record: SourceRecord;
  readonly files: readonly OutputFile[];
}

/** Those of the sources that the cache has whole. */
export async function fetchSources(
  cache: BuildCache,
  plan: Plan,
  stale: readonly Judged[],
  staging: Staging,
  progress: FetchProgress,
): Promise<readonly Built[]> {
  let asked = 0;
  const hits = (await mapPool(stale, REQUESTS, async (judged) => {
    progress(asked++, stale.length, judged.source.file.name);
    return await lookUp(cache, plan, judged);
  })).filter((hit) => hit !== undefined);
  const wanted = hits.flatMap(({ source, files }) => files.map((file) => ({ source, file })));
  const staged = new Map<string, Staged>();
  const broken = new Set<Source>();
  let fetched = 0;
  await mapPool(wanted, REQUESTS, async ({ source, file }) => {
    progress(fetched++, wanted.length, file.path);
    if (broken.has(source)) return;
    const content = await cache.content(file.hash, file.bytes);
    if (content === undefined) broken.add(source);
    else staged.set(file.path, staging.add(content));
  });
  return hits.filter(({ source }) => !broken.has(source)).map((hit) => builtOf(hit, staged));
}

function builtOf(
  { source, includes, record, files }: Hit,
  staged: ReadonlyMap<string, Staged>,
): Built {
  return {
    ...record,
    source,
    diagnostics: [],
    probes: includes,
    files: new Map(files.flatMap(({ path }) => {
      const file = staged.get(path);
      return file === undefined ? [] : [[path, file] as const];
    })),
  };
}

async function lookUp(
  cache: BuildCache,
  plan: Plan,
  { source, inputs }: Judged,
): Promise<Hit | undefined> {
  for (const paths of await pathSets(cache, keyOf(plan, source, inputs, null))) {
    const includes = probeAgain(
      plan.project.root,
      Object.fromEntries(paths.map((path) => [path, null])),
    );
    const value = await cache.action(keyOf(plan, source, inputs, includes));
    const action = value === undefined ? undefined : readActionResult(value);
    if (action === undefined) continue;
    const entry = action.files.find(({ path }) => path === RECORD);
    const files = action.files.filter(({ path }) => path !== RECORD);
    if (entry === undefined || !files.every((file) => mayWrite(source, file))) {
      cache.note(`its entry for ${source.file.name} is not one of tri; compiling that source here`);
      continue;
    }
    const content = await cache.content(entry.hash, entry.bytes);
    if (content === undefined) continue;
    const record = parseRecord(new TextDecoder().decode(content));
    if (record !== undefined) return { source, includes, record, files };
    cache.note(`its record of ${source.file.name} is not one of tri; compiling that source here`);
  }
  return undefined;
}

async function pathSets(cache: BuildCache, key: string): Promise<readonly (readonly string[])[]> {
  const value = await cache.action(key);
  const action = value === undefined ? undefined : readActionResult(value);
  return action === undefined ? [] : parsePathSets(action.stdout);
}

/** A source writes its wrapper and the folder of its images: `blas/gemm.ts`, `blas/gemm/gemm.sm_90a.cubin`. */
function mayWrite({ stem }: Source, { path, hash }: OutputFile): boolean {
  const rest = path.slice(stem.length);
  return path.startsWith(stem) && /^(?:\.[\w.]+|(?:\/[\w-][\w.-]*)+)$/.test(rest) &&
    /^[0-9a-f]{64}$/.test(hash);
}

/** What is stored of a built source, gathered while its files are still staged. */
export interface Parcel {
  readonly includesKey: string;
  readonly key: string;
  readonly paths: readonly string[];
  readonly value: Uint8Array<ArrayBuffer>;
  readonly contents: ReadonlyMap<string, () => Uint8Array<ArrayBuffer>>;
}

/**
 * A source as the cache gets it; undefined: it has warnings, which each build of it must show. The contents are read when they
 * are sent, from `readFile`, which takes paths in the output folder.
 */
export function parcelOf(
  plan: Plan,
  { source, inputs }: Judged,
  built: Built,
  readFile: (path: string) => Uint8Array<ArrayBuffer>,
): Parcel | undefined {
  if (built.diagnostics.length > 0) return undefined;
  const record = new TextEncoder().encode(printRecord(built));
  const recordFile = { path: RECORD, hash: sha256(record), bytes: record.length };
  const files = [...built.files].sort(([a], [b]) => a < b ? -1 : 1);
  return {
    includesKey: keyOf(plan, source, inputs, null),
    key: keyOf(plan, source, inputs, built.probes),
    paths: Object.keys(built.probes).sort(),
    value: writeActionResult({
      files: [...files.map(([path, { hash, bytes }]) => ({ path, hash, bytes })), recordFile],
      stdout: "",
    }),
    contents: new Map([
      ...files.map(([path, { hash }]) => [hash, () => readFile(path)] as const),
      [recordFile.hash, () => record] as const,
    ]),
  };
}

/** Stores parcels, contents before the entries that name them; how many are stored whole. */
export async function storeParcels(
  cache: BuildCache,
  parcels: readonly Parcel[],
  progress: FetchProgress,
): Promise<number> {
  let sent = 0;
  const contents = parcels.flatMap((parcel) =>
    [...parcel.contents].map(([hash, read]) => ({ parcel, hash, read }))
  );
  const incomplete = new Set<Parcel>();
  await mapPool(contents, REQUESTS, async ({ parcel, hash, read }) => {
    progress(sent++, contents.length, hash.slice(0, 12));
    if (!cache.writable) {
      incomplete.add(parcel);
      return;
    }
    const content = read();
    // A file may have been changed since it was written.
    const ok = sha256(content) === hash && await cache.putContent(hash, content);
    if (!ok) incomplete.add(parcel);
  });
  const stored = await mapPool(
    parcels.filter((parcel) => !incomplete.has(parcel)),
    REQUESTS,
    (parcel) => storeEntries(cache, parcel),
  );
  return stored.filter((ok) => ok).length;
}

async function storeEntries(
  cache: BuildCache,
  { key, includesKey, paths, value }: Parcel,
): Promise<boolean> {
  if (!await cache.putAction(key, value)) return false;
  const known = await pathSets(cache, includesKey);
  const own = stableJson(paths);
  if (known.some((set) => stableJson(set) === own)) return true;
  const sets = [paths, ...known].slice(0, MOST_PATH_SETS);
  return await cache.putAction(
    includesKey,
    writeActionResult({ files: [], stdout: JSON.stringify(sets) }),
  );
}
