import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import {
  ConditionError,
  holds,
  parseCondition,
  type Quantity,
} from "../../../emulator/debug/condition.ts";

const NAMES: Readonly<Record<string, Quantity>> = {
  i: 3,
  x: { shape: [2, 3], values: [1, 2, 3, 4, NaN, 6] },
  y: { shape: [3, 2], values: [0, 0, 0, 0, 0, 0] },
  v: { shape: [2], values: [1, 2] },
  "%r1": 7,
};

const ask = (text: string): Quantity => parseCondition(text).evaluate((name) => NAMES[name]);

Deno.test("parseCondition() knows the strength of operators, tiles and their elements", () => {
  const cases: readonly [string, Quantity][] = [
    ["1 + 2 * 3 - 4", 3],
    ["(1 + 2) * 3 % 5", 4],
    ["10 - 3 - 2", 5],
    ["2 < 3 == 1", 1],
    ["!0 && -2 < -1 || 0", 1],
    ["0x1f + 1e1 + .5", 41.5],
    ["i == 3 && %r1 >= 7", 1],
    ["x[1, 0]", 4],
    ["x[i - 2, 2] > 5", 1],
    ["any(x != x)", 1],
    ["all(x == x)", 0],
    ["count(x > 2)", 3],
    ["max(v) - min(v) + sum(v)", 4],
  ];
  for (const [text, expected] of cases) assertEquals(ask(text), expected, text);
  assertEquals(ask("v * 2"), { shape: [2], values: [2, 4] });
  assert(holds(ask("x == 3")));
  assert(!holds(ask("y")));
});

Deno.test("parseCondition() says what is wrong with a condition", () => {
  const cases: readonly [string, RegExp][] = [
    ["", /it ends where a value must be/],
    ["1 +", /it ends where a value must be/],
    ["(1", /it ends where `\)` must be/],
    ["1 2", /there is `2` after its end/],
    ["i = 3", /`= 3` cannot be read/],
    ["all()", /there is `\)` where a value must be/],
    ["any(i, i)", /any has one argument/],
    ["hypot(i)", /there is no function hypot; there are any, all/],
    ["constructor(i)", /there is no function constructor/],
    ["z", /z has no value here/],
    ["x[1]", /x has 2 axes, and there are 1 indices/],
    ["i[0]", /i has 0 axes/],
    ["x[1, 3]", /index 1 of x is not an integer from 0 to 2/],
    ["x[0.5, 0]", /index 0 of x is not an integer/],
    ["x == v", /shapes \[2, 3\] and \[2\] differ/],
    ["x == y", /shapes \[2, 3\] and \[3, 2\] differ/],
    ["(".repeat(2000), /more than 1000 characters/],
  ];
  for (const [text, message] of cases) {
    const error = assertThrows(() => ask(text), ConditionError);
    assert(message.test(error.message), `${text}: ${error.message}`);
  }
});
