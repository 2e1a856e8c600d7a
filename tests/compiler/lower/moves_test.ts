import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { Emitter, int } from "../../../compiler/lower/emitter.ts";
import { emitMoves } from "../../../compiler/lower/moves.ts";
import { printInstruction } from "../../../compiler/ptx/print.ts";
import { must } from "../../../compiler/support/bug.ts";
import { TARGETS } from "../../../compiler/targets.ts";

Deno.test("emitMoves() moves as if all moves happened at once", () => {
  const anySources = fc.array(fc.nat(7), { minLength: 8, maxLength: 8 });
  fc.assert(fc.property(anySources, (sources) => {
    const e = new Emitter(TARGETS.sm_80);
    const registers = sources.map(() => e.register("b32"));
    const at = (i: number) => must(registers[i], "register");
    // Sources 6 and 7 are constants.
    emitMoves(
      e,
      sources.slice(0, 6).map((from, to) => ({
        to: at(to),
        from: from < 6 ? at(from) : int(100 + from),
      })),
    );
    const values = new Map(registers.map(({ name }, i) => [name, i]));
    for (const item of e.body) {
      assert(item.kind === "instruction" && item.opcode === "mov");
      const [to, from] = item.operands;
      assert(to?.kind === "register");
      values.set(
        to.name,
        from?.kind === "integer"
          ? Number(from.value)
          : from?.kind === "register"
          ? must(values.get(from.name), "value")
          : -1,
      );
    }
    const expected = sources.slice(0, 6).map((from) => from < 6 ? from : 100 + from);
    assertEquals(registers.slice(0, 6).map(({ name }) => values.get(name)), expected);
    const circles = e.body.length - expected.filter((value, i) => value !== i).length;
    assert(circles <= 3, "one move more for each circle at most");
  }));
});

Deno.test("emitMoves() skips registers that keep their value and saves one register of a cycle", () => {
  const e = new Emitter(TARGETS.sm_80);
  const [a, b, c] = [e.register("b64"), e.register("b64"), e.register("b64")];
  emitMoves(e, [{ to: a, from: b }, { to: b, from: a }, { to: c, from: c }]);
  assertEquals(
    e.body.map((item) => item.kind === "instruction" ? printInstruction(item) : item.kind),
    ["mov.b64 %rd3, %rd0;", "mov.b64 %rd0, %rd1;", "mov.b64 %rd1, %rd3;"],
  );
});
