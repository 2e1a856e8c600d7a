/** The rows of several variants in groups: a row that variants have in common is written once. */
import { groupBy } from "../compiler/support/group_by.ts";
import { array, type Doc, flat, quote } from "./doc.ts";

/** The instances of a variant, in the order in which they are tried. */
export interface VariantRows {
  readonly name: string;
  readonly rows: readonly Doc[];
}

/** A row and the variants that have it. */
interface SharedRow {
  readonly row: Doc;
  readonly names: readonly string[];
}

/** Variants of a kernel that have more than half of their rows in common, in an order that is right for each. */
type Family = readonly SharedRow[];

/** Groups in an order in which those that name a variant have its rows in its own order. */
export function groupRows(variants: readonly VariantRows[]): Doc {
  const families: Family[] = [];
  for (const { names, rows } of equalVariants(variants)) {
    const own = rows.map((row): SharedRow => ({ row, names }));
    const at = families.findIndex((family) =>
      2 * commonRows(family, own).length > Math.max(own.length, namesLength(family))
    );
    const family = families[at];
    if (family === undefined) families.push(own);
    else families[at] = merge(family, own);
  }
  return array(families.flatMap(groupsOf));
}

/** Most rows that a variant of the family has. */
function namesLength(family: Family): number {
  const names = new Set(family.flatMap(({ names }) => names));
  return Math.max(
    ...[...names].map((name) => family.filter((row) => row.names.includes(name)).length),
  );
}

function equalVariants(
  variants: readonly VariantRows[],
): readonly { readonly names: readonly string[]; readonly rows: readonly Doc[] }[] {
  return [...groupBy(variants, ({ rows }) => flat(array(rows))).values()].map((equal) => ({
    names: equal.map(({ name }) => name),
    rows: equal[0]?.rows ?? [],
  }));
}

/** The longest list of rows that both have in this order, as places in each. */
function commonRows(a: Family, b: Family): readonly (readonly [number, number])[] {
  const texts = [a, b].map((family) => family.map(({ row }) => flat(row)));
  const [first = [], second = []] = texts;
  // lengths[i][j]: of what follows place i of the one and place j of the other.
  const lengths = Array.from(
    { length: a.length + 1 },
    () => new Array<number>(b.length + 1).fill(0),
  );
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i] ?? [];
      row[j] = first[i] === second[j]
        ? lengthAt(i + 1, j + 1) + 1
        : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (first[i] === second[j]) pairs.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

function merge(a: Family, b: Family): Family {
  const merged: SharedRow[] = [];
  let [i, j] = [0, 0];
  for (const [atA, atB] of [...commonRows(a, b), [a.length, b.length] as const]) {
    merged.push(...a.slice(i, atA), ...b.slice(j, atB));
    const [ofA, ofB] = [a[atA], b[atB]];
    if (ofA !== undefined && ofB !== undefined) {
      merged.push({ row: ofA.row, names: [...ofA.names, ...ofB.names] });
    }
    [i, j] = [atA + 1, atB + 1];
  }
  return merged;
}

/** Rows that follow each other and belong to the same variants are a group. */
function groupsOf(family: Family): readonly Doc[] {
  const groups: { readonly names: Doc; readonly rows: Doc[] }[] = [];
  for (const { row, names } of family) {
    const last = groups.at(-1);
    const named = array(names.map(quote));
    if (last !== undefined && flat(last.names) === flat(named)) last.rows.push(row);
    else groups.push({ names: named, rows: [row] });
  }
  return groups.map(({ names, rows }) => array([names, ...rows]));
}
