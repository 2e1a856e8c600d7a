/** What `-D` and `-U` give to the plan of instances. */
import type { Define } from "../options.ts";

/** The `-D`s and `-U`s of a build; a later one replaces an earlier one of the same name. */
export interface CommandLineDefines {
  readonly single: ReadonlyMap<string, string>;
  /** `-DTM=[32, 64]` */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly undefined: { readonly name: string; readonly value: null }[];
}

/** Sorts definitions by their form. */
export function readDefines(defines: readonly Define[]): CommandLineDefines {
  const single = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const removed = new Map<string, { name: string; value: null }>();
  for (const { name, value } of defines) {
    for (const map of [single, lists, removed]) map.delete(name);
    const list = value === null ? undefined : /^\s*\[(.*)\]\s*$/s.exec(value)?.[1];
    if (value === null) removed.set(name, { name, value });
    else if (list !== undefined) lists.set(name, splitList(list));
    else single.set(name, value);
  }
  return { single, lists, undefined: [...removed.values()] };
}

/** Splits at commas outside brackets. */
function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i] ?? ",";
    if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (c === "," && (depth === 0 || i === text.length)) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return parts;
}
