/**
 * Tile IR to PTX: lays a function out, orders its memory operations, and emits one entry. Rules are found by
 * operation in RULES; an operation without a rule is one the back end cannot compile yet.
 */
import type { Operand, PtxKernel } from "../ptx/func.ts";
import { dropDead } from "../ptx/drop_dead.ts";
import { renumber } from "../ptx/renumber.ts";
import { axisAnalysis, type AxisInfo } from "../tile/axis.ts";
import type { Func, Op, Region, Value } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import { bytesOf, type Element, isPointer } from "../ir/types.ts";
import type { Span } from "../support/source.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Target } from "../targets.ts";
import { must } from "../support/bug.ts";
import { assignLayouts } from "../layout/assign.ts";
import { axisShifts } from "../layout/linear.ts";
import {
  constantOperand,
  lowerBinary,
  lowerCompare,
  lowerScaled,
  lowerSelect,
  lowerUnary,
} from "./arithmetic.ts";
import {
  atRegister,
  type LowerContext,
  lowered,
  memo,
  SHARED_SYMBOL,
  threadBases,
} from "./context.ts";
import { conversionOf, hasBlockBarrier, lowerConvertLayout } from "./convert_layout.ts";
import { convertScalar, UnsupportedConversion } from "./convert.ts";
import { bankOf, whole } from "./element.ts";
import { Emitter, int } from "./emitter.ts";
import { lowerLoad, lowerStore } from "./memory.ts";
import { orderMemory } from "./order.ts";

/** Something the language has and this back end does not compile yet; becomes E7008. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(readonly what: string, readonly span: Span) {
    super(what);
  }
}

export interface LowerOptions {
  readonly target: Target;
  readonly numWarps: number;
  /** Entry name in the module. */
  readonly symbol: string;
  /** Receives the laid-out function. */
  readonly onLayout?: (func: Func) => void;
}

export interface LoweredKernel {
  readonly kernel: PtxKernel;
  readonly threads: number;
  /** Dynamic shared memory to ask for at launch; 0 when the entry's own variables hold it. */
  readonly sharedBytes: number;
}

type AxisFacts = (value: Value) => AxisInfo;
type Rule = (cx: LowerContext, op: Op, axisInfo: AxisFacts) => void;

const operand = (op: Op, index: number): Value =>
  must(op.operands[index], `operand ${index} of ${op.name}`);
const resultOf = (op: Op): Value => must(op.results[0], `result of ${op.name}`);

/** A rule that computes each element alone from the elements of the operands. */
function elementwise(compute: (e: Emitter, op: Op, operands: Operand[]) => Operand): Rule {
  return (cx, op) => {
    cx.values.set(
      resultOf(op),
      memo(
        cx.emitter,
        (register) =>
          compute(
            cx.emitter,
            op,
            op.operands.map((value) =>
              whole(cx.emitter, lowered(cx, value)(register), value.type.element)
            ),
          ),
      ),
    );
  };
}

const binary: Rule = elementwise((e, op, [a, b]) =>
  lowerBinary(e, op.name, operand(op, 0).type.element, must(a, "lhs"), must(b, "rhs"))
);
const compare: Rule = elementwise((e, op, [a, b]) =>
  lowerCompare(e, op.name, operand(op, 0).type.element, must(a, "lhs"), must(b, "rhs"))
);
const unary: Rule = elementwise((e, op, [a]) =>
  lowerUnary(e, op.name === "not" ? "not" : "neg", operand(op, 0).type.element, must(a, "operand"))
);

/** Shape operations rename: register r of the result is register r of the operand, whose layout was chosen so. */
const renamed: Rule = (cx, op) => {
  cx.values.set(resultOf(op), (register) => lowered(cx, operand(op, 0))(register));
};

/** 64-bit integers and pointers convert like uint64. */
const scalarName = (element: Element): ScalarName => isPointer(element) ? "uint64" : element;

/** One summand of a pointer tile, in elements. */
interface Term {
  readonly count: Value;
  readonly noCarry: boolean;
  /** Registers that see different values of it: terms with few go first, so that their sums are shared. */
  readonly variety: number;
}

function pointerTerms(value: Value, axisInfo: AxisFacts): { base: Value; terms: Term[] } {
  const def = value.def;
  const pointer = def?.operands[0];
  if (def === undefined || pointer === undefined) return { base: value, terms: [] };
  if (["splat", "broadcast", "expand_dims", "reshape", "permute"].includes(def.name)) {
    return pointerTerms(pointer, axisInfo);
  }
  if (def.name !== "offset" || bytesBehind(pointer) !== bytesBehind(value)) {
    return { base: value, terms: [] };
  }
  const count = operand(def, 1);
  const { base, terms } = pointerTerms(pointer, axisInfo);
  return {
    base,
    terms: [...terms, {
      count,
      noCarry: startsAligned(count, axisInfo(count)),
      variety: variety(count, axisInfo(count)),
    }],
  };
}

function bytesBehind(pointer: Value): number {
  const element = pointer.type.element;
  return isPointer(element) ? bytesOf(element.pointee) : 1;
}

