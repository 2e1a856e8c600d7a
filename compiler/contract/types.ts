/**
 * What a caller needs of a kernel: parameters, grid, tensors, demands. Plain JSON data, so that the
 * manifest, the wrapper generator and the run time share it without sharing code.
 */
import type { ScalarName } from "../support/scalar.ts";
import type { TargetName } from "../targets.ts";

/**
 * An integer expression over the kernel's scalar parameters, exact in 64 bits. `grid` is the launch grid's
 * extent along an axis, used in access ranges; `macro` remembers which compile-time parameter a constant
 * came from, so that the wrapper can show `cdiv(M, TM)` rather than `cdiv(M, 64)`.
 */
export type ContractExpr =
  | { readonly op: "const"; readonly value: number; readonly macro?: string }
  | { readonly op: "param"; readonly name: string }
  | { readonly op: "grid"; readonly axis: number }
  | { readonly op: ContractOperator; readonly args: readonly ContractExpr[] };

/** Integer operators as in C; comparisons and logic give 0 or 1. */
export type ContractOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "min"
  | "max"
  | "cdiv"
  | "next_pow2"
  | "neg"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "&&"
  | "||"
  | "!"
  | "?:";

/** A parameter of the kernel, in the order of the argument block. */
export type ContractParam =
  | {
    readonly kind: "scalar";
    readonly name: string;
    readonly type: ScalarName;
    readonly multipleof?: number;
  }
  | {
    readonly kind: "pointer";
    readonly name: string;
    /** Pointee; `void` and pointers to pointers have "uint8" / "uint64". */
    readonly type: ScalarName;
    readonly access: Access;
    /** Bytes the address must be a multiple of: natural alignment at least. */
    readonly align: number;
    readonly noalias: boolean;
    /** Of a result: pointers that may have the same address, with the same shape and strides; none where absent. */
    readonly inPlace?: readonly string[];
  };

/** How a kernel uses the memory that a pointer points to. */
export type Access = "none" | "in" | "out" | "inout";

/** A pointer parameter seen as a tensor. Strides in elements. */
export interface TensorContract {
  /** Name of the pointer. */
  readonly param: string;
  /** One per axis. */
  readonly extents: readonly ContractExpr[];
  /** One per axis. */
  readonly strides: readonly ContractExpr[];
  /** Who says so. */
  readonly origin: "pragma" | "inferred";
  /** The caller may pass nothing. */
  readonly optional?: boolean;
}

/**
 * The elements of a pointer parameter that a launch touches: offsets from the pointer, inclusive, in
 * elements. Empty launches (a grid extent of 0) touch nothing.
 */
export interface AccessRange {
  /** Name of the pointer. */
  readonly param: string;
  /** Smallest offset; may be negative. */
  readonly first: ContractExpr;
  /** Largest offset. */
  readonly last: ContractExpr;
}

/** What must hold of the arguments of a launch. */
export interface Requirement {
  /** Not 0 when it holds. */
  readonly condition: ContractExpr;
  /** The text of the pragma, or the expression in source form. */
  readonly text: string;
}

/** All that a caller needs to launch an instance. */
export interface KernelContract {
  /** In declaration order. */
  readonly params: readonly ContractParam[];
  /** One to three extents; null: the caller passes the grid. */
  readonly grid: readonly ContractExpr[] | null;
  /** Where the grid comes from. */
  readonly gridOrigin: "pragma" | "inferred" | "caller";
  /** Of the pointers that are known to be tensors. */
  readonly tensors: readonly TensorContract[];
  /** Of the pointers whose addresses are affine. */
  readonly ranges: readonly AccessRange[];
  /** Checked before each launch. */
  readonly requires: readonly Requirement[];
}

/** One compiled instance: kernel × variant × configuration × specialisation. Arch-independent facts. */
export interface InstanceInfo {
  /** Entry name in the image. Equal to the kernel's name when the kernel has one instance. */
  readonly symbol: string;
  /** Parameters that the caller sees. */
  readonly variant: { readonly name: string; readonly bindings: Readonly<Record<string, string>> };
  /** Parameters that the tuner chooses. */
  readonly config: {
    readonly bindings: Readonly<Record<string, string>>;
    readonly numWarps: number;
    /** Blocks of a program; absent: one. */
    readonly numCtas?: number;
  };
  /** Targets that have it; absent: all. */
  readonly availableOn?: readonly TargetName[];
  /** Where several configurations were compiled: which this is. */
  readonly configuration?: ConfigurationInfo;
  /** The same: what one of its blocks costs by the model of `block_clocks.ts`, where that has one. */
  readonly clocks?: ContractExpr;
  /** Conditions under which the wrapper may take this instance; empty for the general one. Pointers appear as params: their address. */
  readonly specialization: readonly Requirement[];
  /** Of the general instance; the specialisation's conditions come on top. */
  readonly contract: KernelContract;
}

/** One of several configurations. */
export interface ConfigurationInfo {
  /** As `#pragma tri config` would spell it: `TM=64, TN=64; num_warps=8`. */
  readonly label: string;
  /** `general`, or what its entry's name ends in: `a16`, `s1`. */
  readonly specialization: string;
  /** Entry name of the first configuration; entries that share it differ in configuration alone. */
  readonly first: string;
  /** Its place among them: a target takes the first that it has as its default. */
  readonly rank: number;
}
