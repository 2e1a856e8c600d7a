import { assertEquals, assertThrows } from "../../../support/assert.ts";
import { Unsupported } from "../../../../compiler/lower/unsupported.ts";
import { Reporter } from "../../../../compiler/support/diagnostic.ts";
import { Unsupporteds } from "../../../../compiler/driver/limits/unsupported.ts";

const span = { file: { name: "k.tc", text: "a b" }, start: 0, end: 1 };

Deno.test("Unsupporteds reports each gap once, with the largest limit, and its targets unless it is all of them", () => {
  const gaps = new Unsupporteds();
  const refuse = (what: string) => (): never => {
    throw new Unsupported({ code: "E7008", what, span, hint: "make it smaller" });
  };
  assertEquals(gaps.attempt("sm_70", () => 1), 1);
  for (const target of ["sm_70", "sm_80"] as const) {
    assertEquals(
      gaps.attempt(target, refuse("layout conversion needs 200 KiB of shared memory")),
      undefined,
    );
  }
  gaps.attempt("sm_70", refuse("layout conversion needs 100 KiB of shared memory"));
  const reporter = new Reporter();
  gaps.report(["sm_70", "sm_80"], reporter);
  assertEquals(reporter.diagnostics.map(({ code, message }) => `${code} ${message}`), [
    "E7008 layout conversion needs 200 KiB of shared memory; sm_80 has 163 KiB per block",
    "E7008 layout conversion needs 100 KiB of shared memory; sm_70 has 96 KiB per block",
  ]);
});

Deno.test("Unsupporteds passes other failures on", () => {
  const broken = (): never => {
    throw new TypeError("ours");
  };
  assertThrows(() => new Unsupporteds().attempt("sm_80", broken), TypeError, "ours");
});
