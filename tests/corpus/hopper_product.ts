/**
 * A product of half matrices as kernels for Hopper are written: C (64 x 64·tiles) = A (64 x 64·steps) · B. A warp group
 * of producers fills a ring of three slots by tensor copies, one of consumers multiplies from there by `wgmma` with one
 * group of products in flight, and stores each tile of C by `stmatrix` and a tensor copy. Text, so that tests can take
 * single waits, fences and releases away.
 */
import { integers } from "./data.ts";
import { type CorpusCase, int, type TensorMapArgument } from "./types.ts";

const SLOTS = 3;
const SLOT_BYTES = 64 * 64 * 2;
const FULL = 0;
const EMPTY = 64;
const A = 1024;
const B = A + SLOTS * SLOT_BYTES;
const C = B + SLOTS * SLOT_BYTES;

const THREADS = 256;

const numbered = (prefix: string, first: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `${prefix}${first + i}`).join(", ");

/** Waits for a phase of the barrier at a register plus an offset. */
const wait = (label: string, barrier: string, parity: string): string =>
  `${label}: mbarrier.try_wait.parity.shared::cta.b64 %p7, [${barrier}], ${parity};\n  @!%p7 bra ${label};`;

/** The next slot and its parity. */
const advance = (slot: string, parity: string): string =>
  `add.u32 ${slot}, ${slot}, 1;
  setp.eq.u32 %p6, ${slot}, ${SLOTS};
  selp.u32 ${slot}, 0, ${slot}, %p6;
  selp.u32 %r60, 1, 0, %p6;
  xor.b32 ${parity}, ${parity}, %r60;`;

const steps = Array.from({ length: 4 }, (_, k) =>
  `add.s64 %rd6, %rd4, ${2 * k};
  add.s64 %rd7, %rd5, ${128 * k};
  wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {${
    numbered("%f", 0, 32)
  }}, %rd6, %rd7, %p2, 1, 1, 0, 1;
  setp.eq.u32 %p2, 0, 0;`).join("\n  ");

const convert = Array.from(
  { length: 16 },
  (_, i) => `cvt.rn.f16x2.f32 %h${i}, %f${2 * i + 1}, %f${2 * i};`,
).join("\n  ");

/** Row t of a warp's 16, columns 16j and 16j + 8: chunks 2j and 2j + 1, exclusive-ored with the row. */
const store = Array.from({ length: 4 }, (_, j) =>
  `xor.b32 %r41, %r40, ${32 * j};
  add.u32 %r41, %r42, %r41;
  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r41], {${numbered("%h", 4 * j, 4)}};`).join("\n  ");

