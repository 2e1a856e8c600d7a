/**
 * Writes generated/resources.md: registers, shared memory and occupancy of every shipped entry, and which of them spill, out
 * of generated/manifest.json.
 *
 *     deno task resources
 *
 * Registers are the assembler's choice, so the page names its version.
 */
import { type Occupancy, occupancyOf } from "../cli/report/occupancy.ts";
import { findAssemblers, type Resources } from "../cli/tools/ptxas.ts";
import { type Target, TARGETS } from "../compiler/targets.ts";

/** The page. */
const PAGE: URL = new URL("../generated/resources.md", import.meta.url);
/** What it is made of. */
const MANIFEST: URL = new URL("../generated/manifest.json", import.meta.url);

/** Those with columns of their own: one of each generation that differs. */
const SHOWN = ["sm_75", "sm_80", "sm_90a", "sm_120"] as const;

/** An entry of a cubin. */
export interface Entry {
  readonly kernel: string;
  readonly symbol: string;
  readonly target: Target;
  readonly threads: number;
  /** Shared memory is static and dynamic together. */
  readonly resources: Resources;
  readonly occupancy: Occupancy;
}

/** The parts of the manifest that are read here. */
interface Manifest {
  readonly sources: Readonly<Record<string, Readonly<Record<string, ManifestKernel>>>>;
}

/** An entry or a form of one. */
interface Code {
  readonly symbol: string;
  readonly threads: number;
  readonly sharedBytes: number;
}

interface ManifestKernel {
  readonly images: readonly {
    readonly kind: string;
    readonly target: string;
    readonly entries: readonly (Code & { readonly forms?: readonly Code[] })[];
  }[];
  readonly resources: Readonly<Record<string, Readonly<Record<string, Resources>>>>;
}

/** Every entry that was assembled, in the manifest's order. */
export function readEntries(manifest: string): Entry[] {
  const { sources }: Manifest = JSON.parse(manifest);
  const targets: readonly Target[] = Object.values(TARGETS);
  return Object.values(sources).flatMap((kernels) => Object.entries(kernels)).flatMap(
    ([kernel, { images, resources }]) =>
      images.filter(({ kind }) => kind === "cubin").flatMap((image) => {
        const target = targets.find(({ name }) => name === image.target);
        if (target === undefined) return [];
        const codes = image.entries.flatMap((entry) => [entry, ...entry.forms ?? []]);
        return codes.flatMap(({ symbol, threads, sharedBytes }): Entry[] => {
          const found = resources[image.target]?.[symbol];
          if (found === undefined) return [];
          const all = { ...found, sharedBytes: found.sharedBytes + sharedBytes };
          const occupancy = occupancyOf(target, { ...all, threads });
          return [{ kernel, symbol, target, threads, resources: all, occupancy }];
        });
      }),
  );
}

/** Entries that keep values in local memory, which is what spilling is. */
function spilling(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ resources: { spillStoreBytes, spillLoadBytes, stackBytes } }) =>
    spillStoreBytes + spillLoadBytes + stackBytes > 0
  );
}

/** The page for entries that these versions of ptxas have made. */
export function printPage(entries: readonly Entry[], versions: readonly string[]): string {
  const kernels = [...Map.groupBy(entries, ({ kernel }) => kernel)].sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  const spills = spilling(entries);
  const targets = new Set(entries.map(({ target }) => target.name));
  return `# Registers, shared memory and occupancy

Written by \`scripts/resource_page.ts\` from what ptxas says of \`kernels/\`.

- ptxas ${versions.join(", ")}
- ${kernels.length} kernels, ${entries.length} entries
- ${[...targets].join(", ")}

${
    spills.length === 0
      ? "**No entry spills**: none has local memory."
      : `**Entries that spill: ${spills.length}**: ${
        spills.map(({ symbol, target }) => `${symbol} (${target.name})`).join(", ")
      }.`
  }

A cell is registers of a thread · bytes of shared memory of a block · blocks that a multiprocessor
holds at a time, and in parentheses its warps by the most that it can have, with what runs out
first: r for registers, s for shared memory, b for blocks; without a letter warps. What ends in
\`_a16\` is taken where addresses and strides are multiples of 16 bytes, in \`_a1\` where rows are
contiguous, in \`_s\` and a number where the kernel's \`specialize\` says. The last column is the
range of registers on all targets.
${kernels.map(([name, list]) => `\n## ${name}\n\n${printKernel(name, list)}`).join("")}`;
}

function printKernel(kernel: string, entries: readonly Entry[]): string {
  const rows = [...Map.groupBy(entries, ({ symbol }) => symbol)].map(([symbol, list]) => {
    const registers = list.map(({ resources }) => resources.registers);
    const cells = SHOWN.map((name) => {
      const found = list.find(({ target }) => target.name === name);
      return found === undefined ? "–" : printCell(found);
    });
    const [threads] = list.map((entry) => entry.threads);
    const [least, most] = [Math.min(...registers), Math.max(...registers)];
    const range = least === most ? `${least}` : `${least}–${most}`;
    const name = symbol === kernel ? symbol : symbol.slice(kernel.length).replace(/^_/, "");
    return { name, rest: [`${threads}`, ...cells, range] };
  });
  // Variants that differ in nothing share a line.
  const lines = [...Map.groupBy(rows, ({ rest }) => rest.join("|")).values()].map((equal) => [
    equal.map(({ name }) => `\`${name}\``).join(", "),
    ...equal[0]?.rest ?? [],
  ]);
  return printTable(["entry", "threads", ...SHOWN, "registers"], lines);
}

const LETTERS = { registers: " r", "shared memory": " s", blocks: " b", warps: "" } as const;

function printCell({ resources: { registers, sharedBytes }, occupancy }: Entry): string {
  const { blocks, share, limit } = occupancy;
  const percent = `${Math.round(100 * share)} %${LETTERS[limit]}`;
  return `${registers} · ${sharedBytes} · ${blocks} (${percent})`;
}

/** A Markdown table with its columns lined up. */
function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((text, column) => text.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  return line(head) + line(head.map(() => ""), "-") + rows.map((row) => line(row)).join("");
}

/** Versions of ptxas that make cubins here, one for each target that is known to one. */
async function assemblerVersions(entries: readonly Entry[]): Promise<string[]> {
  const { usable } = await findAssemblers();
  const versions = entries.map(({ target }) =>
    usable.find(({ archs }) => archs.includes(target.name))?.version ?? "unknown"
  );
  return [...new Set(versions)].sort();
}

if (import.meta.main) {
  const entries = readEntries(Deno.readTextFileSync(MANIFEST));
  Deno.writeTextFileSync(PAGE, printPage(entries, await assemblerVersions(entries)));
}
