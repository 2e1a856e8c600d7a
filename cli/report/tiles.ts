/** The tiles of an entry and their layouts, and the conversions between them. */
import type { Func, Op, Region, Value } from "../../compiler/ir/func.ts";
import { spellIrType } from "../../compiler/ir/print.ts";
import { type ConversionPlan, planConversion } from "../../compiler/layout/conversion.ts";
import { type LinearLayout, spellLayout } from "../../compiler/linear/linear.ts";
import { bytesOf } from "../../compiler/ir/types.ts";
import { positionOf, type Span, useSite } from "../../compiler/support/source.ts";

/** A tile with its layout. */
export interface Tile {
  /** In the order of the entry's operations. */
  readonly id: number;
  /** The variable that it was assigned to, or the operation that makes it. */
  readonly name: string;
  readonly op: string;
  readonly type: string;
  readonly line: number;
  readonly layout: LinearLayout;
  readonly spelled: string;
  /** What it was made from, where the operation moves or renames elements. */
  readonly from?: number;
  /** How the elements move from there, in words. */
  readonly how?: string;
}

/** Operations whose result is shown beside their operand. */
const MOVES: ReadonlySet<string> = new Set(["convert_layout", "permute", "reshape", "broadcast"]);

/** The line of a span in a file; 0 where it lies in another one. */
export function lineOf(span: Span, name: string): number {
  const site = useSite(span);
  return site.file.name === name ? positionOf(site.file, site.start).line : 0;
}

/** The tiles of a function with layouts, in the order of its operations. */
export function tilesOfFunc(func: Func, file: string): readonly Tile[] {
  const tiles: Tile[] = [];
  const numbers = new Map<Value, number>();
  const visit = ({ ops }: Region): void => {
    for (const op of ops) {
      for (const value of op.results) {
        const { layout } = value.type;
        if (layout === undefined) continue;
        numbers.set(value, tiles.length);
        tiles.push({
          id: tiles.length,
          name: value.name ?? op.name,
          op: op.name,
          type: spellIrType(value.type),
          line: lineOf(op.span, file),
          layout,
          spelled: spellLayout(layout),
          ...movedFrom(op, value, numbers),
        });
      }
      op.regions.forEach(visit);
    }
  };
  visit(func.body);
  return tiles;
}

function movedFrom(
  op: Op,
  value: Value,
  numbers: ReadonlyMap<Value, number>,
): Pick<Tile, "from" | "how"> {
  const [source] = op.operands;
  const from = source === undefined ? undefined : numbers.get(source);
  if (!MOVES.has(op.name) || source === undefined || from === undefined) return {};
  if (op.name !== "convert_layout") return { from, how: RENAMED[op.name] ?? op.name };
  const [before, after] = [source.type.layout, value.type.layout];
  if (before === undefined || after === undefined) return { from };
  const plan = planConversion(before, after, bytesOf(value.type.element));
  return { from, how: wordsOf(plan, value) };
}

const RENAMED: Readonly<Record<string, string>> = {
  permute: "axes are renamed; nothing moves",
  reshape: "indices are renamed; nothing moves",
  broadcast: "elements are used several times; nothing moves",
};

function wordsOf(plan: ConversionPlan, { type }: Value): string {
  switch (plan.kind) {
    case "none":
      return "nothing moves";
    case "registers":
      return "each thread renames its registers";
    case "shared": {
      const bytes = type.shape.reduce((a, b) => a * b, bytesOf(type.element));
      const { write, read } = plan.conflicts;
      const conflicts = write === 1 && read === 1
        ? "no bank conflicts"
        : `${write}-way conflicts of stores, ${read}-way of loads`;
      const scope = plan.withinWarp ? ", within warps" : "";
      return `through ${bytes} bytes of shared memory${scope}: ${conflicts}`;
    }
  }
}
