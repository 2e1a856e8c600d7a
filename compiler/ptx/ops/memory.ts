/** Rows of PTX_OPS: moves, conversions, loads, stores, atomics (PTX ISA 9.0, 9.7.9 and 9.7.13). */
import { bothSince, type PtxForm, type PtxOpRow, type Since } from "../form.ts";

const NARROW = "b8 b16 b32 u8 u16 u32 s8 s16 s32 f32";
const DOUBLE = "b64 u64 s64 f64";
const INTS = "u8 u16 u32 u64 s8 s16 s32 s64";
const LONGER = "u16 u32 u64 s16 s32 s64";
const AMPERE: Since = { ptx: 70, sm: 80 };
const BFLOAT: Since = { ptx: 78, sm: 90 };
/** Floats of 4 and 6 bits, and of an exponent alone. */
const NARROW_FLOATS: Since = { ptx: 86, sm: 100, suffix: "a" };
/** Rounding by random bits. */
const RANDOM: Since = { ptx: 87, sm: 100, suffix: "a" };
/** 32-byte accesses. */
const WIDE: Since = { ptx: 88, sm: 100 };

/** A form for 16-byte operands, which came to the scope of the system late. */
function quadForms(form: string, since?: Since): PtxForm[] {
  const near = form.replace(".SCOPE", ".cta|cluster|gpu");
  const { ptx, sm } = since ?? { ptx: 83, sm: 70 };
  if (near === form) return [{ form, since: { ptx, sm } }];
  return [{ form: near, since: { ptx, sm } }, {
    form: form.replace(".SCOPE?", ".sys").replace(".SCOPE", ".sys"),
    since: { ptx: 84, sm },
  }];
}

/** An access of at most 16 bytes, with or without vectors. */
function access(form: string, since?: Since): PtxForm[] {
  const forms: PtxForm[] = [
    { form, T: NARROW },
    { form: form.replace(".VEC?", ".v2?"), T: DOUBLE },
    ...quadForms(
      form.replace(".VEC?", "").replace("*V", "").replace(".T", ".b128").replace(":T+", ""),
    ),
  ];
  return since === undefined
    ? forms
    : forms.map((each) => ({ ...each, since: bothSince(since, each.since) }));
}

/** Integer types that have values which another has not. */
function clampedBy(to: string): string {
  const [signed, bits] = [to.startsWith("s"), Number(to.slice(1))];
  return INTS.split(" ").filter((from) => {
    const [fromSigned, fromBits] = [from.startsWith("s"), Number(from.slice(1))];
    return (fromSigned && !signed) || fromBits + (signed && !fromSigned ? 1 : 0) > bits;
  }).join(" ");
}

/** Conversions between two floats that are packed, or one of which is. */
const packedConversions: readonly PtxForm[] = [
  { form: ".rn|rz.relu?.f16x2|bf16x2.f32 d:b32, a:f32, b:f32", since: AMPERE },
  {
    form: ".rn|rz.relu?.satfinite.f16x2|bf16x2.f32 d:b32, a:f32, b:f32",
    since: { ptx: 81, sm: 80 },
  },
  { form: ".rn.satfinite.relu?.e4m3x2|e5m2x2.f32 d:b16, a:f32, b:f32", since: { ptx: 81, sm: 89 } },
  { form: ".rn.satfinite.relu?.e4m3x2|e5m2x2.f16x2 d:b16, a:b32", since: { ptx: 81, sm: 89 } },
  { form: ".rn.relu?.f16x2.e4m3x2|e5m2x2 d:b32, a:b16", since: { ptx: 81, sm: 89 } },
  { form: ".rn.satfinite.relu?.e2m1x2.f32 d:b8, a:f32, b:f32", since: NARROW_FLOATS },
  { form: ".rn.relu?.f16x2.e2m1x2 d:b32, a:b8", since: NARROW_FLOATS },
  { form: ".rn.satfinite.relu?.e2m3x2|e3m2x2.f32 d:b16, a:f32, b:f32", since: NARROW_FLOATS },
  { form: ".rn.relu?.f16x2.e2m3x2|e3m2x2 d:b32, a:b16", since: NARROW_FLOATS },
  { form: ".rz|rp.satfinite?.ue8m0x2.f32 d:b16, a:f32, b:f32", since: NARROW_FLOATS },
  { form: ".rz|rp.satfinite?.ue8m0x2.bf16x2 d:b16, a:b32", since: NARROW_FLOATS },
  { form: ".rn.bf16x2.ue8m0x2 d:b32, a:b16", since: NARROW_FLOATS },
  { form: ".rs.relu?.satfinite?.f16x2|bf16x2.f32 d:b32, a:f32, b:f32, r:b32", since: RANDOM },
  {
    form: ".rs.relu?.satfinite.e4m3x4|e5m2x4|e2m3x4|e3m2x4.f32 d:b32, a*4:f32, r:b32",
    since: RANDOM,
  },
  { form: ".rs.relu?.satfinite.e2m1x4.f32 d:b16, a*4:f32, r:b32", since: RANDOM },
];

