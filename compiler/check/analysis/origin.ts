/**
 * Where an extent of a value came from: the notes of a shape clash point at the variable, range or cast
 * that made the axis as long as it is.
 */
import type { Note } from "../../support/diagnostic.ts";
import { spellType } from "../tree/types.ts";
import type { TypedExpr, Variable } from "../tree/typed.ts";
import { type Clash, clashPicture } from "../expressions/broadcast.ts";
import { shapeOf } from "../tree/value_types.ts";

/** Both shapes as a picture, then where the extents of the bad axis came from. */
export function clashNotes(clash: Clash, lhs: TypedExpr, rhs?: TypedExpr): readonly Note[] {
  const picture = clashPicture(clash).map((message): Note => ({ message }));
  return [...picture, ...originNotes(clash, lhs, rhs)];
}

/** One note per operand whose axis has an origin worth showing. */
export function originNotes(clash: Clash, lhs: TypedExpr, rhs?: TypedExpr): readonly Note[] {
  const rank = Math.max(clash.lhs.length, clash.rhs.length);
  const notes: Note[] = [];
  for (const expr of rhs === undefined ? [lhs] : [lhs, rhs]) {
    const shape = expr.type.kind === "tile" ? expr.type.shape : [];
    const axis = clash.axis - (rank - shape.length);
    const note = axis < 0 ? undefined : originNote(expr, axis);
    if (note !== undefined && !notes.some((other) => other.message === note.message)) {
      notes.push(note);
    }
  }
  return notes;
}

/** The note for a variable's declaration. */
export function declarationNote(variable: Variable): Note {
  return {
    message: `\`${variable.name}\` is ${spellType(variable.type)}, declared here`,
    span: variable.span,
  };
}

function originNote(expr: TypedExpr, axis: number): Note | undefined {
  const origin = originOf(expr, axis);
  if (origin === undefined) return undefined;
  if (origin.kind === "variable") return declarationNote(origin.variable);
  if (origin.type.kind === "void") return undefined;
  return { message: `this is ${spellType(origin.type)}`, span: origin.span };
}

/** The innermost expression that brought the axis in: a variable, or what made the tile. */
function originOf(expr: TypedExpr, axis: number): TypedExpr | undefined {
  switch (expr.kind) {
    case "variable":
      return expr;
    case "binary":
    case "difference":
      return originOf(expr.lhs, axis) ?? originOf(expr.rhs, axis);
    case "unary":
    case "convert":
      return originOf(expr.operand, axis);
    case "offset":
      return originOf(expr.pointer, axis) ?? originOf(expr.count, axis);
    case "load":
      return originOf(expr.pointer, axis) ??
        (expr.mask === undefined ? undefined : originOf(expr.mask, axis));
    case "select":
      return originOf(expr.then, axis) ?? originOf(expr.else, axis) ??
        originOf(expr.condition, axis);
    case "conditional":
      return originOf(expr.then, axis) ?? originOf(expr.else, axis);
    case "broadcast": {
      const from = extentsOf(expr.operand);
      const at = axis - (extentsOf(expr).length - from.length);
      if (at < 0 || from[at] !== extentsOf(expr)[axis]) return undefined;
      return originOf(expr.operand, at);
    }
    case "permute": {
      const at = expr.order[axis];
      return at === undefined ? undefined : originOf(expr.operand, at);
    }
    case "reshape": {
      const at = sourceAxis(extentsOf(expr.operand), extentsOf(expr), axis);
      return at === undefined ? expr : originOf(expr.operand, at);
    }
    case "reduce":
      return originOf(expr.operand, axis < expr.axis ? axis : axis + 1);
    case "dot":
      return originOf(axis === 1 ? expr.rhs : expr.lhs, axis);
    case "let":
      return originOf(expr.body, axis);
    default:
      return expr.type.kind === "tile" ? expr : undefined;
  }
}

function extentsOf(expr: TypedExpr): readonly number[] {
  return expr.type.kind === "void" ? [] : shapeOf(expr.type) ?? [];
}

/** The axis that an axis of a reshaped value is, where only extents of 1 were inserted or dropped. */
function sourceAxis(
  from: readonly number[],
  to: readonly number[],
  axis: number,
): number | undefined {
  if (to[axis] === 1) return undefined;
  const longAxes = (shape: readonly number[]): readonly number[] =>
    shape.flatMap((extent, at) => extent === 1 ? [] : [at]);
  const [sources, targets] = [longAxes(from), longAxes(to)];
  const same = sources.length === targets.length &&
    sources.every((source, at) => from[source] === to[targets[at] ?? -1]);
  return same ? sources[targets.indexOf(axis)] : undefined;
}
