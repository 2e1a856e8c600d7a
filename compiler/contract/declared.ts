/**
 * The contract that pragmas and overrides state for one instance: their texts read with its macros, names
 * checked against the kernel's parameters. Whether it agrees with the code is `merge.ts`'s question.
 */
import type {
  Binding,
  PragmaItem,
  PragmaName,
  PragmaText,
  TensorDescription,
} from "../pragma/pragma.ts";
import type { MacroTable } from "../preprocess/preprocess.ts";
import { spellType } from "../check/tree/types.ts";
import { textMacro } from "../preprocess/macros.ts";
import { spell } from "../preprocess/spell.ts";
import { type SpecializeRow, specializeRows } from "../pragma/specialize_rows.ts";
import { Reporter } from "../support/diagnostic.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { nearest } from "../support/spelling.ts";
import type { Span } from "../support/source.ts";
import { apply, constant, constantValue, dividesByZero, printExpr, substitute } from "./expr.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import {
  type KernelParam,
  type KernelParams,
  mayBeKey,
  naturalAlignment,
} from "./kernel_params.ts";
import { type ExprScope, parseContractExpr, parseScalarType } from "./parse_expr.ts";
import type { Access, ContractExpr, Requirement } from "./types.ts";
import { intRange, leastCommonMultiple } from "../support/arith.ts";
import { conjunctsOf, divisibilityIn, valuesIn } from "./condition_facts.ts";

export interface DeclaredGrid {
  readonly extents: readonly ContractExpr[];
  readonly span: Span;
}

export interface DeclaredTensor {
  readonly param: KernelParam;
  readonly access: Access | undefined;
  readonly extents: readonly ContractExpr[];
  readonly strides: readonly ContractExpr[];
  readonly optional: boolean;
  /** Reads give what the launch has written: they make no `inout` of an `out`. */
  readonly reread: boolean;
  readonly span: Span;
}

/** What a pragma promises about a parameter. */
export interface ParamPromise {
  /** Elements for integers, bytes for pointers. */
  readonly multipleof: number;
  readonly noalias: boolean;
}

export interface Declared {
  readonly grids: readonly DeclaredGrid[];
  readonly tensors: readonly DeclaredTensor[];
  readonly requires: readonly (Requirement & { readonly span: Span })[];
  /** By parameter. */
  readonly promises: ReadonlyMap<string, ParamPromise>;
  /** In order; none for `specialize(off)`. */
  readonly specialize: readonly DeclaredSpecialization[];
}

/** A specialisation that the lines of `specialize` ask for. */
export interface DeclaredSpecialization extends Pick<SpecializeRow, "suffix" | "isAutomatic"> {
  readonly condition?: Requirement;
}

/** Reads the items of one kernel for one instance. Errors are reported; what they concern is left out. */
export function readDeclared(
  items: readonly SourcedItem[],
  kernel: KernelParams,
  macros: MacroTable,
  reporter: Reporter,
): Declared {
  const reader = new ItemReader(kernel, macros, reporter);
  for (const { item } of items) reader.read(item);
  reader.specialized(specializeRows(items.map(({ item }) => item)));
  return reader;
}

const NOTHING: ParamPromise = { multipleof: 1, noalias: false };

class ItemReader implements Declared {
  readonly grids: DeclaredGrid[] = [];
  readonly tensors: DeclaredTensor[] = [];
  readonly requires: (Requirement & { readonly span: Span })[] = [];
  readonly promises = new Map<string, ParamPromise>();
  readonly specialize: DeclaredSpecialization[] = [];
  readonly #kernel: KernelParams;
  readonly #reporter: Reporter;
  readonly #scope: ExprScope;

  constructor(kernel: KernelParams, macros: MacroTable, reporter: Reporter) {
    this.#kernel = kernel;
    this.#reporter = reporter;
    const params = new Set(
      kernel.params.filter((param) => param.isInteger).map((param) => param.name),
    );
    this.#scope = { macros, params, what: `integer parameters of \`${kernel.name}\`` };
  }

  read(item: PragmaItem): void {
    switch (item.kind) {
      case "grid": {
        const extents = this.#exprs(item.extents);
        if (extents !== undefined) this.grids.push({ extents, span: item.span });
        return;
      }
      case "tensor":
        for (const tensor of item.tensors) this.#tensor(tensor);
        return;
      case "require":
        return this.#require(item);
      case "noalias":
        return this.#noalias(item.names);
      case "key":
        for (const name of item.names) this.#key(name);
        return;
      default:
        return;
    }
  }

