/** Text to typed tree for tests. */
import { check, type CheckOptions } from "../../../compiler/check/check.ts";
import { dumpExpr } from "../../../compiler/check/tree/dump_typed.ts";
import { parse } from "../../../compiler/parse/parser.ts";
import { preprocess } from "../../../compiler/preprocess/preprocess.ts";
import type { TypedExpr, TypedStmt, TypedUnit } from "../../../compiler/check/tree/typed.ts";
import { spellType } from "../../../compiler/check/tree/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { OFF_BY_DEFAULT } from "../../../compiler/support/codes.ts";
import { assertEquals } from "../assert.ts";
import { type Defines, listDiagnostics } from "./parse.ts";

export interface Checked {
  readonly unit: TypedUnit;
  /** Without those that are off by default. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Preprocesses, parses and checks a file. */
export function checkText(
  text: string,
  defines: Defines = {},
  options: CheckOptions & { readonly all?: boolean } = {},
): Checked {
  const reporter = new Reporter();
  const { tokens, comments } = preprocess({ name: "test.tc", text }, {
    defines: Object.entries(defines).map(([name, value]) => ({ name, value })),
    predefined: { NULL: "0" },
  }, reporter);
  const unit = check(parse(tokens, comments, reporter), options, reporter);
  const diagnostics = reporter.diagnostics.filter(({ code }) =>
    options.all === true || !OFF_BY_DEFAULT.has(code)
  );
  return { unit, diagnostics };
}

/** The tree of a file that must be without fault, warnings included. */
export function checkClean(
  text: string,
  defines: Defines = {},
  options: CheckOptions = {},
): TypedUnit {
  const { unit, diagnostics } = checkText(text, defines, options);
  assertEquals(listDiagnostics(diagnostics), "", text);
  return unit;
}

/**
 * Names that {@linkcode inKernel} declares: scalars and tiles of each kind, pointers, shapes `[16]`,
 * `[16, 32]`, `[32, 16]`, `[4, 8, 16]`.
 */
const PRELUDE = `
#define M 16
typedef float acc_t[16, 32];
enum { THREE = 3, FOUR };
static float half_of(float x) { return x * 0.5f; }
static float read(float *p) { return *p; }
static void write(float *p) { *p = 1; }
static float[16] first(float a[16], float b[16]) { return a; }
__global__ void other(int n) {}
`;
const PARAMS = "float *P, half *H, int *I, double *D, const float *C, void *V, float **PP, " +
  "volatile float *VOL, char *B, int n, unsigned u, long l, float f, half h, double d, bool b";
const LOCALS = `
  int r[16] = 0 ... 16;
  int s[32] = 0 ... 32;
  int t[16, 32] = r[:, newaxis] + s[newaxis, :];
  unsigned v[16] = 0u ... 16u;
  float x[16] = 0, y[32] = 0, z[16, 32] = 0, w[32, 16] = 0;
  half hx[16] = 0, hz[16, 32] = 0;
  bfloat16 bx[16] = 0;
  double dx[16] = 0;
  bool m[16] = r < n, mz[16, 32] = t < n;
  float *p[16] = P + r, *pz[16, 32] = P + t;
  float c[4, 8, 16] = 0;
  int one[1] = 0;
  const int EIGHT = 8;
`;

/** A file with one kernel `k` around some statements. */
export function inKernel(body: string): string {
  return `${PRELUDE}__global__ void k(${PARAMS}) {\n${LOCALS}\n${body}\n}`;
}

/** The codes for statements inside {@linkcode inKernel}. */
export function codesIn(body: string, options: CheckOptions = {}): string[] {
  return checkText(inKernel(body), {}, options).diagnostics.map(({ code }) => code);
}

/** The statements of a body inside {@linkcode inKernel}, which must be without fault. */
export function stmtsOf(body: string, options: CheckOptions = {}): readonly TypedStmt[] {
  const kernel = checkClean(inKernel(body), {}, options).kernels.find(({ name }) => name === "k");
  const { body: stmts } = must(kernel, "the kernel");
  const last = stmts.findIndex((stmt) => stmt.kind === "declare" && stmt.variable.name === "EIGHT");
  return stmts.slice(last + 1);
}

/** An expression inside {@linkcode inKernel} that must be without fault. */
function exprOf(text: string, options: CheckOptions = {}): TypedExpr {
  const { diagnostics, unit } = checkText(inKernel(`(${text});`), {}, options);
  const faults = diagnostics.filter(({ code }) => code !== "W6001");
  assertEquals(listDiagnostics(faults), "", text);
  const stmt = unit.kernels.find(({ name }) => name === "k")?.body.at(-1);
  return must(stmt?.kind === "expression" ? stmt.expr : undefined, "the expression");
}

/** Type and tree of an expression: `float[16]: (x + y)`. */
export function typed(text: string, options: CheckOptions = {}): string {
  const expr = exprOf(text, options);
  return `${spellType(expr.type)}: ${dumpExpr(expr)}`;
}

/** The type of an expression. */
export function typeOf(text: string, options: CheckOptions = {}): string {
  return spellType(exprOf(text, options).type);
}
