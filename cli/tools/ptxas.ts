/**
 * The assemblers: which are installed, what each supports, which one assembles a module, and its remarks.
 * PTX and cubin pass through pipes, so that no path can get into the image.
 */
import { compare } from "@std/semver/compare";
import { parse } from "@std/semver/parse";
import { withoutChecks } from "../../compiler/ptx/checks.ts";
import { environmentError } from "../failure.ts";
import { mapPool, runProcess } from "./process.ts";
import { findTools, type FoundTool } from "./tools.ts";

/** A working ptxas. */
export interface Assembler {
  readonly path: string;
  /** E.g. `13.0.88`. */
  readonly version: string;
  /** Real architectures it can make cubins for. */
  readonly archs: readonly string[];
  /** Newest PTX version it reads, times ten; undefined when it cannot be found out. */
  readonly ptx?: number;
}

export interface Assemblers {
  /** Newest first. */
  readonly usable: readonly Assembler[];
  /** Found but unusable, with the reason. */
  readonly rejected: readonly { readonly path: string; readonly reason: string }[];
}

/** What ptxas reports about one entry with `-v`. */
export interface Resources {
  readonly registers: number;
  readonly sharedBytes: number;
  readonly stackBytes: number;
  readonly spillStoreBytes: number;
  readonly spillLoadBytes: number;
}

export type Assembled =
  | {
    readonly kind: "cubin";
    readonly cubin: Uint8Array;
    readonly warnings: readonly string[];
    readonly resources: Readonly<Record<string, Resources>>;
  }
  | { readonly kind: "failed"; readonly message: string };

/** Finds every ptxas and the architectures and PTX versions that it supports. */
export async function findAssemblers(): Promise<Assemblers> {
  const answers = await mapPool(findTools("ptxas", "TRI_PTXAS"), 4, async (tool) => ({
    tool,
    answer: await question(tool),
  }));
  const usable: Assembler[] = [];
  const rejected: { path: string; reason: string }[] = [];
  for (const { tool, answer } of answers) {
    if (typeof answer === "string") rejected.push({ path: tool.path, reason: answer });
    else usable.push(answer);
  }
  usable.sort((a, b) => compare(parse(b.version), parse(a.version)));
  return { usable, rejected };
}

async function question({ path, allowed }: FoundTool): Promise<Assembler | string> {
  if (!allowed) {
    return 'tri may not run it: add its path to "run" of the permission set "tri" in deno.json';
  }
  const [versionAnswer, helpAnswer] = await Promise.all([
    runProcess(path, ["--version"]),
    runProcess(path, ["--help"]),
  ]);
  if (versionAnswer.code !== 0) return `--version failed: ${firstLine(versionAnswer.stderr)}`;
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  const version = /\bV(\d+\.\d+\.\d+)/.exec(decode(versionAnswer.stdout))?.[1];
  if (version === undefined) return "--version does not look like ptxas";
  const archs = architecturesIn(decode(helpAnswer.stdout));
  const [arch] = archs;
  if (arch === undefined) return "--help lists no architecture";
  const ptx = await newestPtx(path, arch);
  return { path, version, archs, ...(ptx === undefined ? {} : { ptx }) };
}

/** The values of `--gpu-name` for real hardware. */
export function architecturesIn(help: string): string[] {
  const section = /--gpu-name\b([^]*?)\n--/.exec(help)?.[1] ?? "";
  return [...section.matchAll(/'(sm_\d+[a-z]?)'/g)].map((match) => match[1] ?? "")
    .filter((arch, index, all) => all.indexOf(arch) === index);
}

/** No option prints the PTX version; the error for an impossible one contains it. */
async function newestPtx(path: string, arch: string): Promise<number | undefined> {
  const { stderr } = await runProcess(
    path,
    [`-arch=${arch}`, "-o", "/dev/null", "-"],
    ".version 99.9\n.target sm_99\n",
  );
  const found = /current version is '(\d+)\.(\d)'/.exec(stderr);
  return found === null ? undefined : Number(found[1]) * 10 + Number(found[2]);
}

