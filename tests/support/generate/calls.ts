/** Random calls of built-in functions and of helpers made for them. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { arityOf, MATH_ROWS, type MathFunction } from "../../../compiler/support/math_functions.ts";
import { stretching } from "./elementwise.ts";
import type { Feature } from "./features.ts";
import { isFloat, isNarrow, isWide, isWideInt, type ProgramContext } from "./scope.ts";
import { declarator, type Node, node, spellTile, type Wanted } from "./tree.ts";

interface Function {
  readonly name: string;
  readonly feature: Feature;
  readonly arity: number;
  /** Of arguments; results are of the same type. */
  readonly fits: (type: ScalarName) => boolean;
}

const anyFloat = (type: ScalarName): boolean => isFloat(type) && !isNarrow(type);

/** Whether results of a function may have a type; arguments have it then, too. */
function fits({ rule }: MathFunction, type: ScalarName): boolean {
  switch (rule.kind) {
    case "float":
      return rule.result === "same" && (type === "float32" || type === "float64");
    case "keep-float":
      return anyFloat(type);
    case "promoted":
    case "numbers":
      return isWide(type);
    case "integers":
      return INTEGER_RESULTS[rule.result](type);
  }
}

const INTEGER_RESULTS = {
  same: isWideInt,
  int: (type: ScalarName) => type === "int32",
  signed: (type: ScalarName) => type === "int32" || type === "int64",
  unsigned: (type: ScalarName) => type === "uint32" || type === "uint64",
} as const;

const FUNCTIONS: readonly Function[] = [
  ...MATH_ROWS.flatMap(([feature, row]) =>
    [feature, ...(row.also ?? [])].map((name) => ({
      name,
      feature,
      arity: arityOf(row),
      fits: (type: ScalarName) => fits(row, type),
    }))
  ),
  { name: "clamp", feature: "clamp", arity: 3, fits: isWide },
];

export function call(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const fitting = FUNCTIONS.filter(({ feature, fits }) => fits(wanted.type) && cx.has(feature));
  if (fitting.length === 0) return undefined;
  const { name, arity } = cx.choices.pick(fitting);
  const args = Array.from({ length: arity }, () => cx.expr(wanted, fuel));
  return node(wanted, `${name}(`, ...args.flatMap((arg, i) => i === 0 ? [arg] : [", ", arg]), ")");
}

export function floatTest(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const floats = cx.types.filter(anyFloat);
  const tests = (["isnan", "isinf", "isfinite"] as const).filter((name) => cx.has(name));
  if (wanted.type !== "bool" || floats.length === 0 || tests.length === 0) return undefined;
  return node(
    wanted,
    `${cx.choices.pick(tests)}(`,
    cx.expr({ ...wanted, type: cx.choices.pick(floats) }, fuel),
    ")",
  );
}

/** A random number of the language's own generator. */
export function noise(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (!cx.has("random") || wanted.shape.length === 0) return undefined;
  const offset = cx.expr({ type: "int32", shape: wanted.shape }, fuel - 1);
  const seed = cx.choices.between(0, 1000);
  if (wanted.type === "float32") {
    return node(wanted, `${cx.choices.pick(["rand", "rand", "randn"])}(${seed}, `, offset, ")");
  }
  if (wanted.type !== "uint32") return undefined;
  return cx.choices.oneIn(2)
    ? node(wanted, `randint(${seed}, `, offset, ")")
    : node(wanted, `philox(${seed}, `, offset, `, ${cx.choices.between(0, 3)})`);
}

/** A call of a helper function made for it. */
export function helperCall(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (cx.isLazy || cx.inHelper || !cx.has("helper") || cx.choices.oneIn(2)) return undefined;
  const parameters = [wanted, {
    type: cx.choices.pick(cx.types),
    shape: stretching(cx, wanted.shape),
  }]
    .map((one) => ({ ...one, name: cx.name("a") }));
  const name = cx.name("h");
  const outer = cx.variables.splice(0);
  cx.inHelper = true;
  cx.variables.push(...parameters);
  const [first] = parameters;
  const change = (): (string | Node)[] => [
    `${first?.name} = `,
    cx.expr(wanted, fuel - 1),
    "; ",
  ];
  const leave = (): (string | Node)[] => [
    ...["if (", cx.expr({ type: "bool", shape: [] }, fuel - 1), ") return "],
    ...[cx.expr(wanted, fuel - 1), "; "],
  ];
  const counter = cx.name("k");
  const early = !cx.has("helper-if") || cx.choices.oneIn(2)
    ? []
    : cx.choices.oneIn(3)
    ? [`for (int ${counter} = 0; ${counter} < 3; ${counter}++) { `, ...change(), ...leave(), "} "]
    : [...(cx.choices.oneIn(2) ? change() : []), ...leave()];
  const body = cx.expr(wanted, fuel);
  cx.variables.splice(0, cx.variables.length, ...outer);
  cx.inHelper = false;
  const list = parameters.map((one) => declarator(one.type, one.shape, one.name));
  cx.helpers.push({
    parts: [
      `static ${spellTile(wanted.type, wanted.shape)} ${name}(${list.join(", ")}) { `,
      ...early,
      "return ",
      body,
      "; }",
    ],
  });
  const args = parameters.map((one) => cx.expr(one, fuel));
  return node(wanted, `${name}(`, ...args.flatMap((arg, i) => i === 0 ? [arg] : [", ", arg]), ")");
}