const conversions: readonly PtxForm[] = [
  { form: ".T.U d:T+, $a:U+", T: INTS, U: INTS },
  ...INTS.split(" ").map((to): PtxForm => ({
    form: `.sat.${to}.U d:${to}+, a:U+`,
    U: clampedBy(to),
  })),
  { form: ".RNDI.sat?.T.U d:T+, a:U", T: INTS, U: "f16 f64" },
  { form: ".RNDI.ftz?.sat?.T.f32 d:T+, a:f32", T: INTS },
  { form: ".RNDI.T.bf16 d:T, a:bf16", T: `s8 u8 ${LONGER}`, since: BFLOAT },
  { form: ".RND.sat?.T.U d:T, a:U+", T: "f16 f32 f64", U: INTS },
  { form: ".RND.bf16.U d:bf16, a:U", U: `s8 u8 ${LONGER}`, since: BFLOAT },
  // Between floats: wider exactly, narrower rounded, equal perhaps rounded to an integer.
  { form: ".ftz?.sat?.f32.f16 d:f32, a:f16" },
  { form: ".sat?.f64.f16 d:f64, a:f16" },
  { form: ".ftz?.sat?.f64.f32 d:f64, a:f32" },
  { form: ".RND.ftz?.sat?.f16.f32 d:f16, a:f32" },
  { form: ".RND.sat?.f16.f64 d:f16, a:f64" },
  { form: ".rn|rz.relu.f16.f32 d:f16, a:f32", since: AMPERE },
  { form: ".rn|rz.relu?.satfinite.f16.f32 d:f16, a:f32", since: { ptx: 81, sm: 80 } },
  { form: ".RND.ftz?.sat?.f32.f64 d:f32, a:f64" },
  { form: ".RNDI?.ftz?.sat?.f32.f32 d:f32, a:f32" },
  { form: ".RNDI?.sat?.f64.f64 d:f64, a:f64" },
  { form: ".RNDI?.sat?.f16.f16 d:f16, a:f16" },
  { form: ".rn|rz.relu?.bf16.f32 d:bf16, a:f32", since: AMPERE },
  { form: ".rm|rp.bf16.f32 d:bf16, a:f32", since: AMPERE },
  { form: ".rn|rz.relu?.satfinite.bf16.f32 d:bf16, a:f32", since: { ptx: 81, sm: 80 } },
  { form: ".RND.bf16.U d:bf16, a:U", U: "f16 f64", since: BFLOAT },
  { form: ".f32.bf16 d:f32, a:bf16", since: { ptx: 71, sm: 80 } },
  { form: ".f64.bf16 d:f64, a:bf16", since: BFLOAT },
  { form: ".RND.f16.bf16 d:f16, a:bf16", since: BFLOAT },
  { form: ".RNDI.bf16.bf16 d:bf16, a:bf16", since: BFLOAT },
  { form: ".rna.tf32.f32 d:b32, a:f32", since: AMPERE },
  { form: ".rna.satfinite.tf32.f32 d:b32, a:f32", since: { ptx: 81, sm: 89 } },
  { form: ".rn|rz.relu?.tf32.f32 d:b32, a:f32", since: BFLOAT },
  { form: ".rn|rz.satfinite.relu?.tf32.f32 d:b32, a:f32", since: { ptx: 86, sm: 100 } },
  { form: ".ftz.f32.bf16 d:f32, a:bf16", since: BFLOAT },
  ...packedConversions,
];

