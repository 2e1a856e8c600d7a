/** Examples in the comments above kernels, and the module of tests that they become. */
import { camelCase, RESERVED_NAMES, styledNames } from "../../codegen/names.ts";
import { docAbove } from "../../compiler/preprocess/comments.ts";
import { lex } from "../../compiler/preprocess/lexer.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import { positionOf, type SourceFile } from "../../compiler/support/source.ts";

/** An example of a kernel. */
export interface Example {
  readonly kernel: string;
  /** Of the kernel, from 1. */
  readonly line: number;
  readonly code: string;
}

const BLOCK = /^```(?:ts|js|typescript|javascript)[ \t]*\n([^]*?)^```[ \t]*$/gm;

/** The blocks marked `ts` or `js` in the comments right above the kernels of a file. */
export function examplesIn(file: SourceFile): readonly Example[] {
  const { tokens, comments } = lex(file, new Reporter());
  return tokens.flatMap(({ text, lineStart, span }, i) => {
    if (text !== "__global__" || !lineStart) return [];
    const open = tokens.findIndex((token, at) => at > i && token.text === "(");
    const kernel = tokens[open - 1]?.text ?? "";
    const { line } = positionOf(file, span.start);
    const doc = docAbove(comments, file, span.start);
    return [...doc.matchAll(BLOCK)].map(([, code = ""]) => ({ kernel, line, code }));
  });
}

/** The names of all kernels of a file, in order. */
function kernelNames(file: SourceFile): readonly string[] {
  const { tokens } = lex(file, new Reporter());
  const names = tokens.flatMap(({ text, lineStart }, i) => {
    if (text !== "__global__" || !lineStart) return [];
    const open = tokens.findIndex((token, at) => at > i && token.text === "(");
    return [tokens[open - 1]?.text ?? ""];
  });
  return [...new Set(names)];
}

const IMPORT = /^import\s[^;]*?["'][^"']+["'];?[ \t]*$/gm;

/**
 * A module with a test for each example. The wrappers of the file, `device` and `assert` (of `node:assert/strict`) are
 * there without an import. `wrapper` is the specifier of the wrapper's module.
 */
export function exampleModule(
  file: SourceFile,
  examples: readonly Example[],
  wrapper: string,
): string {
  const imports = new Set(examples.flatMap(({ code }) => code.match(IMPORT) ?? []));
  const own = [...imports].join("\n");
  const isFree = (name: string): boolean => !new RegExp(`\\b${name}\\b`).test(own);
  const names = [...styledNames(kernelNames(file), camelCase, RESERVED_NAMES).values()]
    .filter(isFree);
  const given = [
    'import { test as defineTest } from "node:test";',
    ...(isFree("assert") ? ['import assert from "node:assert/strict";'] : []),
    'import { Device as AnyDevice } from "@tri/tri/ffi";',
    ...(names.length === 0 ? [] : [`import { ${names.join(", ")} } from "${wrapper}";`]),
  ];
  const tests = examples.map(({ kernel, line, code }) => {
    const title = JSON.stringify(`${file.name}:${line}: an example of ${kernel}`);
    const body = code.replace(IMPORT, "").trim();
    const inner = `  await (async () => {\n${body}\n  })();\n`;
    const ownsDevice = /\b(?:const|let|using)\s+device\b/.test(body);
    // Node 20 has no `using`.
    const whole = ownsDevice
      ? inner
      : `  const device = AnyDevice.open({ notice: false });\n  try {\n${inner}  } finally {\n    device.dispose();\n  }\n`;
    return `defineTest(${title}, async () => {\n${whole}});\n`;
  });
  return [...given, ...imports, "", ...tests].join("\n");
}
