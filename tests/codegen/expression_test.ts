import { type Doc, flat, layOut, object, quote } from "../../codegen/doc.ts";
import {
  boundOfBits,
  type ExpressionScope,
  namesRead,
  printSource,
  printTypeScript,
} from "../../codegen/expression.ts";
import type { ContractExpr, ContractOperator } from "../../compiler/contract/types.ts";
import { cdiv, exact, nextPow2, quotient, remainder } from "../../ffi/kernel/arithmetic.ts";
import fc from "../support/property.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { constant, gridExtent, operation, param } from "./fixtures.ts";

/** 32-bit parameters, a wide one, a tile size. */
const WIDTHS: Readonly<Record<string, number>> = { M: 32, N: 32, K: 64, X: 64 };
const MACROS: Readonly<Record<string, number>> = { TM: 64, TN: 128 };

const SCOPE: ExpressionScope = {
  read: (name) => name,
  bound: (name) => MACROS[name] ?? boundOfBits(WIDTHS[name] ?? 64),
};

const BINARY = [
  "+",
  "-",
  "*",
  "/",
  "%",
  "min",
  "max",
  "cdiv",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "&&",
  "||",
] as const;

const { expr: anyExpr } = fc.letrec<{ expr: ContractExpr }>((tie) => ({
  expr: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...Object.keys(WIDTHS)).map(param),
    fc.constantFrom(...Object.entries(MACROS)).map(([name, value]) => constant(value, name)),
    fc.integer({ min: -9, max: 100000 }).map((value) => constant(value)),
    fc.constantFrom(0, 1, 2).map(gridExtent),
    fc.tuple(fc.constantFrom(...BINARY), tie("expr"), tie("expr")).map(([op, a, b]) =>
      operation(op, a, b)
    ),
    fc.tuple(fc.constantFrom("neg" as const, "!" as const), tie("expr")).map(([op, a]) =>
      operation(op, a)
    ),
    tie("expr").map((a) => operation("next_pow2", operation("min", a, constant(1 << 20)))),
    fc.tuple(tie("expr"), tie("expr"), tie("expr")).map((args) => operation("?:", ...args)),
  ),
}));

type Values = Readonly<Record<string, number>>;

/** The meaning of an expression in whole numbers of any size; throws where it has none. */
function meaning(expr: ContractExpr, values: Values): bigint {
  if (expr.op === "const") return BigInt(expr.value);
  if (expr.op === "param") return BigInt(values[expr.name] ?? 0);
  if (expr.op === "grid") return BigInt(values[["gridX", "gridY", "gridZ"][expr.axis] ?? ""] ?? 0);
  const at = (index: number): bigint => {
    const arg = expr.args[index];
    if (arg === undefined) throw new TypeError("operand");
    return meaning(arg, values);
  };
  const whether = (value: boolean): bigint => value ? 1n : 0n;
  const divide = (a: bigint, b: bigint): bigint => {
    if (b === 0n) throw new RangeError("zero");
    return a / b;
  };
  const OPERATORS: Readonly<Record<ContractOperator, () => bigint>> = {
    "+": () => at(0) + at(1),
    "-": () => at(0) - at(1),
    "*": () => at(0) * at(1),
    "/": () => divide(at(0), at(1)),
    "%": () => at(0) - divide(at(0), at(1)) * at(1),
    "min": () => at(0) < at(1) ? at(0) : at(1),
    "max": () => at(0) > at(1) ? at(0) : at(1),
    "cdiv": () => {
      const [a, b] = [at(0), at(1)];
      const whole = divide(a, b);
      return a % b !== 0n && (a < 0n) === (b < 0n) ? whole + 1n : whole;
    },
    "next_pow2": () => {
      let power = 1n;
      while (power < at(0)) power *= 2n;
      return power;
    },
    "neg": () => -at(0),
    "==": () => whether(at(0) === at(1)),
    "!=": () => whether(at(0) !== at(1)),
    "<": () => whether(at(0) < at(1)),
    "<=": () => whether(at(0) <= at(1)),
    ">": () => whether(at(0) > at(1)),
    ">=": () => whether(at(0) >= at(1)),
    "&&": () => at(0) !== 0n ? whether(at(1) !== 0n) : 0n,
    "||": () => at(0) !== 0n ? 1n : whether(at(1) !== 0n),
    "!": () => whether(at(0) === 0n),
    "?:": () => at(0) !== 0n ? at(1) : at(2),
  };
  return OPERATORS[expr.op]();
}

