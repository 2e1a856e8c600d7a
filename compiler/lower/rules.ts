/** RULES: how each operation of the tile IR becomes PTX. */
import type { Operand } from "../ptx/func.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { constantOf as irConstant, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import type { BinaryOp, ComparisonOp, TileOp } from "../ir/ops.ts";
import type { OpWith } from "../ir/table.ts";
import { type Element, isPointer, pointeeBytes } from "../ir/types.ts";
import { bug } from "../support/bug.ts";
import type { ScalarName } from "../support/scalar.ts";
import {
  constantOperand,
  lowerBinary,
  lowerCompare,
  lowerSelect,
  lowerUnary,
} from "./arithmetic.ts";
import type { LowerContext } from "./context.ts";
import { atRegister } from "./addresses.ts";
import { dividesTogether, isSingle, lowerQuotients } from "./divide.ts";
import { divideByOne } from "./divide_by_one.ts";
import { emitDeferred, lowered, memo } from "./values.ts";
import { threadBases } from "../linear/threads.ts";
import { lowerIf, lowerLeave, lowerWhile } from "./control.ts";
import { lowerConvertLayout } from "./exchanges/convert_layout.ts";
import {
  bitsOfByte,
  byteToBfloat16,
  byteToHalf,
  byteToHalfLess,
  shiftedByte,
} from "./convert/bytes.ts";
import { convertInPairs } from "./convert/small_integers.ts";
import { convertScalar } from "./convert/convert.ts";
import { type Ref, whole } from "./element.ts";
import { type Emitter, int } from "./emitter.ts";
import { lowerDot, toTf32 } from "./dots/dot.ts";
import { lowerCheck } from "./calls/check.ts";
import { lowerLoad, lowerPrefetch, lowerStore } from "./memory/global.ts";
import { unalignedVectors } from "./memory/unaligned_vectors.ts";
import { lowerWordLoad, lowerWordStore } from "./memory/word_rows.ts";
import { lowerCopyRows, lowerLocalRows } from "./memory/chunk_rows.ts";
import { lowerPrint } from "./calls/print.ts";
import { bitcastElement } from "./convert/bitcast.ts";
import { lowerAtomic, lowerAtomicCas } from "./memory/atomic.ts";
import { lowerExchange, lowerGather, lowerHistogram } from "./exchanges/exchange.ts";
import { lowerMath } from "./math/float.ts";
import { lowerParam } from "./params.ts";
import { lowerReduce } from "./reduce/reduce.ts";
import { lowerRotate, lowerRotatedRange } from "./exchanges/rotate.ts";
import { lowerRotatedWords } from "./exchanges/rotate_words.ts";
import { lowerScan } from "./reduce/scan.ts";
import { lowerOffset } from "./memory/pointers.ts";
import { lowerDrawProgram, lowerReceiveProgram, lowerSendProgram } from "./memory/queue.ts";
import { lowerCopyRun, lowerStoreRun, lowerWaitRuns } from "./memory/runs.ts";
import { programBarrier } from "./memory/shared.ts";
import { sliceRegister } from "../layout/slices.ts";
import { layoutOf } from "../layout/tiles.ts";
import { equalRegisters, type Rule } from "./rule.ts";
import type { AxisFacts } from "../tile/axis.ts";
import {
  lowerAsyncCopy,
  lowerCommitGroup,
  lowerLocalLoad,
  lowerLocalLoadSlice,
  lowerLocalStore,
  lowerWaitGroup,
} from "./memory/shared_buffer.ts";
import {
  lowerBulkCopy,
  lowerMbarrierArrive,
  lowerMbarrierEnd,
  lowerMbarrierExpect,
  lowerMbarrierInit,
  lowerMbarrierWait,
  lowerOnce,
  lowerProduce,
  lowerTensorCopy,
} from "./memory/tensor_copy.ts";
import { binaryInPairs, negateInPairs, selectInPairs } from "./pairs.ts";
import { lowerHold } from "./convert/hold.ts";
import { lowerPack } from "./convert/pack.ts";
import {
  lowerFinishDot,
  lowerProxyFence,
  lowerRegisterGroupDot,
  lowerWaitDots,
  lowerWarpGroupDot,
} from "./dots/warp_group_dot.ts";
import { ofAxis } from "../linear/linear.ts";
import { lowerRangeBits } from "./range_bits.ts";

/** Lowers one operation. */
export function lowerOp<N extends TileOp>(
  cx: LowerContext,
  op: OpOf<N>,
  axisInfo: AxisFacts,
): void {
  const rule: Rule<N> = RULES[op.name];
  rule(cx, op, axisInfo);
}

