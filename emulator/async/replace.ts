/** Handlers of tensormap.*: fields of tensor maps that kernels change (PTX ISA 9.0, 9.7.9.26 and 9.7.13.16). */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { bug } from "../../compiler/support/bug.ts";
import { Fault } from "../fault.ts";
import type { Handler, HandlerContext } from "../machine.ts";
import { WINDOW } from "../memory.ts";
import {
  addressAt,
  eachLane,
  findOperand,
  globalLocation,
  operandOf,
  sharedRange,
} from "./reach.ts";
import { TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES } from "../../ffi/tensor_map.ts";
import { isTensorMap, TENSOR_MAP_FIELDS } from "./tensor_map.ts";
import { watchFor } from "./watch.ts";

/** Where a field is, and what is stored there for a value that the instruction names. */
interface Field {
  readonly at: number;
  readonly bytes: 1 | 4 | 8;
  readonly store: (value: bigint) => bigint;
}

const same = (value: bigint): bigint => value;
const lessOne = (value: bigint): bigint => value - 1n;

/** The instruction numbers types as the driver does, but for f32.ftz, f64 and bf16. */
const TYPE_NUMBERS: readonly bigint[] = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 10n, 8n, 9n, 11n, 12n];

const { type, rank, interleave, swizzle, fill, address, extents, strides, box, elementStrides } =
  TENSOR_MAP_FIELDS;

const FIELDS: Readonly<Record<string, Field>> = {
  global_address: { at: address, bytes: 8, store: same },
  rank: { at: rank, bytes: 1, store: (value) => value + 1n },
  box_dim: { at: box, bytes: 1, store: lessOne },
  global_dim: { at: extents, bytes: 4, store: lessOne },
  global_stride: { at: strides, bytes: 8, store: same },
  element_stride: { at: elementStrides, bytes: 1, store: same },
  elemtype: { at: type, bytes: 1, store: (value) => TYPE_NUMBERS[Number(value)] ?? 0xffn },
  interleave_layout: { at: interleave, bytes: 1, store: same },
  swizzle_mode: { at: swizzle, bytes: 1, store: same },
  fill_mode: { at: fill, bytes: 1, store: same },
};

/** Reads a value of up to 64 bits. */
function valueReader(
  operand: Operand,
  wide: boolean,
  context: HandlerContext,
): (w: number, lane: number) => bigint {
  const { machine } = context;
  const row = context.row(operand, wide ? "b64" : "b32");
  return (w, lane) => {
    const { u32, u64 } = machine.views;
    return wide ? u64[((w + row) >>> 3) + lane] ?? 0n : BigInt(u32[((w + row) >>> 2) + lane] ?? 0);
  };
}

/** Finds the tensor map that a lane names. */
function mapOperand(match: Match, context: HandlerContext): (w: number, lane: number) => number {
  const { machine, site } = context;
  const ref = context.address(operandOf(match, "a"));
  const named = [...match.bound.values()].find((name) =>
    name === "global" || name === "shared::cta"
  );
  const demand = { what: "tensor map", cluster: false, align: TENSOR_MAP_ALIGN };
  const watch = watchFor(context);
  return (w, lane) => {
    const at = addressAt(machine, w, ref, lane);
    const inShared = named === "shared::cta" ||
      (named === undefined && Math.floor(at / 2 ** 32) === WINDOW.shared);
    if (inShared) {
      const shared = { ...demand, generic: named === undefined };
      const range = sharedRange(machine, at, TENSOR_MAP_BYTES, shared, lane, site);
      watch.shared(range, TENSOR_MAP_BYTES, "combines", lane);
      return range.location;
    }
    const location = globalLocation(machine, at, TENSOR_MAP_BYTES, demand, lane, site);
    watch.global(location, TENSOR_MAP_BYTES, "combines", lane);
    return location;
  };
}

const replace: Handler = (match, context) => {
  const { machine, site } = context;
  const name = [...match.bound.values()].find((each) => Object.hasOwn(FIELDS, each));
  const field = FIELDS[name ?? ""];
  if (field === undefined) {
    throw new Fault("unsupported instruction", "this field of tensor maps", undefined, site);
  }
  const { at, bytes, store } = field;
  const ordinal = findOperand(match, "n");
  const axis = ordinal === undefined ? 0 : Number(context.literal(ordinal));
  const locationOf = mapOperand(match, context);
  const valueOf = valueReader(operandOf(match, "b"), bytes === 8, context);
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const location = locationOf(w, lane);
      const { u8 } = machine.views;
      if (!isTensorMap(u8.subarray(location, location + TENSOR_MAP_BYTES))) {
        throw new Fault("illegal instruction", "there is no tensor map there", lane, site);
      }
      let value = store(valueOf(w, lane));
      for (let i = 0; i < bytes; i++) {
        u8[location + at + axis * bytes + i] = Number(value & 0xffn);
        value >>= 8n;
      }
    });
};

/** Copies a tensor map from shared to global memory; the warp does it together, with the same addresses. */
const copy: Handler = (match, context) => {
  const { machine, site } = context;
  const to = context.address(operandOf(match, "x"));
  const from = context.address(operandOf(match, "a"));
  const bytes = Number(context.literal(operandOf(match, "size")));
  if (bytes !== TENSOR_MAP_BYTES) bug(`tensormap.cp_fenceproxy of ${bytes} bytes`);
  const toDemand = { what: "destination", align: bytes };
  const fromDemand = { what: "source", generic: false, cluster: false, align: bytes };
  const watch = watchFor(context);
  return (w, mask) => {
    const lane = 31 - Math.clz32(mask & -mask);
    const range = sharedRange(
      machine,
      addressAt(machine, w, from, lane),
      bytes,
      fromDemand,
      lane,
      site,
    );
    watch.shared(range, bytes, "reads", lane);
    const location = globalLocation(
      machine,
      addressAt(machine, w, to, lane),
      bytes,
      toDemand,
      lane,
      site,
    );
    watch.global(location, bytes, "writes", lane);
    machine.views.u8.copyWithin(location, range.location, range.location + bytes);
  };
};

export const REPLACE: Readonly<Record<string, Handler>> = {
  "tensormap.replace": replace,
  "tensormap.cp_fenceproxy": copy,
};
