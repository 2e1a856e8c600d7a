/** Tables of `tri inspect --stage report`, as text and as JSON. */
import type { EntryRun, Ran } from "./run.ts";

/** A table: the first columns are words, the others numbers. */
export interface Table {
  readonly columns: readonly string[];
  readonly words: number;
  readonly rows: readonly (readonly string[])[];
}

/** A table as text, aligned. */
export function printTable({ columns, words, rows }: Table): string {
  const widths = columns.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) =>
      column < words ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    ).join("  ").trimEnd();
  return [columns, ...rows].map((row) => `${line(row)}\n`).join("");
}

type EntryRan = EntryRun & { readonly outcome: Ran };

const LANES = 32;

/** What entries did when they were run, or why they were not. */
export function printRuns(runs: readonly EntryRun[]): string {
  const ran = runs.filter((run): run is EntryRan => run.outcome.kind === "ran");
  const tables = ran.length === 0 ? [] : [
    `Run once on the emulator; inputs are zeros:\n${printTable(memoryTable(ran))}`,
    `Instructions of a thread, on average:\n${printTable(instructionTable(ran))}`,
  ];
  const others = runs.flatMap(({ instance, arch, outcome }) =>
    outcome.kind === "ran" ? [] : [`${instance} (${arch}) was not run: ${outcome.reason}\n`]
  );
  return [...tables, ...(others.length === 0 ? [] : [others.join("")])].join("\n");
}

function memoryTable(runs: readonly EntryRan[]): Table {
  return {
    columns: [
      "instance",
      "arch",
      "arguments",
      "blocks",
      "global requests",
      "sectors",
      "ideal",
      "shared requests",
      "bank conflicts",
      "barriers",
      "divergent branches",
    ],
    words: 3,
    rows: runs.map(({ instance, arch, outcome: { scalars, profile } }) => {
      const { grid: [x, y, z], global, shared, barriers, divergentBranches } = profile;
      return [
        instance,
        arch,
        [...scalars].map(([name, value]) => `${name}=${value}`).join(" ") || "none",
        ...[
          x * y * z,
          global.requests,
          global.sectors,
          global.idealSectors,
          shared.requests,
          shared.bankConflicts,
          barriers,
          divergentBranches,
        ].map(String),
      ];
    }),
  };
}

/** Only classes that occur have a column. */
function instructionTable(runs: readonly EntryRan[]): Table {
  const classes = [
    ...new Set(runs.flatMap(({ outcome }) => Object.keys(outcome.profile.instructions))),
  ].sort();
  return {
    columns: ["instance", "arch", "all", ...classes],
    words: 2,
    rows: runs.map(({ instance, arch, outcome: { profile } }) => {
      const { grid: [x, y, z], block, instructions, warpInstructions } = profile;
      const threads = block[0] * block[1] * block[2];
      const warps = x * y * z * Math.ceil(threads / LANES);
      const counts = [warpInstructions, ...classes.map((name) => instructions[name] ?? 0)];
      return [instance, arch, ...counts.map((count) => perWarp(count, warps))];
    }),
  };
}

/** Instructions of a warp are those of its threads: all of them execute it, some with no effect. */
function perWarp(count: number, warps: number): string {
  return warps === 0 ? "0" : String(Math.round(10 * count / warps) / 10);
}

/** An entry's run for a JSON document. */
export function runToJson(
  { outcome }: EntryRun,
): Readonly<Record<string, unknown>> {
  return outcome.kind === "ran"
    ? { arguments: Object.fromEntries(outcome.scalars), profile: outcome.profile }
    : { notRun: outcome.reason };
}
