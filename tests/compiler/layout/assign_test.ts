/** Layouts change only where two sides really want different axes: every `convert_layout` is needed. */
import fc from "../../support/property.ts";
import { operandsOf } from "../../../compiler/ir/op.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { lowerGeneral, lowerText, opsNamed } from "../../support/compiler/lowering.ts";
import { planConversion } from "../../../compiler/layout/conversion.ts";
import { elementAt, product } from "../../../compiler/linear/linear.ts";
import type { Func } from "../../../compiler/ir/func.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";
import { must } from "../../../compiler/support/bug.ts";

/** A kernel over a 32 x 64 tile with the index tiles `m` and `n`. */
function kernel(statements: string, types: readonly [string, string] = ["float", "float"]): string {
  return `#pragma tri grid(1)
__global__ void k(${types[0]} *X __aligned(16), ${
    types[1]
  } *Y __aligned(16), int ldx __multipleof(8), int ldy __multipleof(8)) {
  int m[32] = 0 ... 32;
  int n[64] = 0 ... 64;
  ${statements}
}`;
}

// Which axis of the tile lies contiguously in memory; the transposed stores take the transposed tile.
const ROW_MAJOR = "float *px[32, 64] = X + m[:, newaxis] * ldx + n[newaxis, :];";
const COLUMN_MAJOR = "float *px[32, 64] = X + m[:, newaxis] + n[newaxis, :] * ldx;";
const STORE_ROW_MAJOR = "float *py[32, 64] = Y + m[:, newaxis] * ldy + n[newaxis, :];";
const STORE_COLUMN_MAJOR = "float *py[32, 64] = Y + m[:, newaxis] + n[newaxis, :] * ldy;";
const STORE_TURNED = "float *py[64, 32] = Y + n[:, newaxis] * ldy + m[newaxis, :];";
const STORE_TURNED_BACK = "float *py[64, 32] = Y + n[:, newaxis] + m[newaxis, :] * ldy;";

const exchanges = (text: string): number =>
  opsNamed(lowerGeneral(text).laidOut, "convert_layout").length;

Deno.test("assignLayouts() moves nothing in a copy, whichever axis is contiguous on both sides", () => {
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_ROW_MAJOR} *py = *px;`)), 0);
  assertEquals(exchanges(kernel(`${COLUMN_MAJOR} ${STORE_COLUMN_MAJOR} *py = *px;`)), 0);
});

Deno.test("assignLayouts() exchanges a transposed tile once", () => {
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_TURNED} *py = ^(*px);`)), 1);
});

Deno.test("assignLayouts() exchanges once where pointer arithmetic alone transposes the tile", () => {
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_COLUMN_MAJOR} *py = *px;`)), 1);
  assertEquals(exchanges(kernel(`${COLUMN_MAJOR} ${STORE_ROW_MAJOR} *py = *px;`)), 1);
});

Deno.test("assignLayouts() moves nothing for a tile that is transposed twice", () => {
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_ROW_MAJOR} *py = ^(^(*px));`)), 0);
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_ROW_MAJOR} *py = ^(^(*px) + 1.0f);`)), 0);
});

Deno.test("assignLayouts() uses shared memory only where it is needed: ^ between sides that agree is free", () => {
  assertEquals(exchanges(kernel(`${COLUMN_MAJOR} ${STORE_TURNED} *py = ^(*px);`)), 0);
  assertEquals(exchanges(kernel(`${ROW_MAJOR} ${STORE_TURNED_BACK} *py = ^(*px);`)), 0);
  assertEquals(exchanges(kernel(`${COLUMN_MAJOR} ${STORE_TURNED_BACK} *py = ^(*px);`)), 1);
});

Deno.test("assignLayouts() moves nothing between sides with elements of different size", () => {
  for (
    const types of [["half", "float"], ["float", "half"], ["int8", "long"], [
      "double",
      "int8",
    ]] as const
  ) {
    const text = `${ROW_MAJOR.replace("float", types[0])} ${
      STORE_ROW_MAJOR.replace("float", types[1])
    } *py = (${types[1]}[32, 64])*px;`;
    assertEquals(exchanges(kernel(text, types)), 0, `${types}`);
  }
});

Deno.test("assignLayouts() exchanges a sum of two loads at most once, before or after the sum", () => {
  const two = `${ROW_MAJOR} ${STORE_TURNED} float *pz[32, 64] = px + 64;`;
  assertEquals(exchanges(kernel(`${two} *py = ^(*px + *pz);`)), 1);
});

Deno.test("assignLayouts() moves what a reduction made, not what it is spread over", () => {
  for (const data of ["x - x[:, max][:, newaxis]", "(1 / x[+, :])[newaxis, :] * x"]) {
    const text = kernel(`${ROW_MAJOR} ${STORE_ROW_MAJOR} float x[32, 64] = *px; *py = ${data};`);
    for (const { results: [moved] } of opsNamed(lowerGeneral(text).laidOut, "convert_layout")) {
      assert(product(must(moved, "result").type.shape) <= 64, data);
    }
  }
});

Deno.test("assignLayouts() moves nothing in element-wise work on vectors", () => {
  const text = `#pragma tri grid(1)
