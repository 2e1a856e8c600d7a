/** Loops over what products are summed of, as programs write them. */
import type { Stmt } from "../tree.ts";
import { type Operand, parameter, type Product } from "./product.ts";

/** Statements for an index along k, which may need a mask there. */
export type Iteration = (k: string, isMasked: boolean) => readonly Stmt[];

/** A loop over the sum's axis, or two that divide it, around statements; operands with pointers step on with it. */
export function loops(
  product: Product,
  operands: readonly Operand[],
  iteration: Iteration,
): readonly Stmt[] {
  const { cx, tile, size, names } = product;
  const { choices } = cx;
  const [before, after] = [
    operands.flatMap((one) => one.before),
    operands.flatMap((one) => one.after),
  ];
  const body: Iteration = (k, isMasked) => [...iteration(k, isMasked), ...after];
  const k = cx.name("k");
  const [step, end] = [tile.k, names.k];
  const isMasked = size.k % step !== 0 || choices.oneIn(2);
  const hint = choices.pick([
    "",
    "",
    "",
    `#pragma tri loop num_stages(${choices.between(1, 5)})\n  `,
  ]);
  const start = (value: string): Stmt => ({ parts: [`int ${k} = ${value};`] });
  const advance: Stmt = { parts: [`${k} += ${step};`] };
  const loop = (from: string, to: string, stmts: readonly Stmt[]): Stmt => ({
    parts: [`${hint}for (int ${k} = ${from}; ${k} < ${to}; ${k} += ${step}) `, stmts],
  });
  switch (choices.between(0, 9)) {
    case 0: {
      if (size.k > 0 && size.k <= step) return [...before, ...iteration("0", isMasked)];
      // What is left of k.
      const left: Stmt = {
        parts: [
          `${hint}for (int ${k} = ${end}; ${k} > 0; ${k} -= ${step}) `,
          body(`${end} - ${k}`, isMasked),
        ],
      };
      return [...before, left];
    }
    case 1:
      if (size.k === 0) return [];
      return [
        ...before,
        start("0"),
        { parts: ["do ", [...body(k, isMasked), advance], ` while (${k} < ${end});`] },
      ];
    case 2:
      return [
        ...before,
        start("0"),
        { parts: [`while (${k} < ${end}) `, [...body(k, isMasked), advance]] },
      ];
    case 3:
    case 4: {
      const rest = choices.oneIn(2)
        ? `if (${k} < ${end}) `
        : `for (; ${k} < ${end}; ${k} += ${step}) `;
      return [
        ...before,
        start("0"),
        { parts: [`${hint}for (; ${k} + ${step} <= ${end}; ${k} += ${step}) `, body(k, false)] },
        { parts: [rest, body(k, true)] },
      ];
    }
    case 5: {
      const middle = parameter(cx, step * choices.between(0, Math.ceil(size.k / step)));
      return [
        ...before,
        loop("0", middle, body(k, isMasked)),
        loop(middle, end, body(k, isMasked)),
      ];
    }
    case 6: {
      const count = `(${end} + ${step - 1}) / ${step}`;
      return [
        ...before,
        {
          parts: [
            `${hint}for (int ${k} = 0; ${k} < ${count}; ${k}++) `,
            body(`${k} * ${step}`, isMasked),
          ],
        },
      ];
    }
    case 7: {
      // Steps of the grid's, which all programs take from their own first one.
      if (after.length > 0) break;
      const parts = parameter(cx, 2);
      const first = choices.between(0, 1);
      const strided: Stmt = {
        parts: [
          `${hint}for (int ${k} = ${first} * ${step}; ${k} < ${end}; ${k} += ${step} * ${parts}) `,
          iteration(k, isMasked),
        ],
      };
      return [...before, strided];
    }
  }
  return [...before, loop("0", end, body(k, isMasked))];
}

/** Statements of an iteration, which some iterations leave out. */
export function guarded(
  { cx, tile }: Product,
  k: string,
  stmts: readonly Stmt[],
): readonly Stmt[] {
  const { choices } = cx;
  if (!choices.oneIn(8)) return stmts;
  const limit = parameter(cx, choices.between(0, 4) * tile.k);
  return [{ parts: [`if (${k} ${choices.pick(["!=", "<", ">="])} ${limit}) `, stmts] }];
}
