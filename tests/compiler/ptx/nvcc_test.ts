/**
 * What nvcc of CUDA 13.0 makes of the .cu files in nvcc/, one architecture each, compressed:
 * functions -lineinfo sm_80, debug -G sm_80, pointers sm_75, printf and modern sm_90a, textures sm_100, tables sm_120.
 */
import { calledName } from "../../../compiler/ptx/inline/call.ts";
import { inlineCalls } from "../../../compiler/ptx/inline.ts";
import type { PtxFunction, PtxModule, PtxVariable } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printModule } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { readRecorded } from "../../support/recorded.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";

const NAMES = ["functions", "debug", "pointers", "printf", "modern", "textures", "tables"] as const;
type Name = (typeof NAMES)[number];

const textOf = (name: Name): string => readRecorded(new URL(`nvcc/${name}.ptx`, import.meta.url));
const moduleOf = (name: Name): PtxModule => parsePtx(textOf(name));
const functionOf = (module: PtxModule, name: string): PtxFunction =>
  must(module.functions.find((fn) => fn.name === name), name);
const variableOf = (module: PtxModule, name: string): PtxVariable =>
  must(module.variables.find((variable) => variable.name === name), name);

const bodies = (module: PtxModule): PtxModule["kernels"][number]["body"][] => [
  ...module.functions.flatMap(({ code }) => code === undefined ? [] : [code.body]),
  ...module.kernels.map(({ body }) => body),
];

const DECLARATION =
  /^[\s{]*(?:\.visible |\.extern )?\.(?:reg|shared|local|global|const|pragma)\b[^;]*;/gm;
/** Of functions, or of what is called through a pointer. */
const PROTOTYPE = /\.(?:func|callprototype)\b[^;{]*;/g;
/** Variables for arguments, not the parameters in parentheses. */
const ARGUMENT = /^[\s{]*\.param [^;,)\n]*;/gm;

for (const name of NAMES) {
  Deno.test(`parsePtx() reads all that nvcc makes of ${name}.cu`, () => {
    const module = moduleOf(name);
    assertEquals(verifyPtx(module), []);
    const text = printModule(module);
    assertEquals(printModule(parsePtx(text)), text);
    // What ends in a semicolon is an instruction or a declaration.
    const code = textOf(name).replace(/\/\/.*/g, "").replace(/\.section[^]*/, "");
    const count = (part: RegExp): number => [...code.matchAll(part)].length;
    const declarations = count(DECLARATION) + count(PROTOTYPE) + count(ARGUMENT);
    const instructions = bodies(module).flat().filter(({ kind }) => kind === "instruction");
    assertEquals(instructions.length, count(/;/g) - declarations);
  });

  ptxasTest(`printModule() prints what nvcc makes of ${name}.cu so that it assembles`, async () => {
    const module = moduleOf(name);
    const [target = ""] = module.target.split(",");
    assertEquals(await assemblyErrors(printModule(module), target), new Map());
  });
}

Deno.test("parsePtx() names the functions that .loc says were inlined", () => {
  const inlined = bodies(moduleOf("functions")).flat().flatMap((item) =>
    item.kind === "loc" && item.inlined !== undefined ? [item.inlined] : []
  );
  assertEquals(inlined, [{ function: "_Z7boundedii", file: 1, line: 20, column: 3 }]);
});

Deno.test("parsePtx() reads functions with parameters and results of all kinds", () => {
  const swap = functionOf(moduleOf("functions"), "_Z4swap4Pairi");
  assertEquals(swap.returns, [
    { kind: "param", name: "func_retval0", type: "b8", bytes: 24, align: 8 },
  ]);
  assertEquals(swap.params, [
    { kind: "param", name: "_Z4swap4Pairi_param_0", type: "b8", bytes: 24, align: 8 },
    { kind: "param", name: "_Z4swap4Pairi_param_1", type: "b32" },
  ]);
  const vprintf = functionOf(moduleOf("printf"), "vprintf");
  assertEquals([vprintf.extern, vprintf.code, vprintf.params.length], [true, undefined, 2]);
});

Deno.test("parsePtx() reads variables with values of all kinds", () => {
  const module = moduleOf("tables");
  assertEquals(variableOf(module, "weights").initial?.slice(0, 8), [
    0n,
    0n,
    0n,
    63n,
    0n,
    0n,
    128n,
    63n,
  ]);
  assertEquals(variableOf(module, "tenth").initial, [0x3fb999999999999an]);
  assertEquals(variableOf(module, "managed_value").attributes, ["managed"]);
  assertEquals(variableOf(module, "pointers").initial?.[0], {
    symbol: "counter",
    offset: 0n,
    generic: true,
  });
  const masks = variableOf(module, "rows").initial?.flatMap((value) =>
    typeof value === "bigint" ? [] : [value.mask]
  );
  assertEquals(masks, Array.from({ length: 8 }, (_, i) => 0xffn << BigInt(8 * i)));
  assertEquals(variableOf(moduleOf("pointers"), "operations").initial, [
    { symbol: "_Z4plusii", offset: 0n, generic: false },
    { symbol: "_Z5minusii", offset: 0n, generic: false },
  ]);
});

Deno.test("inlineCalls() leaves calls of recursive, external and unknown functions only", () => {
  const calls = (name: Name): (string | undefined)[] => {
    const { kernels } = inlineCalls(moduleOf(name));
    for (const { variables } of kernels) {
      assert(variables.every(({ space }) => space !== "param"), "no variables for arguments");
    }
    const left = kernels.flatMap(({ body }) => body).filter((item) =>
      item.kind === "instruction" && item.opcode === "call"
    );
    return left.map(calledName);
  };
  assertEquals(calls("functions"), []);
  assertEquals(calls("debug"), ["_Z5depthi"]);
  assertEquals(calls("pointers"), [undefined]);
  assertEquals(calls("printf"), ["vprintf", "__assertfail", "malloc", "free"]);
});

ptxasTest("inlineCalls() makes kernels that assemble", async () => {
  const module = inlineCalls(moduleOf("functions"));
  assertEquals(verifyPtx(module), []);
  assertEquals(await assemblyErrors(printModule(module), "sm_80"), new Map());
});
