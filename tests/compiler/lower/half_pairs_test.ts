/** Halves in words are computed two at a time: with the bits that each has alone, from NaN to subnormal numbers. */
import type { TargetName } from "../../../compiler/targets.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { emulate, int } from "../../support/emulate.ts";
import { freshRandom } from "../../support/random.ts";

const LENGTH = 4096;
type HalfType = "half" | "bfloat16";

interface Format {
  /** Bits of the fraction, and the exponent of the least normal number. */
  readonly fraction: number;
  readonly least: number;
  readonly ofBits: (bits: number) => number;
  readonly toBits: (value: number) => number;
}

const view = new DataView(new ArrayBuffer(4));
const FORMATS: Readonly<Record<HalfType, Format>> = {
  half: {
    fraction: 10,
    least: -14,
    ofBits(bits): number {
      const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023];
      const size = exponent === 31
        ? fraction === 0 ? Infinity : NaN
        : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25);
      return sign === 1 ? -size : size;
    },
    toBits(value): number {
      if (Number.isNaN(value)) return 0x7fff;
      const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0;
      const size = Math.abs(value);
      if (size === Infinity) return sign | 0x7c00;
      const exponent = Math.max(-14, Math.floor(Math.log2(size)));
      const scaled = size * 2 ** (10 - exponent);
      return sign | (scaled < 1024 ? scaled : ((exponent + 15) << 10) + scaled - 1024);
    },
  },
  bfloat16: {
    fraction: 7,
    least: -126,
    ofBits(bits): number {
      view.setUint32(0, bits << 16);
      return view.getFloat32(0);
    },
    toBits(value): number {
      if (Number.isNaN(value)) return 0x7fff;
      view.setFloat32(0, value);
      return view.getUint32(0) >>> 16;
    },
  },
};

/** To the nearest number of a format, of two to the even one; the operand is exact. */
function rounded(value: number, { fraction, least }: Format): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const exponent = Math.max(least, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - fraction);
  const [whole, rest] = [Math.floor(value / unit), value / unit - Math.floor(value / unit)];
  const nearest = rest > 0.5 || (rest === 0.5 && whole % 2 !== 0) ? whole + 1 : whole;
  const most = (2 - 2 ** -fraction) * 2 ** (1 - least);
  const result = nearest * unit;
  return Math.abs(result) > most ? Math.sign(value) * Infinity : result === 0 ? value * 0 : result;
}

/** NaN loses, and -0 is less than 0. */
function extreme(a: number, b: number, isMost: boolean): number {
  if (Number.isNaN(a)) return b;
  if (Number.isNaN(b)) return a;
  return isMost ? Math.max(a, b) : Math.min(a, b);
}

interface Case {
  readonly text: string;
  readonly compute: (a: number, b: number, index: number) => number;
}

const N = 3001;
/** 0.375 in single precision. */
const SCALE_BITS = 0x3ec00000;
const CASES: readonly Case[] = [
  { text: "a + b", compute: (a, b) => a + b },
  { text: "a - b", compute: (a, b) => a - b },
  { text: "b - a", compute: (a, b) => b - a },
  { text: "a * b", compute: (a, b) => a * b },
  { text: "a + 1.5", compute: (a) => a + 1.5 },
  { text: "2 - a", compute: (a) => 2 - a },
  { text: "a * s", compute: (a) => a * 0.375 },
  { text: "min(a, b)", compute: (a, b) => extreme(a, b, false) },
  { text: "max(a, b)", compute: (a, b) => extreme(a, b, true) },
  { text: "max(a, 0)", compute: (a) => extreme(a, 0, true) },
  { text: "-a", compute: (a) => -a },
  { text: "r / 8 * 8 < N ? a : b", compute: (a, b, i) => i - i % 8 < N ? a : b },
  { text: "a < b ? a : b", compute: (a, b) => a < b ? a : b },
  { text: "r / 8 * 8 < N ? a : -3", compute: (a, _, i) => i - i % 8 < N ? a : -3 },
];

const textFor = (type: HalfType): string =>
  `#pragma tri num_warps=4
__global__ void k(const ${type} *X, ${type} *Y, int N, float scale) {
  int r[${LENGTH}] = 0 ... ${LENGTH};
  ${type} a[${LENGTH}] = *(X + r), b[${LENGTH}] = *(X + ${LENGTH} + r);
  ${type} s = scale;
${CASES.map(({ text }, nth) => `  *(Y + ${nth * LENGTH} + r) = ${text};`).join("\n")}
}
`;

/** Instructions on pairs that there must be. */
const PAIRS: Readonly<Record<HalfType, Readonly<Record<string, readonly string[]>>>> = {
  half: {
    sm_70: ["add.rn.f16x2", "sub.rn.f16x2", "mul.rn.f16x2", "selp.b32"],
    sm_80: ["add.rn.f16x2", "sub.rn.f16x2", "mul.rn.f16x2", "min.f16x2", "max.f16x2", "selp.b32"],
  },
  bfloat16: {
    sm_80: ["min.bf16x2", "max.bf16x2", "selp.b32"],
    sm_90: [
      "add.rn.bf16x2",
      "sub.rn.bf16x2",
      "mul.rn.bf16x2",
      "min.bf16x2",
      "max.bf16x2",
      "selp.b32",
    ],
  },
};

for (const type of ["half", "bfloat16"] as const) {
  for (const [target, pairs] of Object.entries(PAIRS[type])) {
    Deno.test(`${type} in pairs has the bits of each alone, for ${target}`, () => {
      const { kernels, diagnostics } = compileFile({ name: "k.tc", text: textFor(type) }, {
        targets: [target as TargetName],
      });
      assertEquals(diagnostics.map(({ message }) => message), []);
      const { ptx } = must(kernels[0]?.modules[0], "a module");
      const entry = ptx.slice(ptx.indexOf(".entry k_a16("));
      assertEquals(pairs.filter((name) => !entry.includes(` ${name} `)), []);
      const format = FORMATS[type];
      const random = freshRandom();
      // Any bits: an eighth of them are NaN, infinite, zero or subnormal.
      const special = [0, 0x8000, 1, 0x8001, 0x7fff, format.toBits(Infinity), 0x3c00, 0x03ff];
      const x = Uint16Array.from(
        { length: 2 * LENGTH },
        () => random.below(8) === 0 ? must(special[random.below(8)], "bits") : random.below(65536),
      );
      const y = new Uint16Array(CASES.length * LENGTH).fill(0x5a5a);
      emulate(ptx, {
        kernel: "k_a16",
        args: [x, y, int(N), { bytes: 4, value: SCALE_BITS }],
        constants: {},
        grid: [1, 1, 1],
        block: [128, 1, 1],
        sharedBytes: 0,
      });
      const at = (i: number): number => format.ofBits(must(x[i], "bits"));
      CASES.forEach(({ text, compute }, nth) => {
        for (let i = 0; i < LENGTH; i++) {
          const [a, b] = [at(i), at(LENGTH + i)];
          const exact = compute(a, b, i);
          const bits = must(y[nth * LENGTH + i], "bits");
          // It may be computed in float first (language.md 9.2): products of bfloat16 may be subnormal there.
          const wanted = [exact, Math.fround(exact)].map((value) => rounded(value, format));
          const isRight = Number.isNaN(exact)
            ? Number.isNaN(format.ofBits(bits))
            : wanted.some((value) => bits === format.toBits(value));
          assert(isRight, `${text} of ${a} and ${b}: ${format.ofBits(bits)}, not ${wanted[0]}`);
        }
      });
    });
  }
}
