/** The sizes that a program gives for launches of a kernel that it loaded itself. */
import type { LaunchShape } from "../driver.ts";
import { ArgumentError } from "../errors.ts";
import { expectInteger, expectIntegers, isList } from "./numbers.ts";
import { checkOptions, optionNames } from "./options.ts";
import { describeValue } from "./values.ts";

const NAMES = optionNames<LaunchShape>({
  block: true,
  sharedBytes: true,
  parameterBytes: true,
  parameterNames: true,
  startsEarly: true,
});

/** Limits of all architectures: threads, shared memory and arguments (CUDA programming guide, technical specifications). */
const MOST = { threads: 1024, sharedBytes: 2 ** 31 - 1, parameterBytes: 32764 } as const;

/** Throws `ArgumentError` for what no launch can have. */
export function checkLaunchShape(shape: LaunchShape): void {
  checkOptions("shape of prepare", shape, NAMES);
  const { block, sharedBytes, parameterBytes, parameterNames, startsEarly } = shape;
  const sizes = expectIntegers("block", block, 3);
  const threads = sizes.reduce((product, size) => product * size, 1);
  if (sizes.length !== 3 || threads < 1 || threads > MOST.threads) {
    throw new ArgumentError({
      argument: "block",
      expected: `three sizes from 1 whose product is at most ${MOST.threads}`,
      actual: describeValue(block),
    });
  }
  expectInteger("sharedBytes", sharedBytes, 0, MOST.sharedBytes);
  expectInteger("parameterBytes", parameterBytes, 0, MOST.parameterBytes);
  if (startsEarly !== undefined && typeof startsEarly !== "boolean") {
    throw new ArgumentError({
      argument: "startsEarly",
      expected: "true or false",
      actual: describeValue(startsEarly),
    });
  }
  if (parameterNames === undefined) return;
  if (isList(parameterNames) && parameterNames.every((name) => typeof name === "string")) {
    return;
  }
  throw new ArgumentError({
    argument: "parameterNames",
    expected: "a list of names",
    actual: describeValue(parameterNames),
  });
}
