import { runKernel } from "../../../cli/report/run.ts";
import { assertEquals } from "../../support/assert.ts";
import { ROWS_FORM, rowsProduct } from "../../support/forms/form_kernel.ts";

const SIZES = new Map([["M", 16], ["N", 72], ["K", 40], ["lda", 40], ["ldb", 72], ["ldc", 72]]);

Deno.test("runKernel() runs every entry, and the form that such a launch takes", () => {
  const runs = runKernel(rowsProduct(), SIZES).map(({ instance, arch, outcome }) => [
    instance,
    arch,
    outcome.kind === "ran" ? outcome.profile.kernel : outcome.reason,
  ]);
  assertEquals(runs, [
    ["rows_product", "sm_80", "rows_product"],
    ["rows_product_a16", "sm_80", "rows_product_a16"],
    ["rows_product", "sm_90a", "rows_product"],
    [ROWS_FORM.symbol, "sm_90a", ROWS_FORM.symbol],
    ["rows_product_a16", "sm_90a", "rows_product_a16"],
    [ROWS_FORM.symbol, "sm_90a", ROWS_FORM.symbol],
  ]);
});

Deno.test("runKernel() says why a form was not run", () => {
  const odd = new Map([...SIZES, ["ldc", 73]]);
  const form = runKernel(rowsProduct(), odd).find(({ instance }) => instance === ROWS_FORM.symbol);
  assertEquals(
    form?.outcome,
    {
      kind: "not run",
      reason:
        "Cannot launch a faster form of rows_product (rows_product_maps: tensor map of C: strides[0] is 146, not a multiple of 16 below 2^40)",
    },
  );
});