/** A rule that computes each element alone; `at` gives that element of an operand. */
function elementwise<N extends OpWith<"elementwise">>(
  compute: (e: Emitter, op: OpOf<N>, at: (value: Value) => Operand) => Operand,
): (cx: LowerContext, op: OpOf<N>) => void {
  return (cx, op) => {
    cx.values.set(
      resultOf(op),
      memo(cx, (register) =>
        compute(
          cx.emitter,
          op,
          (value) => whole(cx.emitter, lowered(cx, value)(register), value.type.element),
        )),
    );
  };
}

const binaryEach = elementwise<BinaryOp>((e, op, at) => {
  const { left, right } = operandsOf(op);
  return lowerBinary(e, op.name, left.type.element, at(left), at(right));
});
/** Of halves two at once, where they are in words. */
const binary = (cx: LowerContext, op: OpOf<BinaryOp>): void => {
  binaryEach(cx, op);
  binaryInPairs(cx, op.name, resultOf(op), op.operands);
};
/** Of bytes that were made halves, an integer less. */
const subtract: Rule<"sub"> = (cx, op) => {
  const { left, right } = operandsOf(op);
  binary(cx, op);
  const convert = left.type.element === "float16" ? madeBy(left, "convert") : undefined;
  const less = constantInHalf(right);
  if (convert === undefined || less === undefined) return;
  const { value } = operandsOf(convert);
  const from = scalarName(value.type.element);
  const each = lowered(cx, resultOf(op));
  cx.values.set(
    resultOf(op),
    memo(
      cx,
      (register) =>
        byteToHalfLess(cx.emitter, lowered(cx, value)(register), from, less) ?? each(register),
    ),
  );
};
const constantInHalf = (value: Value): number | undefined => {
  const constant = irConstant(value);
  return typeof constant === "number" ? constant : undefined;
};
/** With a constant, or shifts by one number, of all bytes in a register at once. */
const bits: Rule<"and" | "shr"> = (cx, op) => {
  const { left, right } = operandsOf(op);
  binary(cx, op);
  const constant = irConstant(right);
  const each = lowered(cx, resultOf(op));
  const { element } = left.type;
  const e = cx.emitter;
  const splat = op.name === "shr" ? madeBy(right, "splat") : undefined;
  if (typeof constant !== "bigint") {
    if (splat === undefined) return;
    const count = lowered(cx, operandsOf(splat).value);
    cx.values.set(
      resultOf(op),
      memo(cx, (register) => {
        const ref = lowered(cx, left)(register);
        return shiftedByte(e, ref, element, whole(e, count(0), element)) ?? each(register);
      }),
    );
    return;
  }
  cx.values.set(
    resultOf(op),
    memo(cx, (register) => {
      const ref = lowered(cx, left)(register);
      return bitsOfByte(e, op.name, ref, element, constant) ?? each(register);
    }),
  );
};
const divide: Rule<"div"> = (cx, op, axisInfo) => {
  const { left, right } = operandsOf(op);
  const { element } = left.type;
  const isRelaxed = element === "float32" && cx.emitter.floats.fastDivision;
  const operands = { result: resultOf(op), left, right };
  if (!isRelaxed && dividesTogether(cx, element)) lowerQuotients(cx, element, operands);
  else if (!isRelaxed && isSingle(element) && isShared(right, axisInfo)) {
    lowerQuotients(cx, element, operands, divideByOne);
  } else {
    binary(cx, op);
    onceInRuns(cx, resultOf(op), axisInfo);
  }
};
/** Whether several elements of a thread have one divisor. */
const isShared = (divisor: Value, axisInfo: AxisFacts): boolean => {
  const equal = equalRegisters(divisor.type.layout, axisInfo(divisor));
  return (equal & (equal - 1)) !== 0;
};
const compareEach = elementwise<ComparisonOp>((e, op, at) => {
  const { left, right } = operandsOf(op);
  return lowerCompare(e, op.name, left.type.element, at(left), at(right));
});
/** Bounds that are multiples of a vector decide for all its elements at once. */
const compare: Rule<ComparisonOp> = (cx, op, axisInfo) => {
  compareEach(cx, op);
  onceInRuns(cx, resultOf(op), axisInfo);
};
/** Of elements that are known to be equal, one is computed. */
function onceInRuns(cx: LowerContext, result: Value, axisInfo: AxisFacts): void {
  const each = lowered(cx, result);
  const equal = equalRegisters(result.type.layout, axisInfo(result));
  if (equal !== 0) cx.values.set(result, (register) => each(register & ~equal));
}
const unary = elementwise<"neg" | "not">((e, op, at) => {
  const { value } = operandsOf(op);
  return lowerUnary(e, op.name, value.type.element, at(value));
});
const selectEach = elementwise<"select">((e, op, at) => {
  const { condition, then, otherwise } = operandsOf(op);
  return lowerSelect(e, then.type.element, at(condition), at(then), at(otherwise));
});

