/** Rows of PTX_OPS: asynchronous copies and the barriers they signal (PTX ISA 9.0, 9.7.9 and 9.7.13). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const AMPERE: Since = { ptx: 70, sm: 80 };
/** Orders and scopes on what is older. */
const LATER: Since = { ptx: 80, sm: 80 };
const HOPPER: Since = { ptx: 80, sm: 90 };

/** Orders that order nothing. */
const RELAXED: Since = { ptx: 86, sm: 90 };

/** test_wait and try_wait: by state token or by parity; with `time` after it, how long they wait. */
function waitForms(time: "" | ", t:u32"): PtxForm[] {
  const orders = [["", undefined], [".acquire.cta|cluster", LATER], [
    ".relaxed.cta|cluster",
    RELAXED,
  ]] as const;
  return orders.flatMap(([order, since]): PtxForm[] => [
    {
      form: `${order}.SHARED?.b64 d:pred, [a], s:b64${time}`,
      ...(since === undefined ? {} : { since }),
    },
    {
      form: `.parity${order}.SHARED?.b64 d:pred, [a], s:u32${time}`,
      since: since ?? { ptx: 71, sm: 80 },
    },
  ]);
}

/** arrive and arrive_drop: at a barrier of the block with the state before, of the cluster without. */
const arrivals: readonly PtxForm[] = [
  { form: ".SHARED?.b64 d, [a]" },
  { form: ".SHARED?.b64 d, [a], n:u32", since: { ptx: 78, sm: 90 } },
  { form: ".noComplete.SHARED?.b64 d, [a], n:u32" },
  { form: ".noComplete.release.cta.SHARED?.b64 d, [a], n:u32", since: LATER },
  { form: ".expect_tx.SHARED?.b64 d, [a], n:u32", since: HOPPER },
  { form: ".release.cta|cluster.SHARED?.b64 d, [a]", since: LATER },
  { form: ".release.cta|cluster.SHARED?.b64 d, [a], n:u32", since: HOPPER },
  { form: ".expect_tx.release.cta|cluster.SHARED?.b64 d, [a], n:u32", since: HOPPER },
  { form: ".relaxed.cta|cluster.SHARED?.b64 d, [a], n:u32?", since: RELAXED },
  { form: ".expect_tx.relaxed.cta|cluster.SHARED?.b64 d, [a], n:u32", since: RELAXED },
  { form: ".shared::cluster.b64 _, [a], n:u32?", since: HOPPER },
  { form: ".release.cta|cluster.shared::cluster.b64 _, [a], n:u32?", since: HOPPER },
  { form: ".relaxed.cta|cluster.shared::cluster.b64 _, [a], n:u32?", since: RELAXED },
  { form: ".expect_tx.shared::cluster.b64 _, [a], n:u32", since: HOPPER },
  { form: ".expect_tx.release.cta|cluster.shared::cluster.b64 _, [a], n:u32", since: HOPPER },
  { form: ".expect_tx.relaxed.cta|cluster.shared::cluster.b64 _, [a], n:u32", since: RELAXED },
];

/** expect_tx and complete_tx. */
const transactions: readonly PtxForm[] = [
  { form: ".CTASPACE?.b64 [a], n:u32" },
  { form: ".relaxed.cta|cluster.CTASPACE?.b64 [a], n:u32" },
];

/** cp.reduce.async.bulk: operations and types by where to. */
const reductions: readonly PtxForm[] = [
  ["add", "u32 s32 u64", "u32 s32 u64 f64"],
  ["min|max", "u32 s32", "u32 s32 u64 s64"],
  ["inc|dec", "u32", "u32"],
  ["and|or|xor", "b32", "b32 b64"],
].flatMap(([op = "", shared = "", global = ""]): PtxForm[] => [
  {
    form: `.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.${op}.T [x], [a], n:u32, [b]`,
    T: shared,
  },
  { form: `.global.shared::cta.bulk_group.L2::cache_hint?.${op}.T [x], [a], n:u32, ^p`, T: global },
]);

/** Ways to find a tensor's elements that are not those of a box, and pairs of blocks. */
const OTHER_MODES: readonly string[] = [
  "tile::gather4",
  "tile::scatter4",
  "im2col::w",
  "im2col::w::128",
  "im2col_no_offs",
  "cta_group::1",
  "cta_group::2",
];

