/** Ends of a command that are not the compiler's diagnostics: each carries its exit code and what to do. */
import { abridge } from "../compiler/support/abridge.ts";
import { must } from "../compiler/support/bug.ts";
import {
  codeOf,
  describeSystemError,
  isDenied,
  isNotCapable,
  missingImport,
  reasonOf,
} from "./host/errors.ts";
import type { Terminal } from "./terminal.ts";
import { type JsonLayout, jsonText } from "./json.ts";
import { permissionRemedy } from "./host/permission_remedy.ts";

/** The exit codes of `tri`. */
export const EXIT = { ok: 0, kernels: 1, usage: 2, environment: 3, interrupted: 4 } as const;

/** A failure that the user can act on; printed as a message and a remedy, never as a stack trace. */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    readonly exitCode: 1 | 2 | 3,
    message: string,
    readonly remedy?: string,
  ) {
    super(message);
  }
}

/** The command line is wrong. */
export function usageError(message: string, remedy?: string): Failure {
  return new Failure(EXIT.usage, message, remedy);
}

/** The machine, or what Deno is permitted to do, lacks something. */
export function environmentError(message: string, remedy: string): Failure {
  return new Failure(EXIT.environment, message, remedy);
}

/** Reports a failure: on stderr, and as JSON on stdout if requested. */
export function tellFailure(
  { message, remedy }: Failure,
  terminal: Terminal,
  json: JsonLayout | undefined,
): void {
  if (json !== undefined) {
    terminal.print(jsonText({ ok: false, error: { message, remedy } }, json));
  }
  terminal.say(`${terminal.style("red", "error")}: ${message}`);
  if (remedy !== undefined) terminal.say(remedy);
}

/** What a refused or failed system call means to the user; undefined: an unknown one. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  if (isNotCapable(error)) {
    // Deno's own text names the access and the flag that grants it.
    return environmentError(
      error.message.replace(/, run again with.*$/, "."),
      permissionRemedy(error.message),
    );
  }
  const missing = missingImport(error);
  if (missing?.startsWith("@tri/")) {
    return environmentError(
      `The command needs the package ${missing}, which is not installed`,
      `Install it: npm install ${missing.split("/", 2).join("/")}`,
    );
  }
  const reason = describeSystemError(error);
  if (reason === undefined) return undefined;
  if (codeOf(error) === "ENAMETOOLONG") {
    return environmentError(abridge(reason), "Shorten the name of the source or of its kernels.");
  }
  if (isDenied(error)) {
    return environmentError(reason, "Change the owner or the mode of that file or folder.");
  }
  return codeOf(error) === "ENOSPC"
    ? environmentError(reason, "Free some disk space.")
    : environmentError(`The system refused: ${reason}`, "Check that path, then try again.");
}

/**
 * Why a file could not be written, as the user sees it; a missing permission of Deno is reported separately. `instead` is
 * where it could be written instead.
 */
export function writeFailure(
  path: string,
  error: unknown,
  instead = "another folder with --out",
): unknown {
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  const [, remedy] = must(WRITE_REMEDIES.find(([pattern]) => pattern.test(reason)), reason);
  return environmentError(`Cannot write ${path}: ${reason}`, remedy(instead));
}

/** What to do about a file that cannot be written, by what the system says. */
const WRITE_REMEDIES: readonly (readonly [RegExp, (instead: string) => string])[] = [
  [
    /Permission denied|not permitted|Read-only/,
    (instead) => `Take ${instead}, or change the owner or the mode of this one.`,
  ],
  [
    /No space left|quota|too large/,
    (instead) => `Free some disk space, or take ${instead}, on another disk.`,
  ],
  [/name too long/, () => "Shorten the name of the source or of its kernels."],
  [/^/, (instead) => `Take ${instead}, or move the existing file.`],
];
