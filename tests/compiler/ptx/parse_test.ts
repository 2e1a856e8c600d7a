import fc from "../../support/property.ts";
import type {
  Instruction,
  Item,
  PtxKernel,
  PtxModule,
  PtxVariable,
  Register,
  RegisterType,
} from "../../../compiler/ptx/func.ts";
import { parsePtx, PtxSyntaxError } from "../../../compiler/ptx/parse.ts";
import { printModule } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { readRecorded } from "../../support/recorded.ts";
import { allSamples, sampleModule } from "../../support/emulator/ptx_samples.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";

const HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";

/** A module around statements, with some registers declared. */
const inKernel = (body: string): string =>
  `${HEAD}.visible .entry k(.param .u64 p) {\n.reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<3>;\n${body}\n}`;

function kernelOf(text: string): PtxKernel {
  return must(parsePtx(text).kernels[0], "kernel");
}

/** The items that statements become, without the declarations around them. */
function itemsOf(body: string): readonly Item[] {
  return kernelOf(inKernel(body)).body;
}

function instructionOf(text: string): Instruction {
  const [item] = itemsOf(text);
  if (item?.kind !== "instruction") throw new Error(`no instruction in ${text}`);
  return item;
}

function assertReadsBack(module: PtxModule): void {
  const text = printModule(module);
  assertEquals(printModule(parsePtx(text)), text);
}

function errorOf(text: string): PtxSyntaxError {
  try {
    parsePtx(text);
  } catch (error) {
    if (error instanceof PtxSyntaxError) return error;
    throw error;
  }
  throw new Error(`no error in ${text}`);
}

Deno.test("parsePtx() reads the header, files and targets", () => {
  const module = parsePtx(
    '.version 7.4\n.target sm_90a, debug\n.address_size 64\n.file 2 "b.cu", 17, 4\n.file 1 "a.cu"\n',
  );
  assertEquals([module.version, module.target, module.files], [74, "sm_90a, debug", [
    "a.cu",
    "b.cu",
  ]]);
});

Deno.test("parsePtx() splits mnemonics at the name of their row", () => {
  const parts = (text: string): unknown => {
    const { opcode, modifiers } = instructionOf(text);
    return [opcode, modifiers];
  };
  assertEquals(parts("ld.global.L1::no_allocate.v2.b32 {%r1, %r2}, [%rd1];"), [
    "ld",
    ["global", "L1::no_allocate", "v2", "b32"],
  ]);
  assertEquals(parts("bar.warp.sync -1;"), ["bar.warp.sync", []]);
  assertEquals(parts("bar.sync 0;"), ["bar", ["sync"]]);
  assertEquals(parts("cp.async.wait_group 2;"), ["cp.async.wait_group", []]);
  assertEquals(parts("future.op.b32 %r1;"), ["future", ["op", "b32"]]);
});

Deno.test("parsePtx() reads operands of every kind", () => {
  const operands = (text: string): unknown => instructionOf(`op.b32 ${text};`).operands;
  const r = (name: string): Register => ({ kind: "register", type: "b32", name });
  assertEquals(operands("%r1, -5, 0x1F, 0b11, 017, 4294967295U"), [
    r("r1"),
    ...[-5n, 31n, 3n, 15n, 4294967295n].map((value) => ({ kind: "integer", value })),
  ]);
  assertEquals(operands("0f3F800000, 0d3FF0000000000000, 1.5, -0.5, 1e3"), [
    { kind: "float", type: "f32", bits: 0x3f800000n },
    { kind: "float", type: "f64", bits: 0x3ff0000000000000n },
    { kind: "float", type: "f64", bits: 0x3ff8000000000000n },
    { kind: "float", type: "f64", bits: 0xbfe0000000000000n },
    { kind: "float", type: "f64", bits: 0x408f400000000000n },
  ]);
  assertEquals(operands("%tid.x, %lanemask_lt, WARP_SZ, p, _"), [
    { kind: "special", name: "tid.x" },
    { kind: "special", name: "lanemask_lt" },
    { kind: "integer", value: 32n },
    { kind: "symbol", name: "p" },
    { kind: "sink" },
  ]);
  assertEquals(operands("{%r1, _, 0}, %r1|%p1, !%p1"), [
    { kind: "vector", elements: [r("r1"), { kind: "sink" }, { kind: "integer", value: 0n }] },
    { kind: "pair", first: r("r1"), second: { kind: "register", type: "pred", name: "p1" } },
    { kind: "negated", operand: { kind: "register", type: "pred", name: "p1" } },
  ]);
});

