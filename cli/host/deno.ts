/**
 * What only Deno has: permissions, locks on files, its versions; and words, environment and streams that are there without
 * Node's built-in modules, which take longer to load than `tri --help` itself. Everything else uses Node's built-in modules, which Deno and Bun have
 * too. The only file of the command that names Deno's global.
 */

/** A question about a permission. */
export type Permission =
  | { readonly name: "read" | "write" | "env" | "run" | "ffi" }
  | { readonly name: "env"; readonly variable: string }
  | { readonly name: "run"; readonly command: string }
  | { readonly name: "net"; readonly host: string };

/** An open file that can be locked. */
export interface DenoFile {
  tryLockSync(exclusive: boolean): boolean;
  lock(exclusive: boolean): Promise<void>;
  statSync(): { readonly ino: number | null };
  writeSync(bytes: Uint8Array): number;
  close(): void;
}

interface OpenOptions {
  readonly create?: boolean;
  readonly createNew?: boolean;
  readonly read: true;
  readonly write: true;
}

/** What takes the bytes of a stream; it may take less than all at once. */
export interface Stream {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** The part of Deno's global that the command uses. */
export interface DenoHost {
  readonly permissions: {
    querySync(question: Permission): { readonly state: "granted" | "denied" | "prompt" };
  };
  readonly noColor: boolean;
  readonly args: readonly string[];
  readonly env: { get(name: string): string | undefined };
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly version: { readonly deno: string; readonly typescript: string; readonly v8: string };
  openSync(path: string, options: OpenOptions): DenoFile;
}

/** As in `ffi/runtime/builtin.ts`: types of optional members alone take nothing else. */
interface Globals {
  readonly Deno?: DenoHost;
  readonly performance: unknown;
}

const { Deno: found }: Globals = globalThis;

/** Undefined on Node and Bun. */
export const deno: DenoHost | undefined = found;

/** Whether this process may do something; where there are no permissions to give, it may. */
export function isGranted(question: Permission): boolean {
  return deno === undefined || deno.permissions.querySync(question).state === "granted";
}
