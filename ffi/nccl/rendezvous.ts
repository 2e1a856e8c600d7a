/**
 * How processes with one rank each get the id of their world. Rank 0 makes it, and gives it away only when all ranks have
 * come and say the same world size; so where one does not come, all others learn which.
 */
import { runtime } from "#runtime";
import { ArgumentError, PermissionError } from "../errors.ts";
import { expectInteger } from "../arguments/numbers.ts";
import { type Socket, theProcess } from "../runtime/builtin.ts";
import { listRanks } from "./call.ts";
import { RendezvousError } from "./errors.ts";
import { ID_BYTES } from "./symbols.ts";

/** Where ranks meet. */
export type Rendezvous =
  /** Rank 0 listens there, and the others connect. */
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  /** A path that all processes see and that no earlier run has used. */
  | { readonly kind: "file"; readonly file: URL }
  /** The id itself: 128 bytes, which `uniqueId()` makes in a process that lives on. */
  | { readonly kind: "id"; readonly id: Uint8Array<ArrayBuffer> };

/** One rank, and where it meets the others. */
export interface RankPlan {
  /** From 0 to `size`. */
  readonly rank: number;
  /** How many ranks there are. */
  readonly size: number;
  /** The number of the GPU in this machine. */
  readonly localRank: number;
  /** Where ranks meet. */
  readonly rendezvous: Rendezvous;
}

/**
 * Reads what torchrun, or a script of Slurm, sets: RANK, WORLD_SIZE and LOCAL_RANK; then the id in TRI_NCCL_ID (hexadecimal),
 * else a path in TRI_NCCL_FILE, else MASTER_ADDR and MASTER_PORT. Under torchrun that port is in use by its agent, so the
 * next one is taken. Throws `ArgumentError` for what is missing or wrong.
 */
export function rankFromEnvironment(): RankPlan {
  const size = readInteger("WORLD_SIZE", 1, 1 << 20);
  const rank = readInteger("RANK", 0, size - 1);
  const local = runtime.readVariable("LOCAL_RANK");
  const localRank = local === undefined ? rank : readInteger("LOCAL_RANK", 0, 1 << 10);
  return { rank, size, localRank, rendezvous: readRendezvous() };
}

function readRendezvous(): Rendezvous {
  const id = runtime.readVariable("TRI_NCCL_ID");
  if (id !== undefined) return { kind: "id", id: parseId(id, "TRI_NCCL_ID") };
  const path = runtime.readVariable("TRI_NCCL_FILE");
  if (path !== undefined) {
    if (path.startsWith("/")) return { kind: "file", file: new URL(`file://${encodeURI(path)}`) };
    throw new ArgumentError({
      argument: "TRI_NCCL_FILE",
      expected: "an absolute path",
      actual: path,
    });
  }
  const host = runtime.readVariable("MASTER_ADDR");
  if (host === undefined) {
    throw new ArgumentError({
      argument: "MASTER_ADDR",
      expected: "the host of rank 0, as torchrun sets it, or TRI_NCCL_FILE or TRI_NCCL_ID",
      actual: "nothing",
    });
  }
  const isTaken = runtime.readVariable("TORCHELASTIC_USE_AGENT_STORE") === "True";
  const port = readInteger("MASTER_PORT", 1, 65534) + (isTaken ? 1 : 0);
  return { kind: "tcp", host, port };
}

function readInteger(name: string, least: number, most: number): number {
  const text = runtime.readVariable(name);
  const value = text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
  return expectInteger(`the variable ${name}`, value, least, most);
}

/** The id as hexadecimal digits, for variables and files. */
export function printId(id: Uint8Array): string {
  return Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function parseId(text: string, argument: string): Uint8Array<ArrayBuffer> {
  if (/^[0-9a-f]*$/i.test(text) && text.length === 2 * ID_BYTES) {
    return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
  }
  throw new ArgumentError({
    argument,
    expected: `${2 * ID_BYTES} hexadecimal digits, which uniqueId() gives`,
    actual: `${text.length} characters`,
  });
}

/** A rank that meets others. */
export interface Meeting {
  readonly rank: number;
  readonly size: number;
  /** Called on rank 0. */
  readonly makeId: () => Uint8Array<ArrayBuffer>;
  /** Of `Date.now()`. */
  readonly deadline: number;
}

/** The id, once all ranks have come. Throws `RendezvousError`. */
export async function meet(
  rendezvous: Rendezvous,
  meeting: Meeting,
): Promise<Uint8Array<ArrayBuffer>> {
  if (rendezvous.kind === "id") return rendezvous.id;
  if (rendezvous.kind === "file") return await meetByFile(rendezvous.file, meeting);
  const { host, port } = rendezvous;
  return meeting.rank === 0
    ? await listen(host, port, meeting)
    : await connect(host, port, meeting);
}

/** What rank 0 says to the others. */
type Answer =
  | { readonly id: string }
  | { readonly error: string; readonly missing: readonly number[] };

/** Throws the error that an answer is. */
function takeAnswer(answer: Answer, rank: number): Uint8Array<ArrayBuffer> {
  if ("id" in answer) return parseId(answer.id, "the id of rank 0");
  throw new RendezvousError(`Rank ${rank}: ${answer.error}`, answer.missing);
}

/** Why not all of the ranks can go on; undefined where they can. */
function complaint(present: ReadonlyMap<number, number>, size: number): string | undefined {
  for (const [rank, said] of present) {
    if (said !== size) return `rank ${rank} has world size ${said}, rank 0 has ${size}`;
    if (rank >= size) return `rank ${rank} came to a world of ${size} ranks`;
  }
  return undefined;
}

function missingIn(present: { has(rank: number): boolean }, size: number): readonly number[] {
  return Array.from({ length: size }, (_, rank) => rank).filter((rank) => !present.has(rank));
}

function late(missing: readonly number[], size: number): string {
  return `${listRanks(missing)} of ${size} did not come in time`;
}

const POLL_MILLISECONDS = 20;
const pause = (): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));

