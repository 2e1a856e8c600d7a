/** Views in words: which tensor each load reads, from where on, and when; or why it has no view. */
import { printExpr } from "../contract/expr.ts";
import { positionOf, useSite } from "../support/source.ts";
import { spell } from "./axes.ts";
import type { FoundLoad } from "./find_views.ts";
import type { TensorView } from "./view.ts";

/** Lines of text; empty for a function without dots. */
export function printViews(loads: readonly FoundLoad[]): string {
  return loads.map((found) => {
    const { load } = found;
    const { file, start } = useSite(load.span);
    const { line } = positionOf(file, start);
    const name = load.results[0]?.name ?? "a tile";
    const what = `${file.name}:${line}: ${name} = [${load.results[0]?.type.shape.join(", ")}]`;
    return "why" in found
      ? `${what}: no view: ${found.why}\n`
      : `${what} of ${spellView(found.view)}`;
  }).join("");
}

function spellView({ param, element, axes, when, gates = [] }: TensorView): string {
  const lines = axes.map(({ stride, extent, tile, origin, run, windows, offset }) => {
    const along = tile === undefined
      ? "one element"
      : `axis ${tile} of the tile${run === undefined ? "" : `, ${run} elements at a time,`}`;
    const moved = windows === undefined || offset === undefined
      ? ""
      : `    windows every ${printExpr(windows.step)} from ${printExpr(windows.lower)} to ${
        printExpr(windows.upper)
      } after the last one; element ${spell(offset)} of each\n`;
    return `  extent ${printExpr(extent)}, stride ${printExpr(stride)}: ${along} from ${
      spell(origin)
    } on\n${moved}`;
  });
  for (const gate of gates) lines.push(`  zero where not ${spell(gate)} <= 0\n`);
  const conditions = when.map(({ text }) => `  when ${text}\n`);
  return `${element} tensor at ${param.name}, innermost axis first\n${lines.join("")}${
    conditions.join("")
  }`;
}
