/** Rows of PTX_OPS: asynchronous copies and the barriers they signal (PTX ISA 9.0, 9.7.9 and 9.7.13). */
import type { PtxForm, PtxOpRow, Since } from "./form.ts";

const AMPERE: Since = { ptx: 70, sm: 80 };
/** Orders and scopes on what is older. */
const LATER: Since = { ptx: 80, sm: 80 };
const HOPPER: Since = { ptx: 80, sm: 90 };

/** test_wait and try_wait: by state token or by parity. */
const waits: readonly PtxForm[] = [
  { form: ".SHARED?.b64 d:pred, [a], s:b64" },
  { form: ".parity.SHARED?.b64 d:pred, [a], s:u32", since: { ptx: 71, sm: 80 } },
  { form: ".acquire.cta|cluster.SHARED?.b64 d:pred, [a], s:b64", since: LATER },
  { form: ".parity.acquire.cta|cluster.SHARED?.b64 d:pred, [a], s:u32", since: LATER },
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

// deno-fmt-ignore: a row per instruction
export const ASYNC_OPS = {
  "cp.async": { doc: "copies 4, 8 or 16 bytes from global to shared memory", isa: "9.7.9", effect: "write", since: AMPERE, forms: [
    { form: ".ca|cg.SHARED.global.L2::cache_hint?.PREFETCH? [x], [a], #n, s:u32?, ^p" },
  ] },
  "cp.async.commit_group": { doc: "ends a group of copies", isa: "9.7.9", effect: "sync", since: AMPERE, forms: [{ form: "" }] },
  "cp.async.wait_group": { doc: "waits until at most n groups are pending", isa: "9.7.9", effect: "sync", since: AMPERE, forms: [{ form: " #n" }] },
  "cp.async.wait_all": { doc: "waits for all copies", isa: "9.7.9", effect: "sync", since: AMPERE, forms: [{ form: "" }] },
  "cp.async.mbarrier.arrive": { doc: "arrives at a barrier when all copies so far are done", isa: "9.7.13", effect: "sync", since: AMPERE, forms: [{ form: ".noinc?.SHARED?.b64 [a]" }] },
  "cp.async.bulk": { doc: "copies n bytes", isa: "9.7.9", effect: "write", since: HOPPER, forms: [
    { form: ".shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a], n:u32, [b], ^p" },
    { form: ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint? [x], [a], n:u32, [b], m:u16, ^p" },
    { form: ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes [x], [a], n:u32, [b]" },
    { form: ".global.shared::cta.bulk_group.L2::cache_hint? [x], [a], n:u32, ^p" },
  ] },
  "cp.async.bulk.prefetch": { doc: "brings n bytes into a cache", isa: "9.7.9", effect: "sync", since: HOPPER, forms: [{ form: ".L2.global.L2::cache_hint? [a], n:u32, ^p" }] },
  "cp.async.bulk.tensor": { doc: "copies a box of a tensor", isa: "9.7.9", effect: "write", since: HOPPER, forms: [
    { form: ".DIM.shared::cluster.global.tile?.mbarrier::complete_tx::bytes.L2::cache_hint? [x], [a,c], [b], ^p" },
    { form: ".DIM.shared::cluster.global.tile?.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint? [x], [a,c], [b], m:u16, ^p" },
    { form: ".DIM.global.shared::cta.tile?.bulk_group.L2::cache_hint? [a,c], [x], ^p" },
  ] },
  "cp.async.bulk.prefetch.tensor": { doc: "brings a box of a tensor into a cache", isa: "9.7.9", effect: "sync", since: HOPPER, forms: [{ form: ".DIM.L2.global.tile?.L2::cache_hint? [a,c], ^p" }] },
  "cp.reduce.async.bulk": { doc: "combines n bytes with what is there", isa: "9.7.9", effect: "write", since: HOPPER, forms: [
    ...reductions,
    { form: ".global.shared::cta.bulk_group.L2::cache_hint?.add.f32 [x], [a], n:u32, ^p" },
    { form: ".global.shared::cta.bulk_group.L2::cache_hint?.add.noftz.T [x], [a], n:u32, ^p", T: "f16 bf16" },
  ] },
  "cp.reduce.async.bulk.tensor": { doc: "combines a box with what is there", isa: "9.7.9", effect: "write", since: HOPPER, forms: [
    { form: ".DIM.global.shared::cta.add|min|max|inc|dec|and|or|xor.tile?.bulk_group.L2::cache_hint? [a,c], [x], ^p" },
  ] },
  "cp.async.bulk.commit_group": { doc: "ends a group of bulk copies", isa: "9.7.9", effect: "sync", since: HOPPER, forms: [{ form: "" }] },
  "cp.async.bulk.wait_group": { doc: "waits until at most n groups of bulk copies are pending", isa: "9.7.9", effect: "sync", since: HOPPER, forms: [{ form: ".read? #n" }] },

  "mbarrier.init": { doc: "makes a barrier for n arrivals", isa: "9.7.13", effect: "write", since: AMPERE, forms: [{ form: ".SHARED?.b64 [a], n:u32" }] },
  "mbarrier.inval": { doc: "ends a barrier", isa: "9.7.13", effect: "write", since: AMPERE, forms: [{ form: ".SHARED?.b64 [a]" }] },
  "mbarrier.expect_tx": { doc: "raises the bytes a barrier waits for", isa: "9.7.13", effect: "sync", since: HOPPER, forms: transactions },
  "mbarrier.complete_tx": { doc: "lowers the bytes a barrier waits for", isa: "9.7.13", effect: "sync", since: HOPPER, forms: transactions },
  "mbarrier.arrive": { doc: "arrives at a barrier", isa: "9.7.13", effect: "sync", since: AMPERE, forms: [
    { form: ".SHARED?.b64 d, [a]" },
    { form: ".SHARED?.b64 d, [a], n:u32", since: { ptx: 78, sm: 90 } },
    { form: ".noComplete.SHARED?.b64 d, [a], n:u32" },
    { form: ".expect_tx.SHARED?.b64 d, [a], n:u32", since: HOPPER },
    { form: ".release.cta|cluster.SHARED?.b64 d, [a]", since: LATER },
    { form: ".release.cta|cluster.SHARED?.b64 d, [a], n:u32", since: HOPPER },
    { form: ".expect_tx.release.cta|cluster.SHARED?.b64 d, [a], n:u32", since: HOPPER },
    { form: ".shared::cluster.b64 _, [a], n:u32?", since: HOPPER },
    { form: ".release.cta|cluster.shared::cluster.b64 _, [a], n:u32?", since: HOPPER },
    { form: ".expect_tx.shared::cluster.b64 _, [a], n:u32", since: HOPPER },
    { form: ".expect_tx.release.cta|cluster.shared::cluster.b64 _, [a], n:u32", since: HOPPER },
  ] },
  "mbarrier.arrive_drop": { doc: "arrives at a barrier and leaves it", isa: "9.7.13", effect: "sync", since: AMPERE, forms: [
    { form: ".SHARED?.b64 d, [a]" },
    { form: ".SHARED?.b64 d, [a], n:u32", since: { ptx: 78, sm: 90 } },
    { form: ".noComplete.SHARED?.b64 d, [a], n:u32" },
    { form: ".expect_tx.SHARED?.b64 d, [a], n:u32", since: HOPPER },
  ] },
  "mbarrier.test_wait": { doc: "whether a phase of a barrier is over", isa: "9.7.13", effect: "sync", since: AMPERE, forms: waits },
  "mbarrier.try_wait": { doc: "waits a while for the end of a phase of a barrier", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [
    ...waits,
    { form: ".SHARED?.b64 d:pred, [a], s:b64, t:u32" },
    { form: ".parity.SHARED?.b64 d:pred, [a], s:u32, t:u32" },
  ] },
  "mbarrier.pending_count": { doc: "arrivals that a state token says are missing", isa: "9.7.13", effect: "pure", since: AMPERE, forms: [{ form: ".b64 d:u32, a" }] },
} as const satisfies Record<string, PtxOpRow>;