/** Runs printed TypeScript, which is JavaScript as well. */
function run(text: string, values: Values): unknown {
  const helpers = { cdiv, exact, nextPow2, quotient, remainder };
  const scope = { ...values, ...MACROS, ...helpers };
  return new Function(...Object.keys(scope), `"use strict"; return ${text};`)(
    ...Object.values(scope),
  );
}

const small = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const wide = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });
const anyValues = fc.record({
  M: fc.oneof(small, fc.integer({ min: -3, max: 100 })),
  N: fc.oneof(small, fc.integer({ min: -3, max: 100 })),
  K: fc.oneof(wide, fc.integer({ min: -3, max: 100 })),
  X: fc.integer({ min: 0, max: 2 ** 48 }),
  gridX: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  gridY: fc.integer({ min: 0, max: 65535 }),
  gridZ: fc.integer({ min: 0, max: 65535 }),
});

Deno.test("printTypeScript() prints what computes the exact value or throws, never another value", () => {
  let all = 0;
  let exactly = 0;
  fc.assert(
    fc.property(anyExpr, anyValues, (expr, values) => {
      all++;
      const { text, calls } = {
        text: flat(printTypeScript(expr, "int", SCOPE).doc),
        calls: printTypeScript(expr, "int", SCOPE).calls,
      };
      for (const call of calls) assert(text.includes(`${call}(`));
      let wanted: bigint | undefined;
      let actual: unknown;
      try {
        wanted = meaning(expr, values);
        actual = run(text, values);
      } catch {
        return;
      }
      exactly++;
      assertEquals(BigInt(Number(actual)), wanted, `${text} with ${JSON.stringify(values)}`);
    }),
    { numRuns: 3000 },
  );
  assert(exactly > all / 3, `only ${exactly} of ${all} expressions had a value`);
});

Deno.test("printTypeScript() prints conditions as booleans", () => {
  fc.assert(fc.property(anyExpr, anyValues, (expr, values) => {
    const text = flat(printTypeScript(expr, "bool", SCOPE).doc);
    let wanted: boolean;
    let actual: unknown;
    try {
      wanted = meaning(expr, values) !== 0n;
      actual = run(text, values);
    } catch {
      return;
    }
    assertEquals(actual, wanted, text);
  }));
});

Deno.test("printTypeScript() stays readable where nothing can go wrong", () => {
  const print = (expr: ContractExpr): string => flat(printTypeScript(expr, "int", SCOPE).doc);
  const last = operation("-", operation("*", gridExtent(0), constant(64, "TM")), constant(1));
  assertEquals(print(last), "gridX * TM - 1");
  assertEquals(
    print(operation("+", operation("*", last, param("M")), param("N"))),
    "exact((gridX * TM - 1) * M) + N",
  );
  assertEquals(print(operation("%", param("X"), constant(16))), "X % 16");
  assertEquals(print(operation("%", param("X"), param("M"))), "remainder(X, M)");
  assertEquals(
    print(operation("-", param("M"), operation("-", param("N"), constant(-1)))),
    "M - (N - -1)",
  );
  assertEquals(print(operation("neg", constant(-1))), "-(-1)");
  assertEquals(
    print(operation("+", operation("<", param("M"), param("N")), constant(1))),
    "Number(M < N) + 1",
  );
});

Deno.test("printSource() prints C that means the same", () => {
  fc.assert(fc.property(anyExpr, anyValues, (expr, values) => {
    const text = printSource(expr);
    assertEquals(printSource(expr), text);
    let wanted: bigint;
    try {
      wanted = meaning(expr, values);
    } catch {
      return;
    }
    assertEquals(evaluateC(text, { ...values, ...MACROS }), wanted, text);
  }));
});

