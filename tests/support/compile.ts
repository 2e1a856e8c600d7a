/** Compiling as tests do: the tile IR is verified after every pass. */
import { compileFile as compile } from "../../compiler/mod.ts";
import type { CompileOptions, CompileResult, SourceFile } from "../../compiler/mod.ts";

export function compileFile(file: SourceFile, options: CompileOptions): CompileResult {
  return compile(file, { ...options, verify: true });
}
