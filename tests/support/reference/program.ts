/** One program of a launch while it runs. */
import type { Span } from "../../../compiler/support/source.ts";
import { type Cells, Misbehaved } from "./cell.ts";
import type { Memory } from "./cell.ts";

export type Extents = readonly [x: number, y: number, z: number];

/** Observes where a program is. */
export type Visit = (program: Program, span: Span) => void;

/** So many evaluations are a mistake of the test's program. */
const MOST_STEPS = 200_000;

/** Constant buffers of the file, by name. */
export type Constants = ReadonlyMap<string, Memory>;

export class Program {
  /** By the variables' ids. */
  readonly variables = new Map<number, Cells>();
  #steps = 0;

  constructor(
    readonly id: Extents,
    readonly grid: Extents,
    readonly constants: Constants,
    /** Called before each statement, and before tests and steps of loops. */
    readonly visit: Visit = () => {},
  ) {}

  /** Counts an evaluation. */
  step(): void {
    if (++this.#steps > MOST_STEPS) throw new Misbehaved("the program does not end");
  }
}
