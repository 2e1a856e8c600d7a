/**
 * Which registers hold the elements of values: what a debugger needs to show them by their names in the source.
 *
 * Elements are emitted when they are asked for, and asking for more would change the code. So values are asked at the
 * end of the scope that they were lowered in, while what it computed is still remembered, and answer only with what
 * has been emitted (`Emitter.peek`). An entry is the same with a recorder and without.
 */
import type { Item, Register } from "../ptx/func.ts";
import type { Value } from "../ir/func.ts";
import type { IrType } from "../ir/types.ts";
import { registerCount } from "../layout/tiles.ts";
import type { Span } from "../support/source.ts";
import type { LoopRange } from "../support/variables.ts";
import type { Ref } from "./element.ts";
import type { Emitter, Scope } from "./emitter.ts";
import { times } from "../support/times.ts";

/** The part of a lowering that is asked. */
interface Lowering {
  readonly emitter: Emitter;
  readonly values: ReadonlyMap<Value, (register: number) => Ref>;
  readonly loaded: { registers: number };
}

/** Where a thread has an element. */
export type HomeRef =
  | { readonly kind: "register"; readonly register: string }
  /** Bytes of a register, the lowest first. */
  | {
    readonly kind: "part";
    readonly register: string;
    readonly byte: number;
    readonly bytes: number;
  }
  /** In no register, because it never changes: the bits as an integer, of any sign. */
  | { readonly kind: "constant"; readonly bits: bigint };

/** Where the elements of a value are. */
export interface Home {
  /** Values of the function as it was built that it equals, by id. */
  readonly sources: readonly number[];
  /** With its layout. */
  readonly type: IrType;
  /** By register index; undefined: nowhere. */
  readonly refs: readonly (HomeRef | undefined)[];
  /** The number of the loop that carries it: the same registers hold another value after the loop. */
  readonly within: number | undefined;
}

/** What is known of an entry's registers. Instructions are numbered in the order of the text. */
export interface Homes {
  readonly homes: readonly Home[];
  /** Programs that a block does at a time, and the warps of each. */
  readonly partitions: { readonly count: number; readonly warps: number };
  readonly loops: readonly LoopRange[];
  /** Registers that loops carry, with the numbers of the loops: they hold a value up to the end of an iteration. */
  readonly carried: ReadonlyMap<string, number>;
  /** By instruction: the span of the operation that it comes from. */
  readonly spans: readonly (Span | undefined)[];
}

/** A home with the registers of the emitter, which get their last names at the end. */
interface Found {
  readonly value: Value;
  readonly head: string | undefined;
  readonly refs: readonly (Ref | undefined)[];
}

/** A value that is asked where its scope ends, and the label of the loop that carries it. */
interface Waiting {
  readonly value: Value;
  readonly head: string | undefined;
}

export class HomeRecorder {
  readonly #waiting = new Map<Scope, Waiting[]>();
  readonly #found: Found[] = [];
  readonly #carried = new Map<Register, string>();
  #paused = 0;

  /** Values are asked where scopes end. */
  watch(cx: Lowering): void {
    cx.emitter.onEnd = (scope) => {
      const { registers } = cx.loaded;
      for (const waiting of this.#waiting.get(scope) ?? []) this.#look(cx, waiting);
      cx.loaded.registers = registers;
      this.#waiting.delete(scope);
    };
  }

  /** Values have their elements from here on; `head` is the label of a loop that carries them. */
  lowered(scope: Scope, values: readonly Value[], head?: string): void {
    const named = values.filter(({ sources }) => sources !== undefined)
      .map((value): Waiting => ({ value, head }));
    if (this.#paused > 0 || named.length === 0) return;
    const list = this.#waiting.get(scope);
    if (list === undefined) this.#waiting.set(scope, named);
    else list.push(...named);
  }

  /** What is lowered now is lowered again. */
  pause(): void {
    this.#paused++;
  }

  resume(): void {
    this.#paused--;
  }

  /** Registers that a loop carries, which begins at a label. */
  carried(head: string, registers: readonly Register[]): void {
    for (const register of registers) this.#carried.set(register, head);
  }

  #look(cx: Lowering, { value, head }: Waiting): void {
    const elements = cx.values.get(value);
    if (elements === undefined) return;
    const refs = times(
      registerCount(value),
      (register) => cx.emitter.peek(() => elements(register)),
    );
    if (refs.some((ref) => ref !== undefined)) this.#found.push({ value, head, refs });
  }

  /** What was found, when registers have their last names; `kept` are the items that are left. */
  finish(
    kept: readonly Item[],
    appears: (register: Register) => boolean,
    spanOf: ReadonlyMap<Item, Span>,
    partitions: Homes["partitions"],
  ): Homes {
    const { loops, heads, spans } = outline(kept, spanOf);
    const carried = new Map<string, number>();
    for (const [register, head] of this.#carried) {
      const loop = heads.get(head);
      if (appears(register) && loop !== undefined) carried.set(register.name, loop);
    }
    const homes = this.#found.map(({ value: { sources = [], type }, head, refs }): Home => ({
      sources,
      type,
      within: head === undefined ? undefined : heads.get(head),
      refs: refs.map((ref) => ref && homeRef(ref, appears)),
    }));
    return { homes, partitions, loops, carried, spans };
  }
}

function homeRef(
  ref: Ref,
  appears: (register: Register) => boolean,
): HomeRef | undefined {
  const [operand, part] = ref.kind === "piece" ? [ref.word, ref] : [ref, undefined];
  switch (operand.kind) {
    case "register": {
      if (!appears(operand)) return undefined;
      const register = operand.name;
      if (part === undefined) return { kind: "register", register };
      return { kind: "part", register, byte: part.byte, bytes: part.bytes };
    }
    case "integer":
      return { kind: "constant", bits: operand.value >> BigInt(8 * (part?.byte ?? 0)) };
    case "float":
      return { kind: "constant", bits: operand.bits };
    default:
      return undefined;
  }
}

/** The loops of a body, by number and by label, and where its instructions come from. */
function outline(body: readonly Item[], spanOf: ReadonlyMap<Item, Span>): {
  readonly loops: readonly LoopRange[];
  readonly heads: ReadonlyMap<string, number>;
  readonly spans: readonly (Span | undefined)[];
} {
  const labels = new Map<string, number>();
  const last = new Map<string, number>();
  const spans: (Span | undefined)[] = [];
  let span: Span | undefined;
  for (const item of body) {
    if (item.kind === "label") labels.set(item.name, spans.length);
    else if (item.kind === "loc") span = spanOf.get(item);
    if (item.kind !== "instruction") continue;
    const [target] = item.operands;
    if (item.opcode === "bra" && target?.kind === "symbol" && labels.has(target.name)) {
      last.set(target.name, spans.length);
    }
    spans.push(span);
  }
  const heads = new Map([...last.keys()].map((label, loop) => [label, loop]));
  const loops = [...last].map(([label, end]) => ({ first: labels.get(label) ?? 0, last: end }));
  return { loops, heads, spans };
}