Deno.test("parsePtx() reads addresses with every kind of offset", () => {
  const address = (text: string): unknown => instructionOf(`op ${text};`).operands[0];
  const base = { kind: "register", type: "b64", name: "rd1" };
  assertEquals(address("[%rd1]"), { kind: "address", base, offset: 0n });
  assertEquals(address("[%rd1+16]"), { kind: "address", base, offset: 16n });
  assertEquals(address("[%rd1+-16]"), { kind: "address", base, offset: -16n });
  assertEquals(address("[%rd1-16+4]"), { kind: "address", base, offset: -12n });
  assertEquals(address("[p+8]"), {
    kind: "address",
    base: { kind: "symbol", name: "p" },
    offset: 8n,
  });
  assertEquals(address("[64]"), { kind: "address", offset: 64n });
  assertEquals(address("[%rd1, {%r1, %r2}]"), {
    kind: "address",
    base,
    offset: 0n,
    coordinates: {
      kind: "vector",
      elements: ["r1", "r2"].map((name) => ({ kind: "register", type: "b32", name })),
    },
  });
});

Deno.test("parsePtx() reads guards, labels, jump tables, pragmas, comments and locations", () => {
  const items = itemsOf(`
    // first
    .loc 1 5 3
    .loc 1 6 1, function_name $L__info_string0+4, inlined_at 1 5 3
    $L__top: @!%p1 bra $L__top; /* gone */
    .pragma "nounroll";
    list: .branchtargets $L__top, done;
    @%p2 brx.idx %r1, list;
    done:
    ret;
    // last`);
  assertEquals(items.map((item) => item.kind), [
    "comment",
    "loc",
    "loc",
    "label",
    "instruction",
    "pragma",
    "targets",
    "instruction",
    "label",
    "instruction",
    "comment",
  ]);
  assertEquals(items[0], { kind: "comment", text: "first" });
  assertEquals(items[2], {
    kind: "loc",
    file: 1,
    line: 6,
    column: 1,
    inlined: { function: "", file: 1, line: 5, column: 3 },
  });
  assertEquals(items[6], { kind: "targets", name: "list", labels: ["$L__top", "done"] });
  assertReadsBack(parsePtx(inKernel(".loc 1 5 3\n// x\nlist: .branchtargets list2;\nlist2: ret;")));
});

Deno.test("parsePtx() reads parameters and directives of kernels", () => {
  const kernel = kernelOf(`${HEAD}
    .weak .entry k(
      .param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24], .param .f32 c
    ) .maxntid 256, 1, 1 .minnctapersm 2
    .explicitcluster .reqnctapercluster 2 { ret; }`);
  assertEquals(kernel.params, [
    { name: "a", type: "u64", pointer: { space: "global", align: 16 } },
    { name: "b", type: "b8", bytes: 24, align: 8 },
    { name: "c", type: "f32" },
  ]);
  assertEquals(kernel.directives, [
    { name: "maxntid", values: [256, 1, 1] },
    { name: "minnctapersm", values: [2] },
    { name: "explicitcluster", values: [] },
    { name: "reqnctapercluster", values: [2] },
  ]);
});

Deno.test("parsePtx() reads variables with initial values of every kind", () => {
  const text = `${HEAD}
.visible .global .align 4 .b32 table[2][2] = {1, -2, 0x10};
.const .f32 one = 1.0;
.const .align 8 .f64 halves[2] = {0.5, 0d3FE0000000000000};
.global .align 8 .u64 pointers[3] = {table, table+4, generic(table+8)};
.global .align 1 .b8 name[] = {104, 105, 0};
.extern .shared .align 16 .b8 dynamic[];
.global .u32 first, second = 7;
`;
  const module = parsePtx(text);
  const variable = (name: string): PtxVariable =>
    must(module.variables.find((v) => v.name === name), name);
  assertEquals([variable("table").count, variable("table").initial], [4, [1n, -2n, 16n]]);
  assertEquals(variable("one").initial, [0x3f800000n]);
  assertEquals(variable("halves").initial, [0x3fe0000000000000n, 0x3fe0000000000000n]);
  assertEquals(variable("pointers").initial?.[2], { symbol: "table", offset: 8n, generic: true });
  assertEquals([variable("name").count, variable("dynamic").count, variable("dynamic").extern], [
    3,
    0,
    true,
  ]);
  assertEquals([variable("first").initial, variable("second").initial], [undefined, [7n]]);
  assertReadsBack(module);
});

