/** Rows of PTX_OPS: tensor memory and the tensor cores of Blackwell, known by name only (PTX ISA 9.0, 9.7.16). */
import type { PtxOpRow, Since } from "../form.ts";

const BLACKWELL: Since = { ptx: 86, sm: 100, suffix: "a" };

// deno-fmt-ignore: a row per instruction
export const TENSOR_OPS = {
  "tcgen05.alloc": { doc: "allocates tensor memory", isa: "9.7.16.7.1", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.dealloc": { doc: "frees tensor memory", isa: "9.7.16.7.1", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.relinquish_alloc_permit": { doc: "leaves tensor memory to other blocks", isa: "9.7.16.7.1", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.ld": { doc: "loads registers from tensor memory", isa: "9.7.16.8.3", effect: "read", since: BLACKWELL, forms: [] },
  "tcgen05.st": { doc: "stores registers in tensor memory", isa: "9.7.16.8.4", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.wait::ld": { doc: "waits for loads from tensor memory", isa: "9.7.16.8.5", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.wait::st": { doc: "waits for stores in tensor memory", isa: "9.7.16.8.5", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.cp": { doc: "copies shared memory to tensor memory", isa: "9.7.16.9.2", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.shift": { doc: "moves rows of tensor memory down", isa: "9.7.16.9.3", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.mma": { doc: "a * b + d on matrices in tensor memory", isa: "9.7.16.10.9.1", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.mma.sp": { doc: "a * b + d with a sparse", isa: "9.7.16.10.9.2", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.mma.ws": { doc: "a * b + d with b kept", isa: "9.7.16.10.9.3", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.mma.ws.sp": { doc: "a * b + d with b kept and a sparse", isa: "9.7.16.10.9.4", effect: "write", since: BLACKWELL, forms: [] },
  "tcgen05.fence::before_thread_sync": { doc: "orders what used tensor memory before threads meet", isa: "9.7.16.11.1", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.fence::after_thread_sync": { doc: "orders what uses tensor memory after threads met", isa: "9.7.16.11.1", effect: "sync", since: BLACKWELL, forms: [] },
  "tcgen05.commit": { doc: "signals a barrier when products are done", isa: "9.7.16.12.1", effect: "sync", since: BLACKWELL, forms: [] },
} as const satisfies Record<string, PtxOpRow>;
