/** What a caller of the compiler may ask for. Command line and deno.json are translated into this. */
import type { SourceFile, Span } from "./support/source.ts";
import type { TargetName } from "./targets.ts";
import type { Code, Diagnostic } from "./support/diagnostic.ts";
import type { ContractExpr, InstanceInfo, Requirement } from "./contract/types.ts";
import type { ScalarName } from "./support/scalar.ts";

/** One `-D NAME=TEXT`; `null` undefines (`-U`). */
export interface Define {
  /** The macro. */
  readonly name: string;
  /** The tokens that replace it. */
  readonly value: string | null;
}

/**
 * Settings from the command line or deno.json that replace the pragma of the same kind. Each text has the
 * pragma's syntax and its own pseudo-file name for spans, e.g. `<--grid>`.
 */
export interface Override {
  /** Undefined: every kernel of the file. */
  readonly kernel?: string;
  /** The file must have that kernel; otherwise the override may be meant for another file. */
  readonly isForFile?: true;
  /** The pragma line after `#pragma tri`, e.g. `grid(cdiv(M, TM), cdiv(N, TN))`. */
  readonly text: string;
  /** Where it comes from, as diagnostics show it: `<--grid>`. */
  readonly origin: string;
}

/** Why a file that is there is not included. */
export interface IncludeRefusal {
  /** What follows "because". */
  readonly refused: string;
}

/** Finds an included file; undefined: not found; "outside": outside the project root. */
export type IncludeResolver = (
  name: string,
  kind: "quoted" | "angled",
  from: SourceFile,
) => SourceFile | "outside" | IncludeRefusal | undefined;

/**
 * Which configurations become entries. `also`: those chosen, beside the first of each variant. `only`: just this one, of all variants that may have it, under the names that the first one has.
 */
export type Configurations =
  | "all"
  | { readonly only: string }
  | { readonly also: readonly ConfigurationChoice[] };

/** A configuration of some instances of a kernel. */
export interface ConfigurationChoice {
  /** The kernel's name. */
  readonly kernel: string;
  /** The variant's name. */
  readonly variant: string;
  /** `general`, or the end of the names of specialised entries: `a16`, `s1`. */
  readonly specialization: string;
  /**
   * The first of these that the filter lets through, each as `#pragma tri config` would spell it:
   * `TM=64, TN=64; num_warps=8`.
   */
  readonly configs: readonly string[];
}

/** What to compile for, with which parameters, and how strictly. */
export interface CompileOptions {
  /** Each kernel gets a module for each of them. */
  readonly targets: readonly TargetName[];
  /** Macros from outside; later ones are stronger. */
  readonly defines?: readonly Define[];
  /** Later ones are stronger, as with `defines`. */
  readonly overrides?: readonly Override[];
  /** Without it, every `#include` fails. */
  readonly include?: IncludeResolver;
  /** Only these kernels; undefined: all. */
  readonly kernels?: readonly string[];
  /** The first one of each variant when absent. */
  readonly configurations?: Configurations;
  /** Warnings not to give. */
  readonly suppress?: readonly Code[];
  /** Warnings to give that are off by default. */
  readonly enable?: readonly Code[];
  /** Any warning is an error. */
  readonly warningsAsErrors?: boolean;
  /** The largest tile that is no mistake; 2^20 elements by default. */
  readonly maxTileElements?: number;
  /**
   * `__TRI_DEBUG__` is defined, `assert` and `assume` are checked by cubins too, not only on the emulator, and so are the
   * promises of `__multipleof`, `__aligned` and `multiple_of` about locals.
   */
  readonly debug?: boolean;
  /**
   * Say what is wrong and make no code: modules stay empty, and what only lowering for a target finds is not said.
   */
  readonly checkOnly?: boolean;
  /**
   * Asked after each instance, with all of the kernel so far: whether the caller needs no more of them. What is wrong with
   * the others is not said.
   */
  readonly isEnough?: (instances: readonly InstanceInfo[]) => boolean;
  /** Check the tile IR after every pass that changes it: for tests, and to find a pass that is wrong. */
  readonly verify?: boolean;
  /** Measures how long each step takes. */
  readonly clock?: CompileClock;
}

/** Measures a compilation. */
export interface CompileClock {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Receives the time of each step. */
  readonly spent: (time: StepTime) => void;
}

/** How long a step took for one entry. */
export interface StepTime {
  /** Name of the entry. */
  readonly entry: string;
  /** Name of the target whose code was made; absent for what all targets share. */
  readonly target?: string;
  /** A pass, or `check` (all of the front end), `build`, `contract`, `emit`, `print`. */
  readonly step: string;
  /** The time. */
  readonly milliseconds: number;
}

/** All instances of one kernel for one target, as one PTX module. */
export interface CompiledModule extends ModuleOutline {
  /** Text of the module. */
  readonly ptx: string;
}

