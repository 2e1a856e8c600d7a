import type { Operand, Register, RegisterType } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { bug, must } from "../../../compiler/support/bug.ts";
import { HEADER, LANES } from "../../../emulator/register_file.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { wasmForm } from "../../../emulator/wasm/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { sampled } from "../../support/sampled.ts";
import { freshRandom, type Random } from "../../support/random.ts";
import { argumentValue, compilePrimitives, contextOf, Layout, newScene } from "./support.ts";

const [REGISTER_FILE, SHARED, LOCAL, GLOBAL, END] = [4096, 1 << 14, 3 << 13, 1 << 15, 1 << 16];
const LOCAL_BYTES = 256;
const ROWS = 64;

const TYPE_NAMES = [
  ..."b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split(" "),
] as const;
const REGISTERS: Readonly<Record<number, RegisterType>> = { 16: "b16", 32: "b32", 64: "b64" };

function register(type: RegisterType, name: string): Register {
  return { kind: "register", type, name };
}

interface Case {
  readonly match: Match;
  readonly space: string;
  readonly type: string;
  readonly count: number;
  readonly register: RegisterType;
  readonly base: RegisterType;
  readonly offset: number;
  readonly stores: boolean;
}

function caseOf(
  opcode: "ld" | "st",
  space: string,
  type: string,
  count: number,
  wide: RegisterType,
  base: RegisterType,
): Case | undefined {
  const offset = 24;
  const values = Array.from({ length: count }, (_, i) => register(wide, `v${i}`));
  const value: Operand = count === 1
    ? must(values[0], "value")
    : { kind: "vector", elements: values };
  const address: Operand = {
    kind: "address",
    base: register(base, "base"),
    offset: BigInt(offset),
  };
  const match = matchInstruction({
    kind: "instruction",
    opcode,
    modifiers: [...(space === "" ? [] : [space]), ...(count === 1 ? [] : [`v${count}`]), type],
    operands: opcode === "ld" ? [value, address] : [address, value],
  });
  if (typeof match === "string") return undefined;
  return { match, space, type, count, register: wide, base, offset, stores: opcode === "st" };
}

const CASES: readonly Case[] = (["ld", "st"] as const).flatMap((opcode) =>
  ["global", "shared", "local", ""].flatMap((space) =>
    TYPE_NAMES.flatMap((type) =>
      [1, 2, 4].flatMap((count) =>
        [16, 32, 64].flatMap((bits) =>
          (space === "shared" || space === "local" ? ["b32", "b64"] as const : ["b64"] as const)
            .flatMap((base) => {
              const found = caseOf(
                opcode,
                space,
                type,
                count,
                REGISTERS[bits] ?? bug("register"),
                base,
              );
              return found === undefined ? [] : [found];
            })
        )
      )
    )
  )
);

const scene = newScene(END);
const bytes = new Uint8Array(scene.memory.buffer);
const view = new DataView(scene.memory.buffer);
const functions = compilePrimitives(
  CASES.map(({ match }) => must(wasmForm(match), "primitive")),
  scene.memory,
);

function bitsOf(type: string): number {
  return isTypeName(type) ? TYPES[type].bits : bug(type);
}

/** An address of a lane that is in memory, and its location. */
function target({ space, type, count, offset }: Case, lane: number, random: Random): {
  readonly address: bigint;
  readonly location: number;
} {
  const size = bitsOf(type) / 8 * count;
  const windows = space === "" ? ["global", "shared", "local"] : [space];
  const window = windows[random.below(random.below(2) === 0 ? 1 : windows.length)] ?? "global";
  const slots = window === "local" ? Math.floor((LOCAL_BYTES - offset) / size) : 64;
  const slot = size * (random.below(2) === 0 && window !== "local" ? lane : random.below(slots)) +
    offset;
  const upper = (name: keyof typeof WINDOW): bigint =>
    space === "" || name === "global" ? BigInt(WINDOW[name]) << 32n : 0n;
  switch (window) {
    case "global":
      return { address: upper("global") | BigInt(GLOBAL + slot), location: GLOBAL + slot };
    case "shared":
      return { address: upper("shared") | BigInt(slot), location: SHARED + slot };
    default:
      return {
        address: upper("local") | BigInt(slot),
        location: LOCAL + lane * LOCAL_BYTES + slot,
      };
  }
}