const TEXT = `.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry hopper_product(
  .param .align 64 .b8 map_a[128],
  .param .align 64 .b8 map_b[128],
  .param .align 64 .b8 map_c[128],
  .param .u32 steps,
  .param .u32 tiles
) .reqntid ${THREADS}, 1, 1 .minnctapersm 2 {
  .reg .pred %p<8>;
  .reg .b32 %r<64>;
  .reg .b32 %h<16>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<32>;
  mov.u32 %r0, memory;
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 7;
  shfl.sync.idx.b32 %r2, %r2, 0, 31, -1;
  and.b32 %r3, %r1, 127;
  setp.eq.u32 %p1, %r3, 0;
  ld.param.u32 %r4, [steps];
  ld.param.u32 %r5, [tiles];
  mov.b64 %rd1, map_a;
  cvta.param.u64 %rd1, %rd1;
  mov.b64 %rd2, map_b;
  cvta.param.u64 %rd2, %rd2;
  mov.b64 %rd3, map_c;
  cvta.param.u64 %rd3, %rd3;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra READY;
  ${
  Array.from({ length: SLOTS }, (_, s) =>
    `mbarrier.init.shared::cta.b64 [%r0+${FULL + 8 * s}], 1;
  mbarrier.init.shared::cta.b64 [%r0+${EMPTY + 8 * s}], 1;`).join("\n  ")
}
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  mov.u32 %r10, 0;
  mov.u32 %r12, 0;
  setp.ne.u32 %p0, %r2, 0;
  @%p0 bra PRODUCER;

  setmaxnreg.inc.sync.aligned.u32 216;
  mov.u32 %r11, 0;
  shr.u32 %r20, %r3, 5;
  and.b32 %r21, %r3, 15;
  mad.lo.u32 %r22, %r20, 16, %r21;
  mad.lo.u32 %r42, %r22, 128, %r0;
  add.u32 %r42, %r42, ${C};
  and.b32 %r23, %r22, 7;
  shr.u32 %r24, %r3, 4;
  and.b32 %r24, %r24, 1;
  xor.b32 %r40, %r23, %r24;
  shl.b32 %r40, %r40, 4;
TILE:
  setp.ge.u32 %p0, %r12, %r5;
  @%p0 bra LAST;
  mov.u32 %r13, 0;
  mov.u32 %r14, -1;
  setp.ne.u32 %p2, 0, 0;
STEP:
  mad.lo.u32 %r15, %r10, 8, %r0;
  ${wait("FULL", `%r15+${FULL}`, "%r11")}
  mad.lo.u32 %r16, %r10, ${SLOT_BYTES}, %r0;
  add.u32 %r17, %r16, ${A};
  shr.u32 %r17, %r17, 4;
  cvt.u64.u32 %rd4, %r17;
  or.b64 %rd4, %rd4, ${1n << 62n | 64n << 32n | 1n << 16n};
  add.u32 %r17, %r16, ${B};
  shr.u32 %r17, %r17, 4;
  cvt.u64.u32 %rd5, %r17;
  or.b64 %rd5, %rd5, ${1n << 62n | 64n << 32n | 512n << 16n};
  wgmma.fence.sync.aligned;
  ${steps}
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 1;
  setp.ne.u32 %p3, %r14, -1;
  and.pred %p3, %p3, %p1;
  @%p3 mbarrier.arrive.shared::cta.b64 _, [%r14+${EMPTY}];
  mov.u32 %r14, %r15;
  ${advance("%r10", "%r11")}
  add.u32 %r13, %r13, 1;
  setp.lt.u32 %p4, %r13, %r4;
  @%p4 bra STEP;
  wgmma.wait_group.sync.aligned 0;
  @%p1 mbarrier.arrive.shared::cta.b64 _, [%r14+${EMPTY}];
  ${convert}
  @%p1 cp.async.bulk.wait_group.read 0;
  bar.sync 1, 128;
  ${store}
  fence.proxy.async.shared::cta;
  bar.sync 1, 128;
  @!%p1 bra STORED;
  add.u32 %r43, %r0, ${C};
  shl.b32 %r44, %r12, 6;
  mov.u32 %r45, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r44, %r45}], [%r43];
  cp.async.bulk.commit_group;
STORED:
  add.u32 %r12, %r12, 1;
  bra TILE;
LAST:
  @%p1 cp.async.bulk.wait_group 0;
  bra DONE;

PRODUCER:
  setmaxnreg.dec.sync.aligned.u32 40;
  @!%p1 bra DONE;
  mov.u32 %r11, 1;
COLUMNS:
  setp.ge.u32 %p0, %r12, %r5;
  @%p0 bra DONE;
  shl.b32 %r30, %r12, 6;
  mov.u32 %r31, 0;
  mov.u32 %r13, 0;
COPY:
  mad.lo.u32 %r15, %r10, 8, %r0;
  ${wait("EMPTY", `%r15+${EMPTY}`, "%r11")}
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r15+${FULL}], ${2 * SLOT_BYTES};
  mad.lo.u32 %r16, %r10, ${SLOT_BYTES}, %r0;
  shl.b32 %r32, %r13, 6;
  add.u32 %r17, %r16, ${A};
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd1, {%r32, %r31}], [%r15+${FULL}];
  add.u32 %r17, %r16, ${B};
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd2, {%r30, %r32}], [%r15+${FULL}];
  ${advance("%r10", "%r11")}
  add.u32 %r13, %r13, 1;
  setp.lt.u32 %p4, %r13, %r4;
  @%p4 bra COPY;
  add.u32 %r12, %r12, 1;
  bra COLUMNS;
DONE:
  ret;
}
`;

/** A row-major matrix of halves, copied in boxes of 64 x 64. */
function matrix(
  rows: number,
  columns: number,
  values: readonly number[],
  expected?: readonly number[],
): TensorMapArgument {
  const bits = (all: readonly number[]): Uint16Array<ArrayBuffer> =>
    new Uint16Array(Float16Array.from(all).buffer);
  return {
    kind: "tensor map",
    data: bits(values),
    ...(expected === undefined ? {} : { expected: bits(expected) }),
    map: {
      type: "float16",
      extents: [columns, rows],
      strides: [2 * columns],
      box: [64, 64],
      elementStrides: [1, 1],
      interleave: "none",
      swizzle: "128B",
      promotion: "128B",
      fill: "zero",
    },
  };
}

/** Two tiles of seven steps: each slot is filled several times, and the ring continues from one tile to the next. */
const [STEPS, TILES] = [7, 2];

export const HOPPER_PRODUCT: CorpusCase = {
  file: "hopper_product",
  text: TEXT,
  kernel: "hopper_product",
  grid: [1, 1, 1],
  block: [THREADS, 1, 1],
  sharedBytes: C + SLOT_BYTES,
  sm: "90a",
  arguments: () => {
    const [k, n] = [64 * STEPS, 64 * TILES];
    const a = integers(701, 64 * k, -4, 4);
    const b = integers(702, k * n, -4, 4);
    // Sums of whole numbers are exact in single precision, and rounded once to halves.
    const c = Array.from({ length: 64 * n }, (_, i) => {
      const [row, column] = [Math.floor(i / n), i % n];
      let sum = 0;
      for (let j = 0; j < k; j++) sum += (a[row * k + j] ?? 0) * (b[j * n + column] ?? 0);
      return sum;
    });
    const poison = c.map(() => 1234);
    return [
      matrix(64, k, a),
      matrix(k, n, b),
      matrix(64, n, poison, c),
      int(STEPS),
      int(TILES),
    ];
  },
};
