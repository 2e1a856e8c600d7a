/** Loop hints: what they make of loops, and that they never change what loops compute. */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { emulateAgain, int } from "../../support/emulate.ts";
import { lowerGeneral, opsNamed } from "../../support/compiler/lowering.ts";
import { compileFile } from "../../support/compile.ts";

const kernel = (body: string): string =>
  `#pragma tri specialize(off)\n__global__ void k(int *Y, int n) {\n${body}\n}\n`;

/** What the program stores at Y for some n, and what the compiler says. */
function run(
  body: string,
): { readonly stored: readonly number[]; readonly said: readonly string[] } {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text: kernel(body) }, {
    targets: ["sm_80"],
    verify: true,
  });
  const { ptx } = must(kernels[0]?.modules[0], "a module");
  const stored = [0, 1, 2, 5, 8, 11].map((n) => {
    const y = new Int32Array(1);
    emulateAgain(ptx, { args: [y, int(n)], block: [128, 1, 1] });
    return must(y[0], "Y");
  });
  return { stored, said: diagnostics.map(({ code, message }) => `${code} ${message}`) };
}

/** Loops left, and additions of `s`. */
function shapeOf(body: string): { readonly loops: number; readonly stores: number } {
  const { laidOut } = lowerGeneral(kernel(body));
  return { loops: opsNamed(laidOut, "while").length, stores: opsNamed(laidOut, "store").length };
}

Deno.test("unroll() unrolls loops whose number of iterations is constant", () => {
  const body = "for (int k = 10; k > 0; k -= 3) *(Y + k) = k;";
  assertEquals(shapeOf(body), { loops: 1, stores: 1 });
  assertEquals(shapeOf(`#pragma unroll\n${body}`), { loops: 0, stores: 4 });
  assertEquals(shapeOf(`#pragma tri loop unroll(4)\n${body}`), { loops: 0, stores: 4 });
  assertEquals(shapeOf(`#pragma tri loop unroll(2)\n${body}`), { loops: 1, stores: 2 });
  assertEquals(shapeOf(`#pragma unroll 1\n${body}`), { loops: 1, stores: 1 });
  // Three copies do not fit into four rounds: two of them are guarded, but there.
  assertEquals(shapeOf(`#pragma unroll 3\n${body}`), { loops: 1, stores: 3 });
  const late = "int k = 0; \n#pragma unroll 2\ndo { *(Y + k) = k; k++; } while (k < n);";
  assertEquals(shapeOf(late), { loops: 1, stores: 2 });
});

Deno.test("unroll() says why it cannot follow a hint", () => {
  const said = (body: string): string | undefined => run(body).said[0];
  assertEquals(
    said("#pragma unroll\nfor (int k = 0; k < n; k++) Y[0] += k;"),
    "W9015 `unroll` is ignored: the number of iterations is not constant",
  );
  assertEquals(
    said("#pragma unroll\nfor (int k = 0; k < 2000; k++) Y[0] += k;"),
    "W9015 `unroll` is ignored: the loop runs 2000 times",
  );
  assertEquals(
    said("int k = 0;\n#pragma unroll 2\nwhile (k++ < n) Y[0] += k;"),
    "W9015 `unroll` is ignored: its condition has side effects",
  );
  assertEquals(
    said("#pragma tri loop flatten\nfor (int k = 0; k < n; k++) Y[0] += k;"),
    "W9015 `flatten` is ignored: loops are not merged",
  );
});

Deno.test("unroll() never changes what a loop computes", () => {
  const loops = [
    "for (int k = 0; k < n; k++) s = 3 * s + k;",
    "for (int k = 0; k < n; k += 2) { if (k == 4) continue; s += k; if (s > 9) break; }",
    "int k = 0; HINT while (k < n) { k = k + 1 + (s & 1); s += k; }",
    "int k = n; HINT do { s += k; k--; } while (k > 2);",
    "int k = 0; HINT while (k++ < n) s += k;",
    "for (int k = 0; k < 7; k++) for (int j = k; j < n; j++) s += j;",
    "for (;;) { s += 2; if (s > n) break; }",
    "for (unsigned k = 250; k != 2; k = (k + 3) & 255) s += k;",
  ];
  for (const loop of loops) {
    const text = (hint: string): string => {
      const line = hint === "" ? "" : `\n#pragma tri loop ${hint}\n`;
      const hinted = loop.includes("HINT") ? loop.replace("HINT", line) : `${line}${loop}`;
      return `int s = 0; ${hinted}\n*Y = s;`;
    };
    const { stored } = run(text(""));
    for (
      const hint of [
        "unroll(2)",
        "unroll(3)",
        "unroll(8)",
        "unroll",
        "pipeline(off)",
        "num_stages(2)",
      ]
    ) {
      assertEquals(run(text(hint)).stored, stored, `${hint} of ${loop}`);
    }
  }
});

Deno.test("buildFunc() gives a loop the number of stages of its hint, not of the kernel", () => {
  const product = (pragma: string, hint: string): string =>
    `#pragma tri specialize(off)
${pragma}
__global__ void k(half *A __noalias __aligned(16), half *B __noalias __aligned(16), float *C __noalias, int K) {
  int r[32] = 0 ... 32; float c[32, 32] = 0;
  half *pa[32, 32] = A + r[:, newaxis] * 32 + r[newaxis, :];
  half *pb[32, 32] = B + r[:, newaxis] * 32 + r[newaxis, :];
  ${hint}
  for (int k = 0; k < K; k += 32) { c += *pa @ *pb; pa += 1024; pb += 1024; }
  *(C + r[:, newaxis] * 32 + r[newaxis, :]) = c;
}`;
  const pending = (pragma: string, hint: string): unknown => {
    const { laidOut } = lowerGeneral(product(pragma, hint));
    const waits = opsNamed(laidOut, "wait_group").flatMap((op) =>
      op.name === "wait_group" ? [op.attrs.pending] : []
    );
    return Math.max(...waits);
  };
  // Copies in flight after the newest one that must be complete: two less than there are slots.
  assertEquals(pending("", ""), 1);
  assertEquals(pending("", "#pragma tri loop num_stages(5)"), 3);
  assertEquals(pending("#pragma tri num_stages=2", "#pragma tri loop num_stages(4)"), 2);
  assertEquals(pending("#pragma tri num_stages=4", ""), 2);
  const off = lowerGeneral(product("", "#pragma tri loop pipeline(off)"));
  assertEquals(opsNamed(off.laidOut, "async_copy"), []);
  assert(opsNamed(off.laidOut, "dot").length === 1);
});