Deno.test("parsePtx() gives names of inner scopes that are taken another name", () => {
  const kernel = kernelOf(inKernel(`
    { .reg .pred q; .reg .b32 tid; mov.u32 tid, %tid.x; @q bra END; END: }
    { .reg .pred q; setp.eq.u32 q, %r1, 0; @q bra END; END: { .reg .pred q; @q bra END; } }`));
  assertEquals(kernel.registers.slice(-4).map(({ name }) => name), ["q", "tid_1", "q_1", "q_2"]);
  const text = printModule(
    parsePtx(inKernel("{ .reg .pred q; @q bra END; END: } { .reg .pred q; @q bra END; END: }")),
  );
  assertStringIncludes(text, "@%q bra END;\nEND:\n  @%q_1 bra END_1;\nEND_1:");
});

Deno.test("parsePtx() lets kernels hide variables of the module, as a whole", () => {
  const variables = (body: string): string[] => {
    const text = `${HEAD}.extern .shared .b8 tile[];\n.entry k() { .reg .b32 %r1; ${body} }`;
    return kernelOf(text).variables.map(({ name }) => name);
  };
  assertEquals(variables(".shared .b8 tile[16]; mov.u32 %r1, tile;"), ["tile"]);
  assertEquals(variables("mov.u32 %r1, tile; { .shared .b8 tile[16]; mov.u32 %r1, tile; }"), [
    "tile_1",
  ]);
});

Deno.test("PtxSyntaxError names the location, what was expected and what was found", () => {
  const error = errorOf(inKernel("add.s32 %r1, @, 1;"));
  assertEquals([error.line, error.column], [9, 14]);
  assertEquals(error.message, "line 9, column 14: expected an operand, found `@`");
});

