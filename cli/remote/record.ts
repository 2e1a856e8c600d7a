/** What a build records of a source besides its files, as a remote cache has it. What comes from there is checked part by part. */
import { isRecord } from "../json.ts";
import type { Built } from "../build/build.ts";
import { stableJson } from "../build/state.ts";

/** The part of a built source that is neither a file nor known before. */
export type SourceRecord = Pick<
  Built,
  "counts" | "skipped" | "warnings" | "manifest" | "exports"
>;

/** As text. */
export function printRecord(built: SourceRecord): string {
  const { counts, skipped, warnings, manifest, exports } = built;
  return stableJson({ counts, skipped, warnings, manifest, exports });
}

/** Undefined: the text is no record. */
export function parseRecord(text: string): SourceRecord | undefined {
  const value = parseJson(text);
  return isSourceRecord(value) ? value : undefined;
}

/** Sets of paths from the project's root; an unreadable list has none. */
export function parsePathSets(text: string): readonly (readonly string[])[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) return [];
  return value.filter((set): set is string[] => Array.isArray(set) && set.every(isPathInside));
}

/** Headers lie in the project, so nothing outside is looked at. */
function isPathInside(path: unknown): path is string {
  return typeof path === "string" && path !== "" && !/^[\/\\]|^[a-z]:|\0/i.test(path) &&
    !path.split(/[\/\\]/).includes("..");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSourceRecord(value: unknown): value is SourceRecord {
  return hasParts(value, {
    counts: (counts) =>
      hasParts(counts, { kernels: isCount, variants: isCount, instances: isCount }),
    skipped: listOf({ kernel: isText, arch: isText, reason: isText }),
    warnings: listOf({ kernel: isText, arch: isText, message: isText }),
    manifest: isRecord,
    exports: (exports) => hasParts(exports, { values: isNames, types: isNames }),
  });
}

type Check = (value: unknown) => boolean;

function hasParts(value: unknown, parts: Readonly<Record<string, Check>>): boolean {
  return isRecord(value) && Object.entries(parts).every(([name, check]) => check(value[name]));
}

function listOf(parts: Readonly<Record<string, Check>>): Check {
  return (value) => Array.isArray(value) && value.every((one) => hasParts(one, parts));
}

const isCount: Check = (value) => Number.isSafeInteger(value);
const isText: Check = (value) => typeof value === "string";
/** They become part of a module. */
const isNames: Check = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === "string" && /^\w+$/.test(name));
