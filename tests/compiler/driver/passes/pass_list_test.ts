import { namedSteps, type Row, stepsOf } from "../../../../compiler/driver/passes/pass_list.ts";
import { STEPS } from "../../../../compiler/driver/passes/passes.ts";
import { CompilerBug } from "../../../../compiler/support/bug.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";

const row = (name: string, ...needs: readonly string[]): Row<unknown> => ({
  pass: { name, doc: "", run: () => false },
  needs,
});

Deno.test("stepsOf() numbers the occurrences of a pass", () => {
  const steps = stepsOf([["tile", [row("a"), row("b"), row("a", "b")]], ["layout", [row("a")]]]);
  assertEquals(steps.map(({ name, phase }) => `${phase} ${name}`), [
    "tile a",
    "tile b",
    "tile a.2",
    "layout a.3",
  ]);
});

Deno.test("stepsOf() refuses a pass before what it needs, and phases that go back", () => {
  const says = (...groups: Parameters<typeof stepsOf>[0]): string =>
    assertThrows(() => stepsOf(groups), CompilerBug).message;
  assertEquals(
    says(["tile", [row("a", "b"), row("b")]]),
    "The pass a needs b, which is not before it",
  );
  assertEquals(
    says(["tile", [row("a"), row("b", "a.2"), row("a")]]),
    "The pass b needs a.2, which is not before it",
  );
  assertEquals(
    says(["layout", [row("a")]], ["tile", [row("b")]]),
    "The phase tile comes after the phase layout in the list of passes",
  );
});

Deno.test("STEPS have names of their own, and a reason where one needs another", () => {
  const names = STEPS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  assertEquals(
    STEPS.filter(({ needs, because }) => needs.length > 0 && because === undefined),
    [],
  );
});

Deno.test("namedSteps() takes steps in the order of the names, and says which name is unknown", () => {
  const steps = stepsOf([["tile", [row("a"), row("b")]]]);
  const found = namedSteps(steps, ["b", "a", "b"]);
  assertEquals("unknown" in found ? [] : found.map(({ name }) => name), ["b", "a", "b"]);
  assertEquals(namedSteps(steps, ["a", "c"]), { unknown: "c" });
});
