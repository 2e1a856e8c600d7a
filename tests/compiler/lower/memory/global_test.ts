/** Loads: when they happen, and how many masks they need. */
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { lowerGeneral, lowerText, printEntry } from "../../../support/compiler/lowering.ts";

const ROW = `#pragma tri grid(1)
__global__ void k(float *X, float *Y, float *W, int N) {
  int r[4096] = 0 ... 4096;
  bool check[4096] = r < N;
  float x[4096] = load(X + r, check, -INFINITY);
  float w[4096] = load(W + r, check, 0, MODIFIER);
  float d[4096] = check ? x - x[max] : 0;
  *?(check) (Y + r) = d * w;
}`;

Deno.test("lowerLoad() reads memory without writers where it is needed, between the stores", () => {
  const orderOf = (modifier: string): string =>
    [
      ...printEntry(lowerGeneral(ROW.replace("MODIFIER", modifier)).kernel).matchAll(
        /(ld|st)\.global(\.nc)?/g,
      ),
    ].map(([, op, nc]) => nc === undefined ? op : "nc").join(" ");
  const late = orderOf('"nc"');
  assert(/st nc st/.test(late), late);
  assert(!/st ld/.test(orderOf('"ca"')), "other loads stay where they are written");
});

Deno.test("lowerLoad() leaves such a load where it is in a loop, whose loads wait together", () => {
  const text = ROW.replace("MODIFIER", '"nc"')
    .replace(
      "  *?(check)",
      '  for (int k = 0; k < N; k += 4096) {\n    d += load(W + k + r, check, 0, "nc");\n    *?(check)',
    )
    .replace("= d * w;", "= d;\n  }");
  const entry = printEntry(lowerGeneral(text).kernel);
  const order = [...entry.matchAll(/(ld|st)\.global(\.nc)?/g)].map(([, op, nc]) => nc ? "nc" : op);
  assert(!/st nc/.test(order.join(" ")), order.join(" "));
});

Deno.test("a comparison is made once for a vector whose bound is a multiple of it", () => {
  const aligned = lowerText(ROW.replace("MODIFIER", '"nc"')).find(({ conditions }) =>
    conditions.length > 0
  );
  const text = printEntry(must(aligned, "the aligned instance").kernel);
  const bounds = text.match(/setp\.lt\.s32/g) ?? [];
  // 4096 elements of 256 threads in vectors of 4.
  assertEquals(bounds.length, 4);
});