/** C over whole numbers: JavaScript's own grammar, with operators on bigints and truth as 0 and 1. */
function evaluateC(text: string, values: Values): bigint {
  const tokens = text.match(/[A-Za-z_]\w*|\d+|[<>=!]=|&&|\|\||[-+*/%<>!?:(),]/g) ?? [];
  let next = 0;
  const take = (...wanted: string[]): string | undefined =>
    wanted.includes(tokens[next] ?? "") ? tokens[next++] : undefined;
  const names: ContractExpr[] = [];
  const conditional = (): ContractExpr => {
    const test = binary(0);
    if (take("?") === undefined) return test;
    const then = conditional();
    take(":");
    return operation("?:", test, then, conditional());
  };
  const LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], [
    "*",
    "/",
    "%",
  ]];
  const binary = (level: number): ContractExpr => {
    const operators = LEVELS[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    for (let op = take(...operators); op !== undefined; op = take(...operators)) {
      left = operation(op as ContractOperator, left, binary(level + 1));
    }
    return left;
  };
  const unary = (): ContractExpr => {
    if (take("-") !== undefined) return operation("neg", unary());
    if (take("!") !== undefined) return operation("!", unary());
    if (take("(") !== undefined) {
      const inner = conditional();
      take(")");
      return inner;
    }
    const token = tokens[next++] ?? "";
    if (/^\d/.test(token)) return constant(Number(token));
    if (take("(") === undefined) return param(token);
    const args = [conditional()];
    while (take(",") !== undefined) args.push(conditional());
    take(")");
    return operation(token as ContractOperator, ...args);
  };
  const expr = conditional();
  assertEquals([next, names.length], [tokens.length, 0], `rest of ${text}`);
  return meaning(expr, values);
}

Deno.test("namesRead() lists parameters, macros and grid extents once, in order", () => {
  const expr = operation(
    "+",
    operation("*", gridExtent(1), constant(64, "TM")),
    operation("min", param("M"), gridExtent(1)),
  );
  assertEquals(namesRead(expr), ["gridY", "TM", "M"]);
});

/** What contracts are made of: sums, products, bounds, comparisons joined by `&&` and `||`. */
const { sum: anySum } = fc.letrec<{ sum: ContractExpr }>((tie) => ({
  sum: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom("M", "N", "stride_of_rows", "stride_of_columns").map(param),
    fc.constantFrom(...Object.entries(MACROS)).map(([name, value]) => constant(value, name)),
    fc.nat(9).map((value) => constant(value)),
    fc.constantFrom(0, 1).map(gridExtent),
    fc.tuple(fc.constantFrom("+", "-", "*", "min", "max", "cdiv", "/", "%"), tie("sum"), tie("sum"))
      .map(([op, a, b]) => operation(op, a, b)),
  ),
}));

const anyCondition = fc.tuple(
  fc.constantFrom("&&" as const, "||" as const),
  fc.array(fc.tuple(fc.constantFrom("==" as const, "<=" as const), anySum, anySum), {
    minLength: 1,
    maxLength: 4,
  }),
).map(([join, parts]) =>
  parts.map(([op, a, b]) => operation(op, a, b)).reduce((a, b) => operation(join, a, b))
);

Deno.test("layOut() breaks expressions as deno fmt does", async () => {
  const entry = (expr: ContractExpr, want: "int" | "bool"): Doc => {
    const names = namesRead(expr);
    const head = names.length === 0
      ? "()"
      : names.length > 4
      ? "(of)"
      : `({ ${names.join(", ")} })`;
    return object({
      text: `"x"`,
      value: { kind: "arrow", head, body: printTypeScript(expr, want, SCOPE).doc },
    });
  };
  const items = [
    ...fc.sample(anySum, { numRuns: 1500, seed: 7 }).map((expr) => entry(expr, "int")),
    ...fc.sample(anyCondition, { numRuns: 1500, seed: 7 }).map((expr) => entry(expr, "bool")),
  ];
  const text = `const list = ${
    layOut({ kind: "array", items }, { indent: 0, column: 13, after: 1 })
  };\n`;
  assertEquals(await formatted(text), text);
});

Deno.test("layOut() packs numbers where they do not fit a line, and deno fmt leaves them", async () => {
  for (const count of [1, 9, 10, 11, 40]) {
    const items = Array.from({ length: count }, (_, i) => `${10 ** 5 + i}`);
    const value = object({ numbers: { kind: "packed", items }, text: quote("x".repeat(70)) });
    const text = `const value = ${layOut(value, { indent: 0, column: 14, after: 1 })};\n`;
    assertEquals(await formatted(text), text);
    assert(text.split("\n").length <= 9 + count / 9, text);
  }
});

async function formatted(text: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--no-config", "--ext", "ts", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  return new TextDecoder().decode(success ? stdout : stderr);
}