/** atom and red: operation, types, and since when. */
const atomics = [
  { op: "add", T: "u32 s32 u64", since: { ptx: 11, sm: 12 } },
  { op: "add", T: "f32", since: { ptx: 20, sm: 20 } },
  { op: "add", T: "f64", since: { ptx: 50, sm: 60 } },
  { op: "add.noftz", T: "f16x2", since: { ptx: 62, sm: 60 } },
  { op: "add.noftz", T: "f16", since: { ptx: 63, sm: 70 } },
  { op: "add.noftz", T: "bf16 bf16x2", since: { ptx: 78, sm: 90 } },
  { op: "inc|dec", T: "u32", since: { ptx: 11, sm: 12 } },
  { op: "min|max", T: "u32 s32", since: { ptx: 11, sm: 12 } },
  { op: "min|max", T: "u64 s64", since: { ptx: 31, sm: 32 } },
  { op: "and|or|xor", T: "b32", since: { ptx: 11, sm: 12 } },
  { op: "and|or|xor", T: "b64", since: { ptx: 31, sm: 32 } },
] as const;

/** Vector atomics on global memory. */
const vectorAtomics = [
  { op: "add", vec: "v2|v4", count: [2, 4], T: "f32" },
  { op: "add|min|max.noftz", vec: "v2|v4|v8", count: [2, 4, 8], T: "f16 bf16" },
  { op: "add|min|max.noftz", vec: "v2|v4", count: [2, 4], T: "f16x2 bf16x2" },
] as const;

/** The forms of atom (with a destination) or red. */
function atomicForms(destination: "d, " | ""): PtxForm[] {
  const order = destination === "" ? "relaxed|release" : "ORDER";
  const scalar = atomics.map(({ op, T, since }): PtxForm => ({
    form: `.${order}?.SCOPE?.ATOMIC?.${op}.L2::cache_hint?.T ${destination}[a], b, ^p`,
    T,
    since,
  }));
  const vector = vectorAtomics.flatMap(({ op, count, T }) =>
    count.map((n): PtxForm => ({
      form: `.${order}?.SCOPE?.global?.${op}.L2::cache_hint?.v${n}.T ` +
        `${destination === "" ? "" : `d*${n}, `}[a], b*${n}, ^p`,
      T,
      since: { ptx: 81, sm: 90 },
    }))
  );
  return [...scalar, ...vector];
}

