/** Rows of PTX_OPS: matrices across the lanes of a warp or a warp group (PTX ISA 9.0, 9.7.14 and 9.7.15). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const HOPPER: Since = { ptx: 80, sm: 90, suffix: "a", lastSm: 90 };

/** Products of one shape: registers of d and c, a, b, and the types they are made of. */
interface Product {
  readonly shape: string;
  readonly types: string;
  readonly regs: readonly [d: string, a: string, b: string];
  readonly since: Since;
  readonly modifiers?: string;
}

const AMPERE: Since = { ptx: 70, sm: 80 };
const TURING: Since = { ptx: 65, sm: 75 };

const SPARSE_AMPERE: Since = { ptx: 71, sm: 80 };
const BLACKWELL: Since = { ptx: 86, sm: 100, suffix: "a" };

// deno-fmt-ignore: a row per shape
const PRODUCTS: readonly Product[] = [
  { shape: "m8n8k4", types: "f64.f64.f64.f64", regs: ["2:f64", "1:f64", "1:f64"], since: AMPERE },
  { shape: "m16n8k4", types: "f64.f64.f64.f64", regs: ["4:f64", "2:f64", "1:f64"], since: { ptx: 78, sm: 90 } },
  { shape: "m16n8k8", types: "f64.f64.f64.f64", regs: ["4:f64", "4:f64", "2:f64"], since: { ptx: 78, sm: 90 } },
  { shape: "m16n8k16", types: "f64.f64.f64.f64", regs: ["4:f64", "8:f64", "4:f64"], since: { ptx: 78, sm: 90 } },
  { shape: "m16n8k8", types: "f16.f16.f16.f16", regs: ["2:b32", "2:b32", "1:b32"], since: TURING },
  { shape: "m16n8k8", types: "f32.f16.f16.f32", regs: ["4:f32", "2:b32", "1:b32"], since: TURING },
  { shape: "m16n8k16", types: "f16.f16.f16.f16", regs: ["2:b32", "4:b32", "2:b32"], since: AMPERE },
  { shape: "m16n8k16", types: "f32.f16.f16.f32", regs: ["4:f32", "4:b32", "2:b32"], since: AMPERE },
  { shape: "m16n8k8", types: "f32.bf16.bf16.f32", regs: ["4:f32", "2:b32", "1:b32"], since: AMPERE },
  { shape: "m16n8k16", types: "f32.bf16.bf16.f32", regs: ["4:f32", "4:b32", "2:b32"], since: AMPERE },
  { shape: "m16n8k4", types: "f32.tf32.tf32.f32", regs: ["4:f32", "2:b32", "1:b32"], since: AMPERE },
  { shape: "m16n8k8", types: "f32.tf32.tf32.f32", regs: ["4:f32", "4:b32", "2:b32"], since: AMPERE },
  { shape: "m16n8k32", types: "f32.e4m3|e5m2.e4m3|e5m2.f32", regs: ["4:f32", "4:b32", "2:b32"], since: { ptx: 84, sm: 89 } },
  { shape: "m16n8k32", types: "f16.e4m3|e5m2.e4m3|e5m2.f16", regs: ["2:b32", "4:b32", "2:b32"], since: { ptx: 87, sm: 89 } },
  { shape: "m16n8k16", types: "f32.e4m3|e5m2.e4m3|e5m2.f32", regs: ["4:f32", "2:b32", "1:b32"], since: { ptx: 87, sm: 89 } },
  { shape: "m16n8k16", types: "f16.e4m3|e5m2.e4m3|e5m2.f16", regs: ["2:b32", "2:b32", "1:b32"], since: { ptx: 87, sm: 89 } },
  { shape: "m8n8k16", types: "s32.s8|u8.s8|u8.s32", regs: ["2:s32", "1:b32", "1:b32"], since: TURING, modifiers: ".satfinite?" },
  { shape: "m16n8k16", types: "s32.s8|u8.s8|u8.s32", regs: ["4:s32", "2:b32", "1:b32"], since: AMPERE, modifiers: ".satfinite?" },
  { shape: "m16n8k32", types: "s32.s8|u8.s8|u8.s32", regs: ["4:s32", "4:b32", "2:b32"], since: AMPERE, modifiers: ".satfinite?" },
  { shape: "m8n8k32", types: "s32.s4|u4.s4|u4.s32", regs: ["2:s32", "1:b32", "1:b32"], since: TURING, modifiers: ".satfinite?" },
  { shape: "m16n8k32", types: "s32.s4|u4.s4|u4.s32", regs: ["4:s32", "2:b32", "1:b32"], since: AMPERE, modifiers: ".satfinite?" },
  { shape: "m16n8k64", types: "s32.s4|u4.s4|u4.s32", regs: ["4:s32", "4:b32", "2:b32"], since: AMPERE, modifiers: ".satfinite?" },
];

