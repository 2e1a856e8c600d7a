/** Random PTX modules with everything that a module can have. */
import fc from "../property.ts";
import type {
  Instruction,
  Item,
  Operand,
  PtxCode,
  PtxDirective,
  PtxFormal,
  PtxFunction,
  PtxKernel,
  PtxModule,
  PtxParam,
  PtxVariable,
  Register,
} from "../../../compiler/ptx/func.ts";
import { forEachRegister } from "../../../compiler/ptx/operand.ts";
import { anySample } from "./ptx_samples.ts";

/** What guards instructions. */
const GUARD: Register = { kind: "register", type: "pred", name: "guard" };

/** Changes what any operand may have: an offset, or a sink instead of a destination that is first. */
const anyOperandChange: fc.Arbitrary<(operand: Operand, i: number) => Operand> = fc.record({
  offset: fc.bigInt({ min: -4096n, max: 4096n }),
  sinks: fc.boolean(),
}).map(({ offset, sinks }) => (operand, i) => {
  if (operand.kind === "address") return { ...operand, offset };
  if (operand.kind === "pair" && sinks && i === 0) return { ...operand, first: { kind: "sink" } };
  return operand;
});

const anyInstruction: fc.Arbitrary<Instruction> = fc.record({
  sample: anySample,
  change: anyOperandChange,
  guard: fc.option(fc.boolean(), { nil: undefined }),
}).map(({ sample, change, guard }) => ({
  ...sample,
  operands: sample.operands.map(change),
  ...(guard === undefined ? {} : { guard: { register: GUARD, negated: guard } }),
}));

const anyLocation = fc.record({ file: fc.constant(1), line: fc.nat(9999), column: fc.nat(99) });
const text = fc.stringMatching(/^[ -!#-~]{0,20}$/);
const mangled = fc.stringMatching(/^_Z[a-z0-9]{1,9}$/);

const anyLoc: fc.Arbitrary<Item> = fc.tuple(
  anyLocation,
  fc.option(fc.record({ function: mangled, location: anyLocation }), { nil: undefined }),
).map(([location, inlined]) => ({
  kind: "loc",
  ...location,
  ...(inlined === undefined
    ? {}
    : { inlined: { function: inlined.function, ...inlined.location } }),
}));

const anyItem: fc.Arbitrary<Item> = fc.oneof(
  { weight: 8, arbitrary: anyInstruction },
  anyLoc,
  fc.record({ kind: fc.constant("comment" as const), text }),
  fc.record({ kind: fc.constant("pragma" as const), text }),
);

/** Variables of all modules, so that initial values can mention them. */
const TARGET: PtxVariable = { space: "global", name: "target", type: "b64" };

type Initial = NonNullable<PtxVariable["initial"]>[number];

const anyReference = fc.record({
  symbol: fc.constant(TARGET.name),
  offset: fc.bigInt({ min: -8n, max: 8n }),
  generic: fc.boolean(),
});
const anyBits = (count: number): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: 0n, max: (1n << BigInt(count)) - 1n });
/** Types with what may be their initial values. */
const INITIALS: Readonly<Record<string, fc.Arbitrary<Initial>>> = {
  b8: fc.oneof(
    anyBits(8),
    fc.tuple(anyReference, fc.constantFrom(0xffn, 0xff00n, 0xff000000000000n))
      .map(([reference, mask]) => ({ ...reference, mask })),
  ),
  u16: anyBits(16),
  s32: fc.bigInt({ min: -(1n << 31n), max: (1n << 31n) - 1n }),
  b64: fc.oneof(anyBits(64), anyReference),
  f32: anyBits(32),
  f64: anyBits(64),
};

const anyType = fc.constantFrom(...Object.keys(INITIALS));
const word = fc.stringMatching(/^[a-z][a-z0-9_$]{0,5}$/);

const LINKAGES: readonly Pick<PtxVariable, "visible" | "weak" | "common">[] = [
  {},
  { visible: true },
  { visible: true, weak: true },
];

const anyVariable: fc.Arbitrary<PtxVariable> = anyType.chain((type) => {
  const initial = fc.array(INITIALS[type] ?? fc.constant(0n), { minLength: 1, maxLength: 3 });
  const declared = fc.record({
    space: fc.constantFrom("shared", "global", "const"),
    name: word.map((name) => `v_${name}`),
    type: fc.constant(type),
    align: fc.constantFrom(1, 4, 16),
    count: fc.integer({ min: 3, max: 9 }),
    initial,
    attributes: fc.constantFrom(["managed"], ["unified(1, 2)"], ["managed", "unified(3, 4)"]),
  }, { requiredKeys: ["space", "name", "type"] });
  return fc.tuple(declared, fc.constantFrom(...LINKAGES)).map((
    [{ initial, ...variable }, linkage],
  ) => ({
    ...variable,
    ...linkage,
    ...(initial === undefined
      ? {}
      : { initial: variable.count === undefined ? initial.slice(0, 1) : initial }),
  }));
});

