/** Mistakes that CUDA C++ has no words for, as bodies of a kernel with two buffers of 1024 words, `%x` and `%y`. */
import type { FaultKind } from "../../../../emulator/fault.ts";

export interface PlantedBody {
  readonly name: string;
  readonly kinds: readonly FaultKind[];
  /** Declarations of shared memory. */
  readonly shared?: string;
  /** What both bodies begin with, and end with. */
  readonly start?: string;
  readonly end?: string;
  readonly wrong: string;
  readonly right: string;
  readonly threads?: number;
  readonly blocks?: number;
  readonly cluster?: number;
}

const BULK = `.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 full;`;
/** Thread 0 copies 256 bytes to the tile, counted by the barrier `full`. */
const COPY_IN = `mov.u32 %s, tile; mov.u32 %m, full;
  setp.ne.u32 %p, %t, 0; @%p bra issued;
  mbarrier.init.shared.b64 [%m], 1; fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 _, [%m], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 256, [%m];
  issued: bar.sync 0;`;
const WAIT = `again: mbarrier.try_wait.parity.shared.b64 %q, [%m], 0; @!%q bra again;`;
const READ_TILE = `mad.lo.u32 %a, %t, 4, %s; ld.shared.u32 %v, [%a];
  mul.wide.u32 %o, %t, 4; add.u64 %y, %y, %o; st.global.u32 [%y], %v;`;
/** The words of X that belong to the thread. */
const OWN_X = `mul.wide.u32 %o, %t, 4; add.u64 %x, %x, %o;`;
const REMOTE = `mov.u32 %r, %cluster_ctarank; xor.b32 %b, %r, 1;`;
const CLUSTER_BARRIER = `barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;`;