const TENSOR_MODES: readonly string[] = [...OTHER_MODES, "im2col"];

/** Copies of windows: which pixel of each, along each axis that has them. */
const windowCopies: readonly PtxForm[] = [["3d", 1], ["4d", 2], ["5d", 3]].flatMap((
  [dim, count],
) => [
  {
    form:
      `.${dim}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a,c], [b], o*${count}:u16, ^p`,
  },
  {
    form:
      `.${dim}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint? [x], [a,c], [b], o*${count}:u16, m:u16, ^p`,
  },
]);

/** Integer and bit operations on what all devices hold at an address. */
const multiIntegers = [
  ["add", "u32 s32 u64"],
  ["min|max", "u32 s32 u64 s64"],
  ["and|or|xor", "b32 b64"],
] as const;
/** Vectors of floats: at most 16 bytes. */
const multiVectors = [
  { count: 2, T: "f16x2 bf16x2 f16 bf16 f32" },
  { count: 4, T: "f16x2 bf16x2 f16 bf16 f32" },
  { count: 8, T: "f16 bf16" },
] as const;

/** Operations on floats; `operand` is what becomes a vector. */
function multiFloats(before: string, operand: string, after: string): PtxForm[] {
  return [
    { form: `${before}.add.T ${operand}${after}`, T: "f32 f64 f16x2 bf16x2" },
    { form: `${before}.min|max.T ${operand}${after}`, T: "f16x2 bf16x2" },
    ...multiVectors.flatMap(({ count, T }) => [
      { form: `${before}.add.v${count}.T ${operand}*${count}${after}`, T },
      {
        form: `${before}.min|max.v${count}.T ${operand}*${count}${after}`,
        T: T.replace(/ f32$/, ""),
      },
    ]),
  ];
}

