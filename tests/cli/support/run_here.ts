/** Runs `tri` in this process as if in one of its own: with its folder, its environment and its streams. */
import { runTri } from "../../../cli/run.ts";
import type { Stream } from "../../../cli/host/deno.ts";
import { Terminal } from "../../../cli/terminal.ts";
import type { Toolchain } from "../../../cli/tools/toolchain.ts";

/** What it ended with. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a process has besides its words. */
export interface Surroundings {
  readonly toolchain: Toolchain;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The folder and the environment belong to the process, so commands wait for each other. */
let before: Promise<unknown> = Promise.resolve();

/** Runs a command line to its exit code. */
export function runHere(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  const run = before.then(() => runAlone(args, surroundings));
  before = run.catch(() => {});
  return run;
}

async function runAlone(
  args: readonly string[],
  { toolchain, cwd, env }: Surroundings,
): Promise<Ended> {
  const folder = Deno.cwd();
  const environment = Deno.env.toObject();
  const stdout = new Recorder();
  const stderr = new Recorder();
  Deno.chdir(cwd);
  replaceEnvironment(env);
  try {
    const code = await runTri(args, toolchain, new Terminal({ stdout, stderr }));
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    replaceEnvironment(environment);
    Deno.chdir(folder);
  }
}

/** A stream into a text. */
class Recorder implements Stream {
  #text = "";
  readonly #decoder = new TextDecoder();

  get text(): string {
    return this.#text;
  }

  writeSync(bytes: Uint8Array): number {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    return bytes.length;
  }

  isTerminal(): boolean {
    return false;
  }
}

function replaceEnvironment(wanted: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(Deno.env.toObject())) {
    if (!(name in wanted)) Deno.env.delete(name);
  }
  for (const [name, value] of Object.entries(wanted)) Deno.env.set(name, value);
}
