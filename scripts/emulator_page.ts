/**
 * Writes what is generated of docs/emulator.md: messages of faults, from kernels that have them, and the list of
 * instructions, from PTX_OPS and from what the emulator does with each form.
 *
 *     deno run -A scripts/emulator_page.ts            rewrites the page
 *     deno run -A scripts/emulator_page.ts --check    fails if the page is not up to date
 */
import { CHECK_NAMES, CHECKS } from "../emulator/check/levels.ts";
import { GROUPS, type PtxForm } from "../compiler/ptx/form.ts";
import { DISTANCES, type Distances, printDistances } from "./emulator_distance.ts";
import { faultMessages } from "./emulator_examples.ts";
import {
  type ClassifiedForm,
  type ClassifiedRow,
  classifyRows,
  type Way,
  WAYS,
} from "./emulator_support.ts";

/** The page that is partly generated. */
export const PAGE: URL = new URL("../docs/emulator.md", import.meta.url);
const WIDTH = 100;
/** Longer lists of modifiers are not printed in full. */
const MANY = 14;

/** Titles of the sections of the PTX ISA 9.0. */
const CHAPTERS: readonly (readonly [section: string, title: string])[] = [
  ["9.7.1", "Integer arithmetic"],
  ["9.7.2", "Integers of more than one word"],
  ["9.7.3", "Floating point"],
  ["9.7.6", "Comparing and choosing"],
  ["9.7.8", "Logic and shifts"],
  ["9.7.9", "Moving and converting data"],
  ["9.7.10", "Textures"],
  ["9.7.11", "Surfaces"],
  ["9.7.12", "Control flow"],
  ["9.7.13", "Synchronisation and communication"],
  ["9.7.14", "Matrices of a warp"],
  ["9.7.15", "Matrices of a warp group"],
  ["9.7.16", "Tensor memory"],
  ["9.7.17", "Stack"],
  ["9.7.18", "Video"],
  ["9.7.19", "Miscellaneous"],
];

/** The list. */
function printInstructions(rows: readonly ClassifiedRow[] = classifyRows()): string {
  const chapterOf = ({ row }: ClassifiedRow): string => row.isa.split(".").slice(0, 3).join(".");
  const byChapter = Map.groupBy(rows, chapterOf);
  const unknown = [...byChapter.keys()].filter((key) => !CHAPTERS.some(([known]) => known === key));
  if (unknown.length > 0) throw new Error(`CHAPTERS lack ${unknown.join(", ")}`);
  const chapters = CHAPTERS.map(([section, title]) =>
    [
      `### ${section} ${title}`,
      block((byChapter.get(section) ?? []).map(printRow)),
    ].join("\n\n")
  );
  return [summary(rows), block([printGroups(rows)]), ...chapters].join("\n\n");
}

function block(pieces: readonly string[]): string {
  return ["```text", pieces.join("\n"), "```"].join("\n");
}

function summary(rows: readonly ClassifiedRow[]): string {
  const forms = rows.flatMap((row) => row.forms);
  const done = forms.filter((form) => waysOf(form).some((way) => way !== "none"));
  return wrap(
    `${done.length} of ${forms.length} forms of ${rows.length} instructions are executed. ` +
      "Capitals mean one of several modifiers:",
    "",
  );
}

/** What capitals in forms mean. */
function printGroups(rows: readonly ClassifiedRow[]): string {
  const used = new Set(
    rows.flatMap(({ forms }) => forms.flatMap(({ form }) => modifiersOf(form).split(/[.?]+/))),
  );
  return Object.entries(GROUPS).filter(([name]) => used.has(name)).map(([name, words]) => {
    const many = `${words.slice(0, 3).join(" ")} … ${words.at(-1)} (${words.length} in all)`;
    const list = words.length > MANY ? many : words.join(" ");
    return wrap(`${name.padEnd(10)}${list}`, " ".repeat(10));
  }).join("\n");
}

