/**
 * Conditional text may give targets different code and different macros, but an instance has one contract and one list
 * of conditions for all of them. So what the texts state and show is united:
 *
 * - grids and tensors that pragmas state, and grids that the code shows, must be the same (E9002);
 * - demands add up: requirements, promises, conditions of specialisations, parameters that divisibility makes faster;
 * - a launch may touch what it touches in any of the texts;
 * - a result takes the memory of an argument only where all texts allow it.
 */
import { distinctBy } from "../support/distinct.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import { times } from "../support/times.ts";
import { leastCommonMultiple } from "../support/arith.ts";
import type { TargetName } from "../targets.ts";
import type { Access, AccessRange, ContractExpr, Requirement } from "./types.ts";
import { apply, constant, printExpr, substitute } from "./expr.ts";
import type { Declared, DeclaredSpecialization, DeclaredTensor, ParamPromise } from "./declared.ts";
import type { Strides } from "./strides.ts";
import type { Bounds, Inferred, Shown } from "./infer.ts";
import { unite } from "./interval.ts";
import type { KernelParams } from "./kernel_params.ts";
import { normalKey, sameExpr } from "./normal.ts";

/** What is known of the text that a target takes. */
export interface OfText<T> {
  readonly value: T;
  /** The first target that takes the text. */
  readonly target: TargetName;
}

/** At least one. */
export type OfTexts<T> = readonly [OfText<T>, ...OfText<T>[]];

const HINT = "all targets of a build have one contract: let configurations differ by target " +
  "(`#pragma tri configs TM in {32} if __TRI_ARCH__ >= 900`), or build the targets apart";

/** Whether all texts have the same parameters; else that is reported. */
export function haveSameParams(texts: OfTexts<KernelParams>, reporter: Reporter): boolean {
  const [first, ...others] = texts;
  const wanted = paramsText(first.value);
  const other = others.find(({ value }) => paramsText(value) !== wanted);
  if (other === undefined) return true;
  const { name, params } = other.value;
  const span = params[0]?.span ?? first.value.params[0]?.span;
  if (span === undefined) return true;
  reporter.error(
    "E9002",
    span,
    `the parameters of \`${name}\` are (${paramsText(other.value)}) for ${other.target}, ` +
      `but (${wanted}) for ${first.target}`,
    { hint: "keep the parameters out of `#if`s that depend on the target" },
  );
  return false;
}

const paramsText = ({ params }: KernelParams): string =>
  params.map(({ name, scalar, isPointer }) => `${scalar} ${isPointer ? "*" : ""}${name}`).join(
    ", ",
  );

/** What pragmas state, read with the macros of each text. */
export function uniteDeclared(texts: OfTexts<Declared>, reporter: Reporter): Declared {
  const [first, ...others] = texts;
  if (others.length === 0) return first.value;
  for (const other of others) compareStated(first, other, reporter);
  const all = texts.map(({ value }) => value);
  return {
    grids: first.value.grids,
    tensors: first.value.tensors,
    requires: distinctRequires(all.flatMap(({ requires }) => requires)),
    promises: unitePromises(all.map(({ promises }) => promises)),
    specialize: first.value.specialize.flatMap((row) =>
      uniteRows(all.map(({ specialize }) => specialize.find(({ suffix }) => suffix === row.suffix)))
    ),
  };
}

function compareStated(first: OfText<Declared>, other: OfText<Declared>, reporter: Reporter): void {
  const differs = (span: Span, what: string, here: string, there: string): void => {
    reporter.error(
      "E9002",
      span,
      `${what} is ${here} for ${other.target}, but ${there} for ${first.target}`,
      { hint: HINT },
    );
  };
  other.value.grids.forEach(({ extents, span }, index) => {
    const there = first.value.grids[index]?.extents ?? [];
    const axis = differentAxis(extents, there);
    if (axis === undefined) return;
    differs(span, axisText(axis), quoted(extentAt(extents, axis)), quoted(extentAt(there, axis)));
  });
  other.value.tensors.forEach((tensor, index) => {
    const there = first.value.tensors[index];
    if (there === undefined || tensorKey(tensor) === tensorKey(there)) return;
    differs(tensor.span, `\`${tensor.param.name}\``, tensorText(tensor), tensorText(there));
  });
}

const tensorKey = ({ extents, strides }: DeclaredTensor): string =>
  [...extents, ...strides].map(normalKey).join(" ");
const tensorText = ({ extents, strides }: DeclaredTensor): string =>
  `\`[${extents.map(numbersText).join(", ")}] strides [${strides.map(numbersText).join(", ")}]\``;

function unitePromises(
  all: readonly ReadonlyMap<string, ParamPromise>[],
): ReadonlyMap<string, ParamPromise> {
  const united = new Map<string, ParamPromise>();
  for (const [name, { multipleof, noalias }] of all.flatMap((promises) => [...promises])) {
    const before = united.get(name);
    united.set(name, {
      multipleof: leastCommonMultiple(before?.multipleof ?? 1, multipleof),
      noalias: noalias || before?.noalias === true,
    });
  }
  return united;
}

