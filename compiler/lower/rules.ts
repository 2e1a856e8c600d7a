/** RULES: how each operation of the tile IR becomes PTX. */
import type { Operand } from "../ptx/func.ts";
import { intAttr, scalarAttr, stringAttr } from "../ir/attrs.ts";
import type { Op } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { must } from "../support/bug.ts";
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
import { emitAside, lowered, memo } from "./values.ts";
import { threadBases } from "../linear/threads.ts";
import { lowerIf, lowerWhile } from "./control.ts";
import { lowerConvertLayout } from "./convert_layout.ts";
import { convertScalar } from "./convert.ts";
import { whole } from "./element.ts";
import { type Emitter, int } from "./emitter.ts";
import { lowerDot } from "./dot.ts";
import { lowerCheck } from "./check.ts";
import { lowerLoad, lowerPrefetch, lowerStore } from "./memory.ts";
import { lowerPrint } from "./print.ts";
import { bitcastElement } from "./bitcast.ts";
import { lowerAtomic, lowerAtomicCas } from "./atomic.ts";
import { lowerExchange, lowerGather, lowerHistogram } from "./exchange.ts";
import { lowerMath } from "./math.ts";
import { lowerReduce } from "./reduce.ts";
import { lowerRotate, lowerRotatedRange } from "./rotate.ts";
import { lowerScan } from "./scan.ts";
import { lowerOffset } from "./pointers.ts";
import { pointeeBytes } from "../layout/anchors.ts";
import { equalRegisters, operand, resultOf, type Rule } from "./rule.ts";
import {
  lowerAsyncCopy,
  lowerCommitGroup,
  lowerLocalLoad,
  lowerLocalLoadSlice,
  lowerLocalStore,
  lowerWaitGroup,
} from "./shared_buffer.ts";

/** A rule that computes each element alone from the elements of the operands. */
function elementwise(compute: (e: Emitter, op: Op, operands: Operand[]) => Operand): Rule {
  return (cx, op) => {
    cx.values.set(
      resultOf(op),
      memo(cx, (register) =>
        compute(
          cx.emitter,
          op,
          op.operands.map((value) =>
            whole(cx.emitter, lowered(cx, value)(register), value.type.element)
          ),
        )),
    );
  };
}

const binary: Rule = elementwise((e, op, [a, b]) =>
  lowerBinary(e, op.name, operand(op, 0).type.element, must(a, "lhs"), must(b, "rhs"))
);
const compareEach: Rule = elementwise((e, op, [a, b]) =>
  lowerCompare(e, op.name, operand(op, 0).type.element, must(a, "lhs"), must(b, "rhs"))
);
/** Bounds that are multiples of a vector decide for all its elements at once. */
const compare: Rule = (cx, op, axisInfo) => {
  compareEach(cx, op, axisInfo);
  const result = resultOf(op);
  const each = lowered(cx, result);
  const equal = equalRegisters(result.type.layout, axisInfo(result));
  if (equal !== 0) cx.values.set(result, (register) => each(register & ~equal));
};
const unary: Rule = elementwise((e, op, [a]) =>
  lowerUnary(e, op.name === "not" ? "not" : "neg", operand(op, 0).type.element, must(a, "operand"))
);

/** Shape operations rename: register r of the result is register r of the operand, whose layout was chosen so. */
const renamed: Rule = (cx, op) => {
  cx.values.set(resultOf(op), (register) => lowered(cx, operand(op, 0))(register));
};

/** 64-bit integers and pointers convert like uint64. */
const scalarName = (element: Element): ScalarName => isPointer(element) ? "uint64" : element;

