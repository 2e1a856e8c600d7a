import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { cloneFunc, definedIn, replaceUses, usersOf, walkOps } from "../../../compiler/ir/walk.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";

const TEXT = `\
func @f(%0 n: int32, %1 c: bool) {
  %2: int32 = constant 1
  %3: int32 = if %1 {
    %4: int32 = add %0, %2
    yield %4
  } {
    yield %0
  }
  %5: int32 = add %3, %2
  return
}
`;

Deno.test("walkOps() visits operations in print order, nested ones after their parent", () => {
  const names: string[] = [];
  walkOps(parseFunc(TEXT).body, (op) => names.push(op.name));
  assertEquals(names, ["constant", "if", "add", "yield", "yield", "add", "return"]);
});

Deno.test("cloneFunc() copies what prints alike and shares nothing that can change", () => {
  const func = parseFunc(TEXT);
  const copy = cloneFunc(func);
  verifyFunc(copy);
  copy.body.ops.length = 1;
  must(copy.params[0], "parameter").name = "other";
  assertEquals(printFunc(func), TEXT);
});

Deno.test("replaceUses() follows chains in one sweep, also inside regions", () => {
  const func = parseFunc(TEXT);
  const [n] = func.params;
  const one = func.body.ops[0]?.results[0];
  const sum = func.body.ops[1]?.regions[0]?.ops[0]?.results[0];
  replaceUses(
    func,
    new Map([[must(sum, "sum"), must(one, "one")], [must(one, "one"), must(n, "n")]]),
  );
  assertEquals(
    printFunc(func),
    TEXT.replace("add %0, %2", "add %0, %0").replace("yield %4", "yield %0").replace(
      "add %3, %2",
      "add %3, %0",
    ),
  );
});

Deno.test("definedIn() gives parameters and results, also of regions inside; usersOf() gives each user once", () => {
  const func = parseFunc(`func @f(%0 n: int32, %1 c: bool) {
    %2 r: int32 = while %0 (%3 a: int32) {
      condition %1, %3
    } (%4 b: int32) {
      %5 d: int32 = if %1 {
        %6 s: int32 = add %4, %4
        yield %6
      } {
        yield %4
      }
      yield %5
    }
    return
  }`);
  const loop = must(func.body.ops[0], "loop");
  const names = [...definedIn(...loop.regions)].map(({ name }) => name);
  assertEquals(names, ["a", "b", "d", "s"]);
  const [, body] = loop.regions;
  const users = usersOf(func).get(must(body?.params[0], "parameter")) ?? [];
  assertEquals(users.map(({ name }) => name), ["add", "yield"]);
});
