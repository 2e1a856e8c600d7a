/** `tri inspect --stage report`: what the assembler says of each entry, and what the entry does on the emulator. */
import type { CompileResult } from "../../compiler/options.ts";
import { ALL_TARGETS, type Target } from "../../compiler/targets.ts";
import { type AssembledModule, assembleModules, noAssembler } from "../build/assembled_modules.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT } from "../failure.ts";
import { type Occupancy, occupancyOf } from "./occupancy.ts";
import type { Resources } from "../tools/ptxas.ts";
import { type EntryRun, runKernel } from "./run.ts";
import { numberParams, readSizes } from "../words/sizes.ts";
import { printRuns, printTable, runToJson } from "./table.ts";
import { jsonText } from "../json.ts";

/** Prints the report. Without an assembler its first part is missing, and the exit code says so. */
export async function runReport(
  result: CompileResult,
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<number> {
  const sizes = readSizes(invocation.list("size"), numberParams(result.kernels));
  const { images, missing } = await assembleModules(result);
  const runs = result.kernels.flatMap((kernel) => runKernel(kernel, sizes));
  if (invocation.flag("json")) {
    const entries = runs.map((run) => entryToJson(run, images));
    terminal.print(jsonText({ ok: images.length > 0, entries, missing }));
    return images.length === 0 ? EXIT.environment : EXIT.ok;
  }
  const tables = [resourceTable(images), printRuns(runs)].filter((text) => text !== "");
  terminal.print(tables.join("\n"));
  if (images.length === 0) throw noAssembler(missing);
  return EXIT.ok;
}

/** An entry as the assembler made it. */
interface AssembledEntry {
  readonly symbol: string;
  readonly arch: string;
  readonly resources: Resources;
  /** Undefined where the entry or the architecture is not ours. */
  readonly occupancy: Occupancy | undefined;
}

/** What the assembler said, with the dynamic shared memory that it cannot see. */
function assembledEntries(images: readonly AssembledModule[]): AssembledEntry[] {
  return images.flatMap(({ arch, resources, entries }) =>
    Object.entries(resources).map(([symbol, found]) => {
      const entry = entries.flatMap((entry) => [entry, ...entry.forms ?? []])
        .find((code) => code.symbol === symbol);
      const resources = { ...found, sharedBytes: found.sharedBytes + (entry?.sharedBytes ?? 0) };
      const target: Target | undefined = Object.values(ALL_TARGETS).find(({ name }) =>
        name === arch
      );
      const occupancy = entry === undefined || target === undefined
        ? undefined
        : occupancyOf(target, { ...resources, threads: entry.threads });
      return { symbol, arch, resources, occupancy };
    })
  );
}

function resourceTable(images: readonly AssembledModule[]): string {
  if (images.length === 0) return "";
  return printTable({
    columns: [
      "instance",
      "arch",
      "registers",
      "shared",
      "stack",
      "spill stores",
      "spill loads",
      "blocks per SM",
      "warps per SM",
      "occupancy",
    ],
    words: 2,
    rows: assembledEntries(images).map(({ symbol, arch, resources, occupancy }) => [
      symbol,
      arch,
      ...[
        resources.registers,
        resources.sharedBytes,
        resources.stackBytes,
        resources.spillStoreBytes,
        resources.spillLoadBytes,
        occupancy?.blocks ?? "",
        occupancy?.warps ?? "",
        occupancy === undefined ? "" : `${Math.round(100 * occupancy.share)} %`,
      ].map(String),
    ]),
  });
}

function entryToJson(
  run: EntryRun,
  images: readonly AssembledModule[],
): Readonly<Record<string, unknown>> {
  const { kernel, instance, arch } = run;
  const assembled = assembledEntries(images.filter((image) => image.kernel === kernel)).find((
    entry,
  ) => entry.symbol === instance && entry.arch === arch);
  return {
    kernel,
    instance,
    arch,
    resources: assembled?.resources ?? null,
    occupancy: assembled?.occupancy ?? null,
    ...runToJson(run),
  };
}
