/** What a caller of the compiler may ask for. Command line and deno.json are translated into this. */
import type { SourceFile, Span } from "./support/source.ts";
import type { TargetName } from "./targets.ts";
import type { Code, Diagnostic } from "./support/diagnostic.ts";
import type { InstanceInfo } from "./contract/types.ts";

/** One `-D NAME=TEXT`; `null` undefines (`-U`). */
export interface Define {
  readonly name: string;
  readonly value: string | null;
}

/**
 * Settings from the command line or deno.json that replace the pragma of the same kind. Each text has the
 * pragma's syntax and its own pseudo-file name for spans, e.g. `<--grid>`.
 */
export interface Override {
  /** Undefined: every kernel of the file. */
  readonly kernel?: string;
  /** The pragma line after `#pragma tri`, e.g. `grid(cdiv(M, TM), cdiv(N, TN))`. */
  readonly text: string;
  readonly origin: string;
}

/** Finds an included file; undefined: not found; "outside": outside the project root. */
export type IncludeResolver = (
  name: string,
  kind: "quoted" | "angled",
  from: SourceFile,
) => SourceFile | "outside" | undefined;

export interface CompileOptions {
  readonly targets: readonly TargetName[];
  readonly defines?: readonly Define[];
  /** Later ones are stronger, as with `defines`. */
  readonly overrides?: readonly Override[];
  readonly include?: IncludeResolver;
  /** Only these kernels; undefined: all. */
  readonly kernels?: readonly string[];
  readonly suppress?: readonly Code[];
  readonly enable?: readonly Code[];
  readonly warningsAsErrors?: boolean;
  readonly maxTileElements?: number;
  /** Check the tile IR after every pass; for tests. */
  readonly verify?: boolean;
}

/** All instances of one kernel for one target, as one PTX module. */
export interface CompiledModule {
  readonly target: TargetName;
  readonly ptx: string;
  readonly entries: readonly CompiledEntry[];
}

/** What the launcher must know of an entry, per target. */
export interface CompiledEntry {
  readonly symbol: string;
  readonly threads: number;
  readonly sharedBytes: number;
}

export interface CompiledKernel {
  readonly name: string;
  /** The comment above the kernel. */
  readonly doc: string;
  readonly span: Span;
  readonly instances: readonly InstanceInfo[];
  readonly modules: readonly CompiledModule[];
}

export interface CompileResult {
  readonly diagnostics: readonly Diagnostic[];
  /** Empty when there is an error. */
  readonly kernels: readonly CompiledKernel[];
}
