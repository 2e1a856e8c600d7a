/**
 * `.tri-build.json` in the output folder: what went into the last build and what came out. Only content
 * hashes and names, no times and no absolute paths, so that it is the same in any folder.
 */
import { isRecord } from "../json.ts";
import type { ExportedNames } from "../../codegen/mod.ts";
import type { Probes } from "../project/include.ts";
import { joinPath } from "../files/paths.ts";
import { readTextIfThere } from "../project/project.ts";

/** The name of the file. */
export const STATE_FILE = ".tri-build.json";
const STATE_FORMAT = 2;

/** What decides the output for one source. The names appear in "why is it stale" messages. */
export interface BuildInputs {
  readonly source: string;
  readonly includes: Probes;
  readonly options: string;
  readonly tri: string;
  readonly assemblers: string;
}

export interface Counts {
  readonly kernels: number;
  readonly variants: number;
  readonly instances: number;
}

/** A cubin that was not made. */
export interface Skipped {
  readonly kernel: string;
  readonly arch: string;
  readonly reason: string;
}

/** The record of one source. */
export interface SourceState {
  /** From the project root. */
  readonly file: string;
  readonly inputs: BuildInputs;
  readonly counts: Counts;
  readonly skipped: readonly Skipped[];
  /** SHA-256 of each file written, by path in the output folder. */
  readonly outputs: Readonly<Record<string, string>>;
  /** What its wrapper exports. */
  readonly exports: ExportedNames;
}

export interface BuildState {
  readonly format: number;
  /** By stem. */
  readonly sources: Readonly<Record<string, SourceState>>;
  /** Files that belong to no single source. */
  readonly shared: Readonly<Record<string, string>>;
  /**
   * Files of an earlier build that the one which wrote this record removes or replaces, as they were. Left in the record
   * by a build that ended before it had.
   */
  readonly removing: Readonly<Record<string, string>>;
}

const NOTHING: BuildState = { format: STATE_FORMAT, sources: {}, shared: {}, removing: {} };

/** The state of an output folder; an unreadable one counts as none. */
export function readState(out: string): BuildState {
  const text = readTextIfThere(joinPath(out, STATE_FILE));
  if (text === undefined) return NOTHING;
  try {
    const value: unknown = JSON.parse(text);
    return isState(value) ? value : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** Our own file of our own format, unless someone edited it. */
function isState(value: unknown): value is BuildState {
  return isRecord(value) && value.format === STATE_FORMAT && isHashes(value.shared) &&
    isHashes(value.removing) && isRecord(value.sources) &&
    Object.values(value.sources).every(isSourceState);
}

function isSourceState(value: unknown): value is SourceState {
  return isRecord(value) && typeof value.file === "string" && isHashes(value.outputs) &&
    isRecord(value.inputs) && isRecord(value.inputs.includes) && isRecord(value.counts) &&
    Array.isArray(value.skipped) && isRecord(value.exports) &&
    Array.isArray(value.exports.values) && Array.isArray(value.exports.types);
}

function isHashes(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((hash) => typeof hash === "string");
}

/** The state as text, keys sorted. */
export function printState(state: Omit<BuildState, "format">): string {
  return `${stableJson({ format: STATE_FORMAT, ...state })}\n`;
}

/** JSON with the keys of every object sorted, so that it does not depend on the order of work. */
export function stableJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part: unknown) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1))
        : part,
    2,
  );
}

/** Every file a state answers for, with its hash. */
export function filesOf(state: BuildState): ReadonlyMap<string, string> {
  return new Map(recorded(state));
}

/** Every hash that a file may have: a build that ended early has not replaced all that it recorded. */
export function hashesOf(state: BuildState): ReadonlyMap<string, ReadonlySet<string>> {
  const hashes = new Map<string, Set<string>>();
  for (const [path, hash] of recorded(state)) {
    hashes.set(path, (hashes.get(path) ?? new Set()).add(hash));
  }
  return hashes;
}

/** Later ones are newer. */
function recorded({ removing, shared, sources }: BuildState): [string, string][] {
  return [
    ...Object.entries(removing),
    ...Object.entries(shared),
    ...Object.values(sources).flatMap(({ outputs }) => Object.entries(outputs)),
  ];
}

/** The first included file that is not what it was. */
function changedProbe(before: Probes, now: Probes): string {
  const name = Object.keys(before).find((path) => before[path] !== now[path]);
  if (name === undefined) return "";
  if (before[name] === null) return `: ${name} appeared`;
  return now[name] === null ? `: ${name} is gone` : `: ${name}`;
}

/** Why a source must be built again; undefined: it is up to date. `hashOnDisk` reads the output folder. */
export function whyStale(
  state: SourceState | undefined,
  inputs: BuildInputs,
  hashOnDisk: (path: string) => string | undefined,
): string | undefined {
  if (state === undefined) return "not built yet";
  const reasons = {
    source: "the source changed",
    includes: "an included file changed",
    options: "the options changed",
    tri: "tri changed",
    assemblers: "the assemblers changed",
  } as const satisfies Record<keyof BuildInputs, string>;
  for (const key of ["source", "includes", "options", "tri", "assemblers"] as const) {
    if (stableJson(state.inputs[key]) === stableJson(inputs[key])) continue;
    const which = key === "includes" ? changedProbe(state.inputs.includes, inputs.includes) : "";
    return `${reasons[key]}${which}`;
  }
  for (const [path, hash] of Object.entries(state.outputs)) {
    const found = hashOnDisk(path);
    if (found === undefined) return `${path} is missing`;
    if (found !== hash) return `${path} was changed`;
  }
  return undefined;
}