/** Where it is known which of the two an element is, that one stays in its word. */
function chooseKnown(cx: LowerContext, op: OpOf<"select">): void {
  const { condition, then, otherwise } = operandsOf(op);
  const each = lowered(cx, resultOf(op));
  cx.values.set(resultOf(op), (register) => {
    const known = lowered(cx, condition)(register);
    if (known.kind !== "integer") return each(register);
    return lowered(cx, known.value === 0n ? otherwise : then)(register);
  });
}

/** Shape operations rename: register r of the result is register r of the operand, whose layout was chosen so. */
const renamed: Rule<OpWith<"renames">> = (cx, op) => {
  const { value } = operandsOf(op);
  cx.values.set(resultOf(op), (register) => lowered(cx, value)(register));
};

/** 64-bit integers and pointers convert like uint64. */
const scalarName = (element: Element): ScalarName => isPointer(element) ? "uint64" : element;

const RULES: { readonly [N in TileOp]: Rule<N> } = {
  constant: (cx, op) => {
    const constant = constantOperand(op.attrs.value, resultOf(op).type.element);
    cx.values.set(resultOf(op), () => constant);
  },
  constant_buffer: (cx, op) => {
    const { buffer: name, bytes } = op.attrs;
    cx.constants.set(name, bytes);
    const address: Operand = { kind: "symbol", name };
    cx.values.set(resultOf(op), memo(cx, () => cx.emitter.pure("mov.u64", "b64", [address])));
  },
  program_id: (cx, op) => special(cx, op, cx.numCtas === 1 ? "ctaid" : "clusterid", op.attrs.axis),
  num_programs: (cx, op) => {
    const count = cx.turns.programs[op.attrs.axis];
    if (count !== undefined) lowerParam(cx, resultOf(op), count);
    else special(cx, op, cx.numCtas === 1 ? "nctaid" : "nclusterid", op.attrs.axis);
  },
  program_step: (cx, op) => lowerParam(cx, resultOf(op), ofAxis(cx.turns.steps, op.attrs.axis)),
  block_id: (cx, op) => special(cx, op, cx.numCtas === 1 ? "ctaid" : "clusterid", 0),
  num_blocks: (cx, op) => special(cx, op, cx.numCtas === 1 ? "nctaid" : "nclusterid", 0),
  partition: (cx, op) => {
    const own = cx.partitions?.own ?? int(0);
    cx.values.set(resultOf(op), () => own);
  },
  range: (cx, op) => {
    const layout = layoutOf(resultOf(op));
    const lo = BigInt(op.attrs.lo);
    const element = resultOf(op).type.element;
    const bases = { register: layout.register, thread: threadBases(layout) };
    cx.values.set(
      resultOf(op),
      memo(cx, (register) => {
        const { base, constant } = atRegister(cx, bases, register);
        const index = cx.emitter.add("b32", cx.emitter.add("b32", base, int(constant)), int(lo));
        return convertScalar(cx.emitter, index, "int32", scalarName(element));
      }),
    );
  },
  add: binary,
  sub: subtract,
  mul: binary,
  div: divide,
  rem: (cx, op) => {
    if (!lowerRangeBits(cx, op)) binary(cx, op);
  },
  min: binary,
  max: binary,
  and: bits,
  or: binary,
  xor: binary,
  shl: binary,
  shr: bits,
  lt: compare,
  le: compare,
  gt: compare,
  ge: compare,
  eq: compare,
  ne: compare,
  neg: (cx, op) => {
    unary(cx, op);
    negateInPairs(cx, resultOf(op), operandsOf(op).value);
  },
  not: unary,
  select: (cx, op) => {
    const { condition, then, otherwise } = operandsOf(op);
    selectEach(cx, op);
    chooseKnown(cx, op);
    selectInPairs(cx, resultOf(op), condition, [then, otherwise]);
  },
  convert: (cx, op) => {
    const { value } = operandsOf(op);
    const result = resultOf(op);
    const [from, to] = [scalarName(value.type.element), scalarName(result.type.element)];
    const e = cx.emitter;
    const convert = (ref: Ref): Ref =>
      (to === "float16"
        ? byteToHalf(e, ref, from)
        : to === "bfloat16"
        ? byteToBfloat16(e, ref, from)
        : undefined) ??
        convertScalar(e, whole(e, ref, value.type.element), from, to);
    cx.values.set(result, memo(cx, (register) => convert(lowered(cx, value)(register))));
    convertInPairs(cx, result, value);
  },
  bitcast: elementwise<"bitcast">((e, op, at) => {
    const { value } = operandsOf(op);
    return bitcastElement(e, at(value), value.type.element, resultOf(op).type.element);
  }),
  round_tf32: elementwise<"round_tf32">((e, op, at) => toTf32(e, at(operandsOf(op).value))),
  hold: lowerHold,
  pack: lowerPack,
  assume_multiple: renamed,
  offset: lowerOffset,
  difference: elementwise<"difference">((e, op, at) => {
    const { left, right } = operandsOf(op);
    const [a, b] = [at(left), at(right)];
    const bytes = e.pure("sub.s64", "b64", [e.inRegister(a, "b64"), b]);
    return e.pure("shr.s64", "b64", [bytes, int(Math.log2(pointeeBytes(left)))]);
  }),
  splat: (cx, op) => {
    const { value } = operandsOf(op);
    cx.values.set(resultOf(op), () => lowered(cx, value)(0));
  },
  expand_dims: renamed,
  broadcast: renamed,
  reshape: renamed,
  permute: renamed,
  slice: (cx, op) => {
    const { value } = operandsOf(op);
    const result = resultOf(op);
    const registerOf = sliceRegister(layoutOf(value), result.type.shape, op.attrs.first);
    cx.values.set(result, (register) => lowered(cx, value)(registerOf(register)));
  },
  load: (cx, op, axisInfo) => {
    if (lowerWordLoad(cx, op, axisInfo)) return;
    lowerLoad(cx, op, axisInfo, unalignedVectors(op));
  },
  tensor_load: () => bug("a tensor_load that no loop prefetches"),
  store: (cx, op, axisInfo) => {
    if (!lowerWordStore(cx, op)) lowerStore(cx, op, axisInfo);
  },
  convert_layout: lowerConvertLayout,
  dot: lowerDot,
  // The operations that use a buffer read it.
  shared_buffer: () => {},
  async_copy: lowerAsyncCopy,
  copy_rows: lowerCopyRows,
  commit_group: lowerCommitGroup,
  wait_group: lowerWaitGroup,
  async_proxy_fence: lowerProxyFence,
  warp_group_dot: lowerWarpGroupDot,
  finish_dot: lowerFinishDot,
  register_group_dot: lowerRegisterGroupDot,
  wait_dots: lowerWaitDots,
  mbarrier_init: lowerMbarrierInit,
  mbarrier_end: lowerMbarrierEnd,
  mbarrier_expect: lowerMbarrierExpect,
  mbarrier_arrive: lowerMbarrierArrive,
  mbarrier_wait: lowerMbarrierWait,
  bulk_copy: lowerBulkCopy,
  copy_run: lowerCopyRun,
  store_run: lowerStoreRun,
  wait_runs: lowerWaitRuns,
  draw_program: lowerDrawProgram,
  send_program: lowerSendProgram,
  receive_program: lowerReceiveProgram,
  tensor_copy: lowerTensorCopy,
  once: lowerOnce,
  produce: lowerProduce,
  local_store: lowerLocalStore,
  local_load: lowerLocalLoad,
  local_load_slice: lowerLocalLoadSlice,
  local_rows: lowerLocalRows,
  math: lowerMath,
  atomic: lowerAtomic,
  atomic_cas: lowerAtomicCas,
  reduce: lowerReduce,
  scan: lowerScan,
  exchange: lowerExchange,
  gather: lowerGather,
  histogram: lowerHistogram,
  rotate: (cx, op) => (op.attrs.words === true ? lowerRotatedWords : lowerRotate)(cx, op),
  rotated_range: lowerRotatedRange,
  barrier: (cx) => {
    emitDeferred(cx);
    programBarrier(cx);
  },
  prefetch: lowerPrefetch,
  print: lowerPrint,
  check: lowerCheck,
  if: lowerIf,
  while: lowerWhile,
  // The operations around them read these.
  condition: () => {},
  yield: () => {},
  fence: (cx) => {
    cx.emitter.emit("fence.acq_rel.gpu", []);
    programBarrier(cx);
  },
  leave: lowerLeave,
  return: () => {},
};

function special(
  cx: LowerContext,
  op: OpOf<"program_id" | "num_programs" | "block_id" | "num_blocks">,
  name: string,
  axisNumber: number,
): void {
  const axis = ofAxis(["x", "y", "z"], axisNumber);
  cx.values.set(
    resultOf(op),
    memo(
      cx,
      () => cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: `${name}.${axis}` }]),
    ),
  );
}