const anyLocal = fc.record({
  space: fc.constantFrom("local", "shared", "param"),
  name: word.map((name) => `l_${name}`),
  type: anyType,
  align: fc.constantFrom(4, 16),
  count: fc.integer({ min: 1, max: 9 }),
}, { requiredKeys: ["space", "name", "type"] });

const anyParam: fc.Arbitrary<PtxParam> = fc.oneof(
  fc.record({
    name: word.map((name) => `p_${name}`),
    type: anyType,
    align: fc.constantFrom(4, 16),
  }, { requiredKeys: ["name", "type"] }),
  fc.record({
    name: word.map((name) => `p_${name}`),
    type: fc.constant("b8"),
    bytes: fc.integer({ min: 1, max: 99 }),
    align: fc.constantFrom(4, 16),
  }, { requiredKeys: ["name", "type", "bytes"] }),
);
const anyPointer: fc.Arbitrary<PtxParam> = fc.record({
  name: word.map((name) => `q_${name}`),
  type: fc.constant("u64"),
  pointer: fc.record({
    space: fc.constantFrom("global", "shared", "const", "local"),
    align: fc.constantFrom(1, 16),
  }, { requiredKeys: [] }),
});

const named = { selector: ({ name }: { readonly name: string }): string => name, maxLength: 3 };

/** Registers that items mention, each once, in the order in which the printer declares them. */
function registersOf(items: readonly Item[]): Register[] {
  const found = new Map<string, Register>([[GUARD.name, GUARD]]);
  for (const item of items) {
    if (item.kind !== "instruction") continue;
    item.operands.forEach((operand) => forEachRegister(operand, (r) => found.set(r.name, r)));
  }
  return sortedRegisters([...found.values()]);
}

/** In one order, as the printer groups declarations. */
export function sortedRegisters(registers: readonly Register[]): Register[] {
  return registers.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** The labels and the variable that instructions of the table mention. */
const FRAME: readonly Item[] = [
  { kind: "label", name: "LABEL" },
  { kind: "targets", name: "LIST", labels: ["LABEL"] },
];
const ARGUMENT: PtxVariable = {
  space: "param",
  name: "ARGUMENT",
  type: "b8",
  align: 16,
  count: 32,
};

const anyCode: fc.Arbitrary<PtxCode> = fc.record({
  variables: fc.uniqueArray(anyLocal, named),
  items: fc.array(anyItem, { maxLength: 12 }),
}).map(({ variables, items }) => {
  const body = [...FRAME, ...items];
  return { registers: registersOf(body), variables: [...variables, ARGUMENT], body };
});

const anyDirectives: fc.Arbitrary<PtxDirective[]> = fc.constantFrom(
  [],
  [{ name: "reqntid", values: [128, 1, 1] }, { name: "explicitcluster", values: [] }],
  [{ name: "maxntid", values: [64] }, { name: "minnctapersm", values: [2] }],
);

const anyKernel: fc.Arbitrary<PtxKernel> = fc.record({
  name: word.map((name) => `k_${name}`),
  params: fc.uniqueArray(fc.oneof(anyParam, anyPointer), named),
  directives: anyDirectives,
  code: anyCode,
  weak: fc.boolean(),
}).map(({ code, weak, ...kernel }) => ({ ...kernel, ...code, ...(weak ? { weak } : {}) }));

const anyFormal: fc.Arbitrary<PtxFormal> = fc.oneof(
  anyParam.map((param): PtxFormal => ({ kind: "param", ...param })),
  fc.record({
    kind: fc.constant("register" as const),
    type: fc.constantFrom("b32", "f64", "pred", "f16x2"),
    name: word.map((name) => `f_${name}`),
  }),
);

const anyFunction: fc.Arbitrary<PtxFunction> = fc.record({
  name: word.map((name) => `f_${name}`),
  formals: fc.uniqueArray(anyFormal, { ...named, maxLength: 4 }),
  results: fc.nat(1),
  directives: fc.constantFrom([], [{ name: "abi_preserve", values: [4] }]),
  linkage: fc.constantFrom({}, { visible: true }, { visible: true, weak: true }, { extern: true }),
  code: fc.option(anyCode, { nil: undefined }),
}).map(({ name, formals, results, directives, linkage, code }) => ({
  name,
  returns: formals.slice(0, results),
  params: formals.slice(results),
  directives,
  ...linkage,
  ...(code === undefined ? {} : { code }),
}));

/** Modules that parse to themselves. */
export const anyModule: fc.Arbitrary<PtxModule> = fc.record({
  version: fc.integer({ min: 60, max: 90 }),
  target: fc.constantFrom("sm_75", "sm_90a", "sm_120, texmode_independent"),
  addressSize: fc.constant(32 as const),
  files: fc.constant(["a.cu"]),
  pragmas: fc.constantFrom(["nounroll"], ["a", "b c"]),
  variables: fc.uniqueArray(anyVariable, named).map((variables) => [TARGET, ...variables]),
  functions: fc.uniqueArray(anyFunction, named),
  kernels: fc.uniqueArray(anyKernel, named),
}, { requiredKeys: ["version", "target", "files", "variables", "functions", "kernels"] });
