/** The project a command works in: its root, its settings, and the `.tc` files that the operands name. */
import { readFileSync, type Stats, statSync } from "node:fs";
import { format } from "@std/fmt/bytes";
import { decodeSource } from "../../compiler/preprocess/text.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { codeOf, isMissing } from "../host/errors.ts";
import { environmentError, usageError } from "../failure.ts";
import { JsonError, type JsonNode, parseJsonc } from "./jsonc.ts";
import { absolutePath, folderOf, isInside, joinPath, relativePath } from "../files/paths.ts";
import { entriesBelow } from "../files/walk.ts";
import { checkStem } from "../build/source_name.ts";
import {
  type FileConfig,
  readRemoteCache,
  readTriConfig,
  type TriConfig,
  triMember,
} from "./tri_config.ts";

export interface Project {
  /** Absolute. Names in outputs and diagnostics are relative to it. */
  readonly root: string;
  /** The name of the file that makes the folder a project; undefined: none does. */
  readonly configFile: string | undefined;
  readonly config: TriConfig;
  /** The URL of a remote cache that the settings state. */
  readonly remoteCache: string | undefined;
  /** What is wrong with the settings, and sources that are not text. */
  readonly reporter: Reporter;
}

/** A `.tc` file to compile. */
export interface Source {
  readonly file: SourceFile;
  /** Absolute path on disk. */
  readonly path: string;
  /** Output name without extension, with folders: `transpose`, `blas/gemm`. */
  readonly stem: string;
  /** Which of the file's builds it is; undefined: the settings of the file have none. */
  readonly build?: string;
}

/** Where settings are read from; the first that has the key `tri`. */
export const CONFIG_NAMES: readonly string[] = ["deno.json", "deno.jsonc", "package.json"];

/**
 * The project of a file or folder: the nearest folder above it with a deno.json, or with a package.json that has the key
 * `tri`; else the working folder.
 */
export function openProject(operand: string): Project {
  const start = absolutePath(operand);
  const cwd = absolutePath(".");
  const reporter = new Reporter();
  for (let folder = isFolder(start) ? start : folderOf(start);; folder = folderOf(folder)) {
    const settings = settingsIn(folder, reporter);
    if (settings !== undefined) return { root: folder, ...settings, reporter };
    if (folder === folderOf(folder)) break;
  }
  const root = isInside(cwd, start) ? cwd : isFolder(start) ? start : folderOf(start);
  return { root, configFile: undefined, ...NO_CONFIG, reporter };
}

type Config = Pick<Project, "config" | "remoteCache">;

const NO_CONFIG: Config = { config: new Map(), remoteCache: undefined };

/** The settings of a folder; undefined where it is no project. */
function settingsIn(
  root: string,
  reporter: Reporter,
): (Pick<Project, "configFile"> & Config) | undefined {
  const files = CONFIG_NAMES.flatMap((name): SourceFile[] => {
    const text = readTextIfThere(joinPath(root, name));
    return text === undefined ? [] : [{ name, text }];
  });
  for (const file of files) {
    const tri = readKey(file, reporter);
    if (tri === undefined) continue;
    const config = readTriConfig(tri, (path) => isFile(joinPath(root, path)), reporter);
    return { configFile: file.name, config, remoteCache: readRemoteCache(tri, reporter) };
  }
  // Every package of npm has a package.json, also those inside of a project.
  const configFile = files.find(({ name }) => name !== "package.json")?.name;
  return configFile === undefined && reporter.diagnostics.length === 0
    ? undefined
    : { configFile, ...NO_CONFIG };
}

function readKey(file: SourceFile, reporter: Reporter): JsonNode | undefined {
  // What npm does not accept is npm's to report.
  if (file.name === "package.json" && !file.text.includes('"tri"')) return undefined;
  try {
    return triMember(parseJsonc(file));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    reporter.error("E9020", error.span, error.message);
    return undefined;
  }
}

