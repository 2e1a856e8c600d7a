import { bug } from "../../../compiler/support/bug.ts";
import { pushSigned, pushSigned64, pushUnsigned } from "../../../emulator/wasm/bytes.ts";
import type { Code } from "../../../emulator/wasm/code.ts";
import type { Immediate, ValueType } from "../../../emulator/wasm/code.ts";
import { WasmModule } from "../../../emulator/wasm/module.ts";
import { type Immediates, opFacts, opNames } from "../../../emulator/wasm/opcodes.ts";
import { newMemory } from "../../../emulator/memory.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

const memory = newMemory(65536);

/** Instantiates a module and gives its function `run`. */
function instantiate(
  module: WasmModule,
  env: Readonly<Record<string, WebAssembly.ImportValue>> = {},
): (...args: number[]) => number {
  const compiled = new WebAssembly.Module(module.encode());
  const { run } = new WebAssembly.Instance(compiled, { env: { memory, ...env } }).exports;
  return typeof run === "function" ? (...args): number => run(...args) : bug("no run");
}

/** A module with one function, exported as `run`. */
function moduleOf(
  params: readonly ValueType[],
  results: readonly ValueType[],
  write: (code: Code) => void,
): WasmModule {
  const module = new WasmModule();
  module.importMemory("env", "memory");
  const { index, code } = module.function(params, results);
  write(code);
  module.export("run", "function", index);
  return module;
}

const EXAMPLES: Readonly<Record<Immediates["kind"], readonly Immediate[]>> = {
  none: [],
  lane: [0],
  indices: [0, 0],
  memory: [0],
  "memory-lane": [0, 0],
  i32: [1],
  i64: [1n],
  f32: [1],
  f64: [1],
  bytes: [Array.from({ length: 16 }, () => 0)],
  block: [],
  labels: [[0]],
  zeros: [],
};

Deno.test("opFacts() has a code and immediates for each name that engines take", () => {
  for (const name of opNames()) {
    if (name === "else" || name === "end") continue;
    const module = new WasmModule();
    module.importMemory("env", "memory");
    module.table(1);
    module.type([], []);
    module.global("i32", 0);
    const { code } = module.function(["i32"], []);
    const { kind } = opFacts(name).immediates;
    // After `unreachable` any operands are there.
    code.op("unreachable").op(name, ...EXAMPLES[kind]).op("unreachable");
    if (kind === "block") code.op("end");
    assert(WebAssembly.validate(module.encode()), name);
  }
});

Deno.test("pushUnsigned() and pushSigned() write LEB128", () => {
  const bytesOf = <T>(push: (bytes: number[], value: T) => void, value: T): number[] => {
    const bytes: number[] = [];
    push(bytes, value);
    return bytes;
  };
  assertEquals(bytesOf(pushUnsigned, 624485), [0xe5, 0x8e, 0x26]);
  assertEquals(bytesOf(pushUnsigned, 0xffffffff), [0xff, 0xff, 0xff, 0xff, 0x0f]);
  assertEquals(bytesOf(pushSigned, -123456), [0xc0, 0xbb, 0x78]);
  assertEquals(bytesOf(pushSigned, 64), [0xc0, 0x00]);
  assertEquals(bytesOf(pushSigned, -64), [0x40]);
  assertEquals(bytesOf(pushSigned64, -(1n << 63n)), [...Array(9).fill(0x80), 0x7f]);
});

Deno.test("Code constants come back as they were", () => {
  for (const value of [0, 1, -1, 63, 64, -64, -65, 8191, -8192, 2 ** 31 - 1, -(2 ** 31)]) {
    const run = instantiate(moduleOf([], ["i32"], (code) => code.op("i32.const", value)));
    assertEquals(run(), value);
    const long = instantiate(moduleOf([], ["i64"], (code) => code.op("i64.const", value)));
    assertEquals(BigInt(long()), BigInt(value));
  }
  const float = instantiate(moduleOf([], ["f64"], (code) => code.op("f64.const", 0.1)));
  assertEquals(float(), 0.1);
});

Deno.test("WasmModule calls imports, functions, and functions in its table", () => {
  const module = new WasmModule();
  module.importMemory("env", "memory");
  const twice = module.importFunction("env", "twice", ["i32"], ["i32"]);
  const start = module.importGlobal("env", "start", "i32", true);
  const counter = module.global("i32", -70000);
  const table = module.table(4);
  const run = module.function(["i32"], ["i32"]);
  const next = module.function(["i32"], ["i32"]);
  run.code.op("local.get", 0).op("i32.const", 2)
    .op("call_indirect", module.type(["i32"], ["i32"]), table)
    .op("call", twice)
    .op("global.get", start).op("i32.add")
    .op("global.get", counter).op("i32.add");
  next.code.op("local.get", 0).op("i32.const", 1).op("i32.add");
  module.elements(table, 2, [next.index]);
  module.export("run", "function", run.index);
  const env = {
    twice: (value: number): number => 2 * value,
    start: new WebAssembly.Global({ value: "i32", mutable: true }, 1000000),
  };
  assertEquals(instantiate(module, env)(5), 2 * 6 + 1000000 - 70000);
});

Deno.test("WasmModule takes no imports after functions of its own", () => {
  const module = new WasmModule();
  module.function([], []);
  assertThrows(() => module.importFunction("env", "late", [], []));
});

Deno.test("Code.op() writes branches by table, memory copies and atomic operations", () => {
  const module = moduleOf(["i32"], ["i32"], (code) => {
    code.op("block").op("block").op("block");
    code.op("local.get", 0).op("br_table", [0, 1, 2]).op("end");
    code.op("i32.const", 10).op("return").op("end");
    code.op("i32.const", 64).op("i32.const", 7).op("i32.const", 4).op("memory.fill");
    code.op("i32.const", 80).op("i32.const", 64).op("i32.const", 4).op("memory.copy");
    code.op("i32.const", 80).op("i32.const", 1).op("i32.atomic.rmw.add", 0);
    code.op("i32.const", 0).op("i32.load", 80).op("i32.add").op("return").op("end");
    code.op("i32.const", 12);
  });
  const run = instantiate(module);
  assertEquals([run(0), run(1), run(2), run(99)], [10, 2 * 0x07070707 + 1, 12, 12]);
});

Deno.test("Code.hoisting() computes constant vectors once, in front of what uses them", () => {
  const constant = Array.from({ length: 16 }, (_, i) => i);
  const module = moduleOf(["i32"], ["i32"], (code) => {
    code.hoisting(() => {
      code.op("loop");
      code.vector(constant).vector(constant).op("i8x16.add");
      code.op("i8x16.extract_lane_u", 3).op("local.get", 0).op("i32.add").op("local.set", 0);
      code.op("local.get", 0).op("i32.const", 20).op("i32.lt_s").op("br_if", 0).op("end");
      code.op("local.get", 0);
    });
    assertEquals(code.locals, ["v128"]);
  });
  assertEquals(instantiate(module)(1), 25);
});
