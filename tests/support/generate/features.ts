/** The constructs of random programs, each with a small kernel that uses it and must compile. */
import { must } from "../../../compiler/support/bug.ts";
import {
  isMathName,
  MATH_ROWS,
  type MathFunction,
  type MathName,
} from "../../../compiler/support/math_functions.ts";
import { compileFile } from "../compile.ts";
import { sampled } from "../sampled.ts";

/** Statements around `float x[64]`, `int i[64]`, `bool m[64]`, `float z[8, 8]`, `half h[16, 16]`, pointers X and I. */
const PROBES = {
  "if": "if (n > 3) x = x + 1.0f;",
  "loop": "for (int k = 0; k < n; k++) x = x * 0.5f;",
  "loop-break": "for (int k = 0; k < n; k++) { if (k == 2) break; x = x * 0.5f; }",
  "loop-continue": "for (int k = 0; k < n; k++) { if (k == 2) continue; x = x * 0.5f; }",
  "while": "int k = n; while (k > 0) { k = k - 1; x = x * 0.5f; }",
  "do": "int k = n; do { k = k - 1; x = x * 0.5f; } while (k > 0);",
  "return": "if (n > 3) return;",
  "loop-store": "for (int k = 0; k < n; k++) { *(X + i) = x; x = *(X + (63 - i)); }",
  "conditional-load": "float s = n > 3 ? *X : 1.0f; x = x + s;",
  "helper": "x = half_of(x);",
  "helper-if": "x = x + pick(n);",
  "float8e4": "x = (float[64])(float8e4[64])x;",
  "float8e5": "x = (float[64])(float8e5[64])x;",
  "bfloat16": "x = (float[64])((bfloat16[64])x + (bfloat16[64])x);",
  "half": "x = (float[64])((half[64])x * (half[64])x);",
  "double": "x = (float[64])((double[64])x * (double[64])x);",
  "int8": "x = (float[64])(char[64])i;",
  "int64": "i = (int[64])((long[64])i * (long[64])i / (long[64])3);",
  "integer-division": "i = i / (n + 1) + i % (n + 2);",
  "reshape": "x = reshape(z, 64);",
  "reshape-cast": "x = (float[64])z;",
  "permute": "z = ^z;",
  "bitcast": "i = bitcast<int[64]>(x);",
  "select": "x = select(m, x, 2.0f);",
  "lazy-tile": "x = m ? *(X + i) : 0.0f;",
  "masked-and": "m = m && *(X + i) > 0.0f;",
  "elvis": "x = x ?: 2.0f;",
  "reduce-sum": "x = x + z[:, +][+];",
  "reduce-sum-axis": "z = z + z[+, :][newaxis, :];",
  "reduce-max": "x = x + x[max];",
  "reduce-min": "x = x + x[min];",
  "reduce-product": "x = x + x[*];",
  "reduce-bits": "i = i + i[&] + i[|] + i[xor];",
  "reduce-bool": "m = m != m[any] != m[all];",
  "reduce-arg": "i = i + x[argmax] + x[argmin];",
  "reduce-half": "x = x + (float)h[+, +];",
  "reduce-int64": "i = i + (int)((long[64])i)[+];",
  "reduce-double": "x = x + (float)((double[64])x)[+];",
  "cumsum": "x = cumsum(x, 0);",
  "cumprod": "i = cumprod(i, 0);",
  "cummax": "i = cummax(i, 0); i = cummin(i, 0);",
  "flip": "x = flip(x, 0);",
  "sort": "x = sort(x); x = bitonic_merge(x, 0, 1);",
  "cat": "*(X + 0 ... 128) = cat(x, x);",
  "join": "*(X + (i[:, newaxis] + (0 ... 2)[newaxis, :])) = join(x, x);",
  "split": "x = split0(join(x, x));",
  "interleave": "*(X + 0 ... 128) = interleave(x, x);",
  "gather": "x = gather(x, i & 63, 0);",
  "histogram": "i = i + histogram(i, 64);",
  "dot-half": "h = h @ h;",
  "dot-bfloat16": "h = (bfloat16[16, 16])h @ (bfloat16[16, 16])h;",
  "dot-float": "z = z @ z;",
  "dot-double": "z = (float[8, 8])((double[8, 8])z @ (double[8, 8])z);",
  "dot-int8": "z = (float[8, 8])((char[8, 8])z @ (char[8, 8])z);",
  "dot-float8": "z = (float8e4[8, 8])z @ (float8e4[8, 8])z;",
  "dot-batch": "float b[4, 4, 2] = n; b = b @ b; *(X + 0 ... 32) = (float[32])b;",
  "atomic_add": "atomic_add(I + (i & 7), i);",
  "atomic_bits": "atomic_and(I + i, i); atomic_or(I + i, i); atomic_xor(I + i, i);",
  "atomic_extreme": "atomic_min(I + i, i); atomic_max(I + i, i);",
  "atomic_sub": "atomic_sub(I + i, i, m);",
  "atomic-scalar": "atomic_add(I, n);",
  "random": "x = rand(n, i);",
  "printf": 'printf("%d", n);',
  "clamp": "x = clamp(x, 0.0f, 1.0f);",
} as const;