/** Nothing where some text has no arguments for it. */
function uniteRows(
  rows: readonly (DeclaredSpecialization | undefined)[],
): readonly DeclaredSpecialization[] {
  const [row, ...others] = rows.flatMap((one) => one ?? []);
  if (row === undefined || others.length < rows.length - 1) return [];
  const conditions = [row, ...others].flatMap(({ condition }) => condition ?? []);
  const [first, ...more] = distinctBy(conditions, ({ condition }) => normalKey(condition));
  if (first === undefined || more.length === 0) return [row];
  const condition = [first, ...more].map((one) => withNumbers(one.condition))
    .reduce((so, one) => apply("&&", so, one));
  return [{ ...row, condition: { condition, text: printExpr(condition) } }];
}

/** What the code of each text shows; all have the same parameters. */
export function uniteInferred(texts: OfTexts<Inferred>, reporter: Reporter): Inferred {
  const [first, ...others] = texts;
  if (others.length === 0) return first.value;
  const all = texts.map(({ value }) => value);
  return {
    grid: uniteGrids(texts, reporter),
    access: uniteAccess(all),
    tensors: distinctBy(all.flatMap(({ tensors }) => tensors), ({ param }) => param),
    shaping: (units) => new Set(all.flatMap(({ shaping }) => [...shaping(units)])),
    strides: () => uniteStrides(all.map(({ strides }) => strides())),
    used: new Set(all.flatMap(({ used }) => [...used])),
    bounds: (grid) => uniteBounds(all, all.map(({ bounds }) => bounds(grid))),
    inPlace: (contract) => all.map(({ inPlace }) => inPlace(contract)).reduce(commonNames),
  };
}

/** The first text that shows an axis decides; what only loads show may well be another grid. */
function uniteGrids(
  texts: OfTexts<Inferred>,
  reporter: Reporter,
): readonly (Shown | undefined)[] {
  const axes = Math.max(...texts.map(({ value }) => value.grid.length));
  return times(axes, (axis) => {
    const shown = texts.flatMap(({ value: { grid }, target }) => {
      const one = grid[axis];
      return one === undefined ? [] : [{ one, target }];
    });
    const [first, ...others] = shown;
    if (first === undefined || first.one.byLoads) return first?.one;
    const other = others.find(({ one }) => !one.byLoads && !sameExpr(one.expr, first.one.expr));
    if (other !== undefined) {
      reporter.error(
        "E9002",
        other.one.span,
        `the code shows that ${axisText(axis)} is ${quoted(other.one.expr)} for ${other.target}, ` +
          `but ${quoted(first.one.expr)} for ${first.target}`,
        {
          notes: [{
            message: `for ${first.target} it follows from this bound`,
            span: first.one.span,
          }],
          hint: HINT,
        },
      );
    }
    return first.one;
  });
}

function uniteAccess(all: readonly Inferred[]): Inferred["access"] {
  const united = new Map<string, { readonly access: Access; readonly span: Span }>();
  for (const [name, shown] of all.flatMap(({ access }) => [...access])) {
    const before = united.get(name);
    if (before === undefined) united.set(name, shown);
    else if (before.access !== shown.access) united.set(name, { ...before, access: "inout" });
  }
  return united;
}

const uniteStrides = (all: readonly Strides[]): Strides => ({
  accesses: all.flatMap(({ accesses }) => accesses),
  hasOthers: all.some(({ hasOthers }) => hasOthers),
});

function uniteBounds(all: readonly Inferred[], bounds: readonly Bounds[]): Bounds {
  const ranges = new Map<string, AccessRange>();
  for (const range of bounds.flatMap(({ ranges }) => ranges)) {
    const { param } = range;
    const before = ranges.get(param);
    ranges.set(param, before === undefined ? range : { param, ...unite(before, range) });
  }
  // A text that accesses the pointer and has no range for it may go anywhere.
  const isVague = (param: string): boolean =>
    all.some(({ access }, index) =>
      access.has(param) && bounds[index]?.ranges.every((range) => range.param !== param)
    );
  return {
    ranges: [...ranges.values()].filter(({ param }) => !isVague(param)),
    requires: distinctRequires(bounds.flatMap(({ requires }) => requires)),
    wraps: distinctBy(
      bounds.flatMap(({ wraps }) => wraps),
      ({ span, value }) => `${span.start} ${value}`,
    ),
  };
}

type InPlace = ReadonlyMap<string, readonly string[]>;

const commonNames = (a: InPlace, b: InPlace): InPlace =>
  new Map([...a].flatMap(([name, names]) => {
    const common = names.filter((one) => b.get(name)?.includes(one));
    return common.length === 0 ? [] : [[name, common] as const];
  }));

const distinctRequires = <T extends Requirement>(requires: readonly T[]): readonly T[] =>
  distinctBy(requires, ({ condition }) => normalKey(condition));

function differentAxis(
  a: readonly ContractExpr[],
  b: readonly ContractExpr[],
): number | undefined {
  return times(Math.max(a.length, b.length), (axis) => axis)
    .find((axis) => !sameExpr(extentAt(a, axis), extentAt(b, axis)));
}

const extentAt = (extents: readonly ContractExpr[], axis: number): ContractExpr =>
  extents[axis] ?? constant(1);
/** With the numbers that macros stand for: their names are the same in all texts. */
const withNumbers = (expr: ContractExpr): ContractExpr =>
  substitute(expr, (leaf) => leaf.op === "const" ? constant(leaf.value) : undefined);
const numbersText = (expr: ContractExpr): string => printExpr(withNumbers(expr));
const axisText = (axis: number): string => `axis ${axis} of the grid`;
const quoted = (expr: ContractExpr): string => `\`${numbersText(expr)}\``;