/** What is known of a module beside its text. */
export interface ModuleOutline {
  /** The architecture it is for. */
  readonly target: TargetName;
  /** One for each instance that the target has, in the order of {@linkcode CompiledKernel.instances}. */
  readonly entries: readonly CompiledEntry[];
}

/** What the launcher must know of an entry, per target. */
export interface CompiledEntry {
  /** Its name in the module. */
  readonly symbol: string;
  /** In a block. */
  readonly threads: number;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  /** Faster code of the same entry for some launches, the best first. The entry itself serves every launch. */
  readonly forms?: readonly EntryForm[];
}

/** A faster form of an entry: code for launches that meet its conditions and whose tensor maps can be encoded. */
export interface EntryForm {
  /** Its name in the module. */
  readonly symbol: string;
  /** In a block. */
  readonly threads: number;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  /**
   * What must hold beside the conditions of the instance. What follows from {@linkcode maps} is not repeated here: the
   * launcher derives it. Pointers appear as params: their address.
   */
  readonly when: readonly Requirement[];
  /** Parameters after the kernel's own, in this order. */
  readonly maps: readonly TensorMapPlan[];
  /** Absent: a block does one program. */
  readonly persistent?: Persistence;
  /**
   * It does not wait for what is before it in its stream, as all other code for targets that start grids early does: it must
   * not be started before that has ended.
   */
  readonly startsLate?: true;
}

/**
 * How blocks do several programs in turn. Numbers of 32 bits are then more parameters, after the maps.
 *
 * `x`: along the first axis of the grid, where any number of blocks may be launched. The parameter is the number of programs
 * along it.
 *
 * `several`: for launches of programs along the first axis alone, at least two for each block that the device runs at a time.
 * Blocks take them from a queue of the module, which is the second number; launches that may overlap have different ones,
 * below 65,536.
 *
 * `xyz`: along all axes. Any number of blocks may be launched, along the first axis alone. The parameters are the numbers of
 * programs along x, y and z, and how far apart a block's programs are along each: the digits of the number of blocks,
 * x the lowest. It is for launches whose blocks then do several programs each.
 *
 * `all`: along all axes to and fro, the first one fastest, for every launch. The parameters are the numbers of programs along
 * x, y and z.
 */
export type Persistence = "x" | "several" | "xyz" | "all";

/** Type of the elements of a tensor map; `tfloat32`: of float, which copies round to TF32. */
export type MapElement = ScalarName | "tfloat32";

/**
 * A tensor map (TMA descriptor) that the launcher encodes: 128 bytes, 64-byte aligned, by value
 * (`.param .align 64 .b8 map[128]`). A launch whose values break a demand of tensor maps (16-byte aligned address and
 * strides, sizes in range) takes the next form.
 */
export interface TensorMapPlan {
  /** The pointer parameter whose address is the map's base. */
  readonly param: string;
  readonly element: MapElement;
  /** One to five, innermost first. Strides in elements; that of the innermost is 1. */
  readonly axes: readonly TensorAxisPlan[];
  /** Elements that a copy moves along each axis; of windows channels, and pixels. */
  readonly box: readonly number[];
  /** Bytes in which rows of the box lie swizzled in shared memory; 0: they do not. */
  readonly swizzle: 0 | 32 | 64 | 128;
}

/** An axis of a tensor map. */
export interface TensorAxisPlan {
  readonly extent: ContractExpr;
  readonly stride: ContractExpr;
  /** For copies of windows (im2col): of each axis but the innermost and the outermost. */
  readonly windows?: WindowsPlan;
}

/** Where windows begin along an axis: `lower` from its first element, up to `upper` from its last one, steps apart. */
export interface WindowsPlan {
  readonly lower: ContractExpr;
  readonly upper: ContractExpr;
  readonly step: ContractExpr;
}

/** Constant memory of a kernel, which the host fills before launches (language.md 7.2). */
export interface ConstantBuffer {
  /** As the source spells it, and in images. */
  readonly name: string;
  /** The size: the largest that an instance declares. */
  readonly bytes: number;
}

/** A kernel with all its instances, without its modules' texts. */
export interface KernelOutline {
  /** As the source spells it. */
  readonly name: string;
  /** The comment above the kernel. */
  readonly doc: string;
  /** Its definition. */
  readonly span: Span;
  /** What the launcher chooses from. */
  readonly instances: readonly InstanceInfo[];
  /** Parameters whose values decide which configuration is best (language.md 10.3). */
  readonly key: readonly string[];
  /** What it reads of constant memory, by name. */
  readonly constants: readonly ConstantBuffer[];
  /** One for each target. */
  readonly modules: readonly ModuleOutline[];
}

/** A kernel with its modules' texts. */
export interface CompiledKernel extends KernelOutline {
  /** One for each target. */
  readonly modules: readonly CompiledModule[];
}

/** What became of a file. */
export interface CompileResult {
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** Empty when there is an error. */
  readonly kernels: readonly CompiledKernel[];
}
