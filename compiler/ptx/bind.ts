/**
 * Assigns the modifiers of an instruction to the pieces of a form. The ISA writes them in one order; ptxas takes them in
 * any, as long as those that say the same of different operands (types, layouts, priorities) stay in
 * theirs: `div.ftz.rn.f32` is `div.rn.ftz.f32`, but `cvt.f32.s32` is not `cvt.s32.f32`. Of copies between two state
 * spaces, how they complete says which way they go.
 */
import type { ModifierPiece, ReadForm } from "./form.ts";

/** The values of the variables of a form. */
export type Bound = Map<string, string>;

/** Modifiers in the order of a form, with the values of its variables. */
export interface Binding {
  readonly bound: Bound;
  readonly modifiers: readonly string[];
}

/** Assigns modifiers as they are written to the pieces of a form from piece `at` on. */
export function bindInOrder(
  form: ReadForm,
  modifiers: readonly string[],
  at = 0,
  from = 0,
): Bound | undefined {
  const piece = form.modifiers[at];
  const modifier = modifiers[from];
  if (piece === undefined) return modifier === undefined ? new Map() : undefined;
  if (modifier !== undefined && piece.names.includes(modifier)) {
    const rest = bindInOrder(form, modifiers, at + 1, from + 1);
    if (rest !== undefined) return rest.set(piece.variable, modifier);
  }
  return piece.optional ? bindInOrder(form, modifiers, at + 1, from) : undefined;
}

/** Modifiers of one class keep their order among each other. */
const CLASSES: readonly RegExp[] = [
  // Types: b32, u16x2, bf16, tf32, e4m3x2, ue8m0x2, b8x16, b6x16_p32; b1024 is the tensor map itself.
  /^(?!b1024)(?:pred|(?:[bsu]|b?f|tf)\d+(?:x\d+)?(?:_p\d+)?|u?e\dm\d(?:x\d)?)$/,
  /^(?:row|col)$/,
  /^L2::evict_/,
];
const FREE = -1;

const classOf = (modifier: string): number =>
  CLASSES.findIndex((pattern) => pattern.test(modifier));

/** Longer spellings are no instructions, so that no text takes long to refuse. */
const MOST_MODIFIERS = 16;

/** Assigns modifiers in whatever order they are written. */
export function bindAnyOrder(
  { modifiers: pieces }: ReadForm,
  modifiers: readonly string[],
): Binding | undefined {
  const required = pieces.filter(({ optional }) => !optional).length;
  const count = modifiers.length;
  if (count > Math.min(pieces.length, MOST_MODIFIERS) || count < required) return undefined;
  const classes = modifiers.map(classOf);
  const chosen: (readonly [ModifierPiece, string])[] = [];
  const used = modifiers.map(() => false);
  /** Whether no other of its class is still to come before it. */
  const isFirst = (i: number): boolean =>
    classes[i] === FREE || classes.every((kind, j) => j >= i || kind !== classes[i] || used[j]);
  const bind = (at: number): boolean => {
    const piece = pieces[at];
    if (piece === undefined) return chosen.length === count;
    for (const [i, modifier] of modifiers.entries()) {
      if (used[i] === true || !piece.names.includes(modifier) || !isFirst(i)) continue;
      used[i] = true;
      chosen.push([piece, modifier]);
      if (bind(at + 1)) return true;
      chosen.pop();
      used[i] = false;
    }
    return piece.optional && bind(at + 1);
  };
  if (!bind(0)) return undefined;
  // Of groups that a form names twice, the first counts.
  const bound: Bound = new Map(
    chosen.map(([{ variable }, modifier]) => [variable, modifier] as const).reverse(),
  );
  return { bound, modifiers: chosen.map(([, modifier]) => modifier) };
}