Deno.test("parsePtx() reports what it cannot read, with its location", () => {
  const cases: readonly (readonly [text: string, line: number, expected: string])[] = [
    ["", 1, "`.version`"],
    [".version 8.0\n.target sm_80\n.address_size 16", 4, "an address size of 32 or 64"],
    [".version 12.10\n.target sm_80", 1, "a version such as 7.4"],
    [`${HEAD}.sreg .b32 x;`, 4, "a kernel, a function, a variable or another directive"],
    [`${HEAD}.func f() { ret; } .func f() { ret; }`, 4, "a name that is not declared yet"],
    [`${HEAD}.func f() .maxfoo { ret; }`, 4, "`;`, `{` or a directive of functions"],
    [`${HEAD}.func f(.reg .b32 a<4>);`, 4, "a single name"],
    [`${HEAD}.global .b32 a[2][] = {1};`, 4, "a positive number"],
    [`${HEAD}.global .b32 a[2][2] = {{1, 2, 3}};`, 4, "fewer values"],
    [`${HEAD}.entry k() .maxfoo 3 { }`, 4, "`{` or a directive of kernels that is supported"],
    [`${HEAD}.entry k() {`, 4, "`}`"],
    [inKernel("call (f;"), 9, "`)`"],
    [inKernel(".tex;"), 9, "a type"],
    [inKernel(".sreg .b64 a"), 10, "`;`"],
    [inKernel(", ret;"), 9, "an instruction, a label or a declaration that is supported"],
    [inKernel("{".repeat(300)), 9, "scopes that nest less deeply"],
    [inKernel(`mov.b32 %r1, ${"(".repeat(300)}1;`), 9, "an expression that is less deep"],
    [inKernel(`mov.b32 %r1, 1 ${"? 1 : 1 ".repeat(300)};`), 9, "an expression that is less deep"],
    [inKernel("mov.b32 %r1, 1 / 0;"), 9, "a constant value"],
    [inKernel("mov.b32 %r1, 1.0 % 2.0;"), 9, "a constant value"],
    [inKernel("mov.b32 %r1, ~1.0;"), 9, "an integer"],
    [inKernel("mov.f32 %f1, 0f3F800000 + 1.0;"), 9, "a double"],
    [inKernel("mov.b64 {{%r1, %r2}, %r3}, %rd1;"), 9, "an operand"],
    [inKernel("mov.b32 %r1, tile[3];"), 9, "an operand without an index"],
    [inKernel(".reg .b32 %x<9999999>;"), 9, "a number of at most"],
    [inKernel("ret"), 10, "an operand"],
    [inKernel("mov.b32 %r1, 08;"), 9, "a number"],
    [inKernel("mov.b32 %r1, 0xZ;"), 9, "a token of PTX"],
    [inKernel("mov.b32 %r1, ?;"), 9, "an operand"],
    [inKernel("mov.b32 %r1, `;"), 9, "a token of PTX"],
    [inKernel(".reg .b32 %r1;"), 9, "a name that is not declared yet"],
    [inKernel(".reg .v3 .f32 %v;"), 9, "a register type"],
    [inKernel("@%r7 ret;"), 9, "a declared register"],
    [inKernel("@p ret;"), 9, "a declared register"],
    [inKernel("x: x: ret;"), 9, "a label that is not there yet"],
    [`${HEAD}.global .b32 a; .global .b32 a;`, 4, "a name that is not declared yet"],
    [`${HEAD}.section .debug_str {`, 4, "`}`"],
  ];
  for (const [text, line, expected] of cases) {
    const error = errorOf(text);
    assert(error.expected.startsWith(expected), `${JSON.stringify(text)}: ${error.message}`);
    // What is missing at the end may be said to be on the line after.
    assert([line, line - 1].includes(error.line), `${JSON.stringify(text)}: ${error.message}`);
  }
});

