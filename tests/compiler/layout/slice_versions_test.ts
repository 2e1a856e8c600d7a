/** Versions of what follows wide sums: what is tested implies what is taken as known, and only a few are made. */
import { assert, assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { pairOf } from "../../../compiler/ir/op.ts";
import type { Value } from "../../../compiler/ir/func.ts";
import { type Version, versionsOf } from "../../../compiler/layout/slice_versions.ts";

const RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"] as const;

interface Branch {
  readonly relation: typeof RELATIONS[number];
  readonly constant: number;
  readonly work: number;
}

const anyBranch: fc.Arbitrary<Branch> = fc.record({
  relation: fc.constantFrom(...RELATIONS),
  constant: fc.integer({ min: -2, max: 4 }),
  work: fc.integer({ min: 1, max: 3 }),
});

/** A function whose branches compare a number with constants, each before the other, and its versions. */
function versions(branches: readonly Branch[], number: string, before = ""): readonly Version[] {
  let id = 10;
  const made = branches.map(({ relation, constant, work }) => {
    const start = id;
    id += 4 + work;
    const steps = Array.from({ length: work }, (_, i) => {
      const from = i === 0 ? "%2" : `%${start + 1 + i}`;
      return `    %${start + 2 + i}: float32[4, 4] = mul ${from}, ${from}`;
    });
    return `  %${start}: int32 = constant ${constant}
  %${start + 1}: bool = ${relation} ${number}, %${start}
  %${start + 2 + work}: float32[4, 4] = if %${start + 1} {
${steps.join("\n")}
    yield %${start + 1 + work}
  } {
    yield %2
  }`;
  });
  const func = parseFunc(`func @f(%0 p: int32* {}, %1 code: int32) {
  %2: float32[4, 4] = constant 1.0
${before}${made.join("\n")}
  return
}
`);
  return versionsOf(func.body.ops, 16);
}

/** How a comparison comes out for a number, by the words of the language. */
function holds({ def }: Value, number: number): boolean {
  assert(def !== undefined);
  const constant = Number(pairOf(def)[1].def?.attrs["value" as never]);
  const outcomes: { readonly [relation: string]: boolean } = {
    eq: number === constant,
    ne: number !== constant,
    lt: number < constant,
    le: number <= constant,
    gt: number > constant,
    ge: number >= constant,
  };
  const outcome = outcomes[def.name];
  assert(outcome !== undefined);
  return outcome;
}

Deno.test("versionsOf() knows nothing that does not follow from what it tests, and each number meets one version at most", () => {
  fc.assert(fc.property(fc.array(anyBranch, { minLength: 1, maxLength: 4 }), (branches) => {
    const made = versions(branches, "%1");
    assert(made.length <= 3);
    for (let number = -5; number <= 7; number++) {
      const met = made.filter(({ tested }) =>
        [...tested].every(([condition, outcome]) => holds(condition, number) === outcome)
      );
      assert(met.length <= 1);
      for (const { decided } of met) {
        for (const [condition, outcome] of decided) {
          assertEquals(holds(condition, number), outcome);
        }
      }
    }
  }));
});

Deno.test("versionsOf() leaves alone what is loaded, and what decides about little", () => {
  const branches: readonly Branch[] = [{ relation: "eq", constant: 2, work: 3 }];
  assertEquals(versions(branches, "%1").length, 2);
  assertEquals(versions(branches, "%3", "  %3: int32 = load %0\n").length, 0);
  assertEquals(versions([{ relation: "eq", constant: 2, work: 1 }], "%1").length, 0);
});
