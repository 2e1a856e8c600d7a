/** Promises about parameters are demands only where something depends on the parameter. */
import type { CompileResult } from "../../../compiler/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";

const PARAMS = "float *X __noalias __aligned(16), float *Y, int n __multipleof(4), " +
  "int ldx __multipleof(8), int ldy __multipleof(8), float *lut __noalias __aligned(32)";

function compile(body: string, head = ""): CompileResult {
  const text = `${head}__global__ void f(${PARAMS}) {\n  int r[64] = 0 ... 64;\n  ${body}\n}`;
  return compileFile({ name: "f.tc", text }, { targets: ["sm_80"], verify: true });
}

/** The parameters of each instance with what is demanded of them. */
function demands({ kernels, diagnostics }: CompileResult): string[] {
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  return kernels.flatMap(({ instances }) => instances).map(({ contract: { params } }) =>
    params.flatMap((param) => {
      const { name } = param;
      if (param.kind === "scalar") {
        return param.multipleof === undefined ? [] : [`${name} % ${param.multipleof}`];
      }
      return param.align > 4 || param.noalias
        ? [`${name} % ${param.align}${param.noalias ? " alone" : ""}`]
        : [];
    }).join(", ")
  );
}

const general = (result: CompileResult): string | undefined => demands(result)[0];

Deno.test("mergeContract() demands what is promised of parameters that the code reads", () => {
  for (
    const [body, wanted] of [
      ["", ""],
      ["*(Y + r) = *(X + r);", "X % 16 alone"],
      ["*(Y + r * ldy) = *(X + r * ldx);", "X % 16 alone, ldx % 8, ldy % 8"],
      ["*?(r < n) (Y + r) = 1;", "n % 4"],
      // What is computed and never stored.
      ["int unused = ldx * ldy; *(Y + r) = 1;", ""],
      ["float z[64] = *(lut + r * ldx); *(Y + r) = 1;", ""],
      // What no launch can reach.
      ["if (0) *(lut + ldx) = 1; *(Y + r) = 1;", ""],
      ["*(Y + r) = (n & 0) + ldx * 0;", ""],
      // A branch or an iteration count that depends on it.
      ["if (ldx > 3) *(Y + r) = 1;", "ldx % 8"],
      ["for (int i = 0; i < ldy; i++) *(Y + r) = i;", "ldy % 8"],
      ["*(Y + r) = lut == NULL ? 0.0 : 1.0;", "lut % 32 alone"],
      ["ldx = 3; *(Y + r * ldx) = 1;", ""],
    ] as const
  ) assertEquals(general(compile(body)), wanted, body);
});

Deno.test("mergeContract() demands what is promised of parameters that the grid reads", () => {
  const store = "*(Y + get_program_id(0) * 64 + r) = 1;";
  assertEquals(general(compile(store, "#pragma tri grid(n / 4)\n")), "n % 4");
  const shape =
    "#pragma tri grid(4)\n#pragma tri tensor lut : in float[n] strides [ldx] align(64)\n";
  assertEquals(general(compile(store, shape)), "");
});

Deno.test("mergeContract() demands of each variant what its own code reads", () => {
  const result = compile(
    "*(Y + r * STRIDE) = *(X + r);",
    "#pragma tri variants STRIDE in {1, ldx, ldy}\n#pragma tri specialize(off)\n",
  );
  assertEquals(demands(result), [
    "X % 16 alone",
    "X % 16 alone, ldx % 8",
    "X % 16 alone, ldy % 8",
  ]);
});
