import { type IrFunc, parseIr, printIr } from "../../../../compiler/driver/inspect/ir_text.ts";
import { DEFAULT_FLOATS } from "../../../../compiler/support/float_options.ts";
import { CompilerBug } from "../../../../compiler/support/bug.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";

const FUNC = "func @f(%0: int32*) {\n  return\n}\n";

const only = (text: string): IrFunc => must(parseIr(text, "f.ir")[0], "a function");

Deno.test("parseIr() reads what printIr() writes", () => {
  for (
    const line of [
      "after build {num_warps = 4, floats = []}",
      'after cse.2 {num_warps = 8, num_stages = 3, max_registers = 96, floats = ["contract", "flush"]}',
      'after order-memory {target = "sm_90a", num_warps = 1, floats = ["fast_div", "precise"]}',
    ]
  ) assertEquals(printIr(only(`${line}\n${FUNC}`)), `${line}\n${FUNC}`);
});

Deno.test("parseIr() takes what pragmas would leave, where no line is above the function", () => {
  const { after, target, entry: { numWarps, numStages, floats } } = only(FUNC).header;
  assertEquals([after, target, numWarps, numStages, floats], [
    undefined,
    undefined,
    undefined,
    undefined,
    DEFAULT_FLOATS,
  ]);
});

Deno.test("parseIr() reads several functions, and comments between them", () => {
  const text = `// where n % 4 == 0\nafter cse {num_warps = 2}\n${FUNC}\n// cse.2: unchanged\n\n` +
    `after drop-dead {num_warps = 1}\n${FUNC.replace("@f", "@g")}`;
  assertEquals(
    parseIr(text, "f.ir").map(({ header, func }) =>
      `${func.name} ${header.after} ${header.entry.numWarps}`
    ),
    ["f cse 2", "g drop-dead 1"],
  );
});

Deno.test("parseIr() says in which line a mistake is", () => {
  const says = (text: string): string =>
    assertThrows(() => parseIr(text, "f.ir"), CompilerBug).message;
  assertEquals(
    says(`\nafter cse {warps = 2}\n${FUNC}`),
    "f.ir, line 2: warps is no setting; there are target, num_warps, num_ctas, num_stages, max_registers, form, floats in `after cse {warps = 2}`",
  );
  assertEquals(
    says(`after cse {target = "sm_1"}\n${FUNC}`),
    'f.ir, line 1: sm_1 is no target in `after cse {target = "sm_1"}`',
  );
  assertEquals(
    says(`after cse {}\n${FUNC}\nafter cse {}\nfunc @f() {\n  jump\n}\n`),
    "f.ir, line 8: expected an operation, found `jump` in `jump`",
  );
});
