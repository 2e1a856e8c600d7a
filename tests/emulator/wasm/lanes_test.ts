import type { Instruction, Operand } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../../compiler/ptx/match.ts";
import { must } from "../../../compiler/support/bug.ts";
import { LANES } from "../../../emulator/register_file.ts";
import { compileLanes, laneOperation } from "../../../emulator/lanes/mod.ts";
import { scalarDestinations, scalarSources } from "../../../emulator/lanes/shape.ts";
import { wasmForm } from "../../../emulator/wasm/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { laneRowsOfTable, spellingsOf } from "../../support/emulator/ptx_forms.ts";
import { freshRandom, type Random } from "../../support/random.ts";
import { halfOf } from "../../support/sampled.ts";
import {
  argumentValue,
  compilePrimitives,
  contextOf,
  fillRow,
  Layout,
  newScene,
} from "./support.ts";

/** Literals for counts, positions and selectors, which primitives may have in their code. */
const LITERALS: Readonly<Record<string, readonly (readonly [string, readonly bigint[]])[]>> = {
  shl: [["b", [0n, 5n, 16n, 31n, 32n, 64n, 300n]]],
  shr: [["b", [0n, 5n, 15n, 31n, 63n, 64n, 300n]]],
  shf: [["c", [0n, 1n, 16n, 31n, 32n, 33n, 255n]]],
  prmt: [["c", [0x3210n, 0x7654n, 0x5410n, 0x8888n, 0xf1d3n, 1n, 2n]]],
  bfe: [["b", [0n, 3n, 16n, 31n, 40n, 255n]], ["c", [0n, 1n, 8n, 32n, 64n, 256n]]],
  bfi: [["c", [0n, 3n, 16n, 31n, 40n, 255n]], ["e", [0n, 1n, 8n, 32n, 64n, 256n]]],
};

/** An instruction with literals instead of some registers. */
function withLiterals(instruction: Instruction, match: Match): readonly Match[] {
  let operands: readonly (readonly Operand[])[] = [instruction.operands];
  for (const [name, values] of LITERALS[match.opcode] ?? []) {
    const at = match.operands.findIndex((bound) => bound.name === name);
    operands = operands.flatMap((list) =>
      values.map((value) => list.with(at, { kind: "integer", value }))
    );
  }
  return operands.flatMap((list) => {
    const found = matchInstruction({ ...instruction, operands: list });
    return typeof found === "string" ? [] : [found];
  });
}

/** Every spelling that has a primitive. */
const MATCHES: readonly Match[] = laneRowsOfTable().flatMap(([opcode, row]) =>
  row.forms.flatMap((form) => spellingsOf(opcode, form)).flatMap(({ instruction, match }) =>
    match.opcode in LITERALS ? [match, ...withLiterals(instruction, match)] : [match]
  )
).filter((match) => wasmForm(match) !== undefined);

const scene = newScene();
const functions = compilePrimitives(
  MATCHES.map((match) => must(wasmForm(match), "primitive")),
  scene.memory,
);
const REGISTER_FILE = 4096;

/** Singles that approximations may give one or the other of. */
function areNeighbours(a: number, b: number): boolean {
  return Math.abs((a | 0) - (b | 0)) <= 1;
}

/** Runs the primitive and the definition of an instruction on the same values, and compares all rows. */
function check(match: Match, random: Random, mask: number, aliased: boolean): void {
  const { machine, memory } = scene;
  const primitive = must(wasmForm(match), "primitive");
  const [target] = scalarDestinations(match);
  const sources = scalarSources(match);
  const alias = new Map<string, string>();
  if (aliased && target?.operand.kind === "register") {
    for (const { operand } of sources) {
      if (operand.kind !== "register" || operand.type !== target.operand.type) continue;
      alias.set(target.operand.name, operand.name);
      break;
    }
  }
  const layout = new Layout(0, alias);
  const context = contextOf(machine, layout);
  const bytes = new Uint8Array(memory.buffer);
  random.fill(bytes.subarray(REGISTER_FILE, REGISTER_FILE + 8192));
  for (const { operand, type } of sources) {
    const at = REGISTER_FILE + layout.row(operand, type);
    fillRow(machine, at, operand.kind === "negated" ? operand.operand : operand, type, random);
  }
  const args = primitive.arguments.map((argument) =>
    argumentValue(argument, context, REGISTER_FILE)
  );
  const before = bytes.slice(REGISTER_FILE, REGISTER_FILE + layout.end);
  must(functions.get(primitive.name), primitive.name)(...args, mask);
  const found = bytes.slice(REGISTER_FILE, REGISTER_FILE + layout.end);
  bytes.set(before, REGISTER_FILE);
  compileLanes(match, must(laneOperation(match), "operation"), context)(REGISTER_FILE, mask);
  const wanted = bytes.slice(REGISTER_FILE, REGISTER_FILE + layout.end);
  const [got, want] = [new Uint32Array(found.buffer), new Uint32Array(wanted.buffer)];
  const differs = got.findIndex((word, i) =>
    word !== want[i] && !(match.opcode === "ex2" && areNeighbours(word, want[i] ?? 0))
  );
  if (differs < 0) return;
  const { operand, type } = must(target, "target");
  const lane = Math.floor((4 * differs - layout.row(operand, type)) / pitchOf(operand));
  const values = sources.map((source) => {
    const pitch = pitchOf(source.operand);
    const at = REGISTER_FILE + layout.row(source.operand, source.type) + lane * pitch;
    bytes.set(before, REGISTER_FILE);
    const value = pitch === 8 ? machine.views.u64[at / 8] : machine.views.u32[at / 4];
    return value?.toString(16);
  });
  assertEquals(
    got[differs]?.toString(16),
    want[differs]?.toString(16),
    `${primitive.name}, lane ${lane} of ${values}, mask ${mask}, aliased ${aliased}, ` +
      `seed ${random.seed}`,
  );
}

function pitchOf(operand: Operand): number {
  return operand.kind === "register" && operand.type.endsWith("64") ? 8 : 4;
}

const OPCODES = [...new Set(MATCHES.map(({ opcode }) => opcode))];

for (const opcode of OPCODES) {
  Deno.test(`wasmForm() of ${opcode} does what the definition says, in the lanes of the mask`, () => {
    const random = freshRandom();
    const matches = MATCHES.filter((match) => match.opcode === opcode);
    const rounds = Math.max(1, Math.min(40, Math.round(600 / matches.length)));
    for (const match of halfOf(matches)) {
      for (let round = 0; round < rounds; round++) {
        check(match, random, -1, false);
        const mask = (random.below(0x10000) << 16) | random.below(0x10000);
        check(match, random, mask, round % 2 === 0);
      }
      check(match, random, 1 << random.below(LANES), true);
      check(match, random, 0, false);
    }
  });
}

Deno.test("wasmForm() has the instructions that kernels are mostly made of", () => {
  assert(OPCODES.length >= 41, `only ${OPCODES.length}: ${OPCODES}`);
});
