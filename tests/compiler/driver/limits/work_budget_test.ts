import { DiagnosticCollector } from "../../../../compiler/driver/diagnostics.ts";
import { buildInstance, buildOptions } from "../../../../compiler/driver/instance_build.ts";
import { checkInstance, instanceTexts } from "../../../../compiler/driver/instance_texts.ts";
import { planFile } from "../../../../compiler/driver/compile_file.ts";
import { MAX_WORK, WorkBudget } from "../../../../compiler/driver/limits/work_budget.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { Reporter } from "../../../../compiler/support/diagnostic.ts";
import { TARGETS } from "../../../../compiler/targets.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

const FILE = {
  name: "a.tc",
  text: `#pragma tri specialize(n == 1)
__global__ void f(float *X, int n) { *X = n; }
__global__ void g(float *X, int n) { *X = n + 1; }
`,
};

Deno.test("WorkBudget adds up all kinds of work, and keeps its message once it is spent", () => {
  const work = new WorkBudget(FILE);
  const reporter = new Reporter();
  work.add("tokens", MAX_WORK);
  assert(work.allowsMore(reporter));
  work.add("instructions", 1);
  assert(!work.allowsMore(reporter));
  work.add("values", 1000);
  assert(!work.allowsMore(reporter));
  const messages = reporter.diagnostics.map(({ code, message }) => `${code} ${message}`);
  assertEquals([...new Set(messages)], [
    "E9031 the instances of this file exceed the limit of work: " +
    `${MAX_WORK} tokens, 0 functions, 0 values and 1 instructions up to here`,
  ]);
});

Deno.test("buildInstance() stops between specialisations when the budget is spent", () => {
  const options = { targets: ["sm_80"] } as const;
  const reporter = new Reporter();
  const { front, kernels } = planFile(FILE, options, new DiagnosticCollector(), reporter);
  const { site, plan } = must(kernels[0], "a kernel");
  const instance = must(plan.instances[0], "an instance");
  const texts = instanceTexts(front, site, instance, ["sm_80"]);
  const build = (): number | undefined =>
    buildInstance(texts, plan, instance, buildOptions(options, instance), reporter)?.funcs.length;
  assertEquals([build(), reporter.diagnostics], [2, []]);
  front.work.add("values", MAX_WORK);
  assertEquals(build(), undefined);
  assertEquals(reporter.diagnostics.map(({ code }) => code), ["E9031"]);
});

Deno.test("InstanceFront.check() refuses every text when the budget is spent, also one it has seen", () => {
  const options = { targets: ["sm_80"] } as const;
  const { front, kernels } = planFile(FILE, options, new DiagnosticCollector(), new Reporter());
  front.work.add("values", MAX_WORK);
  for (const { site, plan } of kernels) {
    const { kernel, general } = checkInstance(
      front,
      site,
      must(plan.instances[0], "one"),
      TARGETS.sm_80,
    );
    assertEquals([kernel, ...general.map(({ code }) => code)], [undefined, "E9031"]);
  }
});