  #exprs(texts: readonly PragmaText[]): readonly ContractExpr[] | undefined {
    const exprs = texts.map((text) => this.#read(text));
    const known = exprs.filter((expr) => expr !== undefined);
    return known.length < exprs.length ? undefined : known;
  }

  #param({ name, span }: PragmaName, code: "E9012" | "E9013"): KernelParam | undefined {
    const param = this.#kernel.params.find((candidate) => candidate.name === name);
    if (param === undefined) {
      const near = this.#reporter.isFull
        ? undefined
        : nearest(name, this.#kernel.params.map((candidate) => candidate.name));
      this.#reporter.error(
        code,
        span,
        `\`${name}\` is not a parameter of \`${this.#kernel.name}\``,
        {
          ...(near === undefined ? {} : { hint: `did you mean \`${near}\`?` }),
        },
      );
    }
    return param;
  }

  #key(name: PragmaName): void {
    const param = this.#param(name, "E9012");
    if (param === undefined || mayBeKey(param)) return;
    const what = param.isPointer ? "a pointer" : `\`${param.scalar}\``;
    this.#reporter.error(
      "E9012",
      name.span,
      `\`${param.name}\` is ${what}; a tuning key has integers and \`bool\``,
      { hint: "leave it out: it does not choose between configurations" },
    );
  }

  #pointer(name: PragmaName): KernelParam | undefined {
    const param = this.#param(name, "E9013");
    if (param === undefined || param.isPointer) return param;
    this.#reporter.error(
      "E9013",
      name.span,
      `\`${name.name}\` is \`${spellType(param.type)}\`, not a pointer`,
      {
        notes: [{ message: "declared here", span: param.span }],
      },
    );
    return undefined;
  }

  #promise(name: string, add: Partial<ParamPromise>): void {
    const before = this.promises.get(name) ?? NOTHING;
    this.promises.set(name, {
      multipleof: leastCommonMultiple(before.multipleof, add.multipleof ?? 1),
      noalias: before.noalias || add.noalias === true,
    });
  }

  #tensor(item: TensorDescription): void {
    const param = this.#pointer(item.param);
    if (item.type !== undefined && param !== undefined) this.#checkType(param, item.type);
    const extents = this.#exprs(item.extents);
    const strides = item.strides === undefined
      ? extents && rowMajor(extents)
      : this.#exprs(item.strides);
    if (param === undefined || extents === undefined || strides === undefined) return;
    if (strides.length !== extents.length) {
      this.#reporter.error(
        "E9002",
        item.span,
        `\`${param.name}\` has ${extents.length} extents and ${strides.length} strides`,
      );
      return;
    }
    this.#promise(param.name, { multipleof: item.align ?? 1, noalias: item.noalias });
    this.tensors.push({
      param,
      access: item.direction,
      extents,
      strides,
      optional: item.optional,
      reread: item.reread,
      span: item.span,
    });
  }

  #checkType(param: KernelParam, text: PragmaText): void {
    const type = parseScalarType(text, this.#scope.macros, this.#reporter);
    if (type === param.scalar) return;
    const said = type === undefined ? `\`${text.text.trim()}\`` : spelling(type);
    this.#reporter.error(
      "E9002",
      text.span,
      `the elements of \`${param.name}\` are ${said} here, but ${
        spelling(param.scalar)
      } in the code`,
      {
        notes: [{ message: `\`${param.name}\` is declared here`, span: param.span }],
      },
    );
  }

  #read(text: PragmaText, scope = this.#scope): ContractExpr | undefined {
    const expr = parseContractExpr(text, scope, this.#reporter);
    if (expr === undefined || !dividesByZero(expr)) return expr;
    this.#reporter.error("E5171", text.span, "this divides by zero for all arguments");
    return undefined;
  }

  #require({ condition, message, span }: Extract<PragmaItem, { kind: "require" }>): void {
    const expr = this.#read(condition);
    if (expr === undefined) return;
    const value = constantValue(expr);
    if (value !== undefined) {
      if (value === 0) {
        this.#reporter.error("E9002", span, "this is false for all arguments");
      }
      return;
    }
    this.requires.push({ condition: expr, text: message ?? condition.text.trim(), span });
    for (const [name, multipleof] of divisibilityIn(expr)) this.#promise(name, { multipleof });
  }

  #noalias(names: "all" | readonly PragmaName[]): void {
    const params = names === "all"
      ? this.#kernel.params.filter((param) => param.isPointer)
      : names.map((name) => this.#pointer(name));
    for (const param of params) {
      if (param !== undefined) this.#promise(param.name, { noalias: true });
    }
  }

  /** Conditions also see pointers, as addresses, and the value of their own row, not that of the instance. */
  specialized(rows: readonly SpecializeRow[]): void {
    const params = new Set([
      ...this.#scope.params,
      ...this.#kernel.params.filter((param) => param.isPointer).map((param) => param.name),
    ]);
    const what = `parameters of \`${this.#kernel.name}\``;
    const unbound: ExprScope = { macros: this.#scope.macros, params, what };
    for (const { suffix, isAutomatic, condition: text, binding } of rows) {
      if (text === undefined) {
        this.specialize.push({ suffix, isAutomatic });
        continue;
      }
      const scope = binding === undefined ? unbound : {
        ...unbound,
        macros: new Map([
          ...this.#scope.macros,
          [binding.name, textMacro(binding.name, binding.value, "define", new Reporter())] as const,
        ]),
      };
      const read = this.#read(text, scope);
      if (read === undefined || this.#demandsTooMuch(read, text.span)) continue;
      // Where the instance was compiled with another value, the name would stand for that.
      const named = binding === undefined || this.#hasValue(binding)
        ? read
        : withoutName(read, binding.name);
      const expr = settled(named);
      if (expr === undefined) continue;
      const condition = { condition: expr, text: printExpr(expr) };
      this.specialize.push({ suffix, isAutomatic, condition });
    }
  }

  #hasValue({ name, value }: Binding): boolean {
    const macro = this.#scope.macros.get(name);
    return macro !== undefined && spell(macro.body) === value;
  }

  /** An instance may assume values only that the parameter's type has: they become constants of that type. */
  #demandsTooMuch(condition: ContractExpr, span: Span): boolean {
    for (const [name, value] of valuesIn(condition)) {
      const param = this.#kernel.params.find((candidate) => candidate.name === name);
      if (param === undefined || !param.isInteger) continue;
      const [least, most] = intRange(param.scalar);
      if (value >= least && value <= most) continue;
      this.#reporter.error("E9002", span, "this is false for all arguments", {
        hint: `\`${name}\` is \`${spellType(param.type)}\`: ${least} to ${most}`,
        notes: [{ message: "declared here", span: param.span }],
      });
      return true;
    }
    return false;
  }
}

