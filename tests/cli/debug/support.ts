/** A kernel that is debugged, the bytes of requests, and a conversation with the adapter. */
import { assertEquals } from "../../support/assert.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

export const SCALE = `#pragma tri grid(cdiv(N, 32))
#pragma tri tensor X : in float[N]
#pragma tri tensor Y : out float[N]
#pragma tri num_warps=1

// Doubles.
__global__ void scale(float *X, float *Y, int N) {
  int r[32] = get_program_id(0) * 32 + 0 ... 32;
  float x[32] = *?(r < N) (X + r);
  *?(r < N) (Y + r) = x * 2;
}
`;

/** A request as it is on the wire. */
export function framed(seq: number, command: string, args: unknown): Uint8Array {
  const body = JSON.stringify({ seq, type: "request", command, arguments: args });
  const bytes = new TextEncoder().encode(body);
  const head = new TextEncoder().encode(`Content-Length: ${bytes.length}\r\n\r\n`);
  return new Uint8Array([...head, ...bytes]);
}

/** A message of the adapter. */
export interface Told {
  readonly type: string;
  readonly command?: string;
  readonly event?: string;
  readonly success?: boolean;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Debugs `scale.tc` in a process: sends all requests at once; what comes back. */
export async function converse(
  args: readonly string[],
  requests: readonly (readonly [string, unknown])[],
): Promise<Told[]> {
  using files = new Workspace({ "deno.json": "{}", "scale.tc": SCALE });
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", REAL_MAIN, "debug", ...args],
    cwd: files.path,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  for (const [at, [command, args]] of requests.entries()) {
    await writer.write(framed(at + 1, command, args));
  }
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  const text = new TextDecoder().decode(stdout);
  return text.split(/Content-Length: \d+\r\n\r\n/).slice(1).map((each): Told => JSON.parse(each));
}

/** The bodies of the replies to a command. */
export const bodyOf = (
  all: readonly Told[],
  command: string,
): Readonly<Record<string, unknown>>[] =>
  all.flatMap((each) => each.command === command && each.body !== undefined ? [each.body] : []);

/** The commands that were refused. */
export const failuresOf = (all: readonly Told[]): (string | undefined)[] =>
  all.filter(({ success }) => success === false).map(({ command }) => command);
