import { startsEarly } from "../../codegen/starting_early.ts";
import { Device } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { checkChain, compileChain } from "../support/compiler/chain.ts";

Deno.test("startsEarly() is true of targets from sm_90 on", () => {
  const targets = ["sm_75", "sm_89", "sm_90", "sm_90a", "sm_120", "sm_121", "sm_1"];
  assertEquals(targets.filter(startsEarly), ["sm_90", "sm_90a", "sm_120", "sm_121"]);
});

for (const target of ["sm_80", "sm_90"] as const) {
  Deno.test(`chain_step() for ${target} counts in streams and graphs of the emulator`, async () => {
    using device = Device.open({ device: "emulator", arch: target });
    const chain = await compileChain([target]);
    checkChain(device, chain, { length: 1000, turns: 1, steps: 7 });
    checkChain(device, chain, { length: 300, turns: 0, steps: 4, launches: 3, copies: true });
  });
}