Deno.test("parsePtx() ends with PtxSyntaxError on any part of a text", () => {
  const whole = readRecorded(new URL("nvcc/reduce.ptx", import.meta.url));
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(40), (start, length) => {
      const text = whole.slice(0, start) + whole.slice(start + length);
      try {
        parsePtx(text);
      } catch (error) {
        assert(error instanceof PtxSyntaxError, `${error}`);
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("printModule() and parsePtx() undo each other on every form of PTX_OPS", () => {
  const instructions = allSamples().map(({ instruction }) => instruction);
  assertReadsBack(sampleModule(instructions, 90, "sm_90a"));
});

const TYPES: readonly RegisterType[] = ["pred", "b16", "b32", "b64", "f32", "f64"];
const word = fc.stringMatching(/^[a-z][a-z0-9_$]{0,5}$/);

const anyVariable: fc.Arbitrary<PtxVariable> = fc.record({
  space: fc.constantFrom("shared", "global", "const", "local"),
  name: word,
  type: fc.constantFrom("b8", "b32", "u64", "f32", "f64"),
  align: fc.constantFrom(1, 4, 16),
  count: fc.integer({ min: 1, max: 9 }),
  initial: fc.array(fc.bigInt(0n, 0xffffffffn), { minLength: 1, maxLength: 3 }),
}).chain((variable) => {
  const { initial, count, ...single } = variable;
  return fc.constantFrom<PtxVariable[]>(variable, single, { ...single, count }, {
    ...single,
    initial: initial.slice(0, 1),
  });
});

/** Items that mention the given registers only. */
function anyItem(registers: readonly Register[]): fc.Arbitrary<Item> {
  const register = fc.constantFrom(...registers);
  const guard = fc.record({ register, negated: fc.boolean() });
  const operand = fc.oneof(
    register,
    fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n }).map((value) => ({
      kind: "integer" as const,
      value,
    })),
    fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((bits) => ({
      kind: "float" as const,
      type: "f32" as const,
      bits,
    })),
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map((bits) => ({
      kind: "float" as const,
      type: "f64" as const,
      bits,
    })),
    fc.record({
      kind: fc.constant("address" as const),
      base: register,
      offset: fc.bigInt({ min: -99n, max: 99n }),
    }),
    fc.record({
      kind: fc.constant("vector" as const),
      elements: fc.array(register, { minLength: 1, maxLength: 8 }),
    }),
    fc.record({ kind: fc.constant("pair" as const), first: register, second: register }),
    register.map((negated) => ({ kind: "negated" as const, operand: negated })),
  );
  const instruction = fc.record({
    kind: fc.constant("instruction" as const),
    opcode: fc.constantFrom("ld", "mad", "cp.async.wait_group", "unheard_of"),
    modifiers: fc.array(fc.constantFrom("global", "v4", "L2::cache_hint", "b32", "2d"), {
      maxLength: 4,
    }),
    operands: fc.array(operand, { maxLength: 4 }),
  });
  return fc.oneof(
    instruction,
    fc.tuple(instruction, guard).map(([each, when]) => ({ ...each, guard: when })),
    fc.record({
      kind: fc.constant("loc" as const),
      file: fc.constant(1),
      line: fc.nat(999),
      column: fc.nat(99),
    }),
    fc.record({ kind: fc.constant("comment" as const), text: fc.stringMatching(/^[ -~]{0,20}$/) }),
    fc.record({ kind: fc.constant("pragma" as const), text: fc.stringMatching(/^[a-z ]{0,9}$/) }),
  );
}

const anyKernel: fc.Arbitrary<PtxKernel> = fc.uniqueArray(
  fc.record({
    kind: fc.constant("register" as const),
    type: fc.constantFrom(...TYPES),
    name: fc.stringMatching(/^(?:r|f|rd|x_)[0-9]{1,3}$/),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 12 },
).chain((registers) =>
  fc.record({
    name: word,
    params: fc.uniqueArray(
      fc.record({
        name: word.map((name) => `param_${name}`),
        type: fc.constantFrom("u64", "f32", "b8"),
      }),
      { selector: ({ name }) => name, maxLength: 4 },
    ),
    directives: fc.constantFrom([], [{ name: "reqntid", values: [128, 1, 1] }, {
      name: "explicitcluster",
      values: [],
    }]),
    registers: fc.constant(registers),
    variables: fc.uniqueArray(anyVariable, { selector: ({ name }) => name, maxLength: 3 }),
    body: fc.array(anyItem(registers), { maxLength: 12 }),
  })
);

Deno.test("printModule() and parsePtx() undo each other on random modules", () => {
  fc.assert(
    fc.property(
      fc.array(anyKernel, { maxLength: 2 }),
      fc.uniqueArray(anyVariable.map((v) => ({ ...v, name: `global_${v.name}` })), {
        selector: ({ name }) => name,
        maxLength: 3,
      }),
      (kernels, variables) =>
        assertReadsBack({
          version: 83,
          target: "sm_90a",
          files: ["a.tc"],
          variables,
          functions: [],
          kernels,
        }),
    ),
    { numRuns: 300 },
  );
});

// Made by nvcc of CUDA 13.0: `nvcc -ptx -arch=sm_80 -lineinfo`, without the folder in `.file 1`.
for (const name of ["reduce", "control", "matrix"]) {
  const text = readRecorded(new URL(`nvcc/${name}.ptx`, import.meta.url));

  Deno.test(`parsePtx() reads what nvcc makes of ${name}.cu`, () => {
    const module = parsePtx(text);
    assertEquals(verifyPtx(module), []);
    assertReadsBack(module);
    const count = (whole: string, part: RegExp): number => [...whole.matchAll(part)].length;
    const code = text.replace(/\/\/.*/g, "");
    const declarations = count(
      code,
      /^[\s{]*(?:\.visible )?\.(?:reg|shared|local|global|const|extern|pragma)\b[^;]*;/gm,
    );
    const instructions = module.kernels.flatMap(({ body }) =>
      body.filter(({ kind }) => kind === "instruction")
    );
    assertEquals(instructions.length, count(code, /;/g) - declarations);
  });

  ptxasTest(`printModule() prints what nvcc makes of ${name}.cu so that it assembles`, async () => {
    assertEquals(await assemblyErrors(printModule(parsePtx(text)), "sm_80"), new Map());
  });
}
