/** What a random expression may use where it stands. */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import type { Choices } from "./choices.ts";
import type { Feature } from "./features.ts";
import {
  type BufferSpec,
  declarator,
  type Node,
  type ScalarSpec,
  type Shape,
  spellTile,
  type Stmt,
  type Wanted,
} from "./tree.ts";

export interface VariableSpec {
  readonly name: string;
  readonly type: ScalarName;
  readonly shape: Shape;
}

/** One program in the making. */
export class ProgramContext {
  readonly buffers: BufferSpec[] = [];
  /** Parameters that statements asked for. */
  readonly scalars: ScalarSpec[] = [];
  /** Declarations at the top of the kernel that expressions asked for. */
  readonly prelude: Stmt[] = [];
  readonly helpers: Stmt[] = [];
  /** Visible variables, innermost last. */
  readonly variables: VariableSpec[] = [];
  /** Variables that assignments leave alone: counters of loops. */
  readonly fixed = new Set<string>();
  /** Names of integer constants of the file. */
  readonly constants: string[] = [];
  /** Names of types, by how they are spelled. */
  readonly typedefs = new Map<string, string>();
  /** In the body of a helper there are no buffers and no launch. */
  inHelper = false;
  #names = 0;
  #lazy = 0;
  #indices = new Map<string, string>();

  constructor(
    readonly choices: Choices,
    readonly features: ReadonlySet<Feature>,
    readonly types: readonly ScalarName[],
    readonly shapes: readonly Shape[],
    readonly programs: number,
    /** Elements of each program's part of an output; no tile is larger. */
    readonly part: number,
    /** The number of the program in its launch, as text. */
    readonly programIndex: string,
    /** Makes any expression: parts of expressions are expressions, so their makers take it from here. */
    readonly makeExpr: (cx: ProgramContext, wanted: Wanted, fuel: number) => Node,
  ) {}

  /** An expression; `fuel` bounds its depth. */
  expr(wanted: Wanted, fuel: number): Node {
    return this.makeExpr(this, wanted, fuel);
  }

  has(feature: Feature): boolean {
    return this.features.has(feature);
  }

  name(letter: string): string {
    return `${letter}${this.#names++}`;
  }

  /** Runs `body`; what it declares is forgotten afterwards. */
  inScope<T>(body: () => T): T {
    const outer = [...this.variables];
    const result = body();
    this.variables.splice(0, this.variables.length, ...outer);
    return result;
  }

  /** Declares a variable; an earlier one of that name is hidden. */
  declare(variable: VariableSpec): void {
    const hidden = this.variables.findIndex(({ name }) => name === variable.name);
    if (hidden >= 0) this.variables.splice(hidden, 1);
    this.variables.push(variable);
  }

  /** `float[4, 8]`, or a name for it. */
  spellTile(type: ScalarName, shape: Shape): string {
    const plain = spellTile(type, shape);
    const name = this.typedefs.get(plain);
    return name !== undefined && this.choices.oneIn(2) ? name : plain;
  }

  /** `float x[4, 8]`, or with a name for the type. */
  declarator(type: ScalarName, shape: Shape, name: string): string {
    const plain = spellTile(type, shape);
    const spelled = this.spellTile(type, shape);
    return spelled === plain ? declarator(type, shape, name) : `${spelled} ${name}`;
  }

  /** In a side of a tile `?:`, whose mask must reach every load (language.md, 5.11). */
  get isLazy(): boolean {
    return this.#lazy > 0;
  }

  /** Runs `make`, whose expressions are in such a side. */
  whileLazy<T>(isLazy: boolean, make: () => T): T {
    if (!isLazy) return make();
    this.#lazy++;
    const made = make();
    this.#lazy--;
    return made;
  }

  /** The variable that holds the row-major index of a shape, or another numbering: a stride for each axis. */
  indexTile(shape: Shape, strides: readonly number[]): Node {
    const parts = shape.map((extent, axis) => {
      const items = shape.map((_, at) => at === axis ? ":" : "newaxis").join(", ");
      const range = shape.length === 1 ? `(0 ... ${extent})` : `(0 ... ${extent})[${items}]`;
      return strides[axis] === 1 ? range : `${range} * ${strides[axis]}`;
    });
    const text = parts.join(" + ");
    if (this.inHelper) return { type: "int32", shape, parts: [`(${text})`] };
    const known = this.#indices.get(text);
    const name = known ?? this.name("i");
    if (known === undefined) {
      this.#indices.set(text, name);
      this.prelude.push({ parts: [`${declarator("int32", shape, name)} = ${text};`] });
    }
    return { type: "int32", shape, parts: [name] };
  }
}

export function rowMajor(shape: Shape): number[] {
  return shape.map((_, axis) =>
    shape.slice(axis + 1).reduce((product, extent) => product * extent, 1)
  );
}

export function columnMajor(shape: Shape): number[] {
  return shape.map((_, axis) => shape.slice(0, axis).reduce((p, extent) => p * extent, 1));
}

export const isFloat = (type: ScalarName): boolean => SCALARS[type].class === "float";
export const isNarrow = (type: ScalarName): boolean =>
  isFloat(type) ? SCALARS[type].bits === 8 : SCALARS[type].bits < 32;
export const isInt = (type: ScalarName): boolean => !isFloat(type) && type !== "bool";
export const sameShape = (a: Shape, b: Shape): boolean => a.join() === b.join();
/** Types that arithmetic keeps: no bool, nothing that is promoted. */
export const isWide = (type: ScalarName): boolean => type !== "bool" && !isNarrow(type);
export const isWideInt = (type: ScalarName): boolean => isWide(type) && !isFloat(type);