/** A construct by name; a mathematical function is one too. */
export type Feature = keyof typeof PROBES | MathName;

function isFeature(name: string): name is Feature {
  return Object.hasOwn(PROBES, name) || isMathName(name);
}

/** All constructs. */
export const FEATURES: ReadonlySet<Feature> = new Set(
  [...Object.keys(PROBES), ...MATH_ROWS.map(([name]) => name)].filter(isFeature),
);

function statementsOf(feature: Feature): string {
  if (!isMathName(feature)) return PROBES[feature];
  const row = must(MATH_ROWS.find(([name]) => name === feature), feature)[1];
  const [target, argument] = variablesOf(row);
  return `${target} = ${feature}(${row.params.replaceAll(/\w/g, argument)});`;
}

/** Variables of the probe that take the result and the arguments. */
function variablesOf({ rule }: MathFunction): readonly [result: string, argument: string] {
  if (rule.kind === "integers") return ["i", "i"];
  return [rule.kind === "float" && rule.result === "bool" ? "m" : "x", "x"];
}

function probe(statements: string): string {
  return `
static float[64] half_of(float a[64]) { return a * 0.5f; }
static float pick(int a) { if (a > 1) return 2.0f; return 3.0f; }
__global__ void k(float *X, int *I, int n) {
  int i[64] = 0 ... 64;
  float x[64] = *(X + i);
  bool m[64] = i < n;
  float z[8, 8] = (0 ... 8)[:, newaxis] + (0 ... 8)[newaxis, :];
  half h[16, 16] = (0 ... 16)[:, newaxis] + n;
  ${statements}
  *(X + i) = m ? x : 0.0f;
  *(I + i) = i;
  *(X + ((0 ... 8)[:, newaxis] * 8 + (0 ... 8)[newaxis, :])) = z;
  *(X + ((0 ... 16)[:, newaxis] * 16 + (0 ... 16)[newaxis, :])) = h;
}`;
}

let isProbed = false;

/** All constructs, each of which compiles alone: of their probes a run compiles a quarter, once for all its files. */
export function supportedFeatures(): ReadonlySet<Feature> {
  if (isProbed) return FEATURES;
  isProbed = true;
  for (const name of sampled([...FEATURES], FEATURES.size / 4)) {
    const file = { name: `${name}.tc`, text: probe(statementsOf(name)) };
    const { diagnostics } = compileFile(file, { targets: ["sm_80"] });
    const wrong = diagnostics.find(({ severity }) => severity === "error");
    if (wrong !== undefined) throw new Error(`probe ${name}: ${wrong.code} ${wrong.message}`);
  }
  return FEATURES;
}