function read(location: number, bits: number): bigint {
  let value = 0n;
  for (let i = bits / 8; i-- > 0;) value = (value << 8n) | BigInt(view.getUint8(location + i));
  return value;
}

function write(location: number, bits: number, value: bigint): void {
  for (let i = 0; i < bits / 8; i++) {
    view.setUint8(location + i, Number(value >> BigInt(8 * i) & 255n));
  }
}

/** Runs a case and the same lane by lane, and compares the whole memory. */
function check(it: Case, random: Random, mask: number, aliased: boolean): void {
  random.fill(bytes);
  view.setUint32(REGISTER_FILE + HEADER.shared, SHARED, true);
  view.setUint32(REGISTER_FILE + HEADER.local, LOCAL, true);
  view.setUint32(REGISTER_FILE + HEADER.localBytes, LOCAL_BYTES, true);
  const bits = bitsOf(it.type);
  const layout = new Layout(ROWS, new Map(aliased ? [["v0", "base"]] : []));
  const { machine } = scene;
  const context = contextOf(machine, layout);
  const baseBits = bitsOf(it.base);
  const baseRow = REGISTER_FILE + layout.row(register(it.base, "base"), "b64");
  const registerBits = bitsOf(it.register);
  const pitch = registerBits / 8 === 8 ? 8 : 4;
  const rows = Array.from(
    { length: it.count },
    (_, i) => REGISTER_FILE + layout.row(register(it.register, `v${i}`), "b32"),
  );
  const targets = Array.from({ length: LANES }, (_, lane) => target(it, lane, random));
  for (const [lane, { address }] of targets.entries()) {
    const given = (mask >>> lane) & 1 ? address - BigInt(it.offset) : BigInt(random.below(1e6));
    write(baseRow + lane * baseBits / 8, baseBits, given);
    if (registerBits === 16) {
      for (const row of rows) view.setUint16(row + 4 * lane + 2, 0, true);
    }
  }
  const primitive = must(wasmForm(it.match), "primitive");
  const args = primitive.arguments.map((argument) =>
    argumentValue(argument, context, REGISTER_FILE)
  );
  const before = bytes.slice();
  const declined = must(functions.get(primitive.name), primitive.name)(...args, mask);
  const found = bytes.slice();
  bytes.set(before);
  assertEquals(declined, 0, primitive.name);
  for (const [lane, { location }] of targets.entries()) {
    if (((mask >>> lane) & 1) === 0) continue;
    for (const [i, row] of rows.entries()) {
      const at = location + i * bits / 8;
      const element = row + lane * pitch;
      if (it.stores) {
        write(at, bits, read(element, bits));
        continue;
      }
      const value = read(at, bits);
      const extended = it.type.startsWith("s")
        ? BigInt.asUintN(registerBits, BigInt.asIntN(bits, value))
        : value;
      write(element, 8 * pitch, extended);
    }
  }
  const differs = found.findIndex((byte, i) => byte !== bytes[i]);
  assertEquals(
    differs,
    -1,
    `${primitive.name}: byte ${differs}, mask ${mask}, aliased ${aliased}, seed ${random.seed}`,
  );
}

Deno.test("wasmForm() covers loads and stores of all types, vectors and wider registers", () => {
  assert(CASES.length > 300, `${CASES.length}`);
});

for (const opcode of ["ld", "st"]) {
  for (const space of ["global", "shared", "local", ""]) {
    Deno.test(`wasmForm() of ${opcode} on ${space || "generic"} addresses moves the lanes' elements`, () => {
      const random = freshRandom();
      const cases = CASES.filter(({ match, space: of }) => match.opcode === opcode && of === space);
      for (const it of sampled(cases, cases.length / 8)) {
        const aliasable = it.base === it.register && !it.stores;
        for (let round = 0; round < 3; round++) {
          check(it, random, -1, aliasable && round === 1);
          check(it, random, (random.below(0x10000) << 16) | random.below(0x10000), false);
        }
        check(it, random, 0, false);
      }
    });
  }
}

