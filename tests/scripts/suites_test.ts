import { countsOf, describeSkipped, readJunit } from "../../scripts/suites.ts";
import { assertEquals } from "../support/assert.ts";

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="6" failures="1" errors="0" time="0.006">
    <testsuite name="./tests/gpu/a_test.ts" tests="3" disabled="2" errors="0" failures="0">
        <testcase name="f() runs" classname="./tests/gpu/a_test.ts" time="0.000" line="1" col="6">
        </testcase>
        <testcase name="f() runs on sm_90 [skipped: no H200 (of 2)]" classname="./tests/gpu/a_test.ts" time="0.000">
            <skipped/>
        </testcase>
        <testcase name="g()" classname="./tests/gpu/a_test.ts" time="0.000">
            <skipped/>
        </testcase>
    </testsuite>
    <testsuite name="./tests/b_test.ts" tests="2" disabled="1" errors="0" failures="1">
        <testcase name="a &lt; b" classname="./tests/b_test.ts" time="0.001" line="1" col="100">
            <failure message="Uncaught Error: x &lt;y&gt;">Error: x</failure>
        </testcase>
        <testcase name="h()" classname="./tests/b_test.ts" time="0.000"><skipped/></testcase>
        <testcase name="i()" classname="./tests/b_test.ts" time="0.000"/>
    </testsuite>
</testsuites>`;

Deno.test("readJunit() reads title, file and outcome of every case", () => {
  assertEquals(readJunit(REPORT).map(({ title, outcome }) => [title, outcome]), [
    ["f() runs", "passed"],
    ["f() runs on sm_90 [skipped: no H200 (of 2)]", "skipped"],
    ["g()", "skipped"],
    ["a < b", "failed"],
    ["h()", "skipped"],
    ["i()", "passed"],
  ]);
});

Deno.test("describeSkipped() gives a line per file and reason", () => {
  assertEquals(describeSkipped([{ cases: readJunit(REPORT), isRight: false }]), [
    "skipped 1 in ./tests/gpu/a_test.ts: no H200 (of 2)",
    "skipped 1 in ./tests/gpu/a_test.ts: marked as ignored",
    "skipped 1 in ./tests/b_test.ts: marked as ignored",
  ]);
});

Deno.test("countsOf() adds suites, and counts one that failed without a case as a failure", () => {
  const cases = readJunit(REPORT);
  assertEquals(countsOf([{ cases, isRight: false }]), "2 passed, 1 failed, 3 skipped");
  assertEquals(
    countsOf([{ cases, isRight: false }, { cases: [], isRight: false }, {
      cases: [],
      isRight: true,
    }]),
    "2 passed, 2 failed, 3 skipped",
  );
});
