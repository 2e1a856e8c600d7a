/**
 * Handlers of tensor copies in tile mode, boxes of 1 to 5 axes, both ways, and of copies of windows from global memory
 * (PTX ISA 9.0, 9.7.9.25.5).
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { roundToTf32 } from "../floats/encode.ts";
import { singleOf } from "../floats/pun.ts";
import { Fault } from "../fault.ts";
import type { Handler, HandlerContext, Machine } from "../machine.ts";
import { WINDOW } from "../memory.ts";
import { boxShape, CHUNK, eachChunk, eachPiece, type Place } from "./box.ts";
import { copier, destinations, type Move, sharedSource } from "./bulk.ts";
import { combiner, type ReducedType } from "./combine.ts";
import {
  addressAt,
  eachLane,
  findOperand,
  globalLocation,
  hex,
  operandOf,
  type SharedRange,
  wordAt,
} from "./reach.ts";
import { reductionOf } from "./reduce.ts";
import {
  TENSOR_MAP_ALIGN,
  TENSOR_MAP_BYTES,
  type TensorMap,
  tensorType,
} from "../../ffi/tensor_map.ts";
import { mostOffset } from "../../ffi/tensor_windows.ts";
import { decodeTensorMap, NAN_FILL } from "./tensor_map.ts";
import { bulkTraffic } from "./traffic.ts";
import { watchFor } from "./watch.ts";
import { isWindow } from "./windows.ts";

/** Boxes in shared memory begin at multiples of this. */
const BOX_ALIGN = 128;

/** A lane's tensor map, and where its box is. */
interface Box {
  readonly map: TensorMap;
  readonly place: Place;
}

/** Where boxes may begin, as seen on an H200: at multiples of 16 bytes, and to write not before the tensor. */
function checkOrigin(
  map: TensorMap,
  origin: readonly number[],
  writes: boolean,
  fail: (detail: string) => never,
): void {
  const first = (origin[0] ?? 0) * tensorType(map.type).bytes;
  if (first % CHUNK !== 0) fail(`has a box that begins at byte ${first}, no multiple of ${CHUNK}`);
  const before = origin.findIndex((at) => at < 0);
  if (writes && before >= 0) {
    fail(`cannot be written from coordinate ${origin[before]} of axis ${before} on`);
  }
}

/** Copies of windows have maps with windows, and the others have none. */
function checkWindows(
  { windows, ...map }: TensorMap,
  { origin, offsets }: Place,
  isOfWindows: boolean,
  fail: (detail: string) => never,
): void {
  if (isOfWindows !== (windows !== undefined)) {
    fail(windows === undefined ? "has no windows (im2col)" : "is one of windows (im2col)");
  }
  if (windows === undefined) return;
  const far = offsets.find((offset) => offset > mostOffset(windows.length));
  if (far !== undefined) fail(`has windows of which pixel ${far} is out of reach`);
  if (!isWindow(map, windows, origin)) fail(`has no window at ${origin.slice(1).join(", ")}`);
}

/** Reads the tensor map and the coordinates that operand `a` names. */
function boxOperand(
  match: Match,
  context: HandlerContext,
  writes: boolean,
): (w: number, lane: number) => Box {
  const { machine, site } = context;
  const operand = operandOf(match, "a");
  const ref = context.address(operand);
  const coordinates = operand.kind === "address" ? operand.coordinates : undefined;
  const rows = coordinates === undefined ? [] : context.rows(coordinates, "s32");
  const more = findOperand(match, "o");
  const offsetRows = more === undefined ? [] : context.rows(more, "u16");
  const rank = rows.length;
  const demand = {
    what: "tensor map",
    align: TENSOR_MAP_ALIGN,
    windows: [WINDOW.global, WINDOW.const, WINDOW.param],
  };
  return (w, lane) => {
    const address = addressAt(machine, w, ref, lane);
    if (ref.symbol === undefined && address < 2 ** 32) {
      const detail =
        `tensor map ${hex(address)} is an offset in a state space, no generic address: ` +
        "cvta.param, cvta.const or cvta.global must come first";
      throw new Fault("illegal instruction", detail, lane, site);
    }
    const location = globalLocation(machine, address, TENSOR_MAP_BYTES, demand, lane, site);
    const fail = (detail: string): never => {
      throw new Fault("illegal instruction", `tensor map ${hex(address)} ${detail}`, lane, site);
    };
    const map = decodeTensorMap(machine.views.u8.subarray(location, location + TENSOR_MAP_BYTES)) ??
      fail("is none that was encoded for the emulator");
    const dim = Number.parseInt(match.modifiers.find((word) => /^[1-5]d$/.test(word)) ?? "");
    if (map.extents.length !== dim) fail(`has ${map.extents.length} axes, not ${dim}`);
    if (rank !== dim) fail(`has ${dim} axes, but there are ${rank} coordinates`);
    if (map.interleave !== "none") {
      throw new Fault(
        "unsupported instruction",
        `tensor copies with an interleaved layout (${map.interleave})`,
        lane,
        site,
      );
    }
    const origin = rows.map((row) => wordAt(machine, w, row, lane) | 0);
    checkOrigin(map, origin, writes, fail);
    const offsets = offsetRows.map((row) => wordAt(machine, w, row, lane) & 0xffff);
    checkWindows(map, { origin, offsets }, more !== undefined, fail);
    return { map, place: { origin, offsets } };
  };
}

