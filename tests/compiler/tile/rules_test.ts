/** Each rule alone: the smallest text where it acts, and the nearest one where it must not. */
import type { Func } from "../../../compiler/ir/func.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { dropDead } from "../../../compiler/tile/drop_dead.ts";
import { RULES, simplifyWith } from "../../../compiler/tile/simplify.ts";
import { assertEquals } from "../../support/assert.ts";

const PARAMS =
  "%p: float32*, %x: int32, %y: int32, %u: uint32, %l: int64, %m: int64, %f: float32, %h: float16, %b: int8, %c: bool, %d: bool";

/** `keep %v: type` stores a value somewhere, so that it is needed. */
function parse(body: string): Func {
  let kept = 0;
  const lines = body.trim().split("\n").map((line) =>
    line.replace(/keep (%\w+): (\w+\*?)(.*)/, (_, value, element, shape) => {
      const pointer = `%keep${kept++}`;
      return `${pointer}: ${element}*${shape} = constant 0\nstore ${pointer}, ${value}`;
    })
  );
  const func = parseFunc(`func @f(${PARAMS}) {\n${lines.join("\n")}\nreturn\n}`);
  verifyFunc(func);
  return func;
}

function simplified(rule: string, body: string): { text: string; changed: boolean } {
  const func = parse(body);
  const changed = simplifyWith(RULES.filter(({ name }) => name === rule)).run(func);
  verifyFunc(func);
  dropDead.run(func);
  return { text: printFunc(func), changed };
}

interface Case {
  readonly rule: string;
  readonly acts: readonly (readonly [before: string, after: string])[];
  readonly not: readonly string[];
}

/** A scalar operation on the parameters and a constant. */
const binary = (text: string, type: string, constant = "0"): string =>
  `%k: ${type} = constant ${constant}\n%v: ${type} = ${text}\nkeep %v: ${type}`;

