import { branchOf, edgesOf, loopOf } from "../../../compiler/ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../../compiler/ir/func.ts";
import { isOp } from "../../../compiler/ir/func.ts";
import type { TileOp } from "../../../compiler/ir/ops.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";
import { CompilerBug, must } from "../../../compiler/support/bug.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

const FUNC = parseFunc(`func @f(%0 n: int32, %1 c: bool) {
  %2 start: int32 = constant 0
  %3 last: int32 = while %2 (%4 i: int32) {
    %5 goOn: bool = lt %4, %0
    condition %5, %4
  } (%6 inside: int32) {
    %7 next: int32 = add %6, %0
    yield %7
  }
  %8 either: int32 = if %1 {
    yield %3
  } {
    yield %0
  }
  return
}`);

function find<N extends TileOp>(func: Func, name: N): OpOf<N> {
  let found: Op | undefined;
  walkOps(func.body, (op) => found = op.name === name ? op : found);
  return must(isOp(found, name) ? found : undefined, name);
}

const names = (values: readonly Value[]): string => values.map(({ name }) => name).join();

Deno.test("loopOf() returns the parts of a loop", () => {
  const loop = loopOf(find(FUNC, "while"));
  assertEquals(names([loop.continues]), "goOn");
  assertEquals(names(loop.test.params), "i");
  assertEquals(names(loop.body.params), "inside");
  assertEquals(names(loop.initial), "start");
  assertEquals(names(loop.repeated), "next");
  assertEquals(names(loop.leaving), "i");
  assertEquals(loop.test.ops.at(-1), loop.condition);
  assertEquals(loop.body.ops.at(-1), loop.end);
});

Deno.test("branchOf() returns the parts of a branch", () => {
  const branch = branchOf(find(FUNC, "if"));
  assertEquals(names([branch.condition]), "c");
  assertEquals(names(branch.thenValues), "last");
  assertEquals(names(branch.otherwiseValues), "n");
  assertEquals(branch.then.ops, [branch.thenEnd]);
  assertEquals(branch.otherwise.ops, [branch.otherwiseEnd]);
});

Deno.test("edgesOf() lists every way of a value into a parameter or result", () => {
  const spelled = (op: Op): readonly string[] =>
    edgesOf(op).map(({ kind, from, to }) => `${kind}: ${names(from)} → ${names(to)}`);
  assertEquals(spelled(find(FUNC, "while")), [
    "entry: start → i",
    "back: next → i",
    "continue: i → inside",
    "exit: i → last",
  ]);
  assertEquals(spelled(find(FUNC, "if")), ["then: last → either", "otherwise: n → either"]);
  assertEquals(edgesOf(find(FUNC, "add")), []);
});

Deno.test("loopOf() throws CompilerBug for a region with another end", () => {
  const func = parseFunc(`func @f() {
    while {
      yield
    } {
      yield
    }
    return
  }`);
  assertThrows(() => loopOf(find(func, "while")), CompilerBug, "ends in yield, not in condition");
});