// deno-fmt-ignore: a row per instruction
export const MEMORY_OPS = {
  mov: { doc: "the value; of a symbol its address; packs and unpacks vectors", isa: "9.7.9.3, 9.7.9.4", effect: "pure", forms: [
    { form: ".T d, $a", T: "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128" },
    { form: ".v4.T d*4, $a*4", T: "b16 u16 s16 b32 u32 s32 f32" },
    { form: ".v2.T d*2, $a*2", T: "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64" },
    { form: ".b16 d:b16, a*2:b8" },
    { form: ".b16 d*2:b8, a:b16" },
    { form: ".b32 d:b32, a*2:b16" },
    { form: ".b32 d*2:b16, a:b32" },
    { form: ".b32 d:b32, a*4:b8" },
    { form: ".b32 d*4:b8, a:b32" },
    { form: ".b64 d:b64, $a*2:b32" },
    { form: ".b64 d*2:b32, a:b64" },
    { form: ".b64 d:b64, a*4:b16" },
    { form: ".b64 d*4:b16, a:b64" },
    { form: ".b128 d:b128, a*2:b64" },
    { form: ".b128 d*2:b64, a:b128" },
    { form: ".b128 d:b128, a*4:b32" },
    { form: ".b128 d*4:b32, a:b128" },
  ] },
  shfl: { doc: "a of another running lane", isa: "9.7.9.5", effect: "sync", since: { ptx: 30, sm: 30, lastSm: 62 }, forms: [{ form: ".up|down|bfly|idx.b32 d|dp:pred?, a, b, c" }] },
  "shfl.sync": { doc: "a of another lane", isa: "9.7.9.6", effect: "sync", since: { ptx: 60, sm: 30 }, forms: [{ form: ".up|down|bfly|idx.b32 d|dp:pred?, a, b, c, m" }] },
  prmt: { doc: "bytes of a and b, picked by c", isa: "9.7.9.7", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".b32.f4e|b4e|rc8|ecl|ecr|rc16? d:b32, a:b32, b:b32, c:b32" }] },
  ld: { doc: "loads", isa: "9.7.9.8, 9.7.9.9", effect: "read", forms: [
    ...access(".weak?.SPACE?.LDCACHE?.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p"),
    ...access(".weak?.global?.EVICT.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p"),
    ...access(".volatile.ATOMIC?.PREFETCH?.VEC?.T d*V:T+, [a]"),
    ...access(".relaxed|acquire.SCOPE.ATOMIC?.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p"),
    ...access(".relaxed|acquire.SCOPE.global?.EVICT.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p"),
    { form: ".mmio.relaxed.sys.global?.T d:T+, [a]", T: `${NARROW} ${DOUBLE}` },
    ...access(".global.NCCACHE?.nc.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p", { ptx: 31, sm: 32 }),
    ...access(".global.nc.EVICT.L2::cache_hint?.PREFETCH?.VEC?.T d*V:T+, [a], ^p", { ptx: 74, sm: 70 }),
    { form: ".weak?.global.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v8.T d*8:T, [a]", T: "b32 u32 s32 f32", since: WIDE },
    { form: ".global.nc.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v8.T d*8:T, [a]", T: "b32 u32 s32 f32", since: WIDE },
    { form: ".weak?.global.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v4.T d*4:T, [a]", T: "b64 u64 s64 f64", since: WIDE },
    { form: ".global.nc.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v4.T d*4:T, [a]", T: "b64 u64 s64 f64", since: WIDE },
  ] },
  ldu: { doc: "loads from an address that all lanes share", isa: "9.7.9.10", effect: "read", since: { ptx: 20, sm: 20 }, forms: access(".global?.VEC?.T d*V:T+, [a]").slice(0, 2) },
  st: { doc: "stores", isa: "9.7.9.11", effect: "write", forms: [
    ...access(".weak?.STORE?.STCACHE?.L2::cache_hint?.VEC?.T [a], b*V:T+, ^p"),
    ...access(".weak?.global?.EVICT.L2::cache_hint?.VEC?.T [a], b*V:T+, ^p"),
    ...access(".volatile.ATOMIC?.VEC?.T [a], b*V:T+"),
    ...access(".relaxed|release.SCOPE.ATOMIC?.L2::cache_hint?.VEC?.T [a], b*V:T+, ^p"),
    ...access(".relaxed|release.SCOPE.global?.EVICT.L2::cache_hint?.VEC?.T [a], b*V:T+, ^p"),
    { form: ".mmio.relaxed.sys.global?.T [a], b:T+", T: `${NARROW} ${DOUBLE}` },
    { form: ".weak?.global.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v8.T [a], b*8:T", T: "b32 u32 s32 f32", since: WIDE },
    { form: ".weak?.global.EVICT?.L2::evict_normal|L2::evict_first|L2::evict_last?.v4.T [a], b*4:T", T: "b64 u64 s64 f64", since: WIDE },
  ] },
  prefetch: { doc: "brings a line into a cache", isa: "9.7.9.15", effect: "sync", since: { ptx: 20, sm: 20 }, forms: [
    { form: ".global|local?.L1|L2 [a]" },
    { form: ".global.L2::evict_last|L2::evict_normal [a]", since: { ptx: 74, sm: 80 } },
    { form: ".const|param?.tensormap [a]", since: { ptx: 80, sm: 90 } },
  ] },
  prefetchu: { doc: "brings a line into the uniform cache", isa: "9.7.9.15", effect: "sync", since: { ptx: 20, sm: 20 }, forms: [{ form: ".L1 [a]" }] },
  applypriority: { doc: "sets the eviction priority of a line", isa: "9.7.9.16", effect: "sync", since: { ptx: 74, sm: 80 }, forms: [{ form: ".global?.L2::evict_normal [a], #size" }] },
  discard: { doc: "drops a line without writing it back", isa: "9.7.9.17", effect: "write", since: { ptx: 74, sm: 80 }, forms: [{ form: ".global?.L2 [a], #size" }] },
  createpolicy: { doc: "makes a cache policy", isa: "9.7.9.18", effect: "pure", since: { ptx: 74, sm: 80 }, forms: [
    { form: ".fractional.L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged.L2::evict_first|L2::evict_unchanged?.b64 d, f:f32?" },
    { form: ".range.global?.L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged.L2::evict_first|L2::evict_unchanged?.b64 d, [a], s:b32, t:b32" },
    { form: ".cvt.L2.b64 d, a:b64" },
  ] },
  isspacep: { doc: "whether a generic address lies in a state space", isa: "9.7.9.19", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [
    { form: ".global|local|shared|shared::cta|shared::cluster d:pred, a:b64" },
    { form: ".const d:pred, a:b64", since: { ptx: 31, sm: 20 } },
    { form: ".param|param::entry d:pred, a:b64", since: { ptx: 77, sm: 70 } },
  ] },
  cvta: { doc: "a generic address from one of a state space, or back", isa: "9.7.9.20", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [
    { form: ".to?.global|local|shared|shared::cta|shared::cluster.T d, $a", T: "u64" },
    { form: ".to?.const.T d, $a", T: "u64", since: { ptx: 31, sm: 20 } },
    { form: ".to?.param|param::entry.T d, $a", T: "u64", since: { ptx: 77, sm: 70 } },
  ] },
  cvt: { doc: "converts a value", isa: "9.7.9.21", effect: "pure", forms: conversions },
  "cvt.pack": { doc: "two integers converted and packed in front of c", isa: "9.7.9.22", effect: "pure", since: { ptx: 65, sm: 72 }, forms: [
    { form: ".sat.u16|s16.s32 d:b32, a:s32, b:s32" },
    { form: ".sat.u8|s8|u4|s4|u2|s2.s32.b32 d:b32, a:s32, b:s32, c:b32" },
  ] },
  mapa: { doc: "the same shared address in another block of the cluster", isa: "9.7.9.23", effect: "pure", since: { ptx: 78, sm: 90 }, forms: [{ form: ".shared::cluster?.T d, $a, b:u32", T: "u32 u64" }] },
  getctarank: { doc: "the block of the cluster that a shared address belongs to", isa: "9.7.9.24", effect: "pure", since: { ptx: 78, sm: 90 }, forms: [{ form: ".shared::cluster?.T d:u32, $a", T: "u32 u64" }] },

  // ---- 9.7.13 atomics
  atom: { doc: "reads, changes and writes memory in one step; gives what was there", isa: "9.7.13.5", effect: "write", forms: [
    ...atomicForms("d, "),
    { form: ".ORDER?.SCOPE?.ATOMIC?.exch.L2::cache_hint?.T d, [a], b, ^p", T: "b32 b64", since: { ptx: 12, sm: 12 } },
    ...quadForms(".ORDER?.SCOPE?.ATOMIC?.exch.L2::cache_hint?.b128 d, [a], b, ^p", { ptx: 83, sm: 90 }),
    { form: ".ORDER?.SCOPE?.ATOMIC?.cas.T d, [a], b, c", T: "b32 b64", since: { ptx: 12, sm: 12 } },
    { form: ".ORDER?.SCOPE?.ATOMIC?.cas.b16 d, [a], b, c", since: { ptx: 63, sm: 70 } },
    ...quadForms(".ORDER?.SCOPE?.ATOMIC?.cas.b128 d, [a], b, c", { ptx: 83, sm: 90 }),
  ] },
  red: { doc: "changes memory in one step", isa: "9.7.13.6", effect: "write", forms: atomicForms("") },
} as const satisfies Record<string, PtxOpRow>;