// deno-fmt-ignore: a row per instruction
export const ASYNC_OPS = {
  "cp.async": { doc: "copies 4, 8 or 16 bytes from global to shared memory", isa: "9.7.9.25.3.1", effect: "write", since: AMPERE, forms: [
    { form: ".ca|cg.SHARED.global.L2::cache_hint?.PREFETCH? [x], [a], #n, s:u32?, ^p" },
    { form: ".ca|cg.SHARED.global.L2::cache_hint?.PREFETCH? [x], [a], #n, !s, ^p", since: { ptx: 75, sm: 80 } },
  ] },
  "cp.async.commit_group": { doc: "ends a group of copies", isa: "9.7.9.25.3.2", effect: "sync", since: AMPERE, forms: [{ form: "" }] },
  "cp.async.wait_group": { doc: "waits until at most n groups are pending", isa: "9.7.9.25.3.3", effect: "sync", since: AMPERE, forms: [{ form: " #n" }] },
  "cp.async.wait_all": { doc: "waits for all copies", isa: "9.7.9.25.3.3", effect: "sync", since: AMPERE, forms: [{ form: "" }] },
  "cp.async.mbarrier.arrive": { doc: "arrives at a barrier when all copies so far are done", isa: "9.7.13.15.15", effect: "sync", since: AMPERE, forms: [{ form: ".noinc?.SHARED?.b64 [a]" }] },
  "cp.async.bulk": { doc: "copies n bytes", isa: "9.7.9.25.4.1", effect: "write", since: HOPPER, unsupported: ["cp_mask", "ignore_oob"], forms: [
    { form: ".shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a], n:u32, [b], ^p", since: { ptx: 86, sm: 90 } },
    { form: ".shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a], n:u32, [b], ^p" },
    { form: ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint? [x], [a], n:u32, [b], m:u16, ^p" },
    { form: ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes [x], [a], n:u32, [b]" },
    { form: ".global.shared::cta.bulk_group.L2::cache_hint? [x], [a], n:u32, ^p" },
  ] },
  "cp.async.bulk.prefetch": { doc: "brings n bytes into a cache", isa: "9.7.9.25.4.3", effect: "sync", since: HOPPER, forms: [{ form: ".L2.global.L2::cache_hint? [a], n:u32, ^p" }] },
  "cp.async.bulk.tensor": { doc: "copies a box of a tensor", isa: "9.7.9.25.5.2", effect: "write", since: HOPPER, unsupported: OTHER_MODES, forms: [
    { form: ".DIM.shared::cta.global.tile?.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a,c], [b], ^p", since: { ptx: 86, sm: 90 } },
    { form: ".DIM.shared::cluster.global.tile?.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a,c], [b], ^p" },
    { form: ".DIM.shared::cluster.global.tile?.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint? [x], [a,c], [b], m:u16, ^p" },
    { form: ".DIM.global.shared::cta.tile?.bulk_group.L2::cache_hint? [a,c], [x], ^p" },
    ...windowCopies,
  ] },
  "cp.async.bulk.prefetch.tensor": { doc: "brings a box of a tensor into a cache", isa: "9.7.9.25.5.4", effect: "sync", since: HOPPER, unsupported: TENSOR_MODES, forms: [{ form: ".DIM.L2.global.tile?.L2::cache_hint? [a,c], ^p" }] },
  "cp.reduce.async.bulk": { doc: "combines n bytes with what is there", isa: "9.7.9.25.4.2", effect: "write", since: HOPPER, forms: [
    ...reductions,
    { form: ".global.shared::cta.bulk_group.L2::cache_hint?.add.f32 [x], [a], n:u32, ^p" },
    { form: ".global.shared::cta.bulk_group.L2::cache_hint?.add.noftz.T [x], [a], n:u32, ^p", T: "f16 bf16" },
    { form: ".global.shared::cta.bulk_group.L2::cache_hint?.min|max.T [x], [a], n:u32, ^p", T: "f16 bf16" },
  ] },
  "cp.reduce.async.bulk.tensor": { doc: "combines a box with what is there", isa: "9.7.9.25.5.3", effect: "write", since: HOPPER, unsupported: TENSOR_MODES, forms: [
    { form: ".DIM.global.shared::cta.add|min|max|inc|dec|and|or|xor.tile?.bulk_group.L2::cache_hint? [a,c], [x], ^p" },
  ] },
  "cp.async.bulk.commit_group": { doc: "ends a group of bulk copies", isa: "9.7.9.25.6.1", effect: "sync", since: HOPPER, forms: [{ form: "" }] },
  "cp.async.bulk.wait_group": { doc: "waits until at most n groups of bulk copies are pending", isa: "9.7.9.25.6.2", effect: "sync", since: HOPPER, forms: [{ form: ".read? #n" }] },
  "st.async": { doc: "stores in shared memory of the cluster, then signals a barrier", isa: "9.7.9.12", effect: "write", since: { ptx: 81, sm: 90 }, forms: [
    { form: ".weak?.shared::cluster?.mbarrier::complete_tx::bytes.VEC?.T [a], b*V:T, [x]", T: "b32 u32 s32 f32" },
    { form: ".weak?.shared::cluster?.mbarrier::complete_tx::bytes.v2?.T [a], b*V:T, [x]", T: "b64 u64 s64 f64" },
    { form: ".mmio?.release.gpu|sys.global?.T [a], b:T", T: "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", since: { ptx: 87, sm: 100 } },
  ] },
  "st.bulk": { doc: "fills shared memory with zeros", isa: "9.7.9.13", effect: "write", since: { ptx: 86, sm: 100 }, forms: [{ form: ".weak?.shared::cta? [a], n:u64, #zero" }] },
  "red.async": { doc: "changes shared memory of the cluster, then signals a barrier", isa: "9.7.13.7", effect: "write", since: { ptx: 81, sm: 90 }, forms: [
    { form: ".relaxed.cluster.shared::cluster?.mbarrier::complete_tx::bytes.inc|dec.u32 [a], b, [x]" },
    { form: ".relaxed.cluster.shared::cluster?.mbarrier::complete_tx::bytes.min|max.T [a], b, [x]", T: "u32 s32" },
    { form: ".relaxed.cluster.shared::cluster?.mbarrier::complete_tx::bytes.and|or|xor.b32 [a], b, [x]" },
    { form: ".relaxed.cluster.shared::cluster?.mbarrier::complete_tx::bytes.add.T [a], b, [x]", T: "u32 s32 u64" },
    { form: ".mmio?.release.gpu|sys.global?.add.T [a], b", T: "u32 s32 u64 s64", since: { ptx: 87, sm: 100 } },
  ] },
  "multimem.ld_reduce": { doc: "combines what all devices hold at an address", isa: "9.7.9.14", effect: "read", since: { ptx: 81, sm: 90 }, unsupported: ["acc::f32", "acc::f16"], forms: [
    ...["weak?", "relaxed|acquire.SCOPE"].flatMap((order) =>
      multiIntegers.map(([op, T]) => ({ form: `.${order}.global?.${op}.T d, [a]`, T }))),
    ...["weak?", "relaxed|acquire.SCOPE"].flatMap((order) => multiFloats(`.${order}.global?`, "d", ", [a]")),
  ] },
  "multimem.st": { doc: "stores on all devices", isa: "9.7.9.14", effect: "write", since: { ptx: 81, sm: 90 }, forms: ["weak?", "relaxed|release.SCOPE"].flatMap((order) => [
    { form: `.${order}.global?.T [a], b`, T: "b32 b64 u32 u64 s32 s64 f32 f64 f16x2 bf16x2" },
    ...multiVectors.map(({ count, T }) => ({ form: `.${order}.global?.v${count}.T [a], b*${count}`, T })),
  ]) },
  "multimem.red": { doc: "changes memory of all devices in one step", isa: "9.7.9.14", effect: "write", since: { ptx: 81, sm: 90 }, forms: [
    ...["", ".relaxed|release.SCOPE"].flatMap((order) => [
      ...multiIntegers.map(([op, T]) => ({ form: `${order}.global?.${op}.T [a], b`, T })),
      ...multiFloats(`${order}.global?`, "[a], b", "").filter(({ form }) => form.includes(".add.")),
    ]),
  ] },
  "tensormap.replace": { doc: "changes a field of a tensor map", isa: "9.7.9.26", effect: "write", since: { ptx: 83, sm: 90, suffix: "a" }, forms: [
    { form: ".tile.global_address.global|shared::cta?.b1024.b64 [a], b:b64" },
    { form: ".tile.rank.global|shared::cta?.b1024.b32 [a], b:b32" },
    { form: ".tile.box_dim|global_dim|element_stride.global|shared::cta?.b1024.b32 [a], #n, b:b32" },
    { form: ".tile.global_stride.global|shared::cta?.b1024.b64 [a], #n, b:b64" },
    { form: ".tile.elemtype|interleave_layout|swizzle_mode|fill_mode.global|shared::cta?.b1024.b32 [a], #b" },
    { form: ".tile.swizzle_atomicity.global|shared::cta?.b1024.b32 [a], #b", since: { ptx: 86, sm: 100, suffix: "a" } },
  ] },
  "tensormap.cp_fenceproxy": { doc: "copies a tensor map and orders what uses it", isa: "9.7.13.16", effect: "write", since: { ptx: 83, sm: 90 }, forms: [
    { form: ".global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [x], [a], #size" },
  ] },

  "mbarrier.init": { doc: "makes a barrier for n arrivals", isa: "9.7.13.15.9", effect: "write", since: AMPERE, forms: [{ form: ".SHARED?.b64 [a], n:u32" }] },
  "mbarrier.inval": { doc: "ends a barrier", isa: "9.7.13.15.10", effect: "write", since: AMPERE, forms: [{ form: ".SHARED?.b64 [a]" }] },
  "mbarrier.expect_tx": { doc: "raises the bytes a barrier waits for", isa: "9.7.13.15.11", effect: "sync", since: HOPPER, forms: transactions },
  "mbarrier.complete_tx": { doc: "lowers the bytes a barrier waits for", isa: "9.7.13.15.12", effect: "sync", since: HOPPER, forms: transactions },
  "mbarrier.arrive": { doc: "arrives at a barrier", isa: "9.7.13.15.13", effect: "sync", since: AMPERE, forms: arrivals },
  "mbarrier.arrive_drop": { doc: "arrives at a barrier and leaves it", isa: "9.7.13.15.14", effect: "sync", since: AMPERE, forms: arrivals },
  "mbarrier.test_wait": { doc: "whether a phase of a barrier is over", isa: "9.7.13.15.16", effect: "sync", since: AMPERE, forms: waitForms("") },
  "mbarrier.try_wait": { doc: "waits a while for the end of a phase of a barrier", isa: "9.7.13.15.16", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [...waitForms(""), ...waitForms(", t:u32")] },
  "mbarrier.pending_count": { doc: "arrivals that a state token says are missing", isa: "9.7.13.15.17", effect: "pure", since: AMPERE, forms: [{ form: ".b64 d:u32, a" }] },
} as const satisfies Record<string, PtxOpRow>;
