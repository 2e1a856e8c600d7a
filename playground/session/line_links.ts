/** Which line of the source each line of a stage comes from, so that the page marks them together. */
import type { TypedStmt } from "../../compiler/check/tree/typed.ts";
import type { Func, Region } from "../../compiler/ir/func.ts";
import { printFunc } from "../../compiler/ir/print.ts";
import type { Unit } from "../../compiler/parse/ast.ts";
import { dumpAst } from "../../compiler/parse/dump_ast.ts";
import { lineOf } from "../../cli/report/tiles.ts";

/** For each line of a stage the 1-based line of the edited file, or 0. */
export type LineLinks = readonly number[];

/** Of the outline of a syntax tree: statements say their location, what is below them belongs to them. */
export function linksOfOutline({ items }: Unit, name: string): LineLinks {
  const links = items.flatMap((item) => {
    const isIncluded = lineOf(item.span, name) === 0;
    let current = 0;
    return dumpAst({ items: [item] }).trimEnd().split("\n").map((line) => {
      const found = /@(\d+):\d+$/.exec(line)?.[1];
      if (found !== undefined) current = Number(found);
      return isIncluded ? 0 : current;
    });
  });
  return [...links, 0];
}

/** Of PTX: an instruction belongs to the `.loc` above it. */
export function linksOfPtx(text: string, name: string): LineLinks {
  const files = [...text.matchAll(/^\s*\.file\s+(\d+)\s+"([^"]*)"/gm)];
  const own = files.find(([, , file]) => file === name)?.[1];
  let current = 0;
  return text.split("\n").map((line) => {
    const [, file, found] = /^\s*\.loc\s+(\d+)\s+(\d+)/.exec(line) ?? [];
    if (found !== undefined) current = file === own ? Number(found) : 0;
    if (/^\s*(\.visible\s+)?\.(entry|func)\b/.test(line)) current = 0;
    return found === undefined && !/^\s+\S/.test(line) ? 0 : current;
  });
}

/** Of printed tile IR: one line for an operation, one more for each end of a region. */
export function linksOfFunc(func: Func, name: string): LineLinks {
  const lines: number[] = [];
  const visit = ({ ops }: Region): void => {
    for (const { span, regions } of ops) {
      const line = lineOf(span, name);
      for (const region of regions) {
        lines.push(line);
        visit(region);
      }
      lines.push(line);
    }
  };
  visit(func.body);
  const text = printFunc(func).split("\n");
  const head = text.findIndex((line) => line.startsWith("func ")) + 1;
  return text.map((_, index) => lines[index - head] ?? 0);
}

/** Of the printed typed tree. The kernel is its last part; lines of helpers above it stay without a link. */
export function linksOfTyped(text: string, body: readonly TypedStmt[], name: string): LineLinks {
  const own = [0, ...body.flatMap((stmt) => linesOf(stmt, name)), 0, 0];
  const lines = text.split("\n");
  return lines.map((_, index) => own[index - (lines.length - own.length)] ?? 0);
}

function linesOf(stmt: TypedStmt, name: string): number[] {
  const own = lineOf(stmt.span, name);
  const block = (body: readonly TypedStmt[]): number[] =>
    body.length === 0 ? [] : [...body.flatMap((each) => linesOf(each, name)), own];
  switch (stmt.kind) {
    case "if":
      return [own, ...block(stmt.then), ...block(stmt.else)];
    case "loop":
      return [own, ...block(stmt.body)];
    default:
      return [own];
  }
}