/** A conjunction without the parts that hold for all arguments; undefined where one holds for none. */
function settled(condition: ContractExpr): ContractExpr | undefined {
  const parts = conjunctsOf(condition).map((part) => ({ part, value: constantValue(part) }));
  if (parts.some(({ value }) => value === 0)) return undefined;
  const open = parts.flatMap(({ part, value }) => value === undefined ? [part] : []);
  return open.length === 0 ? constant(1) : open.reduce((all, part) => apply("&&", all, part));
}

const withoutName = (expr: ContractExpr, macro: string): ContractExpr =>
  substitute(
    expr,
    (leaf) => leaf.op === "const" && leaf.macro === macro ? constant(leaf.value) : undefined,
  );

const spelling = (type: ScalarName): string => `\`${SCALARS[type].spelling}\``;

/** Strides of a contiguous tensor, last axis fastest. */
function rowMajor(extents: readonly ContractExpr[]): readonly ContractExpr[] {
  const strides: ContractExpr[] = [];
  let stride: ContractExpr = constant(1);
  for (const extent of [...extents].reverse()) {
    strides.unshift(stride);
    stride = apply("*", extent, stride);
  }
  return strides;
}

/** What attributes, pragmas and the type promise: elements for integers, bytes for pointers. */
export function promisedMultiple(one: KernelParam, declared: Declared): number {
  const { multipleof, aligned } = one.attributes;
  const natural = one.isPointer ? naturalAlignment(one) : 1;
  const stated = leastCommonMultiple(multipleof ?? 1, aligned ?? 1);
  const promise = declared.promises.get(one.name)?.multipleof ?? 1;
  return [natural, stated, promise].reduce(leastCommonMultiple);
}