export const RULES: Readonly<Record<TileOp, Rule>> = {
  constant: (cx, op) => {
    const constant = constantOperand(scalarAttr(op, "value"), resultOf(op).type.element);
    cx.values.set(resultOf(op), () => constant);
  },
  constant_buffer: (cx, op) => {
    const name = stringAttr(op, "buffer");
    cx.constants.set(name, intAttr(op, "bytes"));
    const place: Operand = { kind: "symbol", name };
    cx.values.set(resultOf(op), memo(cx, () => cx.emitter.pure("mov.u64", "b64", [place])));
  },
  program_id: (cx, op) => special(cx, op, "ctaid"),
  num_programs: (cx, op) => special(cx, op, "nctaid"),
  range: (cx, op) => {
    const layout = must(resultOf(op).type.layout, "layout of a range");
    const lo = BigInt(scalarAttr(op, "lo"));
    const element = resultOf(op).type.element;
    cx.values.set(
      resultOf(op),
      memo(cx, (register) => {
        const { base, constant } = atRegister(cx, {
          register: layout.register,
          thread: threadBases(layout),
        }, register);
        const index = cx.emitter.add("b32", cx.emitter.add("b32", base, int(constant)), int(lo));
        return convertScalar(cx.emitter, index, "int32", scalarName(element));
      }),
    );
  },
  add: binary,
  sub: binary,
  mul: binary,
  div: binary,
  rem: binary,
  min: binary,
  max: binary,
  and: binary,
  or: binary,
  xor: binary,
  shl: binary,
  shr: binary,
  lt: compare,
  le: compare,
  gt: compare,
  ge: compare,
  eq: compare,
  ne: compare,
  neg: unary,
  not: unary,
  select: elementwise((e, op, [c, a, b]) =>
    lowerSelect(
      e,
      resultOf(op).type.element,
      must(c, "condition"),
      must(a, "then"),
      must(b, "else"),
    )
  ),
  convert: elementwise((e, op, [a]) =>
    convertScalar(
      e,
      must(a, "operand"),
      scalarName(operand(op, 0).type.element),
      scalarName(resultOf(op).type.element),
    )
  ),
  bitcast: elementwise((e, op, [a]) =>
    bitcastElement(e, must(a, "operand"), operand(op, 0).type.element, resultOf(op).type.element)
  ),
  assume_multiple: renamed,
  offset: lowerOffset,
  difference: elementwise((e, op, [a, b]) => {
    const bytes = e.pure("sub.s64", "b64", [e.inRegister(must(a, "lhs"), "b64"), must(b, "rhs")]);
    return e.pure("shr.s64", "b64", [bytes, int(Math.log2(pointeeBytes(operand(op, 0))))]);
  }),
  splat: (cx, op) => {
    cx.values.set(resultOf(op), () => lowered(cx, operand(op, 0))(0));
  },
  expand_dims: renamed,
  broadcast: renamed,
  reshape: renamed,
  permute: renamed,
  load: lowerLoad,
  store: lowerStore,
  convert_layout: lowerConvertLayout,
  dot: lowerDot,
  // The operations that use a buffer read it.
  shared_buffer: () => {},
  async_copy: lowerAsyncCopy,
  commit_group: lowerCommitGroup,
  wait_group: lowerWaitGroup,
  local_store: lowerLocalStore,
  local_load: lowerLocalLoad,
  local_load_slice: lowerLocalLoadSlice,
  math: lowerMath,
  atomic: lowerAtomic,
  atomic_cas: lowerAtomicCas,
  reduce: lowerReduce,
  scan: lowerScan,
  exchange: lowerExchange,
  gather: lowerGather,
  histogram: lowerHistogram,
  rotate: lowerRotate,
  rotated_range: lowerRotatedRange,
  barrier: (cx) => {
    emitAside(cx);
    cx.emitter.emit("bar.sync", [int(0)]);
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
    cx.emitter.emit("bar.sync", [int(0)]);
  },
  return: () => {},
};
function special(cx: LowerContext, op: Op, name: string): void {
  const axis = must("xyz"[intAttr(op, "axis")], "axis of the grid");
  cx.values.set(
    resultOf(op),
    memo(
      cx,
      () => cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: `${name}.${axis}` }]),
    ),
  );
}