export const PLANTED_BODIES: readonly PlantedBody[] = [
  {
    name: "bulk copy read without a wait",
    kinds: ["pending copy"],
    shared: BULK,
    start: COPY_IN,
    wrong: "",
    right: WAIT,
    end: READ_TILE,
    threads: 64,
  },
  {
    name: "source of a bulk copy overwritten, beside a copy that nothing waits for",
    kinds: ["pending copy"],
    shared: `${BULK} .shared .align 4 .b32 word;`,
    start: `${COPY_IN} mov.u32 %b, word; @!%p cp.async.ca.shared.global [%b], [%x+1024], 4;`,
    wrong: "",
    right: WAIT,
    end: "@%p bra done; st.global.u32 [%x], 7; done:",
    threads: 64,
  },
  {
    name: "bulk copy after one failing try_wait",
    kinds: ["pending copy"],
    shared: BULK,
    start: COPY_IN,
    wrong: "mbarrier.try_wait.parity.shared.b64 %q, [%m], 0;",
    right: WAIT,
    end: READ_TILE,
    threads: 64,
  },
  {
    name: "bulk copy whose target is written",
    kinds: ["pending copy"],
    shared: BULK,
    start: COPY_IN,
    wrong: "mad.lo.u32 %a, %t, 4, %s; st.shared.u32 [%a], %t;",
    right: `${WAIT} bar.sync 0; mad.lo.u32 %a, %t, 4, %s; st.shared.u32 [%a], %t;`,
    threads: 64,
  },
  {
    name: "bulk copy whose source is written",
    kinds: ["pending copy"],
    shared: BULK,
    start: COPY_IN,
    wrong: `${OWN_X} st.global.u32 [%x], %t;`,
    right: `${WAIT} ${OWN_X} st.global.u32 [%x], %t;`,
    threads: 64,
  },
  {
    name: "bulk copy out whose source is written",
    kinds: ["pending copy"],
    shared: BULK,
    start: `mov.u32 %s, tile; mad.lo.u32 %a, %t, 4, %s; st.shared.u32 [%a], %t;
      fence.proxy.async; bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra issued;
      cp.async.bulk.global.shared::cta.bulk_group [%y], [%s], 256; cp.async.bulk.commit_group;`,
    wrong: "issued: bar.sync 0; st.shared.u32 [%a], 7;",
    right: "cp.async.bulk.wait_group.read 0; issued: bar.sync 0; st.shared.u32 [%a], 7;",
    threads: 64,
  },
  {
    name: "bulk copy that announces too few bytes",
    kinds: ["deadlock", "barrier misuse"],
    shared: BULK,
    start: `mov.u32 %s, tile; mov.u32 %m, full; setp.ne.u32 %p, %t, 0; @%p bra issued;
      mbarrier.init.shared.b64 [%m], 1; fence.proxy.async;`,
    wrong: "mbarrier.arrive.expect_tx.shared.b64 _, [%m], 128;",
    right: "mbarrier.arrive.expect_tx.shared.b64 _, [%m], 256;",
    end: `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 256, [%m];
      issued: bar.sync 0; ${WAIT}`,
    threads: 64,
  },
  {
    name: "mbarrier that expects one arrival too many",
    kinds: ["deadlock"],
    shared: BULK,
    start: "mov.u32 %m, full; setp.ne.u32 %p, %t, 0; @%p bra ready;",
    wrong: "mbarrier.init.shared.b64 [%m], 65;",
    right: "mbarrier.init.shared.b64 [%m], 64;",
    end: `ready: bar.sync 0; mbarrier.arrive.shared.b64 _, [%m]; ${WAIT}`,
    threads: 64,
  },
  {
    name: "mbarrier used before it is initialised",
    kinds: ["barrier misuse"],
    shared: BULK,
    start: "mov.u32 %m, full; setp.ne.u32 %p, %t, 63; @%p bra ready;",
    wrong: "bra ready;",
    right: "mbarrier.init.shared.b64 [%m], 64;",
    end: `ready: bar.sync 0; mbarrier.arrive.shared.b64 _, [%m]; ${WAIT}`,
    threads: 64,
  },
  {
    name: "reduction at a barrier in a branch",
    kinds: ["divergent barrier"],
    shared: ".shared .b32 word;",
    start: "setp.ge.u32 %p, %t, 40; setp.lt.u32 %q, %t, 5; mov.u32 %v, 0;",
    wrong: "@%p bra past; bar.red.popc.u32 %v, 0, %q; past:",
    right: "bar.red.popc.u32 %v, 0, %q;",
    end:
      "setp.ne.u32 %p, %t, 0; @%p bra done; st.shared.u32 [word], 1; done: bar.sync 0; ld.shared.u32 %v, [word];",
    threads: 64,
  },
  {
    name: "barrier that waits for more threads than come",
    kinds: ["deadlock", "divergent barrier"],
    start: "setp.ge.u32 %p, %t, 64; @%p bra past;",
    wrong: "bar.sync 1, 96;",
    right: "bar.sync 1, 64;",
    end: "past:",
    threads: 96,
  },
  {
    name: "barrier for which warps name different counts",
    kinds: ["divergent barrier"],
    start: "setp.ge.u32 %p, %t, 32;",
    wrong: "@%p bra second; bar.sync 1, 64; bra past; second: bar.sync 1, 96;",
    right: "@%p bra second; bar.sync 1, 64; bra past; second: bar.sync 1, 64;",
    end: "past:",
    threads: 64,
  },
  {
    name: "warps that wait at different barriers",
    kinds: ["divergent barrier"],
    start: "setp.ge.u32 %p, %t, 32;",
    wrong: "@%p bra second; bar.sync 1; bra past; second: bar.sync 2;",
    right: "@%p bra second; bar.sync 1; bra past; second: bar.sync 1;",
    end: "past:",
    threads: 64,
  },
  {
    name: "warp that arrives and does not wait, as a consumer",
    kinds: ["missing barrier"],
    shared: ".shared .b32 word[64];",
    start: `mov.u32 %s, word; setp.ge.u32 %p, %t, 32; @%p bra consumer;
      mad.lo.u32 %a, %t, 4, %s; st.shared.u32 [%a], %t; bar.arrive 1, 64; bra past; consumer:`,
    wrong: "",
    right: "bar.sync 1, 64;",
    end: "sub.u32 %b, %t, 32; mad.lo.u32 %a, %b, 4, %s; ld.shared.u32 %v, [%a]; past:",
    threads: 64,
  },
  {
    name: "load of shared memory of a block that has exited",
    kinds: ["exited block"],
    shared: ".shared .b32 word;",
    start: `${REMOTE} mov.u32 %s, word; mov.u32 %a, %t; setp.ne.u32 %p, %t, 0;
      @%p bra stored; st.shared.u32 [%s], %r; stored: ${CLUSTER_BARRIER}
      mapa.shared::cluster.u32 %s, %s, %b; setp.eq.u32 %q, %r, 0;`,
    wrong: "@%q bra past; nanosleep.u32 100; ld.shared::cluster.u32 %v, [%s]; past:",
    right: `@%q bra past; ld.shared::cluster.u32 %v, [%s]; past: ${CLUSTER_BARRIER}`,
    blocks: 2,
    cluster: 2,
  },
  {
    name: "atomic operation in another block without a barrier of the cluster",
    kinds: ["exited block"],
    shared: ".shared .b32 word;",
    start:
      `${REMOTE} mov.u32 %s, word; setp.ne.u32 %p, %t, 0; @%p bra stored; st.shared.u32 [%s], 0;
      stored: ${CLUSTER_BARRIER} mapa.shared::cluster.u32 %m, %s, %b;
      atom.shared::cluster.add.u32 %v, [%m], 1;`,
    wrong: "bar.sync 0;",
    right: CLUSTER_BARRIER,
    blocks: 2,
    cluster: 2,
  },
  {
    name: "barrier of the cluster that is arrived at twice",
    kinds: ["divergent barrier"],
    wrong:
      `barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;`,
    right: `${CLUSTER_BARRIER} ${CLUSTER_BARRIER}`,
    blocks: 2,
    cluster: 2,
  },
  {
    name: "arrival at the barrier of a block that has exited",
    kinds: ["exited block"],
    shared: BULK,
    start: `${REMOTE} mov.u32 %m, full; setp.ne.u32 %p, %t, 0; @%p bra ready;
      mbarrier.init.shared.b64 [%m], 32; ready: ${CLUSTER_BARRIER}
      setp.eq.u32 %q, %r, 0; mapa.shared::cluster.u32 %a, %m, 0;`,
    wrong: `@%q bra past; bar.sync 0; mov.u32 %v, 0;
      spin: add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 10; @%p bra spin;
      mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a]; past:`,
    right: `@%q bra wait; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a]; bra past;
      wait: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%m], 0; @!%p bra wait; past:`,
    blocks: 2,
    cluster: 2,
  },
  {
    name: "register that half of the lanes assign",
    kinds: ["uninitialised register"],
    start: "setp.lt.u32 %p, %t, 16;",
    wrong: "@%p mov.u32 %v, 5;",
    right: "mov.u32 %v, 1; @%p mov.u32 %v, 5;",
    end: "mul.wide.u32 %o, %t, 4; add.u64 %y, %y, %o; st.global.u32 [%y], %v;",
  },
  {
    name: "ldmatrix without a barrier",
    kinds: ["missing barrier"],
    shared: ".shared .align 16 .b8 tile[512];",
    start: "mov.u32 %s, tile; mad.lo.u32 %a, %t, 8, %s; st.shared.v2.u32 [%a], {%t, %t};",
    wrong: "",
    right: "bar.sync 0;",
    end: "and.b32 %b, %t, 31; mad.lo.u32 %a, %b, 16, %s; " +
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%a];",
    threads: 64,
  },
];

/** The module of a body. */
export function textOfBody(planted: PlantedBody, body: string): string {
  const { shared = "", start = "", end = "" } = planted;
  return `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
${shared}
.reg .pred %p, %q; .reg .b32 %t, %a, %b, %r, %s, %m, %v; .reg .b64 %x, %y, %o;
ld.param.u64 %x, [X]; ld.param.u64 %y, [Y]; mov.u32 %t, %tid.x;
${start}
${body}
${end}
ret;
}
`;
}
