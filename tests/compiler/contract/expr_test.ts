import fc from "../../support/property.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import {
  apply,
  ArithmeticError,
  constant,
  evaluate,
  grid,
  param,
  paramsOf,
  printExpr,
  simplify,
  substitute,
} from "../../../compiler/contract/expr.ts";
import { sameExpr } from "../../../compiler/contract/normal.ts";
import type { ContractExpr, ContractOperator } from "../../../compiler/contract/types.ts";
import { mustRead, readExpr } from "./support/parse.ts";

const VALUES: Readonly<Record<string, number>> = { M: 100, N: 7, K: 0, ldx: -3 };
const value = (text: string, macros: Readonly<Record<string, string>> = {}): bigint =>
  evaluate(mustRead(text, macros), { param: (name) => VALUES[name] });

Deno.test("evaluate() computes as C does, without rounding", () => {
  assertEquals(value("-7 / 2"), -3n);
  assertEquals(value("-7 % 2"), -1n);
  assertEquals(value("M * N - 3 * (K + ldx)"), 709n);
  assertEquals(value("cdiv(M, 64) + cdiv(128, 64) + cdiv(0, 64)"), 4n);
  assertEquals(value("next_pow2(M) + next_pow2(1) + next_pow2(64)"), 193n);
  assertEquals(value("min(M, N, 3) + max(M, N)"), 103n);
  assertEquals(value("M > N && N >= 7 || K != 0"), 1n);
  assertEquals(value("!K ? M : N"), 100n);
  assertEquals(
    value("sizeof(half) + sizeof(unsigned char) + sizeof(float*) + sizeof(double[4])"),
    43n,
  );
  assertEquals(value("9007199254740991 * 1000"), 9007199254740991000n);
});

Deno.test("evaluate() skips the side that a choice does not take", () => {
  assertEquals(value("K == 0 ? 1 : M / K"), 1n);
  assertEquals(value("K != 0 && M / K > 1"), 0n);
  assertEquals(value("K == 0 || M / K > 1"), 1n);
});

Deno.test("evaluate() refuses what has no value in 64 bits", () => {
  assertThrows(() => value("M / K"), ArithmeticError, "division by zero");
  assertThrows(() => value("9007199254740991 * 9007199254740991"), ArithmeticError, "overflow");
});

Deno.test("parseContractExpr() remembers which constants are compile-time parameters", () => {
  assertEquals(printExpr(mustRead("cdiv(M, TM)", { TM: "64" })), "cdiv(M, TM)");
  assertEquals(printExpr(mustRead("cdiv(M, TM)", { TM: "64*2" })), "cdiv(M, TM)");
  assertEquals(value("cdiv(M, TM)", { TM: "64*2" }), 1n);
  // Not parenthesised for you (language.md 1.3): 2 * 64 + 1.
  assertEquals(value("2 * TM", { TM: "64 + 1" }), 129n);
  assertEquals(printExpr(mustRead("2 * TM", { TM: "64 + 1" })), "129");
  // Numbers inside a macro that depends on parameters are not its value.
  const rows = "(N <= 256 ? 64 : 1)";
  assertEquals(
    printExpr(mustRead("cdiv(M, ROWS)", { ROWS: rows })),
    `cdiv(M, ${rows.slice(1, -1)})`,
  );
});

Deno.test("parseContractExpr() expands macros that name parameters", () => {
  assertEquals(printExpr(mustRead("STRIDE * 2", { STRIDE: "ldx" })), "ldx * 2");
});

