/** Where pure instructions land: once each, before the loops that do not change them, not outside branches. */
import { assertEquals } from "../../support/assert.ts";
import { Emitter, int } from "../../../compiler/lower/emitter.ts";
import { printInstruction } from "../../../compiler/ptx/print.ts";
import type { Item } from "../../../compiler/ptx/func.ts";
import { TARGETS } from "../../../compiler/targets.ts";

const texts = (items: readonly Item[]): string[] =>
  items.map((item) => item.kind === "instruction" ? printInstruction(item) : item.kind);

Deno.test("Emitter moves what a loop does not change before it, out of branches inside as well", () => {
  const e = new Emitter(TARGETS.sm_80);
  const start = e.register("b32");
  const items = e.nested("loop", () => {
    const counter = e.register("b32");
    e.settle([counter]);
    const branch = e.nested("branch", () => {
      const outside = e.pure("add.s32", "b32", [start, int(1)]);
      e.pure("add.s32", "b32", [counter, outside]);
    });
    e.append(branch);
  });
  assertEquals(texts(e.body), ["add.s32 %r2, %r0, 1;"]);
  assertEquals(texts(items), ["add.s32 %r3, %r1, %r2;"]);
});

Deno.test("Emitter keeps what a branch computes to itself", () => {
  const e = new Emitter(TARGETS.sm_80);
  const start = e.register("b32");
  const compute = (): void => {
    e.pure("add.s32", "b32", [start, int(1)]);
  };
  const branches = [e.nested("branch", compute), e.nested("branch", compute)];
  compute();
  assertEquals(branches.map(texts), [["add.s32 %r1, %r0, 1;"], ["add.s32 %r2, %r0, 1;"]]);
  assertEquals(texts(e.body), ["add.s32 %r3, %r0, 1;"]);
});
