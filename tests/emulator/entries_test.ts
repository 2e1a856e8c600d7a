import { must } from "../../compiler/support/bug.ts";
import { PtxSyntaxError } from "../../compiler/ptx/syntax_error.ts";
import { divideEntries, readModule } from "../../emulator/entries.ts";
import { createEmulator } from "../../emulator/launch.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";
import { TARGET_NAMES } from "../support/targets.ts";

const HEAD = `.version 7.8
.target sm_80
.address_size 64
.global .u32 shared_by_all = 5;

`;
const entry = (name: string, body = "ret;"): string =>
  `.visible .entry ${name}(\n  .param .u64 ${name}_p\n)\n{\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n  ${body}\n}\n\n`;
/** Makes a module large without changing what it does. */
const LONG = entry("long", "mov.u32 %r0, 1;\n".repeat(8000) + "ret;");

Deno.test("readModule() reads an entry of a large module when it is asked for, in its own lines", () => {
  const text = HEAD + entry("first") + LONG + entry("wrong", "mov.u32 %r0, ];") + entry("last");
  const module = readModule(text);
  assertEquals([module.names, module.isWhole], [["first", "long", "wrong", "last"], false]);
  assertEquals(module.shared.variables.map(({ name }) => name), ["shared_by_all"]);
  const last = must(module.entry("last"), "an entry");
  assertEquals(last.module.kernels.map(({ name }) => name), ["last"]);
  assertEquals(module.entry("none"), undefined);
  const error = assertThrows(() => module.entry("wrong"), PtxSyntaxError);
  const whole = assertThrows(() => readModule(text.replace(LONG, entry("long"))), PtxSyntaxError);
  const lines = (part: string): number => part.split("\n").length;
  assertEquals(error.line - whole.line, lines(LONG) - lines(entry("long")));
  assertEquals(text.split("\n")[error.line - 1], "  mov.u32 %r0, ];");
});

Deno.test("createEmulator() runs entries of a large module on the variables of the module", () => {
  const add = "atom.global.add.u32 %r1, [shared_by_all], 2;\n  ret;";
  const emulator = createEmulator();
  const module = emulator.load(HEAD + entry("first", add) + LONG + entry("last", add), "large");
  for (const name of ["first", "last"]) {
    must(module.kernels.get(name), name).launch({
      grid: [1, 1, 1],
      block: [1, 1, 1],
      sharedBytes: 0,
      argumentBlock: new Uint8Array(8),
      checks: true,
      profile: false,
      budget: 100,
      workers: 1,
    });
  }
  const { location } = must(module.variables.get("shared_by_all"), "a variable");
  assertEquals(emulator.machine.views.u32[location / 4], 9);
  module.unload();
  emulator.close();
});

Deno.test("divideEntries() divides what the compiler writes, and leaves what it may not divide", () => {
  const file = {
    name: "k.tc",
    text:
      "#pragma tri variants T in {float, half}\n__global__ void k(T *X) { *X = 1; assert(*X > 0); }\n",
  };
  for (
    const { target, ptx } of compileFile(file, { targets: TARGET_NAMES }).kernels[0]?.modules ?? []
  ) {
    const { head, entries } = must(divideEntries(ptx), target);
    assert(head.includes("__assertfail"));
    assertEquals([...entries.keys()], ["k_float32", "k_float32_a16", "k_float16", "k_float16_a16"]);
  }
  const two = HEAD + entry("a") + entry("b");
  assertEquals([...must(divideEntries(two), "entries").entries.keys()], ["a", "b"]);
  for (
    const other of [
      HEAD + entry("a"),
      `${HEAD}${entry("c").replace(".visible", ".weak")}${entry("a")}${entry("b")}`,
      `${two}${entry("a")}`,
      `${two}.section .debug_info { .b8 1 }\n`,
      `${HEAD}${entry("a")}.func f() { ret; }\n${entry("b")}`,
      two.replace("ret;", "{\n}\n  ret;"),
    ]
  ) assertEquals(divideEntries(other), undefined, other);
});