Deno.test("parseContractExpr() names no constant after a macro with a longer body", () => {
  const macros = { V: "(16 / sizeof(half))", ALIGNED: "(M % V == 0 && ldx == 1)", MINUS: "-2" };
  assertEquals(printExpr(mustRead("ALIGNED", macros)), "M % 8 == 0 && ldx == 1");
  assertEquals(printExpr(mustRead("M + max(V, N)", macros)), "M + max(8, N)");
  assertEquals(printExpr(mustRead("M * MINUS", macros)), "M * MINUS");
  const rows = { TILE: "64", ROWS: "(N <= 8 ? TILE / 8 : TILE >= 32 && N <= 16 ? 4 : 1)" };
  assertEquals(printExpr(mustRead("M + ROWS", rows)), "M + (N <= 8 ? 8 : 1 && N <= 16 ? 4 : 1)");
  assertEquals(value("M * MINUS", macros), -200n);
  const chosen = { K: "256", TILE: "(K > 128 ? 64 : 32)" };
  assertEquals(printExpr(mustRead("cdiv(M, TILE)", chosen)), "cdiv(M, TILE)");
  assertEquals(value("cdiv(M, TILE)", chosen), 2n);
  assertEquals(printExpr(mustRead("cdiv(M, 4 > 3 ? N : 32)")), "cdiv(M, N)");
});

Deno.test("parseContractExpr() reports unknown names, functions and operators", () => {
  const codes = (text: string): string[] => readExpr(text).diagnostics.map(({ code }) => code);
  assertEquals(codes("MM + L"), ["E9013", "E9013"]);
  assertEquals(codes("ceil(M)"), ["E9013"]);
  assertEquals(codes("cdiv(M)"), ["E7001"]);
  assertEquals(codes("M & 1"), ["E5003"]);
  assertEquals(codes("M + 1.5"), ["E5003"]);
  assertEquals(codes("M = 1"), ["E5003"]);
  assertEquals(codes("M +"), ["E5003"]);
  assertEquals(codes("sizeof(what)"), ["E9013"]);
  assertEquals(codes("12345678901234567890"), ["E2010"]);
});

Deno.test("printExpr() writes only the parentheses that C needs", () => {
  const same = [
    "(M + 1) * N",
    "M - (N - 1)",
    "M - N - 1",
    "M / N * 2",
    "M / (N * 2)",
    "-(M + 1)",
    "!(M == N)",
  ];
  for (const text of same) assertEquals(printExpr(mustRead(text)), text);
  assertEquals(printExpr(mustRead("((M)) + (N * 2)")), "M + N * 2");
  assertEquals(printExpr(apply("-", grid(1), constant(1))), "grid[1] - 1");
});

Deno.test("simplify() folds constants, but no compile-time parameter", () => {
  const tile = constant(64, "TM");
  assertEquals(
    printExpr(
      simplify({ op: "+", args: [{ op: "+", args: [param("M"), constant(3)] }, constant(-4)] }),
    ),
    "M - 1",
  );
  assertEquals(printExpr(apply("*", tile, constant(2))), "TM * 2");
  assertEquals(printExpr(apply("*", tile, constant(1))), "TM");
  assertEquals(printExpr(apply("max", param("M"), param("M"))), "M");
});

Deno.test("substitute() replaces leaves and tidies what is left", () => {
  const expr = mustRead("M * ldx + K");
  assertEquals(paramsOf(expr), ["M", "ldx", "K"]);
  assertEquals(
    printExpr(
      substitute(
        expr,
        (leaf) => leaf.op === "param" && leaf.name === "K" ? constant(0) : undefined,
      ),
    ),
    "M * ldx",
  );
});

