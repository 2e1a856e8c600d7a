/** Runs a program with bytes on its standard input and collects what it writes. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { arrayBuffer } from "node:stream/consumers";
import { constants, tmpdir } from "node:os";
import process from "node:process";
import { pooledMap } from "@std/async/pool";
import { deno, isGranted } from "../host/deno.ts";
import { joinPath } from "../files/paths.ts";
import { codeOf, reasonOf } from "../host/errors.ts";

export interface ProcessResult {
  readonly code: number;
  readonly stdout: Uint8Array<ArrayBuffer>;
  readonly stderr: string;
}

/** `env` is added to the environment. Never throws for a program that cannot be started: that is code 127 with the reason in `stderr`. */
export async function runProcess(
  path: string,
  args: readonly string[],
  input: string | Uint8Array = "",
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessResult> {
  let file: number | undefined;
  try {
    // ptxas opens `/dev/stdout` by name, which Linux allows for pipes and files. Deno has pipes, Node and Bun have sockets.
    file = deno === undefined ? openNameless(env["TMPDIR"] ?? tmpdir()) : undefined;
    const child = spawn(path, args, {
      stdio: ["pipe", file ?? "pipe", "pipe"],
      env: { ...loaderFreeEnvironment(), ...env },
      windowsHide: true,
    });
    const ended = new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve(exitCode(code, signal)));
    });
    // Reading starts before writing, so that neither side waits for the other with a full pipe.
    const [piped, stderr, code] = await Promise.all([
      bytesOf(child.stdout),
      bytesOf(child.stderr),
      ended,
      feed(child.stdin, input),
    ]);
    const stdout = file === undefined ? piped : bytesIn(file);
    return { code, stdout, stderr: new TextDecoder().decode(stderr) };
  } catch (error) {
    const reason = reasonOf(error) ?? (error instanceof Error ? error.message : String(error));
    return { code: 127, stdout: new Uint8Array(), stderr: reason };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A file that is gone with the process that has it open. */
function openNameless(folder: string): number {
  const path = joinPath(folder, `.tri-output-${crypto.randomUUID()}`);
  const file = openSync(path, "wx+");
  unlinkSync(path);
  return file;
}

function bytesIn(file: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(fstatSync(file).size);
  for (let at = 0; at < bytes.length;) at += readSync(file, bytes, at, bytes.length - at, at);
  return bytes;
}

/** As a shell: a program ended by a signal has 128 plus its number. */
function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

async function bytesOf(stream: Readable | null): Promise<Uint8Array<ArrayBuffer>> {
  return stream === null ? new Uint8Array() : new Uint8Array(await arrayBuffer(stream));
}

/**
 * The environment without what steers the dynamic loader: Deno lets a program with limited permissions start no
 * process with `LD_LIBRARY_PATH` or its like, which machines with CUDA usually set. Assemblers do not need them.
 */
function loaderFreeEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(LD|DYLD)_/.test(name)),
  );
}

/** What another process needs to find the driver as this one did: everything, where this one may hand it on. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return isGranted({ name: "run" }) ? process.env : loaderFreeEnvironment();
}

function feed(stdin: Writable | null, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stdin === null) return resolve();
    // The program may end without reading everything; its exit code says why.
    stdin.on("error", (error) => codeOf(error) === "EPIPE" ? resolve() : reject(error));
    stdin.end(bytes, () => resolve());
  });
}

/** Does `work` for every item, at most `limit` at a time, and keeps the order of the results. */
export async function mapPool<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  try {
    for await (const result of pooledMap(limit, items, work)) results.push(result);
  } catch (error) {
    // What has begun has ended by then; the first failure says why.
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
  return results;
}
