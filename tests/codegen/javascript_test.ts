/** Wrappers as JavaScript, and what an editor makes of their declarations. */
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { ts } from "ts-morph";
import { generateWrapper } from "../../codegen/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { transposeKernel, wrapperInput } from "./fixtures.ts";

const SOURCE = "// A transposition.\n__global__ void transpose(float *X) {}\n";

/** The kernel of the fixtures, as if it stood in SOURCE. */
async function javascript(): Promise<ReadonlyMap<string, string>> {
  const file = { name: "kernels/transpose.tc", text: SOURCE };
  const kernel = { ...transposeKernel(), span: { file, start: 20, end: SOURCE.length } };
  const { modules } = await generateWrapper({
    ...wrapperInput([kernel]),
    source: file,
    javascript: { sourcePath: "../kernels/transpose.tc" },
  });
  return modules;
}

Deno.test("generateWrapper() writes JavaScript with declarations and a map", async () => {
  const modules = await javascript();
  assertEquals([...modules.keys()], [".js", ".d.ts", ".d.ts.map"]);
  const code = must(modules.get(".js"), "the module");
  assert(code.startsWith('// @ts-self-types="./transpose.d.ts"\n'), "Deno finds the types");
  assertStringIncludes(code, "export const transpose = /* @__PURE__ */ wrapKernel(TRANSPOSE);");
  assertStringIncludes(code, "/** Transposes a matrix");
  assert(!/satisfies|interface|: TransposeKernel/.test(code), "no types are left");
  const types = must(modules.get(".d.ts"), "the declarations");
  assertStringIncludes(types, "export declare const transpose: TransposeKernel;");
  assert(types.endsWith("\n//# sourceMappingURL=transpose.d.ts.map\n"), "an editor finds the map");
});

Deno.test("declarationMap() leads an editor from a call to the kernel's line", async () => {
  const modules = await javascript();
  const user = 'import { transpose } from "../generated/transpose.js";\ntranspose(0 as never);\n';
  const files = new Map([
    ["/app/kernels/transpose.tc", SOURCE],
    ["/app/src/main.ts", user],
    ...[...modules].map((
      [end, text],
    ): [string, string] => [`/app/generated/transpose${end}`, text]),
  ]);
  const definitions = definitionsAt(files, "/app/src/main.ts", user.lastIndexOf("transpose("));
  assert(definitions.length > 0, "TypeScript finds a definition");
  const types = must(modules.get(".d.ts"), "the declarations");
  const map = new TraceMap(must(modules.get(".d.ts.map"), "the map"));
  for (const { fileName, textSpan } of definitions) {
    assertEquals(fileName, "/app/generated/transpose.d.ts");
    const position = (offset: number): { line: number; column: number } => {
      const before = types.slice(0, offset).split("\n");
      return { line: before.length, column: must(before.at(-1), "a line").length };
    };
    // Editors look both ends of what they found up in the map.
    const start = originalPositionFor(map, position(textSpan.start));
    const end = originalPositionFor(map, position(textSpan.start + textSpan.length));
    assertEquals(start, { source: "../kernels/transpose.tc", line: 2, column: 16, name: null });
    assertEquals(end, { source: "../kernels/transpose.tc", line: 2, column: 25, name: null });
  }
});

/** What an editor asks TypeScript for "go to definition". */
function definitionsAt(
  files: ReadonlyMap<string, string>,
  file: string,
  offset: number,
): readonly ts.DefinitionInfo[] {
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      noLib: true,
      types: [],
    }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const text = files.get(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => "/app",
    getDefaultLibFileName: () => "/lib.d.ts",
    fileExists: (name) => files.has(name),
    readFile: (name) => files.get(name),
  };
  const service = ts.createLanguageService(host);
  return service.getDefinitionAtPosition(file, offset) ?? [];
}
