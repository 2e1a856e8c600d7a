/** The chosen entry of a program, and its tiles. */
import { type OpenedEntry, openEntry } from "../../cli/report/open_entry.ts";
import { type Tile, tilesOfFunc } from "../../cli/report/tiles.ts";
import { prepare, type Program, targetOf } from "./program.ts";

/** The entry of this name, or the first one; undefined where the text has an error. */
export function instanceOf(program: Program, symbol: string): OpenedEntry | undefined {
  const { file, options } = prepare(program, "chosen");
  return openEntry(file, options, targetOf(program), symbol);
}

/** The tiles of the chosen entry, in the order of its operations. */
export function tilesOf(program: Program, entry: string): readonly Tile[] {
  const func = instanceOf(program, entry)?.laidOut();
  return func === undefined ? [] : tilesOfFunc(func, program.name);
}
