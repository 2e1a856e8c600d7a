/**
 * What the rows of a wrapper expand to, against facts that are made from the compiled kernel without a wrapper's text:
 * everything but functions is equal, and functions compute the same from random numbers.
 */
import { factsOf } from "../../cli/report/facts.ts";
import type { CompiledKernel } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import type {
  Condition,
  ContractFacts,
  Expression,
  InstanceFacts,
  KernelDescription,
  Values,
} from "../../ffi/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";
import { loadWrapper } from "../support/load_wrapper.ts";
import { freshRandom } from "../support/random.ts";
import { expressionNames } from "../../codegen/macros.ts";
import { planKernels } from "../../codegen/plan.ts";
import { transposeKernel, transposeWithForms, tunedTranspose } from "./fixtures.ts";
import { testsInTurn } from "../support/sampled.ts";
import { shipped } from "../support/shipped.ts";

const test = testsInTurn(3);

const random = freshRandom();

/** Numbers for everything that a kernel's expressions read: sizes as they are, and some that overflow. */
function randomValues(names: readonly string[], instance: InstanceFacts): Values {
  const kinds = [
    () => 16 * random.below(64),
    () => random.below(5000),
    () => random.below(2 ** 31),
  ];
  const kind = must(kinds[random.below(kinds.length)], "kind of numbers");
  const given = Object.entries(instance.constants).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const]
  );
  return {
    ...Object.fromEntries(names.map((name) => [name, kind()])),
    ...Object.fromEntries(given),
  };
}

/** The value, or that there is none: one side counts in doubles and stops earlier than the other. */
function outcome(compute: () => number | boolean): number | boolean | undefined {
  try {
    const value = compute();
    return typeof value === "boolean" || Number.isSafeInteger(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Function = Expression | Condition;

function functionOf(fact: Function): (values: Values) => number | boolean {
  return "value" in fact ? fact.value : fact.holds;
}

/** Functions of a contract in order, tagged with their places. */
function functionsOf({ grid, tensors, ranges, requires }: ContractFacts): Function[] {
  return [
    ...grid ?? [],
    ...tensors.flatMap(({ extents, strides }) => [...extents, ...strides])
      .filter((dimension) => typeof dimension === "object"),
    ...ranges.flatMap(({ first, last }) => [first, last]),
    ...requires,
  ];
}

function compareFunctions(
  actual: readonly Function[],
  expected: readonly Function[],
  names: readonly string[],
  instance: InstanceFacts,
): number {
  let compared = 0;
  assertEquals(actual.map(({ text }) => text), expected.map(({ text }) => text));
  for (const [index, fact] of expected.entries()) {
    const other = must(actual[index], "function");
    for (let turn = 0; turn < 8; turn++) {
      const values = randomValues(names, instance);
      const [a, b] = [other, fact].map((one) => outcome(() => functionOf(one)(values)));
      if (a === undefined || b === undefined) continue;
      assert(a === b, `${fact.text}: ${a} instead of ${b} (TRI_SEED=${random.seed})`);
      compared++;
    }
  }
  return compared;
}

/** Without functions, as text. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function compare(kernel: CompiledKernel): Promise<void> {
  const [plan] = planKernels([kernel]);
  const { exportName } = must(plan, "plan");
  const names = expressionNames(must(plan, "plan"));
  const module = await loadWrapper<
    Readonly<Record<string, { readonly contract: KernelDescription }>>
  >(kernel);
  const actual = must(module[exportName], exportName).contract;
  assertEquals(actual.instances.map(({ symbol }) => symbol).toSorted(), symbolsOf(kernel));
  let compared = 0;
  for (const module of kernel.modules) {
    const expected = factsOf(kernel, module);
    assertEquals(actual.params.map(({ name }) => name), expected.params.map(({ name }) => name));
    for (const instance of expected.instances) {
      const own = must(
        actual.instances.find(({ symbol }) => symbol === instance.symbol),
        instance.symbol,
      );
      const { threads, sharedBytes, forms = [] } = own.targets?.[module.target] ?? own;
      assertEquals({ threads, sharedBytes }, {
        threads: instance.threads,
        sharedBytes: instance.sharedBytes,
      });
      assertEquals(plain(forms), plain(instance.forms ?? []));
      assertEquals(own.constants, instance.constants);
      const variant = must(actual.variants.find(({ name }) => name === own.variant), "variant");
      const wanted = must(
        expected.variants.find(({ name }) => name === instance.symbol),
        "variant of an instance",
      );
      for (const [name, dtype] of Object.entries(variant.dtypes)) {
        assertEquals(dtype, wanted.dtypes[name], `${name} of ${own.variant}`);
      }
      const contract = own.contract ?? actual.contract;
      const reference = must(instance.contract, "contract of an instance");
      assertEquals(plain(contract.tensors), plain(reference.tensors));
      assertEquals(
        contract.ranges.map(({ param }) => param),
        reference.ranges.map(({ param }) => param),
      );
      const requires = [...contract.requires, ...own.when ?? []];
      compared += compareFunctions(
        functionsOf({ ...contract, requires }),
        functionsOf(reference),
        names,
        instance,
      );
      forms.forEach((form, index) => {
        const { when = [] } = instance.forms?.[index] ?? {};
        compared += compareFunctions(form.when, when, names, instance);
      });
    }
  }
  assert(compared > 100, `only ${compared} values were compared`);
}

function symbolsOf({ instances }: CompiledKernel): readonly string[] {
  return instances.map(({ symbol }) => symbol).toSorted();
}

for (
  const [name, make] of Object.entries({
    "six types, bounds of M and N": transposeKernel,
    "forms that differ between targets": transposeWithForms,
    "two configurations": tunedTranspose,
  })
) {
  Deno.test(`the rows of a wrapper expand to the facts of its kernel: ${name}`, () =>
    compare(make()));
}

test("contracts and conditions that differ in numbers alone expand to their own numbers", async () => {
  const { kernels } = compileFile(shipped("block_sparse.tc"), {
    targets: ["sm_90"],
    include: shipped,
  });
  for (const kernel of kernels) await compare(kernel);
});
