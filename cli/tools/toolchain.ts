/**
 * What the commands need of the compiler and of codegen, loaded only on demand. Tests put their
 * own in place of {@linkcode realToolchain}.
 */
import type { ExportedNames, IndexedModule, Measured } from "../../codegen/mod.ts";
import type { KernelConfigurations } from "../../compiler/driver/configurations.ts";
import type { IrMistake, IrRequest } from "../../compiler/driver/inspect/inspect_ir.ts";
import type { SourceNames } from "../../compiler/support/variables.ts";
import type { CompileOptions, CompileResult, KernelOutline } from "../../compiler/options.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import type { TargetName } from "../../compiler/targets.ts";
import type { ExportNames } from "../project/export_names.ts";
import type { Bench } from "../tune/bench.ts";

export interface Compiler {
  readonly compileFile: (file: SourceFile, options: CompileOptions) => CompileResult;
  readonly listConfigurations: (
    file: SourceFile,
    options: CompileOptions,
  ) => readonly KernelConfigurations[];
  readonly inspect: (
    file: SourceFile,
    options: CompileOptions,
    phase: CompilerPhase,
    selection?: { readonly after?: string },
  ) => string;
  readonly namesOf: (
    file: SourceFile,
    options: CompileOptions,
    target: TargetName,
    symbol: string,
  ) => SourceNames | undefined;
  /** The passes, in order, by the names that `inspect` and `inspectIr` take. */
  readonly passNames: readonly string[];
  readonly inspectIr: (file: SourceFile, request: IrRequest) => string | IrMistake;
}

/** Phases that need no other program. */
export const COMPILER_PHASES = [
  "tokens",
  "ast",
  "types",
  "ir",
  "views",
  "plan",
  "layout",
  "ptx",
] as const;
export type CompilerPhase = (typeof COMPILER_PHASES)[number];

/** An image beside the wrapper, or embedded in it. */
export interface Image {
  readonly kernel: string;
  readonly target: string;
  readonly kind: "ptx" | "cubin";
  /** From the folder of the wrapper module. */
  readonly path: string;
  /** Size of the content. */
  readonly bytes: number;
  /** SHA-256 of the content. */
  readonly sha256: string;
  /** It is compressed by Brotli; how many bytes it has otherwise. */
  readonly uncompressedBytes?: number;
  /** It is a part of what the content decompresses to: where it begins, and the size of all. */
  readonly part?: { readonly offset: number; readonly total: number };
  /** Its bytes, read from where they lie. */
  readonly content: () => Uint8Array;
}

/** What a wrapper module is made of. */
export interface WrapperInput {
  readonly source: SourceFile;
  /** Version of tri. */
  readonly generator: string;
  readonly stem: string;
  readonly kernels: readonly KernelOutline[];
  readonly images: readonly Image[];
  readonly measured: readonly Measured[];
  readonly exports: ExportNames;
  readonly embed: boolean;
  /** JavaScript with declarations, instead of TypeScript. */
  readonly javascript?: {
    /** The source's path from the wrapper's folder. */
    readonly sourcePath: string;
  };
}

export interface Wrapper {
  /** Text of its modules by what follows the stem, such as `.ts`. */
  readonly modules: ReadonlyMap<string, string>;
  /** JSON for the manifest, by kernel. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** What it exports. */
  readonly exports: ExportedNames;
}

/** A kernel that no wrapper can be written for. */
export interface Unwrappable {
  readonly unwrappable: string;
  readonly reason: string;
}

export interface Codegen {
  /** The first kernel of a file that no wrapper can be written for. */
  readonly check: (
    kernels: readonly KernelOutline[],
    exports?: ExportNames,
  ) => Unwrappable | undefined;
  readonly generate: (input: WrapperInput) => Promise<Wrapper | Unwrappable>;
  /** The module that re-exports the kernels of all wrappers, by what follows `mod`. */
  readonly index: (
    modules: readonly IndexedModule[],
    options: { readonly javascript: boolean },
  ) => Promise<ReadonlyMap<string, string>>;
}

export interface Toolchain {
  /** Goes into every cache key: another tool, another output. */
  readonly identity: () => Promise<string>;
  readonly compiler: () => Promise<Compiler>;
  readonly codegen: () => Promise<Codegen>;
  readonly render: () => Promise<Renderer>;
  /** The GPUs that kernels are timed on. */
  readonly bench: () => Promise<Bench>;
}

export interface Renderer {
  readonly text: (diagnostic: Diagnostic, color: boolean) => string;
  readonly json: (diagnostic: Diagnostic) => unknown;
}
