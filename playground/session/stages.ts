/** Every stage of the compiler as text, line by line linked with the source. */
import { dumpTyped } from "../../compiler/check/tree/dump_typed.ts";
import type { OpenedEntry } from "../../cli/report/open_entry.ts";
import { inspect } from "../../compiler/driver/inspect/inspect.ts";
import type { Func } from "../../compiler/ir/func.ts";
import { printFunc } from "../../compiler/ir/print.ts";
import { dumpAst } from "../../compiler/parse/dump_ast.ts";
import { instanceOf } from "./instance.ts";
import {
  type LineLinks,
  linksOfFunc,
  linksOfOutline,
  linksOfPtx,
  linksOfTyped,
} from "./line_links.ts";
import { prepare, type Program } from "./program.ts";

/** The stages there are, in the order of compilation. */
export const STAGES = ["ast", "types", "ir", "layout", "plan", "ptx"] as const;
/** One of them. */
export type StageName = typeof STAGES[number];

/** A stage of the chosen instance. */
export interface Stage {
  readonly name: StageName;
  readonly text: string;
  readonly links: LineLinks;
}

type Show = (opened: OpenedEntry, program: Program) => Omit<Stage, "name">;

const SHOW: Readonly<Record<StageName, Show>> = {
  ast: ({ checked: { parsed: { unit } } }, { name }) => ({
    text: dumpAst(unit),
    links: linksOfOutline(unit, name),
  }),
  types: ({ checked: { kernel } }, { name }) => {
    if (kernel === undefined) return { text: "", links: [] };
    const text = dumpTyped({ kernels: [kernel] });
    return { text, links: linksOfTyped(text, kernel.body, name) };
  },
  ir: ({ func }, program) => ofFunc(func, program),
  layout: ({ laidOut }, program) => ofFunc(laidOut(), program),
  plan: (_opened, program) => ({ text: inspected(program, "plan"), links: [] }),
  ptx: (_opened, program) => {
    const text = inspected(program, "ptx");
    return { text, links: linksOfPtx(text, program.name) };
  },
};

/** Some stages; of a faulty text those that there are. */
export function stagesOf(
  program: Program,
  names: readonly StageName[],
  entry: string,
): readonly Stage[] {
  const opened = instanceOf(program, entry);
  if (opened === undefined) return [];
  return names.map((name) => ({ name, ...SHOW[name](opened, program) }));
}

function ofFunc(func: Func | undefined, { name }: Program): Omit<Stage, "name"> {
  if (func === undefined) return { text: "", links: [] };
  return { text: printFunc(func), links: linksOfFunc(func, name) };
}

function inspected(program: Program, phase: "plan" | "ptx"): string {
  const { file, options } = prepare(program, "chosen");
  return inspect(file, options, phase);
}
