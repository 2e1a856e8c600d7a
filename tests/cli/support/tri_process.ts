/** Runs `tri`, by default with the stub compiler, in a folder made for one test. */
import { realToolchain } from "../../../cli/tools/real_toolchain.ts";
import type { Toolchain } from "../../../cli/tools/toolchain.ts";
import { must } from "../../../compiler/support/bug.ts";
import { runHere } from "./run_here.ts";
import { stubToolchain } from "./stub_toolchain.ts";
import { tuneToolchain } from "./tune_toolchain.ts";

export interface TriResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** The module to run; by default the one with the stub compiler. */
  readonly main?: string;
  /** Deno's permission flags: they make it a process of its own. */
  readonly permissions?: readonly string[];
  /** Replaces the whole environment except for Deno's own cache. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The command with the stub compiler. */
export const STUB_MAIN: string = must(import.meta.dirname, "the folder of this module") +
  "/stub_main.ts";
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;
/** The command on two GPUs that are emulators. */
export const TUNE_MAIN: string = new URL("tune_main.ts", import.meta.url).pathname;
/** The command itself. */
export const REAL_MAIN: string = new URL("../../../cli/main.ts", import.meta.url).pathname;

/** A folder that is gone at the end of the test. */
export class Workspace implements Disposable {
  readonly path: string = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "tri-test-" }));

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    const path = `${this.path}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }

  /** A program that is a shell script. */
  writeProgram(name: string, script: string): string {
    this.write(name, `#!/bin/sh\n${script}`);
    Deno.chmodSync(`${this.path}/${name}`, 0o755);
    return `${this.path}/${name}`;
  }

  read(name: string): string {
    return Deno.readTextFileSync(`${this.path}/${name}`);
  }

  remove(name: string): void {
    Deno.removeSync(`${this.path}/${name}`, { recursive: true });
  }

  /** All files under a folder with their bytes, by path; empty when there is no such folder. */
  files(folder: string): Map<string, string> {
    const found = new Map<string, string>();
    const walk = (at: string): void => {
      for (const entry of Deno.readDirSync(`${this.path}/${at}`)) {
        const name = `${at}/${entry.name}`;
        if (entry.isDirectory) walk(name);
        else found.set(name, [...Deno.readFileSync(`${this.path}/${name}`)].join(" "));
      }
    };
    try {
      walk(folder);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return found;
  }

  /**
   * Runs in this process, one command at a time: most commands take less than a process takes to start. Those that try
   * permissions, signals, or several at once are processes.
   */
  async tri(args: readonly string[], options: RunOptions = {}): Promise<TriResult> {
    const toolchain = TOOLCHAINS[options.main ?? STUB_MAIN];
    if (options.permissions === undefined && toolchain !== undefined) {
      return await runHere(args, { toolchain, cwd: this.path, env: environmentOf(options) });
    }
    return await this.process(args, options);
  }

  /** The same as a process of its own, with the permissions that a build needs unless others are given. */
  async process(args: readonly string[], options: RunOptions = {}): Promise<TriResult> {
    const { code, stdout, stderr } = await this.command(args, options).output();
    const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    return { code, stdout: decode(stdout), stderr: decode(stderr) };
  }

  /** `tri` as a process that is still to be started. */
  command(args: readonly string[], options: RunOptions = {}): Deno.Command {
    const permissions = options.permissions ??
      ["--allow-read", `--allow-write=${this.path}/out`, "--allow-run", "--allow-env"];
    return new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "--no-prompt",
        "--config",
        CONFIG,
        ...permissions,
        options.main ?? STUB_MAIN,
        ...args,
      ],
      cwd: this.path,
      clearEnv: true,
      env: environmentOf(options),
      stdout: "piped",
      stderr: "piped",
    });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

const TOOLCHAINS: Readonly<Record<string, Toolchain>> = {
  [STUB_MAIN]: stubToolchain,
  [REAL_MAIN]: realToolchain,
  [TUNE_MAIN]: tuneToolchain,
};

function environmentOf({ env }: RunOptions): Record<string, string> {
  return { DENO_DIR: denoFolder(), ...(env ?? { PATH: Deno.env.get("PATH") ?? "" }) };
}

function denoFolder(): string {
  return Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache/deno`;
}

/** What a fake ptxas does beside answering questions. */
export interface FakePtxas {
  readonly version: string;
  readonly archs: readonly string[];
  /** The newest PTX version it admits to read, such as "9.0". */
  readonly ptx?: string;
  /** Shell commands that assemble; by default the version is written as the image. */
  readonly assemble?: string;
}

/** The script of a ptxas that says what the test wants. */
export function fakePtxas({ version, archs, ptx = "9.9", assemble }: FakePtxas): string {
  return `case "$1" in
--version) echo "Cuda compilation tools, release ${version}, V${version}.1"; exit 0;;
--help) cat <<'END'
--gpu-name <gpu name>                               (-arch)
        Allowed values for this option:  'compute_80',${archs.map((arch) => `'${arch}'`).join(",")}.

--help                                              (-h)
END
exit 0;;
esac
ptx="$(cat)"
case "$ptx" in
".version 99.9"*) echo "fatal   : Unsupported .version 99.9; current version is '${ptx}'" >&2; exit 255;;
esac
${assemble ?? `printf '\\177ELFimage ${version} %s' "$1"`}
`;
}
