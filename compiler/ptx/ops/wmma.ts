/** Rows of PTX_OPS: matrices whose layout across a warp is unspecified (PTX ISA 9.0, 9.7.14.4). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const VOLTA: Since = { ptx: 61, sm: 70 };
const TURING_BYTES: Since = { ptx: 63, sm: 72 };
const TURING: Since = { ptx: 63, sm: 75 };
const AMPERE: Since = { ptx: 70, sm: 80 };

/** Multiplicands of one type: registers of a and b, and the sums they go with. */
interface Multiplicands {
  readonly shape: string;
  readonly type: string;
  readonly a: string;
  readonly b: string;
  /** Types of c and d with their registers. */
  readonly sums: Readonly<Record<string, string>>;
  readonly since: Since;
  /** a by rows and b by columns only. */
  readonly fixed?: true;
}

const SHAPES = ["m16n16k16", "m8n32k16", "m32n8k16"] as const;
const HALF_SUMS = { f16: "4:b32", f32: "8:f32" };
/** How many registers of four bytes hold a and b, by shape. */
const BYTE_REGISTERS = { m16n16k16: [2, 2], m8n32k16: [1, 4], m32n8k16: [4, 1] } as const;

// deno-fmt-ignore: a row per type
const MULTIPLICANDS: readonly Multiplicands[] = [
  ...SHAPES.map((shape): Multiplicands => ({ shape, type: "f16", a: "8:b32", b: "8:b32", sums: HALF_SUMS, since: VOLTA })),
  ...SHAPES.flatMap((shape): Multiplicands[] => {
    const [a, b] = BYTE_REGISTERS[shape];
    return [
      { shape, type: "s8|u8", a: `${a}:b32`, b: `${b}:b32`, sums: { s32: "8:s32" }, since: TURING_BYTES },
      { shape, type: "bf16", a: `${2 * a}:b32`, b: `${2 * b}:b32`, sums: { f32: "8:f32" }, since: AMPERE },
    ];
  }),
  { shape: "m16n16k8", type: "tf32", a: "4:b32", b: "4:b32", sums: { f32: "8:f32" }, since: AMPERE },
  { shape: "m8n8k4", type: "f64", a: "1:f64", b: "1:f64", sums: { f64: "2:f64" }, since: AMPERE },
  { shape: "m8n8k32", type: "s4|u4", a: "1:b32", b: "1:b32", sums: { s32: "2:s32" }, since: TURING, fixed: true },
  { shape: "m8n8k128", type: "b1", a: "1:b32", b: "1:b32", sums: { s32: "2:s32" }, since: TURING, fixed: true },
];

const SPACE = "global|shared|shared::cta?";

const loads: readonly PtxForm[] = MULTIPLICANDS.flatMap(({ shape, type, a, b, since, fixed }) => [
  {
    form: `.a.sync.aligned.${
      fixed ? "row" : "row|col"
    }.${shape}.${SPACE}.${type} d*${a}, [a], s:u32?`,
    since,
  },
  {
    form: `.b.sync.aligned.${
      fixed ? "col" : "row|col"
    }.${shape}.${SPACE}.${type} d*${b}, [a], s:u32?`,
    since,
  },
]);

/** Sums, each once. */
const sums = [
  ...new Map(
    MULTIPLICANDS.flatMap(({ shape, sums, since }) =>
      Object.entries(sums).map(([type, registers]) => {
        const key = `${shape}.${SPACE}.${type}`;
        return [key, { key, registers, since }] as const;
      })
    ).reverse(),
  ).values(),
].reverse();

/** Products of f16 name the types of c and d only, others those of a and b as well. */
function products({ shape, type, a, b, sums, since, fixed }: Multiplicands): PtxForm[] {
  const layouts = fixed ? ".row.col" : ".ALAYOUT.BLAYOUT";
  return Object.entries(sums).flatMap(([d, destination]) => {
    const operands = (c: string | undefined): string => `d*${destination}, a*${a}, b*${b}, c*${c}`;
    if (type === "f16") {
      return Object.entries(sums).map(([c, source]) => ({
        form: `.sync.aligned${layouts}.${shape}.${d}.${c} ${operands(source)}`,
        since,
      }));
    }
    if (type === "b1") {
      return [
        {
          form: `.xor.popc.sync.aligned${layouts}.${shape}.${d}.b1.b1.${d} ${
            operands(destination)
          }`,
          since,
        },
        {
          form: `.and.popc.sync.aligned${layouts}.${shape}.${d}.b1.b1.${d} ${
            operands(destination)
          }`,
          since: { ptx: 71, sm: 80 },
        },
      ];
    }
    return type.split("|").map((each) => ({
      form:
        `.sync.aligned${layouts}.${shape}${
          each === "f64" ? ".RND?" : ""
        }.${d}.${each}.${each}.${d}` +
        `${d === "s32" ? ".satfinite?" : ""} ${operands(destination)}`,
      since,
    }));
  });
}

// deno-fmt-ignore: a row per instruction
export const WMMA_OPS = {
  "wmma.load": { doc: "loads a matrix across a warp", isa: "9.7.14.4.3", effect: "read", forms: [
    ...loads,
    ...sums.map(({ key, registers, since }) => ({ form: `.c.sync.aligned.row|col.${key} d*${registers}, [a], s:u32?`, since })),
  ] },
  "wmma.store": { doc: "stores a matrix across a warp", isa: "9.7.14.4.4", effect: "write", forms:
    sums.map(({ key, registers, since }) => ({ form: `.d.sync.aligned.row|col.${key} [a], b*${registers}, s:u32?`, since })),
  },
  "wmma.mma": { doc: "a * b + c on matrices across a warp", isa: "9.7.14.4.5", effect: "sync", forms: MULTIPLICANDS.flatMap(products) },
} as const satisfies Record<string, PtxOpRow>;