/** The value varies along one axis only, there as a single run that starts at a multiple of its length. */
function startsAligned(value: Value, info: AxisInfo): boolean {
  const varying = value.type.shape.flatMap((extent, axis) =>
    (info.constancy[axis] ?? 1) < extent ? [axis] : []
  );
  const [axis] = varying;
  if (axis === undefined || varying.length > 1) return false;
  const extent = value.type.shape[axis] ?? 1;
  return (info.contiguity[axis] ?? 1) >= extent && (info.divisibility[axis] ?? 1) >= extent;
}

function variety(value: Value, info: AxisInfo): number {
  const layout = value.type.layout;
  if (layout === undefined || startsAligned(value, info)) return 0;
  const shifts = axisShifts(layout.shape);
  const moving = layout.shape.reduce(
    (mask, extent, axis) =>
      (info.constancy[axis] ?? 1) >= extent ? mask : mask | ((extent - 1) << (shifts[axis] ?? 0)),
    0,
  );
  return layout.register.filter((basis) => (basis & moving) !== 0).length;
}

const lowerOffset: Rule = (cx, op, axisInfo) => {
  const result = resultOf(op);
  const { base, terms } = pointerTerms(result, axisInfo);
  const sorted = [...terms].sort((a, b) => a.variety - b.variety);
  const bytes = bytesBehind(result);
  cx.values.set(
    result,
    memo(cx.emitter, (register) => {
      const e = cx.emitter;
      return sorted.reduce<Operand>((pointer, { count, noCarry }) => {
        const element = count.type.element;
        const elements = whole(e, lowered(cx, count)(register), element);
        return e.add("b64", pointer, lowerScaled(e, elements, element, bytes, noCarry));
      }, whole(e, lowered(cx, base)(register), base.type.element));
    }),
  );
};

const RULES: Partial<Record<TileOp, Rule>> = {
  constant: (cx, op) => {
    const value = op.attrs.value;
    const number = typeof value === "bigint" || typeof value === "number" ? value : Number(value);
    const constant = constantOperand(number, resultOf(op).type.element);
    cx.values.set(resultOf(op), () => constant);
  },
  program_id: (cx, op) => special(cx, op, "ctaid"),
  num_programs: (cx, op) => special(cx, op, "nctaid"),
  range: (cx, op) => {
    const layout = must(resultOf(op).type.layout, "layout of a range");
    const lo = BigInt(
      typeof op.attrs.lo === "bigint" || typeof op.attrs.lo === "number" ? op.attrs.lo : 0,
    );
    const element = resultOf(op).type.element;
    cx.values.set(
      resultOf(op),
      memo(cx.emitter, (register) => {
        const { base, constant } = atRegister(cx, {
          register: layout.register,
          thread: threadBases(layout),
        }, register);
        const index = cx.emitter.add("b32", cx.emitter.add("b32", base, int(constant)), int(lo));
        return convertScalar(cx.emitter, index, "int32", scalarName(element));
      }),
    );
  },
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
  convert: elementwise((e, op, [a]) => {
    const [from, to] = [
      scalarName(operand(op, 0).type.element),
      scalarName(resultOf(op).type.element),
    ];
    try {
      return convertScalar(e, must(a, "operand"), from, to);
    } catch (error) {
      if (error instanceof UnsupportedConversion) {
        throw new Unsupported(`the conversion from ${error.message} on ${e.target.name}`, op.span);
      }
      throw error;
    }
  }),
  bitcast: elementwise((e, op, [a]) => {
    const [from, to] = [bankOf(operand(op, 0).type.element), bankOf(resultOf(op).type.element)];
    const source = e.inRegister(must(a, "operand"), from);
    if (from === to) return source;
    return to === "b16"
      ? e.pure("cvt.u16.u32", "b16", [source])
      : e.pure("cvt.u32.u16", "b32", [source]);
  }),
  assume_multiple: renamed,
  offset: lowerOffset,
  difference: elementwise((e, op, [a, b]) => {
    const bytes = e.pure("sub.s64", "b64", [e.inRegister(must(a, "lhs"), "b64"), must(b, "rhs")]);
    return e.pure("shr.s64", "b64", [bytes, int(Math.log2(bytesBehind(operand(op, 0))))]);
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
  barrier: (cx) => cx.emitter.emit("bar.sync", [int(0)]),
  return: () => {},
};
for (
  const name of [
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "min",
    "max",
    "and",
    "or",
    "xor",
    "shl",
    "shr",
  ] as const
) RULES[name] = binary;
for (const name of ["lt", "le", "gt", "ge", "eq", "ne"] as const) RULES[name] = compare;

function special(cx: LowerContext, op: Op, name: string): void {
  const axis = "xyz"[typeof op.attrs.axis === "number" ? op.attrs.axis : 0] ?? "x";
  cx.values.set(
    resultOf(op),
    memo(
      cx.emitter,
      () => cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: `${name}.${axis}` }]),
    ),
  );
}

/** PTX type of a kernel parameter; the argument block packs them at natural alignment. */
function paramType(element: Element): string {
  if (isPointer(element)) return "u64";
  if (element === "bool") return "u8";
  const { class: kind, bits, signed } = SCALARS[element];
  if (kind === "float") return bits >= 32 ? `f${bits}` : `b${bits}`;
  return `${signed ? "s" : "u"}${bits}`;
}

