/** Rows of PTX_OPS: control flow, barriers, votes, fences (PTX ISA 9.0, 9.7.12, 9.7.13, 9.7.19). */
import type { PtxForm, PtxOpRow } from "./form.ts";

const barForms: readonly PtxForm[] = [
  { form: ".sync a:u32, b:u32?" },
  { form: ".arrive a:u32, b:u32", since: { ptx: 20, sm: 20 } },
  { form: ".red.popc.u32 d, a, b?, !c", since: { ptx: 20, sm: 20 } },
  { form: ".red.and|or.pred d, a:u32, b:u32?, !c", since: { ptx: 20, sm: 20 } },
];

const barrierForms: readonly PtxForm[] = [
  { form: ".sync.aligned? a:u32, b:u32?" },
  { form: ".arrive.aligned? a:u32, b:u32" },
  { form: ".red.popc.aligned?.u32 d, a, b?, !c" },
  { form: ".red.and|or.aligned?.pred d, a:u32, b:u32?, !c" },
];

// deno-fmt-ignore: a row per instruction
export const CONTROL_OPS = {
  // ---- 9.7.12 control flow
  bra: { doc: "continues at a label", isa: "9.7.12", effect: "control", forms: [{ form: ".uni? @l" }] },
  "brx.idx": { doc: "continues at the a-th label of a list", isa: "9.7.12", effect: "control", since: { ptx: 60, sm: 30 }, forms: [{ form: ".uni? a:u32, @list" }] },
  ret: { doc: "ends the kernel", isa: "9.7.12", effect: "control", forms: [{ form: ".uni?" }] },
  exit: { doc: "ends the thread", isa: "9.7.12", effect: "control", forms: [{ form: "" }] },

  // ---- 9.7.13 synchronisation
  bar: { doc: "barrier of the block, or of b threads", isa: "9.7.13", effect: "sync", forms: barForms },
  barrier: { doc: "barrier of the block, or of b threads", isa: "9.7.13", effect: "sync", since: { ptx: 60, sm: 30 }, forms: barrierForms },
  "bar.cta": { doc: "bar with its scope", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 30 }, forms: barForms },
  "barrier.cta": { doc: "barrier with its scope", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 30 }, forms: barrierForms },
  "bar.warp.sync": { doc: "barrier of lanes of a warp", isa: "9.7.13", effect: "sync", since: { ptx: 60, sm: 30 }, forms: [{ form: " m:b32" }] },
  "barrier.cluster.arrive": { doc: "announces a thread at the barrier of the cluster", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [
    { form: ".aligned?" },
    { form: ".release|relaxed.aligned?", since: { ptx: 80, sm: 90 } },
  ] },
  "barrier.cluster.wait": { doc: "waits at the barrier of the cluster", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [
    { form: ".aligned?" },
    { form: ".acquire.aligned?", since: { ptx: 80, sm: 90 } },
  ] },
  membar: { doc: "orders memory accesses", isa: "9.7.13", effect: "sync", forms: [
    { form: ".cta|gl" },
    { form: ".sys", since: { ptx: 20, sm: 20 } },
  ] },
  fence: { doc: "orders memory accesses", isa: "9.7.13", effect: "sync", since: { ptx: 60, sm: 70 }, forms: [
    { form: ".sc|acq_rel?.SCOPE" },
    { form: ".acquire|release.SCOPE", since: { ptx: 86, sm: 90 } },
    { form: ".mbarrier_init.release.cluster", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.alias", since: { ptx: 75, sm: 70 } },
    { form: ".proxy.async", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.async.global|shared::cta|shared::cluster", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.tensormap::generic.release.SCOPE", since: { ptx: 83, sm: 90 } },
    { form: ".proxy.tensormap::generic.acquire.SCOPE [a], #size", since: { ptx: 83, sm: 90 } },
  ] },
  "vote.sync": { doc: "what the lanes' predicates say together", isa: "9.7.13", effect: "sync", since: { ptx: 60, sm: 30 }, forms: [
    { form: ".all|any|uni.pred d, !a, m:b32" },
    { form: ".ballot.b32 d, !a, m" },
  ] },
  match: { doc: "lanes with the same value", isa: "9.7.13", effect: "sync", since: { ptx: 60, sm: 70 }, forms: [
    { form: ".any.sync.T d:b32, a, m:b32", T: "b32 b64" },
    { form: ".all.sync.T d:b32|dp:pred?, a, m:b32", T: "b32 b64" },
  ] },
  activemask: { doc: "lanes that run", isa: "9.7.13", effect: "sync", since: { ptx: 62, sm: 30 }, forms: [{ form: ".b32 d" }] },
  "redux.sync": { doc: "the lanes' values combined", isa: "9.7.13", effect: "sync", forms: [
    { form: ".add|min|max.T d, a, m:b32", T: "u32 s32", since: { ptx: 70, sm: 80 } },
    { form: ".and|or|xor.b32 d, a, m", since: { ptx: 70, sm: 80 } },
    { form: ".min|max.abs?.NaN?.f32 d, a, m:b32", since: { ptx: 86, sm: 100, suffix: "a" } },
  ] },
  griddepcontrol: { doc: "starts or awaits dependent grids", isa: "9.7.13", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [{ form: ".launch_dependents|wait" }] },
  "elect.sync": { doc: "picks one lane", isa: "9.7.13", effect: "sync", since: { ptx: 80, sm: 90 }, forms: [{ form: " d:b32|dp:pred, m:b32" }] },

  // ---- 9.7.19 the rest
  brkpt: { doc: "stops for a debugger", isa: "9.7.19", effect: "control", forms: [{ form: "" }] },
  nanosleep: { doc: "waits about a nanoseconds", isa: "9.7.19", effect: "sync", since: { ptx: 63, sm: 70 }, forms: [{ form: ".u32 a" }] },
  trap: { doc: "aborts the launch", isa: "9.7.19", effect: "control", forms: [{ form: "" }] },
  setmaxnreg: { doc: "changes the number of registers of a warp", isa: "9.7.19", effect: "sync", since: { ptx: 80, sm: 90, suffix: "a" }, forms: [{ form: ".inc|dec.sync.aligned.u32 #n" }] },
} as const satisfies Record<string, PtxOpRow>;