__global__ void k(float *X, float *Y, float *Z, int N) {
  int r[1024] = 0 ... 1024;
  *?(r < N) (Z + r) = *?(r < N) (X + r) + *?(r < N) (Y + r);
}`;
  for (const { laidOut } of lowerText(text)) assertEquals(opsNamed(laidOut, "convert_layout"), []);
});

Deno.test("assignLayouts() takes the layout of the other side where strides are unknown", () => {
  const strided = "float *px[32, 64] = X + m[:, newaxis] * ldx + n[newaxis, :] * ldy;";
  assertEquals(exchanges(kernel(`${strided} ${STORE_COLUMN_MAJOR} *py = *px;`)), 0);
  assertEquals(exchanges(kernel(`${strided} ${STORE_TURNED} *py = ^(*px);`)), 0);
});

/** Every tile of a laid-out function has a layout of its shape that reaches all of its elements. */
function checkLayouts(func: Func): void {
  walkOps(func.body, (op) => {
    for (const { type } of op.results) {
      if (type.shape.length === 0) {
        assertEquals(type.layout, undefined);
        continue;
      }
      const layout = must(type.layout, `layout of ${op.name}`);
      assertEquals(layout.shape, type.shape);
      const reached = new Set<number>();
      for (let register = 0; register < 1 << layout.register.length; register++) {
        for (let lane = 0; lane < 32; lane++) {
          for (let warp = 0; warp < 1 << layout.warp.length; warp++) {
            reached.add(elementAt(layout, register, lane, warp));
          }
        }
      }
      assertEquals(reached.size, product(type.shape), op.name);
    }
    if (op.name === "store" || op.name === "load") {
      const layout = operandsOf(op).pointer.type.layout;
      for (const value of [...op.operands, ...op.results]) assertEquals(value.type.layout, layout);
    }
    if (op.name === "convert_layout") {
      const [from, to] = [op.operands[0], op.results[0]].map((value) =>
        must(must(value, "value").type.layout, "layout")
      );
      assert(
        planConversion(must(from, "from"), must(to, "to"), 4).kind !== "none",
        "a conversion that converts nothing",
      );
    }
  });
}

Deno.test("assignLayouts() lays out transpositions of every tile size and type completely", () => {
  const extent = fc.integer({ min: 0, max: 7 }).map((bits) => 2 ** bits);
  fc.assert(
    fc.property(
      extent,
      extent,
      fc.constantFrom(1, 2, 4, 8),
      fc.constantFrom("float", "half", "double", "int8"),
      fc.boolean(),
      (tm, tn, numWarps, type, checked) => {
        const [mx, my] = checked
          ? [
            "?(m[:, newaxis] < M && n[newaxis, :] < N)",
            "?(m[newaxis, :] < M && n[:, newaxis] < N)",
          ]
          : ["", ""];
        const text = `#pragma tri grid(1)
#pragma tri num_warps=${numWarps}
__global__ void k(${type} *X, ${type} *Y, int M, int N, int ldx, int ldy) {
  int m[${tm}] = 0 ... ${tm};
  int n[${tn}] = 0 ... ${tn};
  ${type} *px[${tm}, ${tn}] = X + m[:, newaxis] * ldx + n[newaxis, :];
  ${type} *py[${tn}, ${tm}] = Y + m[newaxis, :] + n[:, newaxis] * ldy;
  *${my} py = ^(*${mx} px);
}`;
        const found = lowerText(checked ? text : text.replace("int M, int N, ", ""));
        for (const { laidOut, threads } of found) {
          assertEquals(threads, 32 * numWarps);
          checkLayouts(laidOut);
          assert(opsNamed(laidOut, "convert_layout").length <= 1, `${tm} x ${tn}`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** Conversions inside the loops of a kernel, and after or before them. */
function conversionsAround(text: string): readonly [inside: number, outside: number] {
  const { laidOut } = lowerGeneral(text);
  const all = opsNamed(laidOut, "convert_layout").length;
  let inside = 0;
  for (const loop of opsNamed(laidOut, "while")) {
    for (const region of loop.regions) {
      walkOps(region, ({ name }) => {
        if (name === "convert_layout") inside++;
      });
    }
  }
  return [inside, all - inside];
}

Deno.test("assignLayouts() carries sums and pointers in the layout of the loads, and converts after the loop", () => {
  const text = `#pragma tri grid(1)