function lowerParam(cx: LowerContext, param: Value, name: string): void {
  const element = param.type.element;
  cx.values.set(
    param,
    memo(cx.emitter, () => {
      const e = cx.emitter;
      const address: Operand = { kind: "address", base: { kind: "symbol", name }, offset: 0n };
      if (element === "bool") {
        const byte = e.pure("ld.param.u8", "b32", [address]);
        return e.pure("setp.ne.b32", "pred", [byte, int(0)]);
      }
      const bank = bankOf(element);
      const narrow = !isPointer(element) && SCALARS[element].class === "int"
        ? paramType(element)
        : bank;
      const loaded = e.pure(`ld.param.${narrow}`, bank, [address]);
      return isPointer(element) ? e.pure("cvta.to.global.u64", "b64", [loaded]) : loaded;
    }),
  );
}

/** Operations of a function that no rule compiles; empty when it can be lowered. */
export function unsupportedOps(func: Func): Op[] {
  const found: Op[] = [];
  const visit = (region: Region): void => {
    for (const op of region.ops) {
      if (RULES[op.name] === undefined) found.push(op);
      op.regions.forEach(visit);
    }
  };
  visit(func.body);
  return found;
}

/** Static shared memory that an entry may declare (PTX ISA, `.shared`); more must be dynamic. */
const STATIC_SHARED_BYTES = 48 * 1024;

/** Lowers one function for one target. Throws {@linkcode Unsupported} for what cannot be compiled yet. */
export function lowerFunc(func: Func, options: LowerOptions): LoweredKernel {
  const missing = unsupportedOps(func)[0];
  if (missing !== undefined) throw new Unsupported(`\`${missing.name}\``, missing.span);
  const axisInfo = axisAnalysis(func);
  const laidOut = assignLayouts(func, { numWarps: options.numWarps, axisInfo });
  orderMemory(laidOut, hasBlockBarrier);
  options.onLayout?.(laidOut);

  const emitter = new Emitter(options.target);
  const cx: LowerContext = {
    emitter,
    numWarps: options.numWarps,
    values: new Map(),
    shared: { bytes: 0, used: false },
    loaded: { registers: 0 },
  };
  const params = laidOut.params.map((param, i) => {
    const name = `${options.symbol}_param_${i}`;
    lowerParam(cx, param, name);
    return { name, type: paramType(param.type.element) };
  });
  const laidOutAxisInfo = axisAnalysis(laidOut);
  for (const op of laidOut.body.ops) {
    must(RULES[op.name], `rule for ${op.name}`)(cx, op, laidOutAxisInfo);
  }
  emitter.emit("ret", []);

  const live = renumber(dropDead(emitter.body));
  const threads = 32 * options.numWarps;
  const dynamic = cx.shared.bytes > STATIC_SHARED_BYTES;
  if (cx.shared.bytes > options.target.sharedBytesPerBlock) {
    const at = must(
      laidOut.body.ops.find((op) =>
        op.name === "convert_layout" && conversionOf(op).kind === "shared"
      ),
      "exchange",
    );
    throw new Unsupported(
      `a tile that needs ${cx.shared.bytes} bytes of shared memory (${options.target.name} has ${options.target.sharedBytesPerBlock})`,
      at.span,
    );
  }
  return {
    kernel: {
      name: options.symbol,
      params,
      directives: [{ name: "reqntid", values: [threads, 1, 1] }, ...occupancy(cx, threads)],
      registers: live.registers,
      variables: cx.shared.bytes === 0 ? [] : [
        dynamic
          ? { space: "shared", name: SHARED_SYMBOL, type: "b8", align: 16, count: 0, extern: true }
          : { space: "shared", name: SHARED_SYMBOL, type: "b8", align: 16, count: cx.shared.bytes },
      ],
      body: live.body,
    },
    threads,
    sharedBytes: dynamic ? cx.shared.bytes : 0,
  };
}

/** Registers a thread needs beside the elements it loads: addresses, masks, indices. */
const SPARE_REGISTERS = 48;
const REGISTERS_PER_SM = 65536;

/**
 * `.minnctapersm`: without an occupancy target ptxas saves registers by interleaving loads with their uses, which
 * halves the bytes in flight; with one too high it spills. 512 threads an SM leave 128 registers each, enough to
 * keep 16 KiB of a float tile in flight per block.
 */
function occupancy(cx: LowerContext, threads: number): { name: string; values: number[] }[] {
  const { target } = cx.emitter;
  const byShared = cx.shared.bytes === 0
    ? target.blocksPerSm
    : Math.floor(target.sharedBytesPerSm / (cx.shared.bytes + 1024));
  const byRegisters = Math.floor(
    REGISTERS_PER_SM / (threads * (cx.loaded.registers + SPARE_REGISTERS)),
  );
  const blocks = Math.max(
    1,
    Math.min(Math.floor(512 / threads), byShared, byRegisters, target.blocksPerSm),
  );
  return [{ name: "minnctapersm", values: [blocks] }];
}