/** Rank 0. */
async function listen(
  host: string,
  port: number,
  meeting: Meeting,
): Promise<Uint8Array<ArrayBuffer>> {
  const { size, makeId, deadline } = meeting;
  const present = new Map([[0, size]]);
  const sockets: Socket[] = [];
  let problem: string | undefined;
  const server = theProcess().getBuiltinModule("node:net").createServer((socket) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      text += piece;
      const [, rank, said] = /^tri-rank (\d+) of (\d+)\n/.exec(text) ?? [];
      if (rank === undefined || sockets.includes(socket)) return;
      if (present.has(Number(rank))) problem ??= `two processes say that they are rank ${rank}`;
      present.set(Number(rank), Number(said));
      sockets.push(socket);
    });
  });
  server.on("error", (error) => problem ??= `cannot listen on ${host}:${port}: ${error.message}`);
  server.listen(port, host);
  while (problem === undefined && present.size < size && Date.now() < deadline) {
    problem = complaint(present, size);
    if (problem === undefined) await pause();
  }
  problem ??= complaint(present, size);
  const missing = problem === undefined ? missingIn(present, size) : [];
  if (missing.length > 0) problem = late(missing, size);
  const answer: Answer = problem === undefined
    ? { id: printId(makeId()) }
    : { error: problem, missing };
  for (const socket of sockets) socket.end(`${JSON.stringify(answer)}\n`);
  server.close();
  return takeAnswer(answer, 0);
}

/** After the deadline of rank 0 its answer is on the way. */
const GRACE_MILLISECONDS = 2000;

/** Another rank: tries until rank 0 listens. */
async function connect(
  host: string,
  port: number,
  meeting: Meeting,
): Promise<Uint8Array<ArrayBuffer>> {
  const { rank, size, deadline } = meeting;
  while (Date.now() < deadline) {
    const text = await request(host, port, `tri-rank ${rank} of ${size}\n`, deadline);
    if (text?.endsWith("\n") === true) return takeAnswer(JSON.parse(text), rank);
    await pause();
  }
  const message = `Rank ${rank}: rank 0 did not answer on ${host}:${port} in time`;
  throw new RendezvousError(message, [0]);
}

/** What comes back until the other side closes; undefined where there is no connection. */
function request(
  host: string,
  port: number,
  text: string,
  deadline: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = theProcess().getBuiltinModule("node:net").connect(port, host);
    const timer = setTimeout(() => socket.destroy(), deadline + GRACE_MILLISECONDS - Date.now());
    const end = (value: string | undefined): void => {
      clearTimeout(timer);
      resolve(value);
    };
    socket.setEncoding("utf8");
    socket.on("connect", () => socket.write(text));
    socket.on("data", (piece) => answer += piece);
    socket.on("error", () => end(undefined));
    socket.on("close", () => end(answer));
  });
}

/** Each rank leaves a file that it has come; rank 0 then writes the answer. */
async function meetByFile(file: URL, meeting: Meeting): Promise<Uint8Array<ArrayBuffer>> {
  const { rank, size, makeId, deadline } = meeting;
  const markOf = (rank: number): URL => new URL(`${file.href}.${rank}`);
  if (read(file) !== undefined || read(markOf(rank)) !== undefined) {
    const message = `Rank ${rank}: ${file.pathname} is of an earlier run`;
    throw new RendezvousError(message, [], "name a path of this run, such as by SLURM_JOB_ID");
  }
  write(markOf(rank), `${size}\n`);
  const present = new Map<number, number>();
  for (;;) {
    for (let other = 0; other < size; other++) {
      const said = present.has(other) ? undefined : read(markOf(other));
      if (said !== undefined) present.set(other, Number(said));
    }
    const isLate = Date.now() > deadline;
    const missing = missingIn(present, size);
    const problem = complaint(present, size) ??
      (isLate && missing.length > 0 ? late(missing, size) : undefined);
    if (rank === 0 && (problem !== undefined || missing.length === 0)) {
      const answer: Answer = problem === undefined
        ? { id: printId(makeId()) }
        : { error: problem, missing: isLate ? missing : [] };
      write(file, `${JSON.stringify(answer)}\n`);
      return takeAnswer(answer, rank);
    }
    const text = rank === 0 ? undefined : read(file);
    if (text !== undefined) return takeAnswer(JSON.parse(text), rank);
    if (Date.now() > deadline + (present.has(0) ? GRACE_MILLISECONDS : 0)) {
      const gone = missing.length > 0 ? missing : [0];
      throw new RendezvousError(`Rank ${rank}: ${late(gone, size)}`, gone);
    }
    await pause();
  }
}

function read(file: URL): string | undefined {
  const found = runtime.readFile(file);
  if (found.kind === "read") return new TextDecoder().decode(found.bytes);
  if (found.kind === "absent") return undefined;
  const { hint, cause } = found;
  throw new PermissionError(`Cannot read ${file.pathname}: permission denied`, { hint, cause });
}

function write(file: URL, text: string): void {
  const written = runtime.replaceFile(file, text);
  if (written.kind === "written") return;
  const { hint, cause } = written;
  throw new PermissionError(`Cannot write ${file.pathname}: permission denied`, { hint, cause });
}