Deno.test("sameExpr() sees through the spellings of one value", () => {
  const macros = { TM: "64" };
  const equal: readonly (readonly [string, string])[] = [
    ["(M + TM - 1) / TM", "cdiv(M, TM)"],
    ["(M - 1) / TM + 1", "cdiv(M, TM)"],
    ["(M + 63) / 64", "cdiv(M, TM)"],
    ["cdiv(M, N)", "(M + N - 1) / N"],
    ["cdiv(M + 64, 64)", "cdiv(M, 64) + 1"],
    ["cdiv(cdiv(M, 4), 8)", "cdiv(M, 32)"],
    ["cdiv(2 * M, 128)", "cdiv(M, 64)"],
    ["(2 * (M / 4)) / 8", "M / 16"],
    ["(6 * M + 9 * N - 4) / 12", "(2 * M + 3 * N - 2) / 4"],
    ["(M / 4 + 1) / 8", "(M + 4) / 32"],
    ["M * (N + 1)", "N * M + M"],
    ["2 * M / 2", "M"],
    ["M % 8", "M - M / 8 * 8"],
    ["min(M, N)", "min(N, M, M)"],
    ["M % 8 == 0", "0 == M % 8"],
    ["M < N", "N >= M + 1"],
    ["M > 0 && N > 0", "N > 0 && M > 0"],
    ["cdiv(M, TM > 32 ? TM : 32)", "cdiv(M, 64)"],
    ["cdiv(M, TM > 64 ? TM : 32)", "cdiv(M, 32)"],
    ["max(TM, 32) + next_pow2(TM - 1)", "128"],
  ];
  for (const [a, b] of equal) {
    assert(sameExpr(mustRead(a, macros), mustRead(b, macros)), `${a} is ${b}`);
  }
  const different: readonly (readonly [string, string])[] = [
    ["cdiv(M, TM)", "cdiv(N, TM)"],
    ["cdiv(M, TM)", "M / TM"],
    ["cdiv(M, TM)", "cdiv(M, 32)"],
    ["cdiv(cdiv(M, 4), 8)", "cdiv(M, 16)"],
    ["(3 * (M / 4)) / 8", "M / 16"],
    ["min(M, N)", "max(M, N)"],
    ["M < N", "M <= N"],
  ];
  for (const [a, b] of different) {
    assert(!sameExpr(mustRead(a, macros), mustRead(b, macros)), `${a} is not ${b}`);
  }
});

const OPERATORS = [
  "+",
  "*",
  "min",
  "max",
  "cdiv",
  "/",
  "%",
  "<",
  "==",
  "?:",
] as const satisfies readonly ContractOperator[];

/** Without differences: normal forms hold for values that are not negative. */
const { expr: anyExpr } = fc.letrec<
  { expr: ContractExpr; leaf: ContractExpr; operation: ContractExpr }
>((tie) => ({
  expr: fc.oneof({ depthSize: "small" }, tie("leaf"), tie("operation")),
  leaf: fc.oneof(
    fc.constantFrom(...["M", "N", "K"].map(param)),
    fc.integer({ min: 1, max: 8 }).map((number) => constant(number)),
  ),
  operation: fc.tuple(fc.constantFrom(...OPERATORS), tie("expr"), tie("expr"), tie("expr")).map(
    ([op, a, b, c]): ContractExpr => ({ op, args: op === "?:" ? [a, b, c] : [a, b] }),
  ),
}));

const anyValues = fc.record({
  M: fc.integer({ min: 0, max: 50 }),
  N: fc.integer({ min: 0, max: 50 }),
  K: fc.integer({ min: 0, max: 50 }),
});

function valueOrError(
  expr: ContractExpr,
  values: Readonly<Record<string, number>>,
): bigint | "error" {
  try {
    return evaluate(expr, { param: (name) => values[name] });
  } catch (error) {
    if (error instanceof ArithmeticError) return "error";
    throw error;
  }
}

Deno.test("printExpr() writes text that reads back to the same value", () => {
  fc.assert(fc.property(anyExpr, anyValues, (expr, values) => {
    const again = mustRead(printExpr(expr));
    const expected = valueOrError(expr, values);
    if (expected !== "error") assertEquals(valueOrError(again, values), expected);
  }));
});

Deno.test("simplify() keeps the value", () => {
  fc.assert(fc.property(anyExpr, anyValues, (expr, values) => {
    const expected = valueOrError(expr, values);
    if (expected !== "error") assertEquals(valueOrError(simplify(expr), values), expected);
  }));
});

Deno.test("sameExpr() never takes different values for equal", () => {
  fc.assert(
    fc.property(anyExpr, anyExpr, anyValues, (a, b, values) => {
      fc.pre(sameExpr(a, b));
      const [x, y] = [valueOrError(a, values), valueOrError(b, values)];
      if (x !== "error" && y !== "error") assertEquals(x, y);
    }),
    { numRuns: 300, maxSkipsPerRun: 2000 },
  );
});