// deno-fmt-ignore: a row per shape
const SPARSE: readonly Product[] = [
  { shape: "m16n8k16", types: "f16.f16.f16.f16", regs: ["2:b32", "2:b32", "2:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k16", types: "f32.f16.f16.f32", regs: ["4:f32", "2:b32", "2:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k32", types: "f16.f16.f16.f16", regs: ["2:b32", "4:b32", "4:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k32", types: "f32.f16.f16.f32", regs: ["4:f32", "4:b32", "4:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k16", types: "f32.bf16.bf16.f32", regs: ["4:f32", "2:b32", "2:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k32", types: "f32.bf16.bf16.f32", regs: ["4:f32", "4:b32", "4:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k8", types: "f32.tf32.tf32.f32", regs: ["4:f32", "2:b32", "2:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k16", types: "f32.tf32.tf32.f32", regs: ["4:f32", "4:b32", "4:b32"], since: SPARSE_AMPERE },
  { shape: "m16n8k64", types: "f32.e4m3|e5m2.e4m3|e5m2.f32", regs: ["4:f32", "4:b32", "4:b32"], since: { ptx: 84, sm: 89 } },
  { shape: "m16n8k32", types: "s32.s8|u8.s8|u8.s32", regs: ["4:s32", "2:b32", "2:b32"], since: SPARSE_AMPERE, modifiers: ".satfinite?" },
  { shape: "m16n8k64", types: "s32.s8|u8.s8|u8.s32", regs: ["4:s32", "4:b32", "4:b32"], since: SPARSE_AMPERE, modifiers: ".satfinite?" },
  { shape: "m16n8k64", types: "s32.s4|u4.s4|u4.s32", regs: ["4:s32", "2:b32", "2:b32"], since: SPARSE_AMPERE, modifiers: ".satfinite?" },
  { shape: "m16n8k128", types: "s32.s4|u4.s4|u4.s32", regs: ["4:s32", "4:b32", "4:b32"], since: SPARSE_AMPERE, modifiers: ".satfinite?" },
];

/** Products of single bits. */
const BIT_PRODUCTS = [
  { shape: "m8n8k128", regs: ["2:s32", "1:b32", "1:b32"], xor: { ptx: 70, sm: 75 } },
  { shape: "m16n8k128", regs: ["4:s32", "2:b32", "1:b32"], xor: AMPERE },
  { shape: "m16n8k256", regs: ["4:s32", "4:b32", "2:b32"], xor: AMPERE },
] as const;

const sparseProducts = SPARSE.map((
  { shape, types, regs: [d, a, b], since, modifiers = "" },
): PtxForm => ({
  form:
    `.sync.aligned.${shape}.row.col${modifiers}.${types} d*${d}, a*${a}, b*${b}, c*${d}, e:b32, #f`,
  since,
}));

const bitProducts = BIT_PRODUCTS.flatMap(({ shape, regs: [d, a, b], xor }): PtxForm[] => {
  const form = (op: string): string =>
    `.sync.aligned.${shape}.row.col.s32.b1.b1.s32.${op}.popc d*${d}, a*${a}, b*${b}, c*${d}`;
  return [{ form: form("xor"), since: xor }, { form: form("and"), since: { ptx: 71, sm: 80 } }];
});

const products = PRODUCTS.map((
  { shape, types, regs: [d, a, b], since, modifiers = "" },
): PtxForm => ({
  form: `.sync.aligned.${shape}.row.col${modifiers}.${types} d*${d}, a*${a}, b*${b}, c*${d}`,
  since,
}));

/** mma of sm_70, any layout of a and b. */
const voltaProducts: readonly PtxForm[] = ["f16", "f32"].map((sum) => ({
  form:
    `.sync.aligned.m8n8k4.row|col.row|col.${sum}.f16.f16.${sum} d*${
      sum === "f16" ? "4:b32" : "8:f32"
    }, ` +
    `a*2:b32, b*2:b32, c*${sum === "f16" ? "4:b32" : "8:f32"}`,
  since: { ptx: 64, sm: 70 },
}));

/** Products of warp groups: shape, types, whether a and b may be transposed by the two last operands. */
const groupProducts = [
  { shape: "WG16", types: "f32.f16.f16", sum: "S/2:f32", scale: 2, transpose: true },
  { shape: "WG16", types: "f16.f16.f16", sum: "S/4:b32", scale: 2, transpose: true },
  { shape: "WG16", types: "f32.bf16.bf16", sum: "S/2:f32", scale: 2, transpose: true },
  { shape: "WG8", types: "f32.tf32.tf32", sum: "S/2:f32", scale: 2, transpose: false },
  { shape: "WG32", types: "f32.e4m3|e5m2.e4m3|e5m2", sum: "S/2:f32", scale: 2, transpose: false },
  { shape: "WG32", types: "f16.e4m3|e5m2.e4m3|e5m2", sum: "S/4:b32", scale: 2, transpose: false },
  { shape: "WGI", types: "satfinite?.s32.s8.s8", sum: "S/2:s32", scale: 0, transpose: false },
  { shape: "WGI", types: "satfinite?.s32.u8.u8", sum: "S/2:s32", scale: 0, transpose: false },
  {
    shape: "WGI",
    types: "satfinite?.s32.s8.u8",
    sum: "S/2:s32",
    scale: 0,
    transpose: false,
    ptx: 84,
  },
  {
    shape: "WGI",
    types: "satfinite?.s32.u8.s8",
    sum: "S/2:s32",
    scale: 0,
    transpose: false,
    ptx: 84,
  },
].flatMap(({ shape, types, sum, scale, transpose, ptx = 80 }): PtxForm[] => {
  const since = { ptx, sm: 90 };
  const scales = scale === 0 ? "" : ", #sa, #sb";
  const head = `.sync.aligned.${shape}.${types} d*${sum}`;
  return [
    { form: `${head}, a:b64, b:b64, !s${scales}${transpose ? ", #ta, #tb" : ""}`, since },
    { form: `${head}, a*4:b32, b:b64, !s${scales}${transpose ? ", #tb" : ""}`, since },
  ];
});

/** Products of narrow floats in common containers, and with factors for blocks of elements. */
const SCALED: readonly string[] = [
  "kind::f8f6f4",
  "kind::mxf8f6f4",
  "kind::mxf4",
  "kind::mxf4nvf4",
];

// deno-fmt-ignore: a row per instruction
export const MATRIX_OPS = {
  mma: { doc: "a * b + c on small matrices across a warp", isa: "9.7.14.5.14", effect: "sync", unsupported: SCALED, forms: [...voltaProducts, ...products, ...bitProducts] },
  "mma.sp": { doc: "a * b + c on small matrices across a warp, two of four elements of a being zero", isa: "9.7.14.6.3", effect: "sync", unsupported: SCALED, forms: sparseProducts },
  "mma.sp::ordered_metadata": { doc: "mma.sp with the indices in order", isa: "9.7.14.6.3", effect: "sync", since: { ptx: 85, sm: 80 }, unsupported: SCALED, forms: sparseProducts },
  ldmatrix: { doc: "loads 8x8 matrices across a warp", isa: "9.7.14.5.15", effect: "read", since: TURING, forms: [
    { form: ".sync.aligned.m8n8.NUM.trans?.SHARED?.b16 d*N:b32, [a]" },
    { form: ".sync.aligned.m8n16.NUM.SHARED?.b8x16.b6x16_p32|b4x16_p64 d*N:b32, [a]", since: BLACKWELL },
    { form: ".sync.aligned.m16n16.x1.trans.SHARED?.b8 d*2:b32, [a]", since: BLACKWELL },
    { form: ".sync.aligned.m16n16.x2.trans.SHARED?.b8 d*4:b32, [a]", since: BLACKWELL },
    { form: ".sync.aligned.m16n16.x1.trans.SHARED?.b8x16.b6x16_p32|b4x16_p64 d*2:b32, [a]", since: BLACKWELL },
    { form: ".sync.aligned.m16n16.x2.trans.SHARED?.b8x16.b6x16_p32|b4x16_p64 d*4:b32, [a]", since: BLACKWELL },
  ] },
  stmatrix: { doc: "stores 8x8 matrices across a warp", isa: "9.7.14.5.16", effect: "write", since: { ptx: 78, sm: 90 }, forms: [
    { form: ".sync.aligned.m8n8.NUM.trans?.SHARED?.b16 [a], b*N:b32" },
    { form: ".sync.aligned.m16n8.NUM.trans.SHARED?.b8 [a], b*N:b32", since: BLACKWELL },
  ] },
  movmatrix: { doc: "transposes an 8x8 matrix across a warp", isa: "9.7.14.5.17", effect: "sync", since: { ptx: 78, sm: 75 }, forms: [{ form: ".sync.aligned.m8n8.trans.b16 d:b32, a:b32" }] },

  "wgmma.mma_async": { doc: "a * b + d on matrices of a warp group", isa: "9.7.15.5.2", effect: "write", since: HOPPER, unsupported: ["b1"], forms: groupProducts },
  "wgmma.mma_async.sp": { doc: "a * b + d on matrices of a warp group, two of four elements of a being zero", isa: "9.7.15.6.3", effect: "write", since: { ptx: 82, sm: 90, suffix: "a", lastSm: 90 }, forms: [] },
  "wgmma.fence": { doc: "orders register accesses before products", isa: "9.7.15.7.1", effect: "sync", since: HOPPER, forms: [{ form: ".sync.aligned" }] },
  "wgmma.commit_group": { doc: "ends a group of products", isa: "9.7.15.7.2", effect: "sync", since: HOPPER, forms: [{ form: ".sync.aligned" }] },
  "wgmma.wait_group": { doc: "waits until at most n groups are pending", isa: "9.7.15.7.3", effect: "sync", since: HOPPER, forms: [{ form: ".sync.aligned #n" }] },
} as const satisfies Record<string, PtxOpRow>;
