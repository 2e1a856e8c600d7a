/** Which targets give the same answers. */
import { assert, assertEquals } from "../support/assert.ts";
import { ARCHITECTURES, fitsShared, query, TARGETS, traceTarget } from "../../compiler/targets.ts";

Deno.test("traceTarget() sameAnswers with every target while nothing has been asked", () => {
  const { sameAnswers } = traceTarget(TARGETS.sm_70);
  for (const target of Object.values(TARGETS)) assert(sameAnswers(target), target.name);
});

Deno.test("traceTarget() distinguishes targets by the fields that were read of the view", () => {
  const { view, sameAnswers } = traceTarget(TARGETS.sm_80);
  assertEquals(view.redux, true);
  assertEquals(Object.values(TARGETS).filter((target) => !sameAnswers(target)), [
    TARGETS.sm_70,
    TARGETS.sm_75,
  ]);
  assertEquals(view.name, "sm_80");
  assertEquals(Object.values(TARGETS).filter(sameAnswers), [TARGETS.sm_80]);
});

Deno.test("query() lets targets agree that answer alike for other reasons", () => {
  const { view, sameAnswers } = traceTarget(TARGETS.sm_90);
  assert(fitsShared(view, 100_000));
  assertEquals(Object.values(TARGETS).filter((target) => !sameAnswers(target)), [
    TARGETS.sm_70,
    TARGETS.sm_75,
  ]);
  assert(!fitsShared(view, 240_000));
  assertEquals(query(view, ({ mma }) => mma.includes("f64.m16n8k8")), true);
  assert(!sameAnswers(TARGETS.sm_89));
  assert(sameAnswers(TARGETS.sm_100));
  assertEquals(query(TARGETS.sm_70, ({ sm }) => sm), 70);
});

Deno.test("ARCHITECTURES has every target under its number, and no architecture twice", () => {
  const numbers = ARCHITECTURES.map(({ sm }) => sm);
  assertEquals(numbers, [...new Set(numbers)].sort((a, b) => a - b));
  for (const { name, sm, exact, sharedBytesPerBlock } of Object.values(TARGETS)) {
    const one = ARCHITECTURES.find((architecture) => architecture.sm === sm);
    assertEquals([one?.sharedBytesPerBlock, exact || one?.name === name], [
      sharedBytesPerBlock,
      true,
    ]);
  }
});

Deno.test("TARGETS has records whose name, number and limits agree", () => {
  for (const [key, target] of Object.entries(TARGETS)) {
    assertEquals(target.name, key);
    assertEquals(`sm_${target.sm}${target.exact ? "a" : ""}`, key);
    const { sharedBytesPerBlock, sharedBytesReserved, sharedBytesPerSm } = target;
    assertEquals(sharedBytesPerBlock + sharedBytesReserved, sharedBytesPerSm);
  }
});
