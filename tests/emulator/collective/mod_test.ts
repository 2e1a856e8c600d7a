import fc from "../../support/property.ts";
import { PTX_OPS } from "../../../compiler/ptx/ops.ts";
import { must } from "../../../compiler/support/bug.ts";
import { COLLECTIVES, syncMask } from "../../../emulator/collective/mod.ts";
import { LANES } from "../../../emulator/register_file.ts";
import { assertEquals } from "../../support/assert.ts";
import {
  matchOf,
  newWarpStub,
  registerOf,
  type WarpStub,
} from "../../support/emulator/warp_stub.ts";

const lanes = [...Array(LANES).keys()];
const active = (mask: number): number[] => lanes.filter((lane) => (mask >>> lane) & 1);
const bitsOf = (chosen: readonly number[]): bigint =>
  chosen.reduce((word, lane) => word | (1n << BigInt(lane)), 0n);

function run(warp: WarpStub, text: string, mask: number): void {
  const match = matchOf(text);
  must(COLLECTIVES[match.opcode], match.opcode)(match, warp.context)(warp.registerFile, mask);
}

/** Registers by lane, written before the instruction runs. */
type Inputs = Readonly<Record<string, readonly bigint[]>>;

/** Runs an instruction and compares a register with what is expected of the lanes of the mask; others keep theirs. */
function check(
  text: string,
  mask: number,
  inputs: Inputs,
  expected: Readonly<Record<string, (lane: number) => bigint>>,
): void {
  const warp = newWarpStub();
  for (const [name, values] of Object.entries(inputs)) {
    values.forEach((value, lane) => warp.write(registerOf(name), lane, value));
  }
  const names = Object.keys(expected).map(registerOf);
  const before = names.map((register) => lanes.map((lane) => warp.read(register, lane)));
  run(warp, text, mask);
  for (const [i, register] of names.entries()) {
    for (const lane of lanes) {
      const wanted = (mask >>> lane) & 1 ? expected[register.name]?.(lane) : before[i]?.[lane];
      assertEquals(warp.read(register, lane), wanted, `${text} ${register.name} of lane ${lane}`);
    }
  }
}

const anyMask = fc.oneof(
  fc.constantFrom(-1, 1, 1 << 31, 0xffff, 0x11111111),
  fc.integer({ min: -0x80000000, max: 0x7fffffff }).filter((mask) => mask !== 0),
);
const column = (value: fc.Arbitrary<bigint>): fc.Arbitrary<bigint[]> =>
  fc.array(value, { minLength: LANES, maxLength: LANES });
const word = fc.bigInt({ min: 0n, max: 0xffffffffn });
/** Values of which some are equal. */
const few = fc.constantFrom(0n, 1n, 2n, 0xffffffffn);

/** shfl after the ISA's pseudo-code: where a lane reads, and whether that is in range. */
function shuffled(
  mode: string,
  lane: number,
  b: bigint,
  c: bigint,
): [from: number, valid: boolean] {
  const [bval, cval] = [Number(b & 31n), Number(c & 31n)];
  const segmask = Number((c >> 8n) & 31n);
  const maxLane = (lane & segmask) | (cval & ~segmask & 31);
  const minLane = lane & segmask;
  switch (mode) {
    case "up":
      return [lane - bval, lane - bval >= maxLane];
    case "down":
      return [lane + bval, lane + bval <= maxLane];
    case "bfly":
      return [lane ^ bval, (lane ^ bval) <= maxLane];
    default: {
      const from = minLane | (bval & ~segmask & 31);
      return [from, from <= maxLane];
    }
  }
}

for (const mode of ["up", "down", "bfly", "idx"]) {
  Deno.test(`COLLECTIVES shuffle by ${mode} within segments and limits`, () => {
    const control = fc.oneof(fc.constantFrom(0n, 0x1fn, 0x181fn, 0x1c00n, 0x1e1fn), word);
    fc.assert(
      fc.property(anyMask, column(word), column(word), column(control), (mask, a, b, c) => {
        const source = (lane: number): [number, boolean] =>
          shuffled(mode, lane, must(b[lane], "b"), must(c[lane], "c"));
        check(`shfl.sync.${mode}.b32 %r_d|%p_p, %r_a, %r_b, %r_c, 0xffffffff;`, mask, {
          r_a: a,
          r_b: b,
          r_c: c,
        }, {
          p_p: (lane) => source(lane)[1] ? 1n : 0n,
          r_d: (lane) => {
            const [from, valid] = source(lane);
            const read = valid ? from : lane;
            // Of lanes that take no part the ISA says nothing.
            return (mask >>> read) & 1 ? must(a[read], "a") : 0n;
          },
        });
      }),
      { numRuns: 100 },
    );
  });
}

