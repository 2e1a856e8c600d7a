/**
 * Random programs on square tiles in loops and branches: tiles and pointer tiles that are carried, transposed, exchanged,
 * loaded and stored again in one buffer. Written as Triton-C, and run here on arrays.
 */
import fc from "../property.ts";

/** Rows and columns of the tiles. */
const SIDE = 16;
const COUNT = SIDE * SIDE;
/** Pointers move on while they are below this. */
const REACH = 6 * COUNT;
/** Elements of the buffer. */
export const EXTENT = REACH + 4 * COUNT;

const TILES = ["a", "b", "c"] as const;
const POINTERS = ["p", "q"] as const;
type Tile = typeof TILES[number];
type Pointer = typeof POINTERS[number];

type Stmt =
  | { readonly kind: "load"; readonly to: Tile; readonly from: Pointer }
  | { readonly kind: "store"; readonly to: Pointer; readonly from: Tile }
  | { readonly kind: "masked"; readonly to: Pointer; readonly from: Tile; readonly other: Tile }
  | { readonly kind: "turn"; readonly to: Tile; readonly from: Tile }
  | { readonly kind: "add"; readonly to: Tile; readonly from: Tile }
  | { readonly kind: "shift"; readonly to: Tile; readonly by: number }
  | { readonly kind: "swap"; readonly a: Tile; readonly b: Tile }
  | { readonly kind: "exchange" }
  | { readonly kind: "move"; readonly pointer: Pointer; readonly rows: number }
  | { readonly kind: "point"; readonly pointer: Pointer; readonly transposed: boolean }
  | { readonly kind: "if"; readonly bit: number; readonly then: Stmt[]; readonly else: Stmt[] }
  | { readonly kind: "for"; readonly rounds: number; readonly body: Stmt[] }
  | { readonly kind: "break"; readonly bit: number };

/** A program and the type of its elements. */
export interface TileProgram {
  readonly type: "int" | "short" | "char";
  readonly stmts: readonly Stmt[];
}

const tile = fc.constantFrom(...TILES);
const pointer = fc.constantFrom(...POINTERS);
const { list } = fc.letrec<{ stmt: Stmt; list: Stmt[] }>((tie) => ({
  stmt: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.record({ kind: fc.constant("load"), to: tile, from: pointer }),
    fc.record({ kind: fc.constant("store"), to: pointer, from: tile }),
    fc.record({ kind: fc.constant("masked"), to: pointer, from: tile, other: tile }),
    fc.record({ kind: fc.constant("turn"), to: tile, from: tile }),
    fc.record({ kind: fc.constant("add"), to: tile, from: tile }),
    fc.record({ kind: fc.constant("shift"), to: tile, by: fc.nat(5) }),
    fc.record({ kind: fc.constant("swap"), a: tile, b: tile }),
    fc.record({ kind: fc.constant("exchange") }),
    fc.record({ kind: fc.constant("move"), pointer, rows: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ kind: fc.constant("point"), pointer, transposed: fc.boolean() }),
    fc.record({ kind: fc.constant("break"), bit: fc.nat(2) }),
    fc.record({ kind: fc.constant("if"), bit: fc.nat(2), then: tie("list"), else: tie("list") }),
    fc.record({ kind: fc.constant("for"), rounds: fc.nat(3), body: tie("list") }),
  ),
  list: fc.array(tie("stmt"), { maxLength: 5 }),
}));

export const anyTileProgram: fc.Arbitrary<TileProgram> = fc.record({
  type: fc.constantFrom("int", "short", "char"),
  stmts: fc.array(list, { minLength: 1, maxLength: 3 }).map((lists) => lists.flat()),
});

/** The program as a kernel: a buffer X, and a counter of steps that decides branches. */
export function printTileProgram({ type, stmts }: TileProgram): string {
  let counters = 0;
  const block = (list: readonly Stmt[], inLoop: boolean): string =>
    `{\n${list.map((stmt) => `n += 1; ${print(stmt, inLoop)}`).join("\n")}\n}`;
  const print = (stmt: Stmt, inLoop: boolean): string => {
    switch (stmt.kind) {
      case "load":
        return `${stmt.to} = *${stmt.from};`;
      case "store":
        return `*${stmt.to} = ${stmt.from};`;
      case "masked":
        return `*?(${stmt.from} < ${stmt.other}) ${stmt.to} = ${stmt.from};`;
      case "turn":
        return `${stmt.to} = ^${stmt.from};`;
      case "add":
        return `${stmt.to} = ${stmt.to} + ${stmt.from};`;
      case "shift":
        return `${stmt.to} = ${stmt.to} + n * ${stmt.by};`;
      case "swap":
        return `{ ${type} t[${SIDE}, ${SIDE}] = ${stmt.a}; ${stmt.a} = ${stmt.b}; ${stmt.b} = t; }`;
      case "exchange":
        return `{ ${type} *t[${SIDE}, ${SIDE}] = p; p = q; q = t; int o = po; po = qo; qo = o; }`;
      case "move": {
        const { pointer, rows } = stmt;
        const by = rows * SIDE;
        return `if (${pointer}o < ${REACH}) { ${pointer} += ${by}; ${pointer}o += ${by}; }`;
      }
      case "point":
        return `${stmt.pointer} = ${
          stmt.transposed ? "transposed" : "straight"
        }; ${stmt.pointer}o = 0;`;
      case "if":
        return `if ((n >> ${stmt.bit}) & 1) ${block(stmt.then, inLoop)} else ${
          block(stmt.else, inLoop)
        }`;
      case "for": {
        const i = `i${counters++}`;
        return `for (int ${i} = 0; ${i} < ${stmt.rounds}; ${i}++) ${block(stmt.body, true)}`;
      }
      case "break":
        return inLoop ? `if ((n >> ${stmt.bit}) & 1) break;` : "";
    }
  };
  const shape = `[${SIDE}, ${SIDE}]`;
  return `#pragma tri grid(1)
__global__ void k(${type} *X, int n) {
  int m[${SIDE}] = 0 ... ${SIDE};
  ${type} *straight${shape} = X + m[:, newaxis] * ${SIDE} + m[newaxis, :];
  ${type} *transposed${shape} = X + m[:, newaxis] + m[newaxis, :] * ${SIDE};
  ${type} *p${shape} = straight;
  ${type} *q${shape} = transposed;
  int po = 0; int qo = ROUNDS;
  ${type} a${shape} = *p;
  ${type} b${shape} = *(p + ${COUNT});
  ${type} c${shape} = 1;
  ${block(stmts, false)}
  *straight = a; *(transposed + ${COUNT}) = b; *(straight + ${2 * COUNT}) = c;
  *p = c; *q = b;
}
`;
}

