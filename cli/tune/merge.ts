/** `tri tune --merge`: timings that several machines wrote become the file that belongs to a source. */
import { parseTuneFile, tuneCases, type TuneFile } from "../../ffi/kernel/tuning/tune_file.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { environmentError, EXIT, Failure, usageError } from "../failure.ts";
import { includeFinder } from "../project/include.ts";
import { folderOf, joinPath } from "../files/paths.ts";
import { isFile, readTextIfThere, type Source } from "../project/project.ts";
import { hasErrors, openSession, type Session } from "../project/session.ts";
import type { Compiler } from "../tools/toolchain.ts";
import { parseTuneName, readTuneFile, tunePathOf, writeTuneFile } from "./file.ts";
import { mergeTimings, type Part } from "./merge_timings.ts";

/** The body of the command with `--merge`. Nothing is written before all files are checked. */
export async function runMerge(invocation: Invocation, context: CommandContext): Promise<number> {
  const isTimings = (operand: string): boolean => operand.endsWith(".json");
  const paths = invocation.operands.filter(isTimings);
  if (paths.length === 0) {
    throw usageError(
      "--merge: no file of timings is stated",
      "State those that tri tune --shard wrote: tri tune --merge kernels/*.tune.*-of-*.json",
    );
  }
  const stated = invocation.operands.filter((operand) => !isTimings(operand));
  const operands = stated.length > 0 ? stated : [...new Set(paths.map(sourceBeside))];
  const session = await openSession(invocation, operands);
  const compiler = await context.toolchain.compiler();
  const merged = [...partsBySource(paths, session.all)].map(([source, parts]) => {
    checkKernels(source, parts, invocation, session, compiler);
    const missing = missingShards(parts);
    const path = tunePathOf(source.path);
    const file = mergeTimings(readTuneFile(path), parts);
    if (typeof file === "string") {
      throw usageError(file, "Leave the older file out, or time again with the source as it is.");
    }
    return { path, parts, missing, file };
  });
  for (const { path, parts, missing, file } of merged) {
    writeTuneFile(path, file);
    const files = parts.length === 1 ? "1 file" : `${parts.length} files`;
    context.terminal.print(`${files} merged into ${path}\n`);
    if (missing.length > 0) {
      context.terminal.say(`${path}: not merged, because not stated: ${missing.join(", ")}`);
    }
  }
  return EXIT.ok;
}

/** The source that the name of a file of timings says, in the same folder. */
function sourceBeside(path: string): string {
  const stem = parseTuneName(path)?.stem;
  const source = stem === undefined ? undefined : joinPath(folderOf(path), `${stem}.tc`);
  if (source !== undefined && isFile(source)) return source;
  throw usageError(
    source === undefined
      ? `${path}: the name does not say which source it belongs to`
      : `${path}: there is no ${source}`,
    "State the source: tri tune kernels/NAME.tc --merge A.json B.json",
  );
}

/** One source gets all files; of several, each the files of its name. */
function partsBySource(
  paths: readonly string[],
  sources: readonly Source[],
): ReadonlyMap<Source, readonly Part[]> {
  const found = new Map<Source, Part[]>();
  for (const path of paths) {
    const stem = parseTuneName(path)?.stem;
    const [source, other] = sources.length === 1
      ? sources
      : sources.filter((one) => one.path.endsWith(`/${stem}.tc`));
    if (source === undefined || other !== undefined) {
      throw usageError(
        other === undefined
          ? `${path}: none of the sources has this name`
          : `${path}: two sources have this name: ${source?.path} and ${other.path}`,
        "Merge the files of one source: tri tune kernels/NAME.tc --merge A.json B.json",
      );
    }
    found.set(source, [...found.get(source) ?? [], { path, file: readPart(path) }]);
  }
  return found;
}

/** Unlike the file beside a source, one that is stated has to be there. */
function readPart(path: string): TuneFile {
  const text = readTextIfThere(path);
  if (text === undefined) throw usageError(`No such file: ${path}`);
  const file = parseTuneFile(text);
  if (typeof file !== "string") return file;
  throw environmentError(
    `${path}: ${file}`,
    "Leave it out, or run the tri tune that wrote it again.",
  );
}

/** Refuses timings of kernels that the source does not have. */
function checkKernels(
  source: Source,
  parts: readonly Part[],
  invocation: Invocation,
  session: Session,
  compiler: Compiler,
): void {
  const { resolve } = includeFinder(session.project.root, invocation.list("include"));
  const options = { ...session.optionsFor(source), include: resolve, checkOnly: true };
  const { kernels, diagnostics } = compiler.compileFile(source.file, options);
  if (hasErrors(diagnostics)) {
    const message = `${source.file.name} has errors, so its kernels are not known`;
    throw new Failure(EXIT.kernels, message, "tri check prints them.");
  }
  const known = kernels.map(({ name }) => name);
  for (const { path, file } of parts) {
    const other = tuneCases(file).find(({ timed }) => !known.includes(timed.kernel));
    if (other === undefined) continue;
    throw usageError(
      `${path} has timings of ${other.timed.kernel}, which is no kernel of ${source.file.name}`,
      `Its kernels: ${
        known.join(", ") || "none"
      }. Merge the file for the source it was timed with.`,
    );
  }
}

/** The parts of a split that are not among the files. */
function missingShards(parts: readonly Part[]): readonly string[] {
  const shards = parts.flatMap(({ path }) => parseTuneName(path)?.shard ?? []);
  const [first] = shards;
  if (first === undefined) return [];
  const wrong = parts.find(({ path }) => {
    const shard = parseTuneName(path)?.shard;
    return shard !== undefined &&
      (shard.count !== first.count || shard.index < 1 || shard.index > shard.count);
  });
  if (wrong !== undefined) {
    throw usageError(
      `${wrong.path} is no part of a split into ${first.count}`,
      "Merge the files of one split at a time.",
    );
  }
  const stated = new Set(shards.map(({ index }) => index));
  return Array.from({ length: first.count }, (_, at) => at + 1)
    .filter((index) => !stated.has(index))
    .map((index) => `part ${index} of ${first.count}`);
}