/** Locations of rows need no alignment: the driver checked the map. */
const ROW_DEMAND = { what: "element at", align: 1 };

/** Fills a whole box with the value of elements outside of the tensor. */
function fill(machine: Machine, map: TensorMap, shared: number, start: number): void {
  const { u8 } = machine.views;
  const pattern = map.fill === "nan" ? NAN_FILL : undefined;
  eachChunk(map, start, (offset) => {
    if (pattern === undefined) u8.fill(0, shared + offset, shared + offset + CHUNK);
    else u8.set(pattern, shared + offset);
  });
}

/** Changes bits of singles. */
type Convert = (bits: number) => number;

const toTf32: Convert = (bits) => roundToTf32(singleOf(bits));

function converting(convert: Convert): (machine: Machine, location: number, bytes: number) => void {
  return ({ views: { u32 } }, location, bytes) => {
    for (let at = location >> 2; at < (location + bytes) >> 2; at++) {
      u32[at] = convert(u32[at] ?? 0);
    }
  };
}

/** What loads do to elements of some types, seen on an H200; subnormal numbers stay whatever the type. */
const LOADED: Readonly<Partial<Record<TensorMap["type"], ReturnType<typeof converting>>>> = {
  tfloat32: converting(toTf32),
  tfloat32_ftz: converting(toTf32),
};

const load: Handler = (match, context) => {
  const { machine, site } = context;
  const boxOf = boxOperand(match, context, false);
  const targets = destinations(match, context, BOX_ALIGN);
  const copy = copier(context, "writes");
  const watch = watchFor(context);
  const traffic = bulkTraffic(context);
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const { map, place } = boxOf(w, lane);
      const { bytes, extent } = boxShape(map);
      const convert = LOADED[map.type];
      const write = ({ block, offset: start }: SharedRange): void => {
        fill(machine, map, block.shared, start);
        eachPiece(map, place, start, "load", (offset, address, count) => {
          const from = globalLocation(machine, address, count, ROW_DEMAND, lane, site);
          machine.views.u8.copyWithin(block.shared + offset, from, from + count);
          convert?.(machine, block.shared + offset, count);
        });
      };
      const to = targets(w, lane, extent);
      for (const { range } of to) {
        eachPiece(map, place, range.offset, "load", (_offset, address, count) => {
          const from = globalLocation(machine, address, count, ROW_DEMAND, lane, site);
          watch.global(from, count, "reads", lane);
          traffic.piece(from, count);
        });
        traffic.end();
      }
      copy(to, bytes, lane, write, extent);
    });
};

/** A handler of copies out of shared memory; `moveOf` says how a tensor map's pieces are moved. */
function storing(
  effect: "writes" | "combines",
  moveOf: (match: Match, context: HandlerContext) => (map: TensorMap, lane: number) => Move,
): Handler {
  return (match, context) => {
    const { machine, site } = context;
    const boxOf = boxOperand(match, context, true);
    const source = sharedSource(match, context, "x", BOX_ALIGN);
    const moveFor = moveOf(match, context);
    const watch = watchFor(context);
    const traffic = bulkTraffic(context);
    return (w, mask) =>
      eachLane(mask, (lane) => {
        const { map, place } = boxOf(w, lane);
        const { extent } = boxShape(map);
        const from = source.find(w, lane, extent);
        const { shared } = from.block;
        const move = moveFor(map, lane);
        eachPiece(map, place, from.offset, "store", (_offset, address, count) => {
          const to = globalLocation(machine, address, count, ROW_DEMAND, lane, site);
          watch.global(to, count, effect, lane);
          traffic.piece(to, count);
        });
        traffic.end();
        source.send(from, extent, lane, () => {
          eachPiece(map, place, from.offset, "store", (offset, address, count) => {
            move(
              globalLocation(machine, address, count, ROW_DEMAND, lane, site),
              shared + offset,
              count,
            );
          });
        });
      });
  };
}

const store = storing("writes", (_match, { machine }) => () => (to, from, bytes) => {
  machine.views.u8.copyWithin(to, from, from + bytes);
});

/** Types of elements that reductions know. */
const REDUCED: Readonly<Partial<Record<TensorMap["type"], ReducedType>>> = {
  uint32: "u32",
  int32: "s32",
  uint64: "u64",
  int64: "s64",
  float16: "f16",
  bfloat16: "bf16",
  float32: "f32",
};

const reduce = storing("combines", (match, { machine, site }) => {
  const reduction = reductionOf(match);
  return (map, lane) => {
    const type = REDUCED[map.type];
    const combine = type === undefined ? undefined : combiner(reduction, type);
    if (combine === undefined) {
      const detail = `tensors of ${map.type} have no reduction ${reduction}`;
      throw new Fault("illegal instruction", detail, lane, site);
    }
    const step = tensorType(map.type).bytes;
    return (to, from, bytes) => {
      for (let at = 0; at < bytes; at += step) combine(machine, to + at, from + at);
    };
  };
});

const prefetch: Handler = (match, context) => {
  const boxOf = boxOperand(match, context, false);
  return (w, mask) => eachLane(mask, (lane) => void boxOf(w, lane));
};

export const TENSOR: Readonly<Record<string, Handler>> = {
  "cp.async.bulk.tensor": (match, context) =>
    (match.bound.has("bulk_group") ? store : load)(match, context),
  "cp.reduce.async.bulk.tensor": reduce,
  "cp.async.bulk.prefetch.tensor": prefetch,
};
