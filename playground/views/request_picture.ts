/**
 * One request of a warp as a picture. Global memory: a row for each 128 bytes that it touches, a column for each word of
 * four bytes, eight of which are a sector. Shared memory: a column for each bank, a row for each pass over them.
 */
import type { TracedAccess } from "../../cli/report/trace.ts";
import type { Colour } from "./colours.ts";
import type { Picture } from "./picture.ts";

const WORD = 4;
const WORDS_OF_LINE = 32;
const WORDS_OF_SECTOR = 8;
const BANKS = 32;

const USED: Colour = [86, 170, 110];
const WASTED: Colour = [238, 150, 175];
const IDLE: Colour = [205, 210, 216];
const CONFLICT: Colour = [214, 90, 60];

/** What a request costs. */
export interface RequestFacts {
  readonly lanes: number;
  readonly bytes: number;
  /** Of 32 bytes that it touches; 0 for shared memory. */
  readonly sectors: number;
  readonly idealSectors: number;
  /** Passes over the banks; 0 for global memory. */
  readonly passes: number;
  /** Passes that other places would save. */
  readonly conflicts: number;
}

/** Lanes by the word that they want, and the words in order. */
export function lanesByWord(
  { places, lanes, bytes }: Pick<TracedAccess, "places" | "lanes" | "bytes">,
): ReadonlyMap<number, readonly number[]> {
  const words = new Map<number, number[]>();
  for (let lane = 0; lane < 32; lane++) {
    if (((lanes >>> lane) & 1) === 0) continue;
    const place = places[lane] ?? 0;
    const last = Math.floor((place + Math.max(1, bytes) - 1) / WORD);
    for (let word = Math.floor(place / WORD); word <= last; word++) {
      const known = words.get(word);
      if (known === undefined) words.set(word, [lane]);
      else known.push(lane);
    }
  }
  return new Map([...words].sort(([a], [b]) => a - b));
}

/** Sectors and passes of a request, from its places alone. */
export function requestFacts(access: TracedAccess): RequestFacts {
  const { places, lanes, bytes, space } = access;
  const sectors = new Set(
    [...lanesByWord(access).keys()].map((word) => Math.floor(word / WORDS_OF_SECTOR)),
  );
  const distinct = new Set<number>();
  let count = 0;
  for (let lane = 0; lane < 32; lane++) {
    if (((lanes >>> lane) & 1) === 0) continue;
    count++;
    for (let byte = 0; byte < bytes; byte++) distinct.add((places[lane] ?? 0) + byte);
  }
  const isShared = space === "shared";
  const passes = isShared ? passesOf(access) : [];
  return {
    lanes: count,
    bytes: count * bytes,
    sectors: isShared ? 0 : sectors.size,
    idealSectors: isShared ? 0 : Math.ceil(distinct.size / (WORD * WORDS_OF_SECTOR)),
    passes: passes.length,
    conflicts: passes.filter(({ depth }) => depth > 0).length,
  };
}

/** A pass over the banks: at most one word of each. */
interface Pass {
  /** 0 for the first pass of the lanes that go together. */
  readonly depth: number;
  readonly words: readonly (number | undefined)[];
  readonly lanes: ReadonlyMap<number, readonly number[]>;
}

/** Lanes go together by 32, with 8 bytes each by 16, with 16 bytes by 8. */
function passesOf(access: TracedAccess): readonly Pass[] {
  const together = access.bytes >= 16 ? 8 : access.bytes === 8 ? 16 : 32;
  const passes: Pass[] = [];
  for (let first = 0; first < 32; first += together) {
    const group = together === 32 ? access.lanes : access.lanes & (((1 << together) - 1) << first);
    const lanes = lanesByWord({ ...access, lanes: group });
    const banks: number[][] = Array.from({ length: BANKS }, () => []);
    for (const word of lanes.keys()) banks[word % BANKS]?.push(word);
    const depths = Math.max(0, ...banks.map(({ length }) => length));
    for (let depth = 0; depth < depths; depth++) {
      passes.push({ depth, lanes, words: banks.map((words) => words[depth]) });
    }
  }
  return passes;
}

/** The picture of a request. */
export function requestPicture(access: TracedAccess): Picture {
  return access.space === "shared" ? banksPicture(access) : linesPicture(access);
}

function linesPicture(access: TracedAccess): Picture {
  const words = lanesByWord(access);
  const lineOf = (word: number): number => Math.floor(word / WORDS_OF_LINE);
  const lines = [...new Set([...words.keys()].map(lineOf))];
  const sectors = new Set([...words.keys()].map((word) => Math.floor(word / WORDS_OF_SECTOR)));
  const { tensor } = access;
  return {
    title: `${access.verb} of warp ${access.warp}: 128-byte lines of ${
      tensor || "memory"
    } by words`,
    columns: WORDS_OF_LINE,
    rows: lines.length,
    cell: (column, row) => {
      const word = (lines[row] ?? 0) * WORDS_OF_LINE + column;
      const lanes = words.get(word) ?? [];
      const isMoved = sectors.has(Math.floor(word / WORDS_OF_SECTOR));
      const what = lanes.length > 0
        ? `used by lane ${lanes.join(", ")}`
        : isMoved
        ? "moved for nothing"
        : "not moved";
      return {
        colour: lanes.length > 0 ? USED : isMoved ? WASTED : IDLE,
        text: lanes.length > 0 ? String(lanes[0]) : "",
        says: `bytes ${WORD * word} to ${WORD * word + 3} of ${tensor || "memory"}: ${what}`,
      };
    },
    columnName: (column) => `word ${column}`,
    rowName: (row) => `byte ${(lines[row] ?? 0) * WORDS_OF_LINE * WORD}`,
  };
}

function banksPicture(access: TracedAccess): Picture {
  const passes = passesOf(access);
  return {
    title: `${access.verb} of warp ${access.warp}: 32 banks of shared memory, a row for each pass`,
    columns: BANKS,
    rows: passes.length,
    cell: (bank, row) => {
      const pass = passes[row];
      const word = pass?.words[bank];
      const lanes = word === undefined ? [] : pass?.lanes.get(word) ?? [];
      return {
        colour: word === undefined ? IDLE : pass?.depth === 0 ? USED : CONFLICT,
        text: lanes.length === 0 ? "" : String(lanes[0]),
        says: word === undefined
          ? `pass ${row + 1}, bank ${bank}: idle`
          : `pass ${row + 1}, bank ${bank}: word at byte ${WORD * word}, lane ${lanes.join(", ")}` +
            (pass?.depth === 0 ? "" : "; an earlier pass had another word of this bank"),
      };
    },
    columnName: (bank) => `bank ${bank}`,
    rowName: (row) => `pass ${row + 1}`,
  };
}
