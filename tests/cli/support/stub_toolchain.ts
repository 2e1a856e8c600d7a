/**
 * A compiler and a code generator that are small enough to predict, for tests of the command around them.
 * Their language has a line per statement: `kernel NAME`, `include "FILE"`, `error TEXT`, `warn TEXT`,
 * `refused` (makes PTX that no assembler takes), `breaks` (a pass fails).
 */
import type { CompiledKernel, CompileOptions, CompileResult } from "../../../compiler/options.ts";
import type { Diagnostic } from "../../../compiler/support/diagnostic.ts";
import { PassFailure } from "../../../compiler/driver/passes/pass_failure.ts";
import { positionOf, type SourceFile } from "../../../compiler/support/source.ts";
import { ALL_TARGETS, type TargetName } from "../../../compiler/targets.ts";
import type {
  Toolchain,
  Unwrappable,
  Wrapper,
  WrapperInput,
} from "../../../cli/tools/toolchain.ts";

/** Replaces the real one. */
export const stubToolchain: Toolchain = {
  identity: () => Promise.resolve("stub"),
  compiler: () =>
    Promise.resolve({
      compileFile,
      listConfigurations: () => [],
      namesOf: () => undefined,
      passNames: ["first", "second"],
      inspectIr: () => ({ mistake: "a stub knows no IR" }),
      inspect: (file, options, phase) =>
        `${phase} of ${file.name} for ${options.targets.join(" ")}\n${
          JSON.stringify(options.overrides)
        }`,
    }),
  codegen: () =>
    Promise.resolve({
      check: findUnwrappable,
      generate: (input: WrapperInput) => Promise.resolve(generate(input)),
      index: (modules, { javascript }) => {
        const end = javascript ? ".js" : ".ts";
        const lines = modules.map(({ stem }) => `export * from "./${stem}${end}";\n`);
        return Promise.resolve(new Map([[end, lines.join("")]]));
      },
    }),
  bench: () => Promise.resolve({ kind: "none", reason: "a stub has no GPU", remedy: "None." }),
  render: () =>
    Promise.resolve({
      text: ({ code, severity, message, span }) => {
        const { line, column } = positionOf(span.file, span.start);
        return `${severity}[${code}]: ${message}\n --> ${span.file.name}:${line}:${column}\n`;
      },
      json: ({ code, message }) => ({ code, message }),
    }),
};

function findUnwrappable(kernels: readonly { readonly name: string }[]): Unwrappable | undefined {
  const bad = kernels.find(({ name }) => name === "unwrappable");
  return bad && { unwrappable: bad.name, reason: "a stub says so" };
}

function generate({ source, images, kernels, javascript }: WrapperInput): Wrapper | Unwrappable {
  const bad = findUnwrappable(kernels);
  if (bad !== undefined) return bad;
  const text = `// ${source.name}\n${images.map(({ path }) => `// ${path}\n`).join("")}`;
  return {
    modules: new Map([[javascript === undefined ? ".ts" : ".js", text]]),
    manifest: Object.fromEntries(kernels.map(({ name }) => [name, { name }])),
    exports: { values: kernels.map(({ name }) => name), types: [] },
  };
}

function compileFile(file: SourceFile, options: CompileOptions): CompileResult {
  const diagnostics: Diagnostic[] = [];
  const kernels: CompiledKernel[] = [];
  const lines = linesOf(file, options);
  for (const { word, rest, start } of lines) {
    const span = { file, start, end: start + word.length };
    if (word === "breaks") {
      throw new PassFailure("second", rest, `func @${rest}() {}\n`, "no reason");
    }
    const isError = word === "error" || (word === "warn" && options.warningsAsErrors === true);
    if (isError) {
      diagnostics.push({ code: "E2001", severity: "error", message: rest, span, notes: [] });
    } else if (word === "warn") {
      diagnostics.push({ code: "W1003", severity: "warning", message: rest, span, notes: [] });
    } else if (word === "kernel") {
      const refused = lines.some((line) => line.word === "refused");
      kernels.push(kernelNamed(rest, refused, span, options));
    }
  }
  const failed = diagnostics.some(({ severity }) => severity === "error");
  return { diagnostics, kernels: failed ? [] : kernels };
}

interface Line {
  readonly word: string;
  readonly rest: string;
  readonly start: number;
}

function linesOf(file: SourceFile, options: CompileOptions): Line[] {
  return [...file.text.matchAll(/^(\w+) ?(.*)$/gm)].flatMap(
    ({ 1: word = "", 2: rest = "", index }) => {
      if (word !== "include") return [{ word, rest, start: index }];
      const included = options.include?.(rest.replaceAll('"', ""), "quoted", file);
      if (included === undefined || included === "outside" || "refused" in included) {
        return [{ word: "error", rest: `cannot include ${rest}`, start: index }];
      }
      return linesOf(included, options).map((line) => ({ ...line, start: index }));
    },
  );
}

function kernelNamed(
  name: string,
  refused: boolean,
  span: CompiledKernel["span"],
  { targets, defines = [] }: CompileOptions,
): CompiledKernel {
  const bindings = Object.fromEntries(defines.map((define) => [define.name, define.value ?? ""]));
  return {
    name,
    doc: "",
    span,
    instances: [{
      symbol: name,
      variant: { name: "only", bindings },
      config: { bindings: {}, numWarps: 4 },
      specialization: [],
      contract: {
        params: [],
        grid: null,
        gridOrigin: "caller",
        tensors: [],
        ranges: [],
        requires: [],
      },
    }],
    key: [],
    constants: [],
    modules: targets.map((target) => ({
      target,
      ptx: refused ? "this is not PTX\n" : ptxText(name, target),
      entries: [{ symbol: name, threads: 128, sharedBytes: 0 }],
    })),
  };
}

function ptxText(name: string, target: TargetName): string {
  const version = ALL_TARGETS[target].ptx;
  return [
    `.version ${Math.floor(version / 10)}.${version % 10}`,
    `.target ${target}`,
    ".address_size 64",
    `.visible .entry ${name}(.param .u64 out) {`,
    "  .reg .b64 %rd<2>;",
    "  .reg .b32 %r<2>;",
    "  ld.param.u64 %rd1, [out];",
    "  mov.u32 %r1, %tid.x;",
    "  st.global.u32 [%rd1], %r1;",
    "  ret;",
    "}",
    "",
  ].join("\n");
}
