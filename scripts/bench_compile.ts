/**
 * Compile-time benchmarks: one transposition variant from text to PTX in process, `tri build kernels` cold and
 * unchanged with its peak memory, `tri --help`, and `nvcc -ptx` on an equivalent CUDA file, all on this machine.
 */
import { compileFile } from "@tri/tri";

const KERNEL = new URL("../kernels/transpose.tc", import.meta.url);
const CUDA = new URL("./bench/transpose.cu", import.meta.url);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** Median milliseconds of one variant (two instances) for one target, after warming up. */
function oneVariant(): {
  readonly cold: number;
  readonly warm: number;
  readonly instances: number;
} {
  const file = {
    name: "transpose.tc",
    text: Deno.readTextFileSync(KERNEL).replace(
      /^#pragma tri variants .*$/m,
      "#pragma tri variants TYPE in {float}",
    ),
  };
  let instances = 0;
  const once = (): number => {
    const start = performance.now();
    const { kernels } = compileFile({ ...file }, { targets: ["sm_90a"] });
    instances = kernels[0]?.instances.length ?? 0;
    return performance.now() - start;
  };
  const cold = once();
  for (let i = 0; i < 30; i++) once();
  return { cold, warm: median(Array.from({ length: 50 }, once)), instances };
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
  const variant = oneVariant();
  say(`one float variant, .tc to PTX for sm_90a, ${variant.instances} instances:`);
  say(`${"  cold".padEnd(46)}${variant.cold.toFixed(1).padStart(7)} ms`);
  say(`${"  warm, median of 50".padEnd(46)}${variant.warm.toFixed(1).padStart(7)} ms`);
  const tri = ["run", "-q", "-A", new URL("../cli/main.ts", import.meta.url).pathname];
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
