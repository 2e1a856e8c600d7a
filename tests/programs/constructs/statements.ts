/** Section 6: statements. */
import { type Construct, R, section } from "./construct.ts";

export const STATEMENTS: readonly Construct[] = [
  ...section(
    "6 Statements",
    {
      name: "`if`, `else`",
      body:
        "if (n > 3) I[0] = 1; else I[0] = 2; if (n > 7) { I[1] = 1; } else if (n == 5) { I[1] = 3; }",
      i: [1, 3],
    },
    {
      name: "`for` with loop-carried scalars, tiles and pointers",
      body:
        `${R} float acc[16] = 0; const float *p[16] = X + r; for (int k = 0; k < n; k++) { acc += *p; p += 4; } *(Y + r) = acc;`,
    },
    {
      name: "`while` and `do`",
      body:
        "int k = 0; while (k * k < 30) k = k + 1; I[0] = k; do { k = k - 2; } while (k > 0); I[1] = k;",
      i: [6, 0],
    },
    { name: "`break`", body: "int k = 0; for (;;) { if (k >= n) break; k++; } I[0] = k;", i: [5] },
    {
      name: "`continue`",
      body:
        "int s = 0; for (int k = 0; k < 9; k++) { if (k % 2 == 0) continue; s += k; } I[0] = s;",
      i: [16],
    },
    { name: "`return` in a kernel", body: "I[0] = 1; if (n == 5) return; I[0] = 2;", i: [1] },
    {
      name: "`return` in a loop",
      body: "for (int k = 0; ; k++) { I[0] = k; if (k == 3) return; }",
      i: [3],
    },
    {
      name: "inner declarations hide outer ones",
      body: "int a = 1; for (int k = 0; k < 2; k++) { int a = 10; a += k; I[k] = a; } I[2] = a;",
      i: [10, 11, 1],
    },
    {
      name: "loop hints",
      body: "int s = 0;\n#pragma unroll 2\nfor (int k = 0; k < n; k++) s += k;\nI[0] = s;",
      i: [10],
    },
    {
      name: "conditions that loop over tiles by `[any]`",
      body: "int a[8] = 0 ... 8; int k = 0; while ((a < 20)[any]) { a = a + 5; k++; } I[0] = k;",
      i: [4],
    },
  ),
];
