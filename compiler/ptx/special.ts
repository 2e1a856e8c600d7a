/**
 * SPECIAL_REGISTERS: what `%tid.x` and its like hold.
 * Source: PTX ISA 9.0, chapter 10 "Special Registers".
 */
import type { Since } from "./form.ts";
import type { TypeName } from "./types.ts";

export interface SpecialRegister {
  readonly doc: string;
  readonly type: TypeName;
  /** The narrower type that it had in PTX 1, which `mov` takes as well. */
  readonly oldType?: TypeName;
  readonly since?: Since;
}

const CLUSTER: Since = { ptx: 78, sm: 90 };
const u32 = (doc: string, since?: Since): SpecialRegister =>
  since === undefined ? { doc, type: "u32" } : { doc, type: "u32", since };
const u64 = (doc: string, since: Since): SpecialRegister => ({ doc, type: "u64", since });

/** Axes of vectors, the last of which is 0, and their other names. */
const AXES: readonly (readonly [axis: string, color: string])[] = [
  ["x", "r"],
  ["y", "g"],
  ["z", "b"],
  ["w", "a"],
];

function vector(name: string, doc: string, since?: Since): Record<string, SpecialRegister> {
  const register: SpecialRegister = since === undefined
    ? { ...u32(doc), oldType: "u16" }
    : u32(doc, since);
  return Object.fromEntries(AXES.map(([axis]) => [`${name}.${axis}`, register]));
}

function numbered(
  name: string,
  count: number,
  register: SpecialRegister,
): Record<string, SpecialRegister> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [name.replace("#", `${i}`), register]),
  );
}

const SPECIAL_REGISTERS: Readonly<Record<string, SpecialRegister>> = {
  ...vector("tid", "thread in its block"),
  ...vector("ntid", "threads in the block"),
  ...vector("ctaid", "block in the grid"),
  ...vector("nctaid", "blocks in the grid"),
  laneid: u32("lane in its warp"),
  warpid: u32("warp in its block, volatile"),
  nwarpid: u32("most warps of a block", { ptx: 20, sm: 20 }),
  smid: u32("multiprocessor, volatile"),
  nsmid: u32("most multiprocessors", { ptx: 20, sm: 20 }),
  gridid: { ...u64("number of the launch", { ptx: 30, sm: 10 }), oldType: "u32" },
  is_explicit_cluster: { doc: "whether the launch named a cluster", type: "pred", since: CLUSTER },
  ...vector("clusterid", "cluster in the grid", CLUSTER),
  ...vector("nclusterid", "clusters in the grid", CLUSTER),
  ...vector("cluster_ctaid", "block in its cluster", CLUSTER),
  ...vector("cluster_nctaid", "blocks in the cluster", CLUSTER),
  cluster_ctarank: u32("rank of the block in its cluster", CLUSTER),
  cluster_nctarank: u32("number of blocks in the cluster", CLUSTER),
  lanemask_eq: u32("this lane's bit", { ptx: 20, sm: 20 }),
  lanemask_le: u32("bits of this lane and those before", { ptx: 20, sm: 20 }),
  lanemask_lt: u32("bits of the lanes before", { ptx: 20, sm: 20 }),
  lanemask_ge: u32("bits of this lane and those after", { ptx: 20, sm: 20 }),
  lanemask_gt: u32("bits of the lanes after", { ptx: 20, sm: 20 }),
  clock: u32("cycle counter, low half"),
  clock_hi: u32("cycle counter, high half", { ptx: 50, sm: 20 }),
  clock64: u64("cycle counter", { ptx: 20, sm: 20 }),
  ...numbered("pm#", 8, u32("performance counter")),
  ...numbered("pm#_64", 8, u64("performance counter", { ptx: 40, sm: 50 })),
  ...numbered("envreg#", 32, u32("register of the driver")),
  globaltimer: u64("nanoseconds", { ptx: 31, sm: 30 }),
  globaltimer_lo: u32("nanoseconds, low half", { ptx: 31, sm: 30 }),
  globaltimer_hi: u32("nanoseconds, high half", { ptx: 31, sm: 30 }),
  reserved_smem_offset_begin: u32("start of the reserved shared memory", { ptx: 76, sm: 80 }),
  reserved_smem_offset_end: u32("end of the reserved shared memory", { ptx: 76, sm: 80 }),
  reserved_smem_offset_cap: u32("capacity of the reserved shared memory", { ptx: 76, sm: 80 }),
  ...numbered(
    "reserved_smem_offset_#",
    2,
    u32("offset in the reserved shared memory", { ptx: 76, sm: 80 }),
  ),
  total_smem_size: u32("bytes of shared memory of the block", { ptx: 41, sm: 20 }),
  aggr_smem_size: u32("bytes of shared memory with the reserved ones", { ptx: 81, sm: 90 }),
  dynamic_smem_size: u32("bytes of shared memory asked for at launch", { ptx: 41, sm: 20 }),
  current_graph_exec: u64("graph that runs", { ptx: 80, sm: 50 }),
};

/** The special register of a name without its percent sign. */
export function specialRegister(name: string): SpecialRegister | undefined {
  return Object.hasOwn(SPECIAL_REGISTERS, name) ? SPECIAL_REGISTERS[name] : undefined;
}

/** The names of a vector's elements: of `tid` `tid.x` to `tid.w`; undefined for what is none. */
export function vectorElements(name: string): readonly string[] | undefined {
  const elements = AXES.map(([axis]) => `${name}.${axis}`);
  return elements.every((element) => specialRegister(element) !== undefined) ? elements : undefined;
}

/** A special register by the name in the text: elements of vectors have names of colours as well. */
export function canonicalName(name: string): string {
  const [vector = "", element] = name.split(".");
  const axis = AXES.find(([, color]) => color === element)?.[0];
  return axis === undefined ? name : `${vector}.${axis}`;
}

const vectors: ReadonlySet<string> = new Set(
  Object.keys(SPECIAL_REGISTERS).map((name) => name.split(".")[0] ?? name),
);

/** Whether ptxas would take a register of this name for a special one: `tid` as well as `laneid`. */
export function isReserved(name: string): boolean {
  return vectors.has(name);
}
