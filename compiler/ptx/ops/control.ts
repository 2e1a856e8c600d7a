/** Rows of PTX_OPS: control flow, barriers, votes, fences (PTX ISA 9.0, 9.7.12, 9.7.13, 9.7.17, 9.7.19). */
import type { PtxForm, PtxOpRow } from "../form.ts";

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

/** Results, function, arguments, and of indirect calls what may be called. */
const callForms: readonly PtxForm[] = ["$f:b64", "$f:b64, (a)", "(d), $f:b64", "(d), $f:b64, (a)"]
  .flatMap((direct) => [{ form: `.uni? ${direct}` }, {
    form: `.uni? ${direct}, @p`,
    since: { ptx: 21, sm: 20 },
  }]);

// deno-fmt-ignore: a row per instruction
export const CONTROL_OPS = {
  // ---- 9.7.12 control flow
  bra: { doc: "continues at a label", isa: "9.7.12.3", effect: "control", forms: [{ form: ".uni? @l" }] },
  "brx.idx": { doc: "continues at the a-th label of a list", isa: "9.7.12.4", effect: "control", since: { ptx: 60, sm: 30 }, forms: [{ form: ".uni? a:u32, @list" }] },
  call: { doc: "runs a function, by its name or address", isa: "9.7.12.5", effect: "control", forms: callForms },
  ret: { doc: "ends the kernel, or the function", isa: "9.7.12.6", effect: "control", forms: [{ form: ".uni?" }] },
  exit: { doc: "ends the thread", isa: "9.7.12.7", effect: "control", forms: [{ form: "" }] },

  // ---- 9.7.13 synchronisation
  bar: { doc: "barrier of the block, or of b threads", isa: "9.7.13.1", effect: "sync", forms: barForms },
  barrier: { doc: "barrier of the block, or of b threads", isa: "9.7.13.1", effect: "sync", since: { ptx: 60, sm: 30 }, forms: barrierForms },
  "bar.cta": { doc: "bar with its scope", isa: "9.7.13.1", effect: "sync", since: { ptx: 78, sm: 30 }, forms: barForms },
  "barrier.cta": { doc: "barrier with its scope", isa: "9.7.13.1", effect: "sync", since: { ptx: 78, sm: 30 }, forms: barrierForms },
  "bar.warp.sync": { doc: "barrier of lanes of a warp", isa: "9.7.13.2", effect: "sync", since: { ptx: 60, sm: 30 }, forms: [{ form: " m:b32" }] },
  "barrier.cluster.arrive": { doc: "announces a thread at the barrier of the cluster", isa: "9.7.13.3", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [
    { form: ".aligned?" },
    { form: ".release|relaxed.aligned?", since: { ptx: 80, sm: 90 } },
  ] },
  "barrier.cluster.wait": { doc: "waits at the barrier of the cluster", isa: "9.7.13.3", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [
    { form: ".aligned?" },
    { form: ".acquire.aligned?", since: { ptx: 80, sm: 90 } },
  ] },
  membar: { doc: "orders memory accesses", isa: "9.7.13.4", effect: "sync", forms: [
    { form: ".cta|gl" },
    { form: ".sys", since: { ptx: 20, sm: 20 } },
    { form: ".proxy.alias", since: { ptx: 75, sm: 70 } },
  ] },
  fence: { doc: "orders memory accesses", isa: "9.7.13.4", effect: "sync", since: { ptx: 60, sm: 70 }, forms: [
    { form: ".sc|acq_rel?.SCOPE" },
    { form: ".acquire|release.SCOPE", since: { ptx: 86, sm: 90 } },
    { form: ".acquire.sync_restrict::shared::cluster.cluster", since: { ptx: 86, sm: 90 } },
    { form: ".release.sync_restrict::shared::cta.cluster", since: { ptx: 86, sm: 90 } },
    { form: ".mbarrier_init.release.cluster", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", since: { ptx: 86, sm: 90 } },
    { form: ".proxy.async::generic.release.sync_restrict::shared::cta.cluster", since: { ptx: 86, sm: 90 } },
    { form: ".proxy.alias", since: { ptx: 75, sm: 70 } },
    { form: ".proxy.async", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.async.global|shared::cta|shared::cluster", since: { ptx: 80, sm: 90 } },
    { form: ".proxy.tensormap::generic.release.SCOPE", since: { ptx: 83, sm: 90 } },
    { form: ".proxy.tensormap::generic.acquire.SCOPE [a], #size", since: { ptx: 83, sm: 90 } },
  ] },
  vote: { doc: "what the running lanes' predicates say together", isa: "9.7.13.8", effect: "sync", since: { ptx: 12, sm: 12, lastSm: 62 }, forms: [
    { form: ".all|any|uni.pred d, !a" },
    { form: ".ballot.b32 d, !a", since: { ptx: 20, sm: 20 } },
  ] },
  "vote.sync": { doc: "what the lanes' predicates say together", isa: "9.7.13.9", effect: "sync", since: { ptx: 60, sm: 30 }, forms: [
    { form: ".all|any|uni.pred d, !a, m:b32" },
    { form: ".ballot.b32 d, !a, m" },
  ] },
  match: { doc: "lanes with the same value", isa: "9.7.13.10", effect: "sync", since: { ptx: 60, sm: 70 }, forms: [
    { form: ".any.sync.T d:b32, a, m:b32", T: "b32 b64" },
    { form: ".all.sync.T d:b32|dp:pred?, a, m:b32", T: "b32 b64" },
  ] },
  activemask: { doc: "lanes that run", isa: "9.7.13.11", effect: "sync", since: { ptx: 62, sm: 30 }, forms: [{ form: ".b32 d" }] },
  "redux.sync": { doc: "the lanes' values combined", isa: "9.7.13.12", effect: "sync", forms: [
    { form: ".add|min|max.T d, a, m:b32", T: "u32 s32", since: { ptx: 70, sm: 80 } },
    { form: ".and|or|xor.b32 d, a, m", since: { ptx: 70, sm: 80 } },
    { form: ".min|max.abs?.NaN?.f32 d, a, m:b32", since: { ptx: 86, sm: 100, suffix: "a" } },
  ] },
  griddepcontrol: { doc: "starts or awaits dependent grids", isa: "9.7.13.13", effect: "sync", since: { ptx: 78, sm: 90 }, forms: [{ form: ".launch_dependents|wait" }] },
  "elect.sync": { doc: "picks one lane", isa: "9.7.13.14", effect: "sync", since: { ptx: 80, sm: 90 }, forms: [{ form: " d:b32|dp:pred, m:b32" }] },
  "clusterlaunchcontrol.try_cancel": { doc: "takes over a cluster that has not begun", isa: "9.7.13.17", effect: "write", since: { ptx: 86, sm: 100 }, forms: [
    { form: ".async.shared::cta?.mbarrier::complete_tx::bytes.b128 [x], [b]" },
    { form: ".async.shared::cta?.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [x], [b]", since: { ptx: 86, sm: 100, suffix: "a" } },
  ] },
  "clusterlaunchcontrol.query_cancel": { doc: "whether a cluster was taken over, and which", isa: "9.7.13.18", effect: "pure", since: { ptx: 86, sm: 100 }, forms: [
    { form: ".is_canceled.pred.b128 d:pred, a:b128" },
    { form: ".get_first_ctaid.v4.b32.b128 d*4:b32, a:b128" },
    { form: ".get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z.b32.b128 d:b32, a:b128" },
  ] },

  // ---- 9.7.17 the stack
  stacksave: { doc: "the stack pointer", isa: "9.7.17.1", effect: "sync", since: { ptx: 73, sm: 52 }, forms: [{ form: ".T d", T: "u32 u64" }] },
  stackrestore: { doc: "sets the stack pointer", isa: "9.7.17.2", effect: "sync", since: { ptx: 73, sm: 52 }, forms: [{ form: ".T a", T: "u32 u64" }] },
  alloca: { doc: "allocates local memory until the function returns", isa: "9.7.17.3", effect: "sync", since: { ptx: 73, sm: 52 }, forms: [{ form: ".T d, a, #align?", T: "u32 u64" }] },

  // ---- 9.7.19 the rest
  brkpt: { doc: "stops for a debugger", isa: "9.7.19.1", effect: "control", forms: [{ form: "" }] },
  nanosleep: { doc: "waits about a nanoseconds", isa: "9.7.19.2", effect: "sync", since: { ptx: 63, sm: 70 }, forms: [{ form: ".u32 a" }] },
  pmevent: { doc: "counts an event", isa: "9.7.19.3", effect: "sync", forms: [
    { form: " #a" },
    { form: ".mask #a", since: { ptx: 30, sm: 20 } },
  ] },
  trap: { doc: "aborts the launch", isa: "9.7.19.4", effect: "control", forms: [{ form: "" }] },
  setmaxnreg: { doc: "changes the number of registers of a warp", isa: "9.7.19.5", effect: "sync", since: { ptx: 80, sm: 90, suffix: "a" }, forms: [{ form: ".inc|dec.sync.aligned.u32 #n" }] },
} as const satisfies Record<string, PtxOpRow>;