/** All `.tc` files that the operands name, sorted by stem. */
export function findSources(project: Project, operands: readonly string[], out: string): Source[] {
  const found = new Map<string, Source>();
  for (const operand of operands) {
    const path = absolutePath(operand);
    const isDirectory = isFolder(path);
    if (!isDirectory && !isFile(path)) {
      throw usageError(`No such file or folder: ${operand}`);
    }
    if (!isDirectory && !path.endsWith(".tc")) {
      throw usageError(`Not a Triton-C file: ${operand}`, "Triton-C files end in .tc.");
    }
    const base = isDirectory ? path : folderOf(path);
    const files = isDirectory ? sourcesBelow(path, absolutePath(out)) : [path];
    if (files.length === 0) throw usageError(`No .tc file in ${operand}`);
    for (const tc of files) {
      // An operand may lie in another one; the first decides on the name.
      if ([...found.values()].some(({ path }) => path === tc)) continue;
      const stem = relativePath(base, tc).slice(0, -".tc".length);
      const file = readSource(project, tc);
      for (const source of buildsOf(project, { path: tc, stem, file })) {
        const other = found.get(source.stem);
        if (other !== undefined) {
          throw usageError(
            `Two files would be written as ${source.stem}.ts: ${other.path} and ${tc}`,
            `Rename one of them, or name its output in the settings: {"tri": {"files": {"${file.name}": {"builds": {"NAME": {}}}}}}.`,
          );
        }
        checkStem(source.stem, file, project.reporter);
        found.set(source.stem, source);
      }
    }
  }
  return [...found.values()].sort((a, b) => a.stem < b.stem ? -1 : 1);
}

/** A file once, under its own name, or once for each of the builds that the settings give it. */
export function buildsOf({ config }: Project, source: Source): readonly [Source, ...Source[]] {
  const [first, ...others] = config.get(source.file.name)?.builds.keys() ?? [];
  if (first === undefined) return [source];
  const folder = source.stem.slice(0, source.stem.lastIndexOf("/") + 1);
  const named = (build: string): Source => ({ ...source, stem: `${folder}${build}`, build });
  return [named(first), ...others.map(named)];
}

/** Each file once: of several builds the first. */
export function firstBuilds(sources: readonly Source[]): readonly Source[] {
  return sources.filter((source, index) =>
    sources.findIndex(({ path }) => path === source.path) === index
  );
}

/** What settings say of a source, the strongest last. */
export function settingsOf({ config }: Pick<Project, "config">, source: Source): FileConfig[] {
  const file = config.get(source.file.name);
  const build = source.build === undefined ? undefined : file?.builds.get(source.build);
  return [file, build].filter((one) => one !== undefined);
}

/** What messages call a source. */
export function labelOf({ file, build }: Source): string {
  return build === undefined ? file.name : `${file.name} as ${build}`;
}

/** Sources and output may share a folder, but what else lies in the output folder is not looked at. */
function sourcesBelow(folder: string, out: string): string[] {
  return entriesBelow(folder, out).flatMap(([path, { name }]) => {
    if (!name.endsWith(".tc")) return [];
    if (isFile(path)) return [path];
    if (!name.includes("\uFFFD")) return [];
    throw usageError(`The name of ${path} is not UTF-8`, "Rename the file.");
  });
}

/** Larger files are not sources, and may exceed memory. */
const MAX_SOURCE_BYTES = 64 << 20;

function readSource({ root, reporter }: Project, path: string): SourceFile {
  if (statSync(path).size > MAX_SOURCE_BYTES) {
    throw usageError(
      `${path} is larger than ${format(MAX_SOURCE_BYTES, { binary: true })}`,
      "Split it.",
    );
  }
  return decodeSource(relativePath(root, path), readFileSync(path), reporter);
}

/** The text of a file that may be missing. */
export function readTextIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error) || codeOf(error) === "EISDIR") return undefined;
    throw error;
  }
}

/** Whether the path names a file. */
export function isFile(path: string): boolean {
  return statIfThere(path)?.isFile() === true;
}

/** Whether the path names a folder. */
export function isFolder(path: string): boolean {
  return statIfThere(path)?.isDirectory() === true;
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (codeOf(error) === "ELOOP") {
      throw environmentError(`Circular links: ${path}`, "Remove one of them.");
    }
    throw error;
  }
}