/** Calls an access whose lane 5 has an address that is not in its window. */
function callForeign(it: Case, foreign: bigint, mask: number): number | undefined {
  const layout = new Layout(ROWS);
  const context = contextOf(scene.machine, layout);
  const primitive = must(wasmForm(it.match), "primitive");
  const args = primitive.arguments.map((argument) =>
    argumentValue(argument, context, REGISTER_FILE)
  );
  const random = freshRandom();
  const size = bitsOf(it.base);
  for (let lane = 0; lane < LANES; lane++) {
    const address = lane === 5 ? foreign : target(it, lane, random).address;
    write(
      REGISTER_FILE + layout.row(register(it.base, "base"), "b64") + lane * size / 8,
      size,
      address - BigInt(it.offset),
    );
  }
  const before = bytes.slice();
  const declined = must(functions.get(primitive.name), primitive.name)(...args, mask);
  if (declined !== 0) assertEquals(bytes.findIndex((byte, i) => byte !== before[i]), -1);
  return declined;
}

Deno.test("wasmForm() of accesses declines where an active lane's address is in no window of its own", () => {
  const foreign: Readonly<Record<string, readonly bigint[]>> = {
    global: [0n, 64n, BigInt(WINDOW.shared) << 32n, BigInt(WINDOW.global + 1) << 32n],
    shared: [1n << 24n, 0xfffffff0n],
    local: [BigInt(LOCAL_BYTES), 0xfffffff0n],
    "": [0n, BigInt(WINDOW.param) << 32n, (BigInt(WINDOW.shared) << 32n) | (1n << 24n)],
  };
  const cases = CASES.filter(({ count }) => count === 1);
  for (const it of sampled(cases, cases.length / 4)) {
    for (const address of foreign[it.space] ?? []) {
      assertEquals(callForeign(it, address, -1), 1, it.match.opcode);
      assertEquals(callForeign(it, address, 1 << 5), 1, it.match.opcode);
      assertEquals(callForeign(it, address, ~(1 << 5)), 0, it.match.opcode);
    }
  }
});

Deno.test("wasmForm() of ld.param and ld.const gives all lanes the value at a location", () => {
  const random = freshRandom();
  for (const type of TYPE_NAMES) {
    for (const bits of [16, 32, 64]) {
      for (const count of [1, 2, 4]) {
        const wide = REGISTERS[bits] ?? bug("register");
        const values = Array.from({ length: count }, (_, i) => register(wide, `v${i}`));
        const match = matchInstruction({
          kind: "instruction",
          opcode: "ld",
          modifiers: ["param", ...(count === 1 ? [] : [`v${count}`]), type],
          operands: [
            count === 1 ? must(values[0], "value") : { kind: "vector", elements: values },
            { kind: "address", offset: BigInt(GLOBAL + 8) },
          ],
        });
        if (typeof match === "string") continue;
        const primitive = must(wasmForm(match), "primitive");
        const call = must(compilePrimitives([primitive], scene.memory).get(primitive.name), "it");
        const layout = new Layout(ROWS);
        const context = contextOf(scene.machine, layout);
        const args = primitive.arguments.map((argument) =>
          argumentValue(argument, context, REGISTER_FILE)
        );
        for (const mask of [-1, random.below(1 << 30), 0]) {
          random.fill(bytes);
          const before = bytes.slice();
          call(...args, mask);
          for (const [i, value] of values.entries()) {
            const row = REGISTER_FILE + layout.row(value, "b32");
            const pitch = bits === 64 ? 64 : 32;
            const element = read(GLOBAL + 8 + i * bitsOf(type) / 8, bitsOf(type));
            const wanted = type.startsWith("s")
              ? BigInt.asUintN(bits, BigInt.asIntN(bitsOf(type), element))
              : element;
            for (let lane = 0; lane < LANES; lane++) {
              const found = read(row + lane * pitch / 8, pitch);
              if ((mask >>> lane) & 1) assertEquals(found, wanted, primitive.name);
              else assertEquals(Number(found & 255n), before[row + lane * pitch / 8]);
            }
          }
        }
      }
    }
  }
});