const CASES: readonly Case[] = [
  {
    rule: "fold",
    acts: [
      [
        `%1: int32 = constant 2147483647\n%2: int32 = constant 1\n%3: int32 = add %1, %2\nkeep %3: int32`,
        `%3: int32 = constant -2147483648\nkeep %3: int32`,
      ],
      [
        `%1: float32 = constant 2.5\n%2: int32 = convert %1\nkeep %2: int32`,
        `%2: int32 = constant 2\nkeep %2: int32`,
      ],
      [
        `%1: bool = constant 1\n%2: bool[4] = splat %1\n%3: bool[4] = not %2\nkeep %3: bool[4]`,
        `%3: bool[4] = constant 0\nkeep %3: bool[4]`,
      ],
      [
        `%1: float32 = constant 2.0\n%2: float32 = math %1 {function = "sqrt"}\nkeep %2: float32`,
        `%2: float32 = constant 1.4142135381698608\nkeep %2: float32`,
      ],
      [
        `%1: float32* = constant 0\n%2: bool = eq %1, %1\nkeep %2: bool`,
        `%2: bool = constant 1\nkeep %2: bool`,
      ],
    ],
    not: [
      `%1: int32 = constant 1\n%2: int32 = constant 0\n%3: int32 = div %1, %2\nkeep %3: int32`,
      `%1: float32 = constant 1.0\n%2: float32 = math %1 {function = "exp"}\nkeep %2: float32`,
      `%1: int32 = constant 2147483647\n%2: float32 = bitcast %1\nkeep %2: float32`, // a NaN
    ],
  },
  {
    rule: "constant-right",
    acts: [[binary("add %k, %x", "int32", "3"), binary("add %x, %k", "int32", "3")]],
    not: [binary("sub %k, %x", "int32", "3"), binary("add %x, %k", "int32", "3")],
  },
  {
    rule: "identity",
    acts: [
      [binary("add %x, %k", "int32"), "keep %x: int32"],
      [binary("add %f, %k", "float32", "-0.0"), "keep %f: float32"],
      [binary("sub %f, %k", "float32", "0.0"), "keep %f: float32"],
      [binary("mul %f, %k", "float32", "1.0"), "keep %f: float32"],
      [binary("mul %x, %k", "int32"), `%k: int32 = constant 0\nkeep %k: int32`],
      [binary("rem %x, %k", "int32", "1"), `%k: int32 = constant 0\nkeep %k: int32`],
      [binary("and %x, %k", "int32", "-1"), "keep %x: int32"],
      [binary("and %u, %k", "uint32", "4294967295"), "keep %u: uint32"],
      [binary("and %c, %k", "bool", "1"), "keep %c: bool"],
      [binary("or %c, %k", "bool", "1"), `%k: bool = constant 1\nkeep %k: bool`],
      [binary("shr %x, %k", "int32"), "keep %x: int32"],
      [
        `%k: int32 = constant 0\n%v: float32* = offset %p, %k\nkeep %v: float32*`,
        "keep %p: float32*",
      ],
    ],
    not: [
      binary("add %f, %k", "float32", "0.0"), // -0.0 + 0.0 is 0.0
      binary("sub %f, %k", "float32", "-0.0"),
      binary("mul %f, %k", "float32", "0.0"), // infinity and NaN
      binary("and %x, %k", "int32", "1"),
      binary("sub %k, %x", "int32"),
    ],
  },
  {
    rule: "equal-operands",
    acts: [
      [`%v: int32 = sub %x, %x\nkeep %v: int32`, `%v: int32 = constant 0\nkeep %v: int32`],
      [`%v: float32 = min %f, %f\nkeep %v: float32`, "keep %f: float32"],
      [`%v: bool = le %p, %p\nkeep %v: bool`, `%v: bool = constant 1\nkeep %v: bool`],
    ],
    not: [
      `%v: float32 = sub %f, %f\nkeep %v: float32`, // NaN, infinity
      `%v: bool = eq %f, %f\nkeep %v: bool`,
      `%v: int32 = sub %x, %y\nkeep %v: int32`,
    ],
  },
  {
    rule: "twice",
    acts: [
      [`%1: int32 = neg %x\n%2: int32 = neg %1\nkeep %2: int32`, "keep %x: int32"],
      [`%1: bool = not %c\n%2: bool = not %1\nkeep %2: bool`, "keep %c: bool"],
    ],
    not: [`%1: int32 = neg %x\n%2: int32 = not %1\nkeep %2: int32`],
  },
  {
    rule: "negated-comparison",
    acts: [
      [
        `%1: bool = lt %x, %y\n%2: bool = not %1\nkeep %2: bool`,
        `%2: bool = ge %x, %y\nkeep %2: bool`,
      ],
      [
        `%1: bool = eq %f, %f\n%2: bool = not %1\nkeep %2: bool`,
        `%2: bool = ne %f, %f\nkeep %2: bool`,
      ],
    ],
    not: [`%1: bool = lt %f, %f\n%2: bool = not %1\nkeep %2: bool`],
  },
  {
    rule: "select-known",
    acts: [
      [`%k: bool = constant 1\n%v: int32 = select %k, %x, %y\nkeep %v: int32`, "keep %x: int32"],
      [`%k: bool = constant 0\n%v: int32 = select %k, %x, %y\nkeep %v: int32`, "keep %y: int32"],
      [`%v: int32 = select %c, %x, %x\nkeep %v: int32`, "keep %x: int32"],
    ],
    not: [`%v: int32 = select %c, %x, %y\nkeep %v: int32`],
  },
  {
    rule: "select-not",
    acts: [[
      `%1: bool = not %c\n%v: int32 = select %1, %x, %y\nkeep %v: int32`,
      `%v: int32 = select %c, %y, %x\nkeep %v: int32`,
    ]],
    not: [`%v: int32 = select %c, %x, %y\nkeep %v: int32`],
  },
  {
    rule: "select-bool",
    acts: [
      [
        `%1: bool = constant 1\n%0: bool = constant 0\n%v: bool = select %c, %1, %0\nkeep %v: bool`,
        "keep %c: bool",
      ],
      [
        `%1: bool = constant 1\n%0: bool = constant 0\n%v: bool = select %c, %0, %1\nkeep %v: bool`,
        `%v: bool = not %c\nkeep %v: bool`,
      ],
    ],
    not: [
      `%1: int32 = constant 1\n%0: int32 = constant 0\n%v: int32 = select %c, %1, %0\nkeep %v: int32`,
      `%1: bool = constant 1\n%v: bool = select %c, %1, %d\nkeep %v: bool`,
    ],
  },
  {
    rule: "convert-nothing",
    acts: [[`%v: int32 = convert %x\nkeep %v: int32`, "keep %x: int32"]],
    not: [`%v: uint32 = convert %x\nkeep %v: uint32`, `%v: uint32 = bitcast %x\nkeep %v: uint32`],
  },
  {
    rule: "convert-twice",
    acts: [
      [
        `%1: int64 = convert %b\n%v: float32 = convert %1\nkeep %v: float32`,
        `%v: float32 = convert %b\nkeep %v: float32`,
      ],
      [
        `%1: float32 = convert %h\n%v: int32 = convert %1\nkeep %v: int32`,
        `%v: int32 = convert %h\nkeep %v: int32`,
      ],
      [
        `%1: int8* = convert %p\n%v: int32* = convert %1\nkeep %v: int32*`,
        `%v: int32* = convert %p\nkeep %v: int32*`,
      ],
    ],
    not: [
      `%1: int8 = convert %x\n%v: int32 = convert %1\nkeep %v: int32`,
      `%1: uint32 = convert %b\n%v: int64 = convert %1\nkeep %v: int64`, // sign lost in between
      `%1: float64 = convert %x\n%v: uint8 = convert %1\nkeep %v: uint8`, // saturates
      `%1: float32 = convert %x\n%v: int32 = convert %1\nkeep %v: int32`, // 24 bits only
      `%1: bool = convert %x\n%v: int32 = convert %1\nkeep %v: int32`,
    ],
  },
  {
    rule: "bitcast-twice",
    acts: [[
      `%1: int32 = bitcast %f\n%v: uint32 = bitcast %1\nkeep %v: uint32`,
      `%v: uint32 = bitcast %f\nkeep %v: uint32`,
    ]],
    not: [`%1: int32 = convert %f\n%v: uint32 = bitcast %1\nkeep %v: uint32`],
  },
  {
    rule: "offset-twice",
    acts: [
      [
        `%1: float32* = offset %p, %l\n%v: float32* = offset %1, %m\nkeep %v: float32*`,
        `%1: int64 = add %l, %m\n%v: float32* = offset %p, %1\nkeep %v: float32*`,
      ],
      [
        `%i: int32 = constant 2147483647\n%j: int32 = constant 1\n%1: float32* = offset %p, %i\n%v: float32* = offset %1, %j\nkeep %v: float32*`,
        `%1: int64 = constant 2147483648\n%v: float32* = offset %p, %1\nkeep %v: float32*`,
      ],
    ],
    not: [
      `%1: float32* = offset %p, %x\n%v: float32* = offset %1, %y\nkeep %v: float32*`, // the sum would wrap
      `%1: float32* = offset %p, %x\n%v: float32* = offset %1, %l\nkeep %v: float32*`,
    ],
  },
  {
    rule: "uniform-operands",
    acts: [
      [
        `%1: int32[4] = splat %x\n%2: int32[4] = splat %y\n%v: int32[4] = add %1, %2\nkeep %v: int32[4]`,
        `%1: int32 = add %x, %y\n%v: int32[4] = splat %1\nkeep %v: int32[4]`,
      ],
      [
        `%1: float32*[4] = splat %p\n%k: int32[4] = constant 3\n%v: float32*[4] = offset %1, %k\nkeep %v: float32*[4]`,
        `%k: int32 = constant 3\n%1: float32* = offset %p, %k\n%v: float32*[4] = splat %1\nkeep %v: float32*[4]`,
      ],
    ],
    not: [
      `%1: int32[4] = splat %x\n%2: int32[4] = range 0\n%v: int32[4] = add %1, %2\nkeep %v: int32[4]`,
    ],
  },
  {
    rule: "broadcast-operands",
    acts: [[
      `%r: int32[4] = range 0\n%1: int32[1, 4] = expand_dims %r {axis = 0}\n%2: int32[8, 4] = broadcast %1\n%3: int32[8, 4] = splat %x\n%v: bool[8, 4] = lt %2, %3\nkeep %v: bool[8, 4]`,
      `%r: int32[4] = range 0\n%1: int32[1, 4] = expand_dims %r {axis = 0}\n%3: int32[1, 4] = splat %x\n%2: bool[1, 4] = lt %1, %3\n%v: bool[8, 4] = broadcast %2\nkeep %v: bool[8, 4]`,
    ]],
    not: [
      `%r: int32[4] = range 0\n%1: int32[1, 4] = expand_dims %r {axis = 0}\n%2: int32[4, 4] = broadcast %1\n%3: int32[4, 1] = expand_dims %r {axis = 1}\n%4: int32[4, 4] = broadcast %3\n%v: int32[4, 4] = add %2, %4\nkeep %v: int32[4, 4]`,
    ],
  },
  {
    rule: "shape-of-uniform",
    acts: [
      [
        `%1: int32[4] = splat %x\n%v: int32[1, 4] = expand_dims %1 {axis = 0}\nkeep %v: int32[1, 4]`,
        `%v: int32[1, 4] = splat %x\nkeep %v: int32[1, 4]`,
      ],
      [`%1: int32[1] = splat %x\n%v: int32 = reshape %1\nkeep %v: int32`, "keep %x: int32"],
    ],
    not: [
      `%1: int32[4] = range 0\n%v: int32[1, 4] = expand_dims %1 {axis = 0}\nkeep %v: int32[1, 4]`,
    ],
  },
  {
    rule: "shape-kept",
    acts: [
      [
        `%1: int32[4] = range 0\n%v: int32[4] = reshape %1\nkeep %v: int32[4]`,
        `%1: int32[4] = range 0\nkeep %1: int32[4]`,
      ],
      [
        `%1: int32[4] = range 0\n%v: int32[4] = permute %1 {order = [0]}\nkeep %v: int32[4]`,
        `%1: int32[4] = range 0\nkeep %1: int32[4]`,
      ],
    ],
    not: [
      `%1: int32[2, 2] = splat %x\n%v: int32[2, 2] = permute %1 {order = [1, 0]}\nkeep %v: int32[2, 2]`,
    ],
  },
  {
    rule: "broadcast-twice",
    acts: [[
      `%1: int32[1, 1] = splat %x\n%2: int32[4, 1] = broadcast %1\n%v: int32[4, 8] = broadcast %2\nkeep %v: int32[4, 8]`,
      `%1: int32[1, 1] = splat %x\n%v: int32[4, 8] = broadcast %1\nkeep %v: int32[4, 8]`,
    ]],
    not: [`%1: int32[4, 1] = splat %x\n%v: int32[4, 8] = broadcast %1\nkeep %v: int32[4, 8]`],
  },
  {
    rule: "reshape-twice",
    acts: [
      [
        `%1: int32[4] = range 0\n%2: int32[2, 2] = reshape %1\n%v: int32[4, 1] = reshape %2\nkeep %v: int32[4, 1]`,
        `%1: int32[4] = range 0\n%v: int32[4, 1] = reshape %1\nkeep %v: int32[4, 1]`,
      ],
      [
        `%1: int32[4] = range 0\n%2: int32[1, 4] = expand_dims %1 {axis = 0}\n%v: int32[2, 2] = reshape %2\nkeep %v: int32[2, 2]`,
        `%1: int32[4] = range 0\n%v: int32[2, 2] = reshape %1\nkeep %v: int32[2, 2]`,
      ],
    ],
    not: [
      `%1: int32[2, 1] = splat %x\n%2: int32[2, 2] = broadcast %1\n%v: int32[4] = reshape %2\nkeep %v: int32[4]`,
    ],
  },
  {
    rule: "permute-twice",
    acts: [[
      `%1: int32[2, 4, 8] = splat %x\n%2: int32[4, 8, 2] = permute %1 {order = [1, 2, 0]}\n%v: int32[8, 2, 4] = permute %2 {order = [1, 2, 0]}\nkeep %v: int32[8, 2, 4]`,
      `%1: int32[2, 4, 8] = splat %x\n%v: int32[8, 2, 4] = permute %1 {order = [2, 0, 1]}\nkeep %v: int32[8, 2, 4]`,
    ]],
    not: [
      `%1: int32[2, 4] = splat %x\n%v: int32[4, 2] = permute %1 {order = [1, 0]}\nkeep %v: int32[4, 2]`,
    ],
  },
  {
    rule: "permute-of-broadcast",
    acts: [[
      `%1: int32[4, 1] = splat %x\n%2: int32[4, 8] = broadcast %1\n%v: int32[8, 4] = permute %2 {order = [1, 0]}\nkeep %v: int32[8, 4]`,
      `%1: int32[4, 1] = splat %x\n%2: int32[1, 4] = permute %1 {order = [1, 0]}\n%v: int32[8, 4] = broadcast %2\nkeep %v: int32[8, 4]`,
    ]],
    not: [
      `%1: int32[4, 8] = splat %x\n%v: int32[8, 4] = permute %1 {order = [1, 0]}\nkeep %v: int32[8, 4]`,
    ],
  },
  {
    rule: "permute-of-extents-1",
    acts: [[
      `%1: int32[4, 1] = splat %x\n%v: int32[1, 4] = permute %1 {order = [1, 0]}\nkeep %v: int32[1, 4]`,
      `%1: int32[4, 1] = splat %x\n%v: int32[1, 4] = reshape %1\nkeep %v: int32[1, 4]`,
    ]],
    not: [
      `%1: int32[4, 1, 2] = splat %x\n%v: int32[2, 1, 4] = permute %1 {order = [2, 1, 0]}\nkeep %v: int32[2, 1, 4]`,
    ],
  },
  {
    rule: "reshape-to-expand-dims",
    acts: [[
      `%1: int32[4] = range 0\n%v: int32[1, 4] = reshape %1\nkeep %v: int32[1, 4]`,
      `%1: int32[4] = range 0\n%v: int32[1, 4] = expand_dims %1 {axis = 0}\nkeep %v: int32[1, 4]`,
    ]],
    not: [`%1: int32[4] = range 0\n%v: int32[2, 2] = reshape %1\nkeep %v: int32[2, 2]`],
  },
  {
    rule: "uniform-offset-first",
    acts: [[
      `%1: float32*[4] = splat %p\n%r: int32[4] = range 0\n%2: float32*[4] = offset %1, %r\n%s: int32[4] = splat %x\n%v: float32*[4] = offset %2, %s\nkeep %v: float32*[4]`,
      `%1: float32*[4] = splat %p\n%r: int32[4] = range 0\n%s: int32[4] = splat %x\n%2: float32*[4] = offset %1, %s\n%v: float32*[4] = offset %2, %r\nkeep %v: float32*[4]`,
    ]],
    not: [
      `%1: float32*[4] = splat %p\n%r: int32[4] = range 0\n%s: int32[4] = splat %x\n%2: float32*[4] = offset %1, %s\n%v: float32*[4] = offset %2, %r\nkeep %v: float32*[4]`,
    ],
  },
  {
    rule: "load-all",
    acts: [[
      `%k: bool = constant 1\n%v: float32 = load %p, %k, %f {modifiers = ["cg"]}\nkeep %v: float32`,
      `%v: float32 = load %p {modifiers = ["cg"]}\nkeep %v: float32`,
    ]],
    not: [`%v: float32 = load %p, %c\nkeep %v: float32`],
  },
  {
    rule: "load-none",
    acts: [
      [
        `%k: bool = constant 0\n%v: float32 = load %p, %k\nkeep %v: float32`,
        `%v: float32 = constant 0.0\nkeep %v: float32`,
      ],
      [
        `%k: bool = constant 0\n%v: float32 = load %p, %k, %f\nkeep %v: float32`,
        "keep %f: float32",
      ],
    ],
    not: [`%k: bool = constant 1\n%v: float32 = load %p, %k\nkeep %v: float32`],
  },
  {
    rule: "load-zero-fill",
    acts: [[
      `%k: float32 = constant 0.0\n%v: float32 = load %p, %c, %k\nkeep %v: float32`,
      `%v: float32 = load %p, %c\nkeep %v: float32`,
    ]],
    not: [`%k: float32 = constant -0.0\n%v: float32 = load %p, %c, %k\nkeep %v: float32`],
  },
  {
    rule: "select-of-load",
    acts: [
      [
        `%1: float32 = load %p, %c\n%k: float32 = constant 0.0\n%v: float32 = select %c, %1, %k\nkeep %v: float32`,
        `%1: float32 = load %p, %c\nkeep %1: float32`,
      ],
      [
        `%1: float32 = load %p, %c, %f\n%v: float32 = select %c, %1, %f\nkeep %v: float32`,
        `%1: float32 = load %p, %c, %f\nkeep %1: float32`,
      ],
    ],
    not: [
      `%1: float32 = load %p, %c\n%k: float32 = constant 0.0\n%v: float32 = select %d, %1, %k\nkeep %v: float32`,
      `%1: float32 = load %p, %c\n%v: float32 = select %c, %1, %f\nkeep %v: float32`,
      `%1: float32 = load %p\n%k: float32 = constant 0.0\n%v: float32 = select %c, %1, %k\nkeep %v: float32`,
    ],
  },
  {
    rule: "store-all",
    acts: [["%k: bool = constant 1\nstore %p, %f, %k", "store %p, %f"]],
    not: ["store %p, %f, %c"],
  },
  {
    rule: "store-none",
    acts: [["%k: bool = constant 0\nstore %p, %f, %k", ""]],
    not: ["%k: bool = constant 1\nstore %p, %f, %k"],
  },
  {
    rule: "if-known",
    acts: [[
      `%k: bool = constant 0\n%v: int32 = if %k {\n  store %p, %f\n  yield %x\n} {\n  %1: int32 = neg %y\n  barrier\n  yield %1\n}\nkeep %v: int32`,
      `%1: int32 = neg %y\nbarrier\nkeep %1: int32`,
    ]],
    not: [`%v: int32 = if %c {\n  store %p, %f\n  yield %x\n} {\n  yield %y\n}\nkeep %v: int32`],
  },
  {
    rule: "if-of-values",
    acts: [[
      `%t: int32[4] = range 0\n%u1: int32[4] = range 1\n%v: int32[4], %w: int32 = if %c {\n  yield %t, %x\n} {\n  yield %u1, %y\n}\nkeep %v: int32[4]\nkeep %w: int32`,
      `%t: int32[4] = range 0\n%u1: int32[4] = range 1\n%m1: bool[4] = splat %c\n%v: int32[4] = select %m1, %t, %u1\n%w: int32 = select %c, %x, %y\nkeep %v: int32[4]\nkeep %w: int32`,
    ]],
    not: [`%v: int32 = if %c {\n  barrier\n  yield %x\n} {\n  yield %y\n}\nkeep %v: int32`],
  },
];

for (const { rule, acts, not } of CASES) {
  acts.forEach(([before, after], index) =>
    Deno.test(`simplify() applies the rule ${rule} (${index + 1})`, () => {
      const expected = parse(after);
      dropDead.run(expected);
      assertEquals(simplified(rule, before), { text: printFunc(expected), changed: true });
    })
  );
  not.forEach((body, index) =>
    Deno.test(`simplify() leaves alone what only looks like ${rule} (${index + 1})`, () => {
      assertEquals(simplified(rule, body).changed, false);
    })
  );
}

Deno.test("RULES has a case here for every rule", () => {
  assertEquals(CASES.map(({ rule }) => rule).sort(), RULES.map(({ name }) => name).sort());
});
