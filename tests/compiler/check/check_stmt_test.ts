import { dumpTyped } from "../../../compiler/check/tree/dump_typed.ts";
import { assertEquals } from "../../support/assert.ts";
import { checkClean, checkText, codesIn } from "../../support/compiler/check.ts";
import { testCodes } from "../../support/compiler/check_tables.ts";

testCodes("wants one value as the condition of a statement", {
  "if (n) n = 1; else n = 2;": "",
  "if (P) n = 1;": "",
  "if (one) n = 1;": "",
  "if (m) n = 1;": "E6002",
  "while (m) break;": "E6002",
  "for (; m;) break;": "E6002",
  "do n = 1; while (x);": "E6002",
  "if (m[any]) n = 1;": "",
});

testCodes("warns about loops without an exit and statements without effect", {
  "for (;;) {}": "W6003",
  "while (1) n = 1;": "W6003",
  "for (;;) break;": "",
  "for (;;) { if (b) return; }": "",
  "for (;;) { for (;;) { break; } }": "W6003",
  "do {} while (n);": "",
  "n + 1;": "W6001",
  "n == 1;": "W6001",
  "x;": "W6001",
  "*P;": "W6001",
  "*VOL;": "",
  "half_of(f);": "",
  "for (n; n; n++) {}": "",
});

testCodes("allows jumps only where they lead somewhere", {
  "break;": "E6004",
  "continue;": "E6004",
  "for (;;) { break; } continue;": "E6004",
  "return;": "",
  "return 1;": "E6005",
});

testCodes("evaluates static assertions", {
  '_Static_assert(M == 16, "tile");': "",
  '_Static_assert(M == 17, "tile");': "E6006",
  "_Static_assert(sizeof(float) == 4);": "",
  "static_assert(n);": "E6006",
});

testCodes("keeps names to their scopes", {
  "int n = 1;": "E6020",
  "{ int n = 1; n = 2; }": "",
  "{ bool x[4] = 1; x = 0; } x = 0;": "",
  "for (int i = 0; i < 4; i++) { int i = 1; n = i; }": "",
  "for (int i = 0; i < 4; i++) {} i = 1;": "E2001",
  "int q = 1, q = 2;": "E6020",
  "int exp = 1; n = exp;": "",
  "int exp = 1; f = exp(f);": "E4029",
  "int q = q;": "E4005",
  "int q = sizeof q;": "",
  "{ int n = n; }": "E4005",
});

testCodes("warns about reads that no assignment reaches", {
  "int q; n = q;": "W4004",
  "int q; q = 1; n = q;": "",
  "int q; if (b) q = 1; n = q;": "",
  "int q; if (b) n = q; q = 1;": "W4004",
  "int q; for (int i = 0; i < 4; i++) { if (i) n = q; q = i; }": "",
  "for (int i = 0; i < 4; i++) { int q; if (i) n = q; q = i; }": "W4004",
  "int q; q += 1;": "W4004",
  "int q; b && (q = 1); n = q;": "",
});

Deno.test("check() reports hidden names only on request", () => {
  const text = "__global__ void k(int n) { { int n = 1; n = 2; } }";
  assertEquals(checkText(text).diagnostics.length, 0);
  assertEquals(checkText(text, {}, { all: true }).diagnostics.map(({ code }) => code), ["W6021"]);
});

Deno.test("check() reports every error of a file, and none that only follows", () => {
  assertEquals(codesIn("nope = 1; nope = nope + 2; x = nope * y; n = r;"), ["E2001", "E5012"]);
  assertEquals(codesIn("float q[17] = 0; q = q + x; int w2[n]; w2 = 3;"), ["E3021", "E3020"]);
});

Deno.test("check() keeps statements in order, with loops and their parts", () => {
  const unit = checkClean(`
    __global__ void k(float *X, int n) {
      float sum = 0;
      #pragma tri loop unroll(4)
      for (int i = 0; i < n; i++) { if (i == 3) continue; sum += X[i]; }
      while (n > 0) n -= 1;
      do n++; while (n < 4);
      if (n) { *X = sum; } else return;
    }`);
  assertEquals(
    dumpTyped(unit),
    `kernel k(float* X, int n) {
  float sum = 0.0
  for (int i = 0; (i < n); i = (i + 1)) unroll(4) {
    if (i == 3) {
      continue
    }
    sum = (sum + *(X + i))
  }
  for (; (n > 0); ) {
    n = (n - 1)
  }
  do {
    n = (n + 1)
  } while ((n < 4))
  if convert<bool>(n) {
    *X = sum
  } else {
    return
  }
}
`,
  );
});
