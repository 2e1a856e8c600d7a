/** Adds timings to the file that `tri build` reads. */
import { runtime } from "#runtime";
import { ArgumentError, PermissionError, TriError } from "../../errors.ts";
import { describeValue } from "../../arguments/values.ts";
import {
  NO_TIMINGS,
  parseTuneFile,
  printKey,
  printTuneFile,
  type TimingCase,
  type Timings,
  withTimings,
} from "./tune_file.ts";

/** Reads the file if it is there, adds the timings, and replaces it at once. */
export function saveTimings(
  url: URL,
  timed: Omit<TimingCase, "key"> & { readonly key: ReadonlyMap<string, number> },
  timings: Timings,
): void {
  expectFileUrl(url);
  const found = runtime.readFile(url);
  if (found.kind === "refused") throw refused("read", url, found);
  const known = found.kind === "absent"
    ? NO_TIMINGS
    : parseTuneFile(new TextDecoder().decode(found.bytes));
  if (typeof known === "string") {
    throw new TriError(`Cannot save timings in ${url.pathname}: ${known}`, {
      hint: "restore the file, or remove it",
    });
  }
  const { key } = timed;
  const file = withTimings(known, { ...timed, key: printKey([...key.keys()], key) }, timings);
  const written = runtime.replaceFile(url, printTuneFile(file));
  if (written.kind === "refused") throw refused("write", url, written);
}

/** Throws `ArgumentError` for what is not the URL of a file. */
export function expectFileUrl(url: unknown): void {
  if (url instanceof URL && url.protocol === "file:") return;
  throw new ArgumentError({
    argument: "save",
    expected: 'the URL of a file, such as new URL("kernels/f.tune.json", import.meta.url)',
    actual: url instanceof URL ? url.href : describeValue(url),
  });
}

function refused(
  what: string,
  { pathname }: URL,
  { hint, cause }: { readonly hint: string; readonly cause: unknown },
): PermissionError {
  return new PermissionError(`Cannot ${what} ${pathname}: permission denied`, { hint, cause });
}
