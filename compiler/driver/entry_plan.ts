/** How the dots of an entry get their operands: what its passes have decided, read from the scheduled function. */
import type { Func, Op, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { partitionsOf, persistenceOf } from "../ir/program_loop.ts";
import type { Persistence } from "../options.ts";
import { bytesOf } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { positionOf, useSite } from "../support/source.ts";
import type { DecidedLoad } from "../views/tensor_views.ts";
import type { LoweredEntry } from "./lower_entry.ts";

/** What fills a buffer. */
type Filling = "tensor copies" | "asynchronous copies" | "registers";

/** Slots in shared memory for an operand. */
interface BufferPlan {
  /** The pointer parameter whose elements it gets; undefined: values that are computed. */
  readonly param: string | undefined;
  /** Such as `float16[128, 64]`. */
  readonly tile: string;
  readonly filledBy: Filling;
  readonly slots: number;
  readonly slotBytes: number;
}

/** An entry, or a form of one. */
interface EntryPlan {
  /** `plain`, or `tensor` for the form with tensor maps. */
  readonly form: "plain" | "tensor";
  /** How blocks do several programs in turn. */
  readonly persistent: Persistence | undefined;
  /** Programs that a block does at a time. */
  readonly partitions: number;
  readonly warps: number;
  /** 32-bit registers of a thread that hold the sums of its largest dot. */
  readonly sumRegisters: number;
  readonly sharedBytes: number;
  readonly buffers: readonly BufferPlan[];
}

/** The plan of an entry whose passes have run. */
export function entryPlan({ func, threads }: LoweredEntry): EntryPlan {
  const fillings = fillingsOf(func);
  const buffers: BufferPlan[] = [];
  let sumRegisters = 0;
  walkOps(func.body, (op) => {
    if (op.name === "shared_buffer") {
      const [buffer] = op.results;
      const filling = buffer && fillings.get(buffer);
      // Barriers are not filled.
      if (buffer === undefined || filling === undefined) return;
      const { element, shape } = buffer.type;
      const { slots, slot_bytes: slotBytes } = op.attrs;
      buffers.push({ ...filling, tile: `${element}[${shape.join(", ")}]`, slots, slotBytes });
    } else if (
      op.name === "dot" || op.name === "warp_group_dot" || op.name === "register_group_dot"
    ) {
      sumRegisters = Math.max(sumRegisters, ...op.results.map(registersOf));
    }
  });
  const form = func.maps.length === 0 ? "plain" : "tensor";
  const { sharedBytes = 0 } = func;
  const persistent = persistenceOf(func);
  const partitions = partitionsOf(func);
  return { form, persistent, partitions, warps: threads / 32, sumRegisters, sharedBytes, buffers };
}

const registersOf = ({ type: { element, layout } }: Value): number =>
  Math.ceil(bytesOf(element) * 2 ** (layout?.register.length ?? 0) / 4);

/** What fills each buffer, and from which parameter. */
function fillingsOf(
  func: Func,
): ReadonlyMap<Value, Pick<BufferPlan, "filledBy" | "param">> {
  const rootOf = rootsOf(func, new Set(func.params));
  const fillings = new Map<Value, Pick<BufferPlan, "filledBy" | "param">>();
  walkOps(func.body, (op) => {
    if (op.name === "tensor_copy") {
      const param = func.maps[op.attrs.map]?.param;
      fillings.set(operandsOf(op).buffer, { filledBy: "tensor copies", param });
    } else if (op.name === "async_copy" || op.name === "copy_rows") {
      const { pointer, buffer } = operandsOf(op);
      fillings.set(buffer, { filledBy: "asynchronous copies", param: rootOf(pointer)?.name });
    } else if (op.name === "local_store") {
      const { value, buffer } = operandsOf(op);
      const load = loadBehind(value.def);
      const param = load?.name === "load"
        ? rootOf(operandsOf(load).pointer)?.name
        : load?.name === "local_rows"
        ? fillings.get(operandsOf(load).buffer)?.param
        : undefined;
      // A loop stores what it has loaded in the iteration before, too: that value has no definition.
      const known = fillings.get(buffer)?.param;
      fillings.set(buffer, { filledBy: "registers", param: known ?? param });
    }
  });
  return fillings;
}

function loadBehind(def: Op | undefined): Op | undefined {
  let op = def;
  while (op?.name === "permute" || op?.name === "convert_layout") op = operandsOf(op).value.def;
  return op;
}

/** Why a load is no tensor copy that could be one. */
const NO_FORM = "warp groups cannot do all dots of its loop, or something before it";

/** The plans of an entry and of its form, and what has become of each load of a dot operand. */
export function printPlans(plans: readonly EntryPlan[], loads: readonly DecidedLoad[]): string {
  const entries = plans.map((plan) => {
    const { form, persistent, partitions, warps, sumRegisters, sharedBytes, buffers } = plan;
    const lines = buffers.map(({ param, tile, filledBy, slots, slotBytes }) =>
      `    ${tile} of ${
        param ?? "what is computed"
      } by ${filledBy}: ${slots} x ${slotBytes} bytes\n`
    );
    const atOnce = partitions === 1 ? "" : `, ${partitions} at a time`;
    const name = persistent === undefined ? form : `${form}, several programs a block${atOnce}`;
    return `  ${name}: ${warps} warps, ${sumRegisters} registers of a thread for sums, ${sharedBytes} bytes of shared memory\n${
      lines.join("")
    }`;
  });
  const hasForm = plans.some(({ form }) => form === "tensor");
  const decided = loads.map((one) => {
    const { file, start } = useSite(one.load.span);
    const [tile] = one.load.results;
    const head = `  ${file.name}:${positionOf(file, start).line}: ${tile?.name ?? "a tile"} = [${
      tile?.type.shape.join(", ")
    }]`;
    const why = "why" in one ? one.why : hasForm ? undefined : NO_FORM;
    return `${head}: ${why === undefined ? "tensor copy" : `no tensor copy: ${why}`}\n`;
  });
  return [...entries, ...decided].join("");
}
