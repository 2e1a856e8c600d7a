import type { Register } from "../../../compiler/ptx/func.ts";
import { TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { LANES } from "../../../emulator/register_file.ts";
import { CARRY_HANDLERS, compileLanes, laneOperation } from "../../../emulator/lanes/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { randomBits } from "../../support/emulator/ptx_operands.ts";
import { freshRandom, type Random } from "../../support/random.ts";
import {
  matchOf,
  newWarpStub,
  registerOf,
  type WarpStub,
} from "../../support/emulator/warp_stub.ts";

const MASKS = [-1, 1, 1 << 31, 0x0f0f00ff, -2, 0x55555555];

/** Fills a register with random bits and gives its values by lane. */
function fill(warp: WarpStub, register: Register, random: Random): bigint[] {
  return Array.from({ length: LANES }, (_, lane) => {
    const value = randomBits(random, TYPES[register.type].bits);
    warp.write(register, lane, value);
    return value;
  });
}

function run(warp: WarpStub, text: string, mask: number): void {
  const match = matchOf(text);
  const handler = CARRY_HANDLERS[match.opcode];
  const code = handler === undefined
    ? compileLanes(match, must(laneOperation(match), text), warp.context)
    : handler(match, warp.context);
  code(warp.registerFile, mask);
}

/**
 * Runs an instruction under several masks: `expected` gives the registers that it writes, by lane, from those that it
 * reads; other lanes keep what they had.
 */
function checkRun(
  text: string,
  names: readonly string[],
  expected: (read: (name: string) => bigint) => Readonly<Record<string, bigint>>,
): void {
  const random = freshRandom();
  for (const mask of MASKS) {
    const warp = newWarpStub();
    const registers = names.map(registerOf);
    const before = new Map(
      registers.map((register) => [register.name, fill(warp, register, random)]),
    );
    run(warp, text, mask);
    for (let lane = 0; lane < LANES; lane++) {
      const old = (name: string): bigint => must(before.get(name)?.[lane], name);
      const written = (mask >>> lane) & 1 ? expected(old) : {};
      for (const register of registers) {
        const { name } = register;
        const wanted = written[name] ?? old(name);
        assertEquals(warp.read(register, lane), wanted, `${text} ${name} of lane ${lane}`);
      }
    }
  }
}

Deno.test("runLanes() writes the lanes of the mask and no others", () => {
  checkRun("add.u32 %r_d, %r_a, %r_b;", ["r_d", "r_a", "r_b"], (old) => ({
    r_d: BigInt.asUintN(32, old("r_a") + old("r_b")),
  }));
  checkRun("mad.wide.u32 %q_d, %r_a, %r_b, %q_c;", ["q_d", "r_a", "r_b", "q_c"], (old) => ({
    q_d: BigInt.asUintN(64, old("r_a") * old("r_b") + old("q_c")),
  }));
  checkRun("mul.lo.u16 %h_d, %h_a, %h_b;", ["h_d", "h_a", "h_b"], (old) => ({
    h_d: BigInt.asUintN(16, old("h_a") * old("h_b")),
  }));
});

Deno.test("runLanes() takes literals for all lanes", () => {
  checkRun("sub.s32 %r_d, %r_a, -5;", ["r_d", "r_a"], (old) => ({
    r_d: BigInt.asUintN(32, old("r_a") + 5n),
  }));
});

Deno.test("runLanes() reads sources before it writes a destination that is one of them", () => {
  checkRun("sub.u32 %r_a, %r_b, %r_a;", ["r_a", "r_b"], (old) => ({
    r_a: BigInt.asUintN(32, old("r_b") - old("r_a")),
  }));
  checkRun("setp.lt.xor.u32 %p_c|%p_d, %r_a, %r_b, !%p_c;", ["p_c", "p_d", "r_a", "r_b"], (old) => {
    const less = old("r_a") < old("r_b") ? 1n : 0n;
    const c = 1n - old("p_c");
    return { p_c: less ^ c, p_d: (1n - less) ^ c };
  });
  checkRun("lop3.and.b32 %r_a|%p_d, %r_a, %r_b, %r_c, 0x96, %p_q;", [
    "r_a",
    "r_b",
    "r_c",
    "p_d",
    "p_q",
  ], (old) => {
    const result = old("r_a") ^ old("r_b") ^ old("r_c");
    return { r_a: result, p_d: result !== 0n ? old("p_q") : 0n };
  });
});

Deno.test("runLanes() does predicates by words", () => {
  checkRun("xor.pred %p_d, %p_a, %p_b;", ["p_d", "p_a", "p_b"], (old) => ({
    p_d: old("p_a") ^ old("p_b"),
  }));
  checkRun("and.pred %p_a, %p_a, %p_b;", ["p_a", "p_b"], (old) => ({
    p_a: old("p_a") & old("p_b"),
  }));
  checkRun("not.pred %p_d, %p_a;", ["p_d", "p_a"], (old) => ({ p_d: 1n - old("p_a") }));
  checkRun("mov.pred %p_d, %p_a;", ["p_d", "p_a"], (old) => ({ p_d: old("p_a") }));
});

Deno.test("runLanes() packs and unpacks, past sinks too", () => {
  checkRun("mov.b64 {%r_x, %r_y}, %q_a;", ["r_x", "r_y", "q_a"], (old) => ({
    r_x: BigInt.asUintN(32, old("q_a")),
    r_y: old("q_a") >> 32n,
  }));
  checkRun("mov.b64 {_, %r_y}, %q_a;", ["r_y", "q_a"], (old) => ({ r_y: old("q_a") >> 32n }));
  checkRun("mov.b128 %o_d, {%q_a, %q_b};", ["o_d", "q_a", "q_b"], (old) => ({
    o_d: (old("q_b") << 64n) | old("q_a"),
  }));
  checkRun("mov.b128 {%r_x, _, _, %r_y}, %o_a;", ["r_x", "r_y", "o_a"], (old) => ({
    r_x: BigInt.asUintN(32, old("o_a")),
    r_y: old("o_a") >> 96n,
  }));
  checkRun("mov.b32 %r_d, {%h_a, %h_b};", ["r_d", "h_a", "h_b"], (old) => ({
    r_d: (old("h_b") << 16n) | old("h_a"),
  }));
});

Deno.test("runLanes() converts from and to registers that are wider than the types", () => {
  checkRun("cvt.s8.u32 %q_d, %q_a;", ["q_d", "q_a"], (old) => ({
    q_d: BigInt.asUintN(64, BigInt.asIntN(8, old("q_a"))),
  }));
  checkRun("cvt.sat.u8.s16 %r_d, %r_a;", ["r_d", "r_a"], (old) => {
    const value = BigInt.asIntN(16, old("r_a"));
    return { r_d: value < 0n ? 0n : value > 255n ? 255n : value };
  });
});

Deno.test("CARRY_HANDLERS keep the condition code of each lane between instructions", () => {
  const random = freshRandom();
  const warp = newWarpStub();
  const names = ["r_a", "r_b", "r_c", "r_d"].map(registerOf);
  const [a, b, c, d] = names.map((register) => fill(warp, register, random));
  // The lanes of the second half do not take part: their condition code stays 0.
  const mask = 0xffff;
  for (
    const text of [
      "add.cc.u32 %r_x, %r_a, %r_c;",
      "addc.cc.u32 %r_y, %r_b, %r_d;",
      "addc.u32 %r_z, 0, 0;",
    ]
  ) run(warp, text, text.startsWith("addc.u32") ? -1 : mask);
  for (let lane = 0; lane < LANES; lane++) {
    const [low, high, over] = ["r_x", "r_y", "r_z"].map((name) =>
      warp.read(registerOf(name), lane)
    );
    const sum = (must(a?.[lane], "a") | (must(b?.[lane], "b") << 32n)) +
      (must(c?.[lane], "c") | (must(d?.[lane], "d") << 32n));
    const found = must(low, "low") | (must(high, "high") << 32n) | (must(over, "over") << 64n);
    assertEquals(found, lane < 16 ? sum : 0n, `lane ${lane}`);
  }
});