function printRow({ opcode, row, forms }: ClassifiedRow): string {
  const head = wrap(`${opcode}: ${row.doc} (${row.isa})`, "    ");
  if (forms.length === 0) return [head, line("none", "all forms", "")].join("\n");
  const lines = new Set(forms.flatMap(printForm));
  const unsupported = row.unsupported?.map((name) => `.${name}`).join(" ") ?? "";
  if (unsupported !== "") lines.add(line("none", "forms with", unsupported));
  return [head, ...lines].join("\n");
}

function waysOf({ samples }: ClassifiedForm): readonly Way[] {
  return WAYS.filter((way) => samples.some((sample) => sample.way === way));
}

/** The form with its implementations, and its unsupported parts. */
function printForm(classified: ClassifiedForm): string[] {
  const { form, samples } = classified;
  const ways = waysOf(classified);
  const types = [form.T, form.U].filter((list) => list !== undefined).join(" × ");
  const spelling = modifiersOf(form) || "no modifiers";
  if (ways.length === 1 || !ways.includes("none")) {
    return [line(ways.join(", "), spelling, types)];
  }
  const failing = samples.filter(({ way }) => way === "none");
  const fine = new Set(
    samples.filter(({ way }) => way !== "none").flatMap(({ sample }) =>
      sample.instruction.modifiers
    ),
  );
  const culprits = new Set(
    failing.flatMap(({ sample }) => sample.instruction.modifiers).filter((name) => !fine.has(name)),
  );
  return [
    line(ways.filter((way) => way !== "none").join(", "), spelling, types),
    line("none", `${spelling} with`, [...culprits].map((name) => `.${name}`).join(" ")),
  ];
}

function modifiersOf({ form }: PtxForm): string {
  return form.split(" ")[0] ?? "";
}

function line(ways: string, spelling: string, types: string): string {
  const start = `  ${ways.padEnd(12)}${spelling.padEnd(31)} `;
  return wrap(`${start}${types}`.trimEnd(), " ".repeat(16));
}

/** Breaks a line at blanks where it gets too long. */
function wrap(text: string, indent: string): string {
  if (text.length <= WIDTH) return text;
  const at = text.lastIndexOf(" ", WIDTH);
  if (at <= indent.length) return text;
  return `${text.slice(0, at).trimEnd()}\n${wrap(indent + text.slice(at + 1), indent)}`;
}

/** The table of checks. */
function printChecks(): string {
  const rows = CHECK_NAMES.map((name) => {
    const { finds, level, doc } = CHECKS[name];
    return [`\`${name}\``, finds.join(", "), `\`"${level}"\``, doc];
  });
  const table = [["check", "finds", "default", "which is"], ...rows];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  const printed = table.map((row) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [printed[0], rule, ...printed.slice(1)].join("\n");
}

/** The page with all that is generated. */
export function withGenerated(page: string): string {
  const faults = block([...faultMessages().values()].map((message) => `${message}\n`)).replace(
    /\n+```$/,
    "\n```",
  );
  return [
    ["checks", printChecks()],
    ["faults", faults],
    ["distances", distances()],
    ["instructions", printInstructions()],
  ].reduce((text, [name = "", section = ""]) => replaceSection(text, name, section), page);
}

/** How far the emulator is from a GPU, as it was measured last. */
function distances(): string {
  const measured: Distances = JSON.parse(Deno.readTextFileSync(DISTANCES));
  return [
    `Compared with: ${measured.device}.`,
    block([printDistances(measured)]),
  ].join("\n\n");
}

function replaceSection(page: string, name: string, text: string): string {
  const begin = `<!-- begin ${name}: written by scripts/emulator_page.ts -->`;
  const [from, to] = [page.indexOf(begin), page.indexOf(`<!-- end ${name} -->`)];
  if (from < 0 || to < from) throw new Error(`the page has no section ${name}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

if (import.meta.main) {
  const page = Deno.readTextFileSync(PAGE);
  const updated = withGenerated(page);
  if (!Deno.args.includes("--check")) Deno.writeTextFileSync(PAGE, updated);
  else if (updated !== page) {
    const text = "docs/emulator.md is not up to date: run scripts/emulator_page.ts\n";
    Deno.stderr.writeSync(new TextEncoder().encode(text));
    Deno.exit(1);
  }
}