Deno.test("COLLECTIVES shuffle with a destination that is the source", () => {
  const values = lanes.map((lane) => BigInt(100 + lane));
  check("shfl.sync.bfly.b32 %r_a, %r_a, 1, 0x1f, -1;", -1, { r_a: values }, {
    r_a: (lane) => BigInt(100 + (lane ^ 1)),
  });
});

Deno.test("COLLECTIVES vote", () => {
  const bit = fc.constantFrom(0n, 1n);
  const predicates = fc.oneof(
    column(bit),
    fc.constantFrom(lanes.map(() => 0n), lanes.map(() => 1n)),
  );
  fc.assert(
    fc.property(anyMask, predicates, fc.boolean(), (mask, values, negated) => {
      const says = (lane: number): boolean => (values[lane] === 1n) !== negated;
      const asked = active(mask);
      const source = negated ? "!%p_a" : "%p_a";
      const votes: Readonly<Record<string, boolean>> = {
        all: asked.every(says),
        any: asked.some(says),
        uni: asked.every(says) || !asked.some(says),
      };
      for (const [mode, result] of Object.entries(votes)) {
        check(`vote.sync.${mode}.pred %p_d, ${source}, -1;`, mask, { p_a: values }, {
          p_d: () => result ? 1n : 0n,
        });
      }
      check(`vote.sync.ballot.b32 %r_d, ${source}, -1;`, mask, { p_a: values }, {
        r_d: () => bitsOf(asked.filter(says)),
      });
    }),
    { numRuns: 100 },
  );
});

for (const bits of [32, 64]) {
  Deno.test(`COLLECTIVES match lanes with equal values of ${bits} bits`, () => {
    const prefix = bits === 32 ? "r" : "q";
    const high = fc.constantFrom(0n, 1n << 32n);
    const value = bits === 32 ? few : fc.tuple(few, high).map(([low, above]) => low | above);
    const values = fc.oneof(column(value), value.map((same) => lanes.map(() => same)));
    fc.assert(
      fc.property(anyMask, values, (mask, a) => {
        const inputs = { [`${prefix}_a`]: a };
        const like = (lane: number): number[] =>
          active(mask).filter((other) => a[other] === a[lane]);
        check(`match.any.sync.b${bits} %r_d, %${prefix}_a, -1;`, mask, inputs, {
          r_d: (lane) => bitsOf(like(lane)),
        });
        const all = active(mask).every((lane) => a[lane] === a[active(mask)[0] ?? 0]);
        check(`match.all.sync.b${bits} %r_d|%p_p, %${prefix}_a, -1;`, mask, inputs, {
          r_d: () => all ? bitsOf(active(mask)) : 0n,
          p_p: () => all ? 1n : 0n,
        });
      }),
      { numRuns: 100 },
    );
  });
}

const signed = (value: bigint): bigint => BigInt.asIntN(32, value);
const REDUCTIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  "add.u32": (a, b) => BigInt.asUintN(32, a + b),
  "add.s32": (a, b) => BigInt.asUintN(32, a + b),
  "min.u32": (a, b) => a < b ? a : b,
  "max.u32": (a, b) => a > b ? a : b,
  "min.s32": (a, b) => signed(a) < signed(b) ? a : b,
  "max.s32": (a, b) => signed(a) > signed(b) ? a : b,
  "and.b32": (a, b) => a & b,
  "or.b32": (a, b) => a | b,
  "xor.b32": (a, b) => a ^ b,
};

Deno.test("COLLECTIVES reduce integers", () => {
  fc.assert(
    fc.property(anyMask, column(word), (mask, a) => {
      for (const [name, combine] of Object.entries(REDUCTIONS)) {
        const total = active(mask).map((lane) => must(a[lane], "a")).reduce(combine);
        check(`redux.sync.${name} %r_d, %r_a, -1;`, mask, { r_a: a }, { r_d: () => total });
      }
    }),
    { numRuns: 50 },
  );
});

/** Bits of a float, and the float of bits. */
const view = new DataView(new ArrayBuffer(4));
function floatOf(bits: bigint): number {
  view.setUint32(0, Number(bits));
  return view.getFloat32(0);
}

/** Whether a is below b, -0 being below +0. */
const below = (a: number, b: number): boolean =>
  a < b || (a === 0 && b === 0 && Object.is(a, -0) && Object.is(b, 0));