type Elements = Int32Array | Int16Array | Int8Array;

/** What the program makes of the buffer. */
export function runTileProgram({ stmts }: TileProgram, x: Elements, start: number): void {
  let n = start;
  const make = (f: (row: number, column: number) => number): Elements =>
    x.slice(0, COUNT).map((_, i) => f(Math.floor(i / SIDE), i % SIDE));
  const indices = (transposed: boolean): number[] =>
    Array.from({ length: COUNT }, (_, i) => {
      const [row, column] = [Math.floor(i / SIDE), i % SIDE];
      return transposed ? row + column * SIDE : row * SIDE + column;
    });
  const get = (at: readonly number[]): Elements =>
    make((row, column) => x[at[row * SIDE + column] ?? 0] ?? 0);
  const put = (at: readonly number[], tile: Elements, mask?: (i: number) => boolean): void =>
    at.forEach((index, i) => {
      if (mask === undefined || mask(i)) x[index] = tile[i] ?? 0;
    });
  const further = (at: readonly number[], by: number): number[] => at.map((index) => index + by);
  const [straight, transposed] = [indices(false), indices(true)];
  const pointers = { p: straight, q: transposed };
  const offsets = { p: 0, q: 0 };
  const tiles: Record<Tile, Elements> = {
    a: get(straight),
    b: get(further(straight, COUNT)),
    c: make(() => 1),
  };
  /** True when a loop is left. */
  const runAll = (list: readonly Stmt[], inLoop: boolean): boolean =>
    list.some((stmt) => {
      n += 1;
      return run(stmt, inLoop);
    });
  const run = (stmt: Stmt, inLoop: boolean): boolean => {
    switch (stmt.kind) {
      case "load":
        tiles[stmt.to] = get(pointers[stmt.from]);
        return false;
      case "store":
        put(pointers[stmt.to], tiles[stmt.from]);
        return false;
      case "masked": {
        const [from, other] = [tiles[stmt.from], tiles[stmt.other]];
        put(pointers[stmt.to], from, (i) => (from[i] ?? 0) < (other[i] ?? 0));
        return false;
      }
      case "turn": {
        const from = tiles[stmt.from];
        tiles[stmt.to] = make((row, column) => from[column * SIDE + row] ?? 0);
        return false;
      }
      case "add": {
        const from = tiles[stmt.from];
        tiles[stmt.to] = tiles[stmt.to].map((value, i) => value + (from[i] ?? 0));
        return false;
      }
      case "shift":
        tiles[stmt.to] = tiles[stmt.to].map((value) => value + n * stmt.by);
        return false;
      case "swap":
        [tiles[stmt.a], tiles[stmt.b]] = [tiles[stmt.b], tiles[stmt.a]];
        return false;
      case "exchange":
        [pointers.p, pointers.q] = [pointers.q, pointers.p];
        [offsets.p, offsets.q] = [offsets.q, offsets.p];
        return false;
      case "move":
        if (offsets[stmt.pointer] < REACH) {
          pointers[stmt.pointer] = further(pointers[stmt.pointer], stmt.rows * SIDE);
          offsets[stmt.pointer] += stmt.rows * SIDE;
        }
        return false;
      case "point":
        pointers[stmt.pointer] = stmt.transposed ? transposed : straight;
        offsets[stmt.pointer] = 0;
        return false;
      case "if":
        return runAll((n >> stmt.bit) & 1 ? stmt.then : stmt.else, inLoop);
      case "for":
        for (let round = 0; round < stmt.rounds; round++) if (runAll(stmt.body, true)) break;
        return false;
      case "break":
        return inLoop && ((n >> stmt.bit) & 1) === 1;
    }
  };
  runAll(stmts, false);
  put(straight, tiles.a);
  put(further(transposed, COUNT), tiles.b);
  put(further(straight, 2 * COUNT), tiles.c);
  put(pointers.p, tiles.c);
  put(pointers.q, tiles.b);
}
