/**
 * Random programs: what the compiled kernel leaves in memory is what the reference interpreter leaves there.
 * `TRI_PROGRAMS=5000 deno test -A tests/programs` runs more of them, `TRI_SEED=…` the same ones again.
 */
import fc from "../support/property.ts";
import { assert } from "../support/assert.ts";
import { anyProgram } from "../support/generate/arbitrary.ts";
import { supportedFeatures } from "../support/generate/features.ts";
import { compareRuns, report, type Verdict } from "../support/generate/compare.ts";
import { SEED } from "../support/seed.ts";

const COUNT = Number(Deno.env.get("TRI_PROGRAMS") ?? 30);

Deno.test("compileFile() gives random programs the meaning that the reference gives them, on all targets", () => {
  const features = supportedFeatures();
  const counts: Record<Verdict["kind"], number> = {
    equal: 0,
    unsupported: 0,
    undecided: 0,
    wrong: 0,
    invalid: 0,
  };
  let [compared, exact] = [0, 0];
  let isShrinking = false;
  const details = fc.check(
    fc.property(anyProgram(features), (program) => {
      const verdict = compareRuns(program);
      counts[verdict.kind] += isShrinking ? 0 : 1;
      if (verdict.kind === "equal") {
        compared += verdict.compared;
        exact += verdict.exact;
      }
      // What a program becomes when parts of it are left out may be no program any more.
      if (verdict.kind === "wrong" || (verdict.kind === "invalid" && !isShrinking)) {
        isShrinking = true;
        throw new Error(report(program, verdict.message));
      }
    }),
    { numRuns: COUNT },
  );
  if (details.failed) {
    const { errorInstance } = details;
    const text = errorInstance instanceof Error ? errorInstance.message : `${errorInstance}`;
    throw new Error(`TRI_SEED=${SEED} TRI_PROGRAMS=${COUNT}\n${text}`);
  }
  // Most programs must say something, or the test is none.
  assert(counts.equal >= COUNT * 0.6, JSON.stringify(counts));
  assert(exact >= compared * 0.5, `${exact} of ${compared} elements are known exactly`);
});
