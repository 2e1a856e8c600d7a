/**
 * Compile-time benchmarks: one variant of some kernels from text to PTX in process, `tri build kernels` cold and
 * unchanged with its peak memory, `tri --help`, and `nvcc -ptx` on an equivalent CUDA file, all on this machine.
 * Processes run as the task `tri` runs them, flags for V8 included.
 */
import { compileFile, type SourceFile, type TargetName } from "@tri/tri/compiler";
import config from "../deno.json" with { type: "json" };

interface Case {
  readonly file: string;
  /** Lines that leave one variant, in place of those that name all. */
  readonly variant: string;
  readonly kernel: string;
  readonly target: TargetName;
}

const CASES: readonly Case[] = [
  {
    file: "transpose.tc",
    kernel: "transpose",
    variant: "variants TYPE in {float}",
    target: "sm_90a",
  },
  {
    file: "matmul.tc",
    kernel: "matmul",
    variant: "variants TYPE in {half}",
    target: "sm_80",
  },
  {
    file: "matmul.tc",
    kernel: "matmul",
    variant: "variants TYPE in {half}",
    target: "sm_90",
  },
  { file: "softmax.tc", kernel: "softmax", variant: "variants TYPE in {float}", target: "sm_90" },
  {
    file: "layer_norm.tc",
    kernel: "layer_norm",
    variant: "variants TYPE in {float}",
    target: "sm_90",
  },
];
const CUDA = new URL("./bench/transpose.cu", import.meta.url);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** The file with all lines about variants but one, which says `variant`. */
function onlyVariant(text: string, variant: string): string {
  let isFirst = true;
  return text.replace(/^#pragma tri variants? .*$/gm, () => {
    const line = isFirst ? `#pragma tri ${variant}` : "";
    isFirst = false;
    return line;
  });
}

function readKernel(name: string): string {
  return Deno.readTextFileSync(new URL(`../kernels/${name}`, import.meta.url));
}

const WARM_UP = 60;
const RUNS = 50;

/** Compiles one variant for one target again and again in this process, and says how long it took. */
function timeCase({ file: name, kernel, variant, target }: Case): void {
  const text = onlyVariant(readKernel(name), variant);
  const headers = new Map<string, SourceFile>();
  const include = (header: string): SourceFile => {
    const file = headers.get(header) ?? { name: header, text: readKernel(header) };
    headers.set(header, file);
    return file;
  };
  let instances = 0;
  const once = (): number => {
    const start = performance.now();
    const options = { targets: [target], kernels: [kernel], include };
    const { kernels, diagnostics } = compileFile({ name, text }, options);
    const time = performance.now() - start;
    const error = diagnostics.find(({ severity }) => severity === "error");
    if (error !== undefined) throw new Error(`${name}: ${error.message}`);
    instances = kernels[0]?.instances.length ?? 0;
    return time;
  };
  const first = once();
  for (let i = 1; i < WARM_UP; i++) once();
  const times = Array.from({ length: RUNS }, once).sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor(part * (RUNS - 1))] ?? NaN).toFixed(1);
  say(
    `${`${kernel}, ${target}, ${instances} instances`.padEnd(46)}${at(0.5).padStart(7)} ms ` +
      `(${at(0.1)} to ${at(0.9)} for 8 of 10; first ${first.toFixed(0)})`,
  );
}

interface ProcessCost {
  readonly milliseconds: number;
  /** Of the process itself and, apart, of its largest child; in MiB. */
  readonly peakMiB: number;
}

/** Runs a command to its end; peak memory through GNU time where there is one. */
async function run(command: string, args: readonly string[]): Promise<ProcessCost> {
  const timed = await exists("/usr/bin/time");
  const start = performance.now();
  const { success, stderr } = await new Deno.Command(timed ? "/usr/bin/time" : command, {
    args: timed ? ["-f", "peak %M", command, ...args] : [...args],
    stdout: "null",
    stderr: "piped",
  }).output();
  const milliseconds = performance.now() - start;
  const text = new TextDecoder().decode(stderr);
  if (!success) throw new Error(`${command} ${args.join(" ")} failed:\n${text}`);
  return { milliseconds, peakMiB: Number(/peak (\d+)/.exec(text)?.[1] ?? NaN) / 1024 };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function medianRun(
  count: number,
  command: string,
  args: readonly string[],
): Promise<ProcessCost> {
  const runs: ProcessCost[] = [];
  for (let i = 0; i < count; i++) runs.push(await run(command, args));
  return {
    milliseconds: median(runs.map((r) => r.milliseconds)),
    peakMiB: Math.max(...runs.map((r) => r.peakMiB)),
  };
}

function row(what: string, cost: ProcessCost): void {
  const memory = Number.isNaN(cost.peakMiB) ? "" : `, peak ${cost.peakMiB.toFixed(0)} MiB`;
  say(`${what.padEnd(46)}${cost.milliseconds.toFixed(0).padStart(7)} ms${memory}`);
}

async function main(): Promise<void> {
  say(`one variant, .tc to PTX in process, median of ${RUNS} after ${WARM_UP}:`);
  for (const one of CASES) timeCase(one);
  const flags = config.tasks.tri.command.split(" ").filter((word) => word.startsWith("--v8-flags"));
  const tri = ["run", "-q", "-A", ...flags, new URL("../cli/main.ts", import.meta.url).pathname];
  const out = await Deno.makeTempDir();
  try {
    const build = [
      ...tri,
      "build",
      new URL("../kernels", import.meta.url).pathname,
      "--out",
      `${out}/generated`,
    ];
    row("tri --help", await medianRun(5, Deno.execPath(), [...tri, "--help"]));
    row("tri build kernels, cold, PTX only", await run(Deno.execPath(), [...build, "--no-cubin"]));
    row("tri build kernels, cold, with cubins", await run(Deno.execPath(), [...build, "--force"]));
    row("tri build kernels, unchanged", await medianRun(5, Deno.execPath(), build));
    try {
      row(
        "nvcc -ptx, the float transposition in CUDA",
        await medianRun(5, "nvcc", [
          "-ptx",
          "-arch=sm_90a",
          "-o",
          `${out}/transpose.ptx`,
          CUDA.pathname,
        ]),
      );
    } catch (error) {
      say(`nvcc was not measured: ${error instanceof Error ? error.message : error}`);
    }
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

await main();