__global__ void k(float *X __aligned(16), float *Y, int n, int ld __multipleof(4)) {
  int m[32] = 0 ... 32;
  int c[64] = 0 ... 64;
  float sum[32, 64] = 0;
  float *px[32, 64] = X + m[:, newaxis] * ld + c[newaxis, :];
  for (int i = 0; i < n; i++) { sum += *px; px += 64; }
  *(Y + m[:, newaxis] + c[newaxis, :] * 32) = sum;
}`;
  assertEquals(conversionsAround(text), [0, 1]);
});

Deno.test("assignLayouts() carries the sum of a dot in the layout of the dot", () => {
  const text = `#pragma tri grid(1)
__global__ void k(float *X, float *Y, int n) {
  int m[32] = 0 ... 32;
  float sum[32, 32] = 0;
  float *px[32, 32] = X + m[:, newaxis] * 32 + m[newaxis, :];
  float a[32, 32] = *px;
  for (int i = 0; i < n; i++) { sum = sum * 2 + a @ a; }
  *(Y + m[:, newaxis] * 32 + m[newaxis, :]) = sum;
}`;
  const { laidOut } = lowerGeneral(text);
  const [loop] = opsNamed(laidOut, "while");
  const sums = must(loop, "loop").results.filter(({ type }) => type.shape.length > 0);
  const [dot] = opsNamed(laidOut, "dot");
  assertEquals(sums.map(({ type }) => type.layout), [dot?.results[0]?.type.layout]);
});

Deno.test("assignLayouts() moves no vector that is spread over chained dots, along rows or columns", () => {
  for (const at of [":, newaxis", "newaxis, :"]) {
    const text = `#pragma tri grid(1)
#pragma tri num_warps=4
__global__ void k(half *X __aligned(16), float *V __aligned(16), float *Y __aligned(16)) {
  int m[64] = 0 ... 64;
  half a[64, 64] = *(X + m[:, newaxis] * 64 + m[newaxis, :]);
  float v[64] = *(V + m);
  float s[64, 64] = a @ a - v[${at}] * 2;
  *(Y + m[:, newaxis] * 64 + m[newaxis, :]) = (half[64, 64])s @ a;
}`;
    const { laidOut } = lowerGeneral(text);
    const moved = opsNamed(laidOut, "convert_layout").map(({ operands: [value] }) =>
      must(value, "operand").type.shape
    );
    assertEquals(moved.filter((shape) => shape.length < 2), [], at);
  }
});

Deno.test("assignLayouts() moves data from outside a loop before the loop", () => {
  const text = `#pragma tri grid(1)
__global__ void k(float *X __aligned(16), float *Y __aligned(16), int n) {
  int m[32] = 0 ... 32;
  float x[32, 32] = *(X + m[:, newaxis] * 32 + m[newaxis, :]);
  for (int i = 0; i < n; i++) *(Y + i * 1024 + m[:, newaxis] + m[newaxis, :] * 32) = x + i;
}`;
  assertEquals(conversionsAround(text), [1, 0]);
});

Deno.test("assignLayouts() converts layouts of narrow elements, before they are made wider", () => {
  const types = [["half", "float", "float16"], ["float", "half", "float16"], [
    "int8",
    "int",
    "int8",
  ]];
  for (const [from = "", to = "", narrow] of types) {
    const text = `${ROW_MAJOR.replace("float", from)} ${STORE_TURNED.replace("float", to)}
      *py = ^((${to}[32, 64])*px);`;
    const [conversion, ...others] = opsNamed(
      lowerGeneral(kernel(text, [from, to])).laidOut,
      "convert_layout",
    );
    assertEquals(others, []);
    assertEquals(`${must(conversion?.operands[0], "converted tile").type.element}`, narrow);
  }
});