/** The newest assembler that supports the architecture and the PTX version, or why there is none. */
export function chooseAssembler(
  assemblers: readonly Assembler[],
  arch: string,
  ptxVersion: number,
): Assembler | string {
  if (assemblers.length === 0) return "no ptxas found";
  const knowing = assemblers.filter((assembler) => assembler.archs.includes(arch));
  if (knowing.length === 0) {
    const versions = new Set(assemblers.map(({ version }) => version));
    return `no installed ptxas supports ${arch} (found ${[...versions].join(", ")})`;
  }
  const chosen = knowing.find(({ ptx }) => ptx === undefined || ptx >= ptxVersion);
  return chosen ??
    `no installed ptxas that supports ${arch} reads PTX ${printPtxVersion(ptxVersion)}`;
}

/** The `.version` of a PTX text, times ten. */
export function ptxVersionOf(ptx: string): number {
  const found = /^\s*\.version\s+(\d+)\.(\d+)/m.exec(ptx);
  return found === null ? 0 : Number(found[1]) * 10 + Number(found[2]);
}

/** A program ended by a signal has 128 plus its number as exit code; ptxas itself ends with 255. */
const LAST_SIGNAL = 64;
/** From {@linkcode runProcess}, for a program that could not be started. */
const NOT_STARTED = 127;
/** The first bytes of every cubin. */
const ELF_MAGIC = [0x7f, 0x45, 0x4c, 0x46];

/** `.loc` and `.file`: with them ptxas writes tables for debuggers, which make a cubin three times as large. */
const LOCATIONS = /^ *\.(?:loc|file) .*\n/gm;

/**
 * Makes a cubin. ptxas writes what it reads from a pipe to a temporary file, which stays when its output is not read any
 * more; `folder` is where it may, instead of the system's.
 */
export async function assemble(
  assembler: Assembler,
  arch: string,
  ptx: string,
  folder?: string,
): Promise<Assembled> {
  // `-v` is recorded in the image by newer assemblers: it is always given, so that equal PTX gives equal bytes.
  const { code, stdout, stderr: log } = await runProcess(
    assembler.path,
    [`-arch=${arch}`, "-v", "-o", "/dev/stdout", "-"],
    withoutChecks(ptx.replace(LOCATIONS, "")),
    folder === undefined ? {} : { TMPDIR: folder },
  );
  const stderr = folder === undefined ? log : log.replaceAll(`${folder}/`, "");
  if (code === NOT_STARTED || (code > 128 && code <= 128 + LAST_SIGNAL)) {
    throw environmentError(
      `${assembler.path} did not run to its end (exit code ${code}) ${stderr.trim()}`.trim(),
      "Memory may have run out: try --jobs 1, or name another ptxas in TRI_PTXAS.",
    );
  }
  if (code !== 0) {
    return { kind: "failed", message: cleanLog(stderr).join("\n") || `exit code ${code}` };
  }
  if (!ELF_MAGIC.every((byte, index) => stdout[index] === byte)) {
    return { kind: "failed", message: "what it wrote is no image" };
  }
  return {
    kind: "cubin",
    cubin: stdout,
    warnings: warningsIn(stderr),
    resources: resourcesIn(stderr),
  };
}

/** Lines that report problems: warnings, and the `(C75xx)` remarks about serialised instructions. */
export function warningsIn(log: string): string[] {
  return cleanLog(log).filter((line) => /\bwarning\b|\(C75\d\d\)/i.test(line));
}

/** Temporary names differ from run to run. */
function cleanLog(log: string): string[] {
  return log.split("\n")
    .map((line) => line.replace(/\S*tmpxft\S*stdin,? ?/g, "").trim())
    .filter((line) => line !== "");
}

/** The `-v` report, by entry. */
export function resourcesIn(log: string): Record<string, Resources> {
  const found: Record<string, Resources> = {};
  // One section per entry; device functions have a "Function properties" of their own, which comes later.
  for (const section of log.split(/(?=Compiling entry function ')/).slice(1)) {
    const name = /^Compiling entry function '([^']+)'/.exec(section)?.[1];
    if (name === undefined) continue;
    const number = (pattern: RegExp): number => Number(pattern.exec(section)?.[1] ?? 0);
    found[name] = {
      registers: number(/Used (\d+) registers/),
      sharedBytes: number(/(\d+) bytes smem/),
      stackBytes: number(/(\d+) bytes stack frame/),
      spillStoreBytes: number(/(\d+) bytes spill stores/),
      spillLoadBytes: number(/(\d+) bytes spill loads/),
    };
  }
  return found;
}

/** `78` as `7.8`. */
export function printPtxVersion(version: number): string {
  return `${Math.floor(version / 10)}.${version % 10}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
