/**
 * PTX_OPS: every instruction of the PTX ISA, once. A row says what the forms of an opcode look
 * like (form.ts explains the notation), what effect it has, and since when it exists. Verifier, dead-code removal,
 * required versions and the emulator's decoder read this table. Rows are grouped as in the PTX ISA.
 */
import { ARITHMETIC_OPS } from "./ops/arithmetic.ts";
import { ASYNC_OPS } from "./ops/async.ts";
import { CONTROL_OPS } from "./ops/control.ts";
import type { PtxOpRow, Since } from "./form.ts";
import { LOGIC_OPS } from "./ops/logic.ts";
import { MATRIX_OPS } from "./ops/matrix.ts";
import { MEMORY_OPS } from "./ops/memory.ts";
import { TENSOR_OPS } from "./ops/tensor.ts";
import { TEXTURE_OPS } from "./ops/texture.ts";
import { VIDEO_OPS } from "./ops/video.ts";
import { WMMA_OPS } from "./ops/wmma.ts";

export const PTX_OPS = {
  ...ARITHMETIC_OPS,
  ...LOGIC_OPS,
  ...MEMORY_OPS,
  ...TEXTURE_OPS,
  ...CONTROL_OPS,
  ...ASYNC_OPS,
  ...WMMA_OPS,
  ...MATRIX_OPS,
  ...TENSOR_OPS,
  ...VIDEO_OPS,
} as const satisfies Record<string, PtxOpRow>;

/** Modifiers that are younger than the instructions that take them. */
export const MODIFIER_SINCE: ReadonlyMap<string, Since> = new Map(Object.entries({
  relaxed: { ptx: 60, sm: 70 },
  acquire: { ptx: 60, sm: 70 },
  release: { ptx: 60, sm: 70 },
  acq_rel: { ptx: 60, sm: 70 },
  weak: { ptx: 60, sm: 70 },
  mmio: { ptx: 82, sm: 70 },
  cluster: { ptx: 78, sm: 90 },
  b128: { ptx: 83, sm: 70 },
  "shared::cta": { ptx: 78, sm: 30 },
  "shared::cluster": { ptx: 78, sm: 90 },
  "param::entry": { ptx: 83, sm: 10 },
  "param::func": { ptx: 83, sm: 10 },
  "L1::evict_normal": { ptx: 74, sm: 70 },
  "L1::evict_unchanged": { ptx: 74, sm: 70 },
  "L1::evict_first": { ptx: 74, sm: 70 },
  "L1::evict_last": { ptx: 74, sm: 70 },
  "L1::no_allocate": { ptx: 74, sm: 70 },
  "L2::64B": { ptx: 74, sm: 75 },
  "L2::128B": { ptx: 74, sm: 75 },
  "L2::256B": { ptx: 74, sm: 80 },
  "L2::cache_hint": { ptx: 74, sm: 80 },
}));

/** Modifiers for accesses to global memory, or to generic addresses. */
export const GLOBAL_MODIFIERS: ReadonlySet<string> = new Set([
  "L2::cache_hint",
  "L2::64B",
  "L2::128B",
  "L2::256B",
]);

/** State spaces other than that of global memory. */
export const OTHER_SPACES: ReadonlySet<string> = new Set([
  "shared",
  "shared::cta",
  "shared::cluster",
  "local",
  "param",
  "param::entry",
  "param::func",
  "const",
]);
