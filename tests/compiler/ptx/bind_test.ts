/** Orders of modifiers: spellings.txt holds one for each form that ptxas 13.0 takes (scripts/ptx_spellings.ts). */
import { bindAnyOrder } from "../../../compiler/ptx/bind.ts";
import { readForm } from "../../../compiler/ptx/form.ts";
import type { Instruction } from "../../../compiler/ptx/func.ts";
import { matchInstruction, splitSpelling } from "../../../compiler/ptx/match.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { allSamples } from "../../support/emulator/ptx_samples.ts";

const SPELLINGS = Deno.readTextFileSync(new URL("spellings.txt", import.meta.url)).trim()
  .split("\n");

const wordsOf = (spelling: string): string => spelling.split(".").sort().join(".");

Deno.test("matchInstruction() finds the form of every order of modifiers that ptxas takes", () => {
  const samples = Map.groupBy(
    allSamples(),
    ({ instruction: { opcode, modifiers } }) => wordsOf([opcode, ...modifiers].join(".")),
  );
  const lost = SPELLINGS.filter((spelling) => {
    const found = samples.get(wordsOf(spelling)) ?? [];
    return !found.some(({ form, instruction }) => {
      const { opcode, modifiers } = splitSpelling(spelling);
      const match = matchInstruction({ ...instruction, opcode, modifiers });
      return typeof match === "object" && match.form === form &&
        match.opcode === instruction.opcode;
    });
  });
  assertEquals(lost, []);
  assert(SPELLINGS.length > 500);
});

const register = (
  name: string,
  type: "b32" | "b64" | "f32" | "f64",
): Instruction["operands"][0] => ({
  kind: "register",
  name,
  type,
});

function matched(spelling: string, operands: Instruction["operands"]): string {
  const match = matchInstruction({ kind: "instruction", ...splitSpelling(spelling), operands });
  return typeof match === "string" ? match : [match.opcode, ...match.modifiers].join(".");
}

Deno.test("matchInstruction() gives modifiers in the order of the ISA", () => {
  const [a, b] = [register("a", "b32"), register("b", "b32")];
  const address = { kind: "address", base: register("q", "b64"), offset: 0n } as const;
  const spell: readonly (readonly [string, Instruction["operands"], string])[] = [
    ["atom.add.acquire.cta.u32", [a, address, b], "atom.acquire.cta.add.u32"],
    ["atom.global.u32.add.release.gpu", [a, address, b], "atom.release.gpu.global.add.u32"],
    ["ld.global.volatile.u32", [a, address], "ld.volatile.global.u32"],
    ["min.s16x2.relu", [a, a, b], "min.relu.s16x2"],
    ["add.u32.cc", [a, a, b], "add.cc.u32"],
    ["red.f32.add", [address, register("f", "f32")], "red.add.f32"],
  ];
  assertEquals(
    spell.map(([text, operands]) => matched(text, operands)),
    spell.map((row) => row[2]),
  );
});

Deno.test("bindAnyOrder() keeps types in the order that they are written in", () => {
  const form = readForm({ form: ".RND.T.U d, a", T: "f32 f64", U: "f32 f64" });
  assertEquals(bindAnyOrder(form, ["f32", "rn", "f64"])?.modifiers, ["rn", "f32", "f64"]);
  assertEquals(bindAnyOrder(form, ["f64", "f32", "rn"])?.modifiers, ["rn", "f64", "f32"]);
  assertEquals(
    bindAnyOrder(readForm({ form: ".T.s32 d, a", T: "f32" }), ["s32", "f32"]),
    undefined,
  );
});

Deno.test("bindAnyOrder() refuses what is given twice, is too much, or is not there", () => {
  const form = readForm({ form: ".RND.ftz?.f32 d, a" });
  assertEquals(bindAnyOrder(form, ["ftz", "ftz", "f32"]), undefined);
  assertEquals(bindAnyOrder(form, ["f32", "rn", "ftz", "sat"]), undefined);
  assertEquals(bindAnyOrder(form, ["f32", "ftz"]), undefined);
  assertEquals(bindAnyOrder(form, Array(1e5).fill("rn")), undefined);
});