Deno.test("COLLECTIVES reduce floats, with and without NaN and signs", () => {
  const special = fc.constantFrom(
    0n,
    0x80000000n,
    1n,
    0x80000001n,
    0x3f800000n,
    0xbf800000n,
    0x7f800000n,
    0xff800000n,
    0x7fc00000n,
    0xffc00001n,
    0x7f800001n,
  );
  fc.assert(
    fc.property(anyMask, column(fc.oneof(special, word)), (mask, a) => {
      for (const operation of ["min", "max"]) {
        for (const abs of [false, true]) {
          for (const nan of [false, true]) {
            const inputs = active(mask).map((lane) =>
              must(a[lane], "a") & (abs ? 0x7fffffffn : 0xffffffffn)
            );
            const numbers = inputs.filter((bits) => !Number.isNaN(floatOf(bits)));
            const isNan = numbers.length === 0 || (nan && numbers.length < inputs.length);
            const wanted = isNan ? 0x7fffffffn : numbers.reduce((x, y) => {
              const less = below(floatOf(x), floatOf(y));
              return less === (operation === "min") ? x : y;
            });
            const name = [operation, ...abs ? ["abs"] : [], ...nan ? ["NaN"] : [], "f32"].join(".");
            check(`redux.sync.${name} %r_d, %r_a, -1;`, mask, { r_a: a }, { r_d: () => wanted });
          }
        }
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("COLLECTIVES elect one lane, and say which lanes run", () => {
  fc.assert(
    fc.property(anyMask, (mask) => {
      const leader = must(active(mask)[0], "a lane");
      check("elect.sync %r_d|%p_p, -1;", mask, {}, {
        r_d: () => BigInt(leader),
        p_p: (lane) => lane === leader ? 1n : 0n,
      });
      check("activemask.b32 %r_d;", mask, {}, { r_d: () => bitsOf(active(mask)) });
    }),
    { numRuns: 50 },
  );
});

Deno.test("COLLECTIVES count barriers of a warp", () => {
  const warp = newWarpStub();
  run(warp, "bar.warp.sync -1;", -1);
  assertEquals(warp.machine.warp.phase, 1);
});

Deno.test("COLLECTIVES does the instructions of old that need no membermask", () => {
  const values = lanes.map((lane) => BigInt(lane % 2));
  check("vote.ballot.b32 %r_d, %p_a;", 0xff, { p_a: values }, { r_d: () => 0xaan });
  check("vote.all.pred %p_d, %p_a;", 0xff, { p_a: values }, { p_d: () => 0n });
  check("shfl.down.b32 %r_d|%p_p, %r_a, 4, 7;", 0xff, { r_a: lanes.map(BigInt) }, {
    r_d: (lane) => BigInt(lane < 4 ? lane + 4 : lane),
    p_p: (lane) => lane < 4 ? 1n : 0n,
  });
});

Deno.test("COLLECTIVES has every instruction of the table that lanes carry out together", () => {
  const sections = ["9.7.9.5", "9.7.9.6", "9.7.13.2"];
  const chapters = [8, 9, 10, 11, 12, 14].map((n) => `9.7.13.${n}`);
  const rows = Object.entries(PTX_OPS).filter(([, { isa }]) =>
    [...sections, ...chapters].includes(isa)
  );
  assertEquals(rows.map(([opcode]) => opcode).toSorted(), Object.keys(COLLECTIVES).toSorted());
});

Deno.test("syncMask() finds the membermask, and who needs every lane", () => {
  const mask = (text: string): unknown => {
    const found = syncMask(matchOf(text));
    return typeof found === "object" && found.kind === "register" ? found.name : found;
  };
  assertEquals(mask("shfl.sync.idx.b32 %r_d, %r_a, %r_b, %r_c, %r_m;"), "r_m");
  assertEquals(mask("vote.sync.any.pred %p_d, !%p_a, %r_m;"), "r_m");
  assertEquals(mask("match.any.sync.b64 %r_d, %q_a, %r_m;"), "r_m");
  assertEquals(mask("redux.sync.add.u32 %r_d, %r_a, %r_m;"), "r_m");
  assertEquals(mask("elect.sync _|%p_p, %r_m;"), "r_m");
  assertEquals(mask("bar.warp.sync %r_m;"), "r_m");
  assertEquals(mask("bar.warp.sync 0xff;"), { kind: "integer", value: 255n });
  assertEquals(mask("movmatrix.sync.aligned.m8n8.trans.b16 %r_d, %r_a;"), "all");
  assertEquals(mask("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r_d}, [%q_a];"), "all");
  assertEquals(mask("wgmma.fence.sync.aligned;"), "all");
  assertEquals(mask("setmaxnreg.inc.sync.aligned.u32 64;"), "all");
  assertEquals(mask("barrier.sync.aligned 0;"), undefined);
  assertEquals(mask("activemask.b32 %r_d;"), undefined);
  assertEquals(mask("add.u32 %r_d, %r_a, %r_b;"), undefined);
});
