/**
 * What a generated wrapper says of its kernel. Facts only: the logic that acts on them is in this folder.
 * `Name` ranges over everything that expressions read: parameters (a pointer is its address in
 * bytes), compile-time constants such as tile sizes, and the grid's extents `gridX`, `gridY`, `gridZ`.
 */
import type { DType } from "../../dtype.ts";

/** The numbers that the expressions of a kernel read. */
export type Values<Name extends string = string> = Readonly<Record<Name, number>>;

/** An integer computed from a launch's numbers. */
export interface Expression<Name extends string = string> {
  /** As the kernel's author would write it. */
  readonly text: string;
  /** Computes it; throws where the result would not be exact. */
  readonly value: (values: Values<Name>) => number;
}

/** What must hold of a launch's numbers. */
export interface Condition<Name extends string = string> {
  /** As the kernel's author would write it. */
  readonly text: string;
  /** Decides it. */
  readonly holds: (values: Values<Name>) => boolean;
}

/**
 * An extent or a stride of a tensor. A parameter's name: the tensor defines that parameter. A number: the
 * tensor must have just that. An expression: the tensor must have what it computes to.
 */
export type Dimension<Name extends string = string> = Name | number | Expression<Name>;

/** How a kernel uses the memory that a pointer points to. */
export type Access = "none" | "in" | "out" | "inout";

/** A kernel parameter, in the kernel's order. */
export type ParamFacts<Name extends string = string> = ScalarFacts<Name> | PointerFacts<Name>;

/** A parameter that is a number or a truth value. */
export interface ScalarFacts<Name extends string = string> {
  /** Distinguishes it from a pointer. */
  readonly kind: "scalar";
  /** The kernel's name for it. */
  readonly name: Name;
  /** Absent: said per variant. */
  readonly type?: DType;
  /** Every value must be a multiple of this. */
  readonly multipleof?: number;
  /** No expression reads it, so any 64-bit value will do. */
  readonly opaque?: boolean;
}

/** A parameter that is an address; what it points to is said per variant. */
export interface PointerFacts<Name extends string = string> {
  /** Distinguishes it from a scalar. */
  readonly kind: "pointer";
  /** The kernel's name for it. */
  readonly name: Name;
  /** How the kernel uses what it points to. */
  readonly access: Access;
  /** The memory must not be reached through another parameter if either of the two is written. */
  readonly noalias?: boolean;
  /** Of a result: arguments whose memory it may take, whole and with the same shape and strides. */
  readonly inPlace?: readonly string[];
}

/** A pointer parameter seen as a tensor; strides count elements. */
export interface TensorFacts<Name extends string = string> {
  /** The pointer parameter. */
  readonly param: Name;
  /** One per axis, outermost first. */
  readonly extents: readonly Dimension<Name>[];
  /** One per axis, in elements. */
  readonly strides: readonly Dimension<Name>[];
  /** The kernel can do without it. */
  readonly optional?: boolean;
}

/** The elements that a launch touches from a pointer on, counted from it, both ends included. */
export interface RangeFacts<Name extends string = string> {
  /** The pointer parameter. */
  readonly param: Name;
  /** The first element; may lie before the pointer. */
  readonly first: Expression<Name>;
  /** The last element. */
  readonly last: Expression<Name>;
}

/** What a launch has to fulfil. */
export interface ContractFacts<Name extends string = string> {
  /** One to three extents; null: the caller gives the grid. */
  readonly grid: readonly Expression<Name>[] | null;
  /** Pointer parameters that are tensors. */
  readonly tensors: readonly TensorFacts<Name>[];
  /** What a launch touches, where that is known better than by extents. */
  readonly ranges: readonly RangeFacts<Name>[];
  /** Checked before each launch. */
  readonly requires: readonly Condition<Name>[];
}

/** One choice of the parameters that a caller can see. */
export interface VariantFacts<Name extends string = string> {
  /** What callers select it by. */
  readonly name: string;
  /** The values of the choice's macros in the kernel's source. */
  readonly bindings: Readonly<Record<string, string>>;
  /** The element type of each pointer, and the type of scalars that differ between variants. */
  readonly dtypes: Readonly<Partial<Record<Name, DType>>>;
}

/** What a launch requires of the GPU. */
export interface BlockFacts {
  /** Threads per block. */
  readonly threads: number;
  /** Dynamic shared memory per block. */
  readonly sharedBytes: number;
}

/** Code of an instance for some targets: its entry, which serves every launch, and faster forms of it. */
export interface CodeFacts<Name extends string = string> extends BlockFacts {
  /** Taken where a launch meets their demands, the best first. */
  readonly forms?: readonly FormFacts<Name>[];
}

/** A faster form of an entry. It takes the kernel's parameters and then tensor maps. */
export interface FormFacts<Name extends string = string> extends BlockFacts {
  /** Its name in the image. */
  readonly symbol: string;
  /** What must hold beside the instance's conditions, and beside what follows from the maps. */
  readonly when: readonly Condition<Name>[];
  /** In the order of the parameters. */
  readonly maps: readonly TensorMapFacts<Name>[];
  /** How a block does several programs in turn; absent: it does one. */
  readonly persistent?: Persistence;
  /** It does not wait for what is before it in its stream, whatever the image's other code does. */
  readonly startsLate?: true;
}

/**
 * How blocks do several programs in turn. Numbers of 32 bits are then more parameters, after the maps.
 *
 * `x`: along the first axis of the grid, where any number of blocks may be launched. The parameter is the number of programs
 * along it.
 *
 * `several`: for launches of programs along the first axis alone, at least two for each block that the device runs at a time.
 * Blocks take them from a queue of the image, which is the second number; launches that may overlap have different ones.
 *
 * `xyz`: along all axes. Any number of blocks may be launched, along the first axis alone. The parameters are the numbers of
 * programs along x, y and z, and how far apart a block's programs are along each: the digits of the number of blocks,
 * x the lowest. It is for launches whose blocks then do several programs each.
 *
 * `all`: along all axes to and fro, the first one fastest, for every launch. The parameters are the numbers of programs along
 * x, y and z.
 */
export type Persistence = "x" | "several" | "xyz" | "all";

/** How the tensor map of a launch is made; numbers and lists begin with the innermost axis. */
export interface TensorMapFacts<Name extends string = string> {
  /** The pointer parameter whose address it has. */
  readonly param: Name;
  /** Type of the elements; `tfloat32`: of float, which copies round to TF32. */
  readonly element: DType | "tfloat32";
  /** One per axis. */
  readonly extents: readonly Dimension<Name>[];
  /** One per axis, in elements; the innermost must be 1. */
  readonly strides: readonly Dimension<Name>[];
  /** Elements that a copy moves along each axis. */
  readonly box: readonly number[];
  /** How many bytes of rows lie swizzled in shared memory. */
  readonly swizzle: 0 | 32 | 64 | 128;
  /** For copies of windows (im2col): one for each axis but the innermost and the outermost. */
  readonly windows?: readonly WindowFacts<Name>[];
}

/** Where windows begin along an axis, in elements. */
export interface WindowFacts<Name extends string = string> {
  /** Of the first window, from the first element of the axis. */
  readonly lower: Dimension<Name>;
  /** Of the last one at most, from the last element of the axis. */
  readonly upper: Dimension<Name>;
  /** From one to the next. */
  readonly step: Dimension<Name>;
}

/** One compiled instance: an entry of every image, or of those that its {@linkcode ConfigurationFacts} names. */
export interface InstanceFacts<Name extends string = string> extends CodeFacts<Name> {
  /** The entry's name. */
  readonly symbol: string;
  /** The variant's name. */
  readonly variant: string;
  /** Compile-time constants that expressions read, such as tile sizes. */
  readonly constants: Readonly<Partial<Record<Name, number>>>;
  /** The instance is taken only where these hold; absent: it is the general one. */
  readonly when?: readonly Condition<Name>[];
  /** Bytes that addresses must be multiples of, where that is more than the element's size. */
  readonly align?: Readonly<Partial<Record<Name, number>>>;
  /** Where this instance asks for more or less than the others. */
  readonly contract?: ContractFacts<Name>;
  /** Targets whose code wants another block or has other forms. */
  readonly targets?: Readonly<Record<string, CodeFacts<Name>>>;
}

/** Code for one architecture, with an entry for each instance that it has: a file beside the wrapper, or the bytes in base64. */
export type ImageFacts =
  & {
    /** Such as "sm_90" or "sm_90a". */
    readonly target: string;
    readonly kind: "cubin" | "ptx";
    /** The size of the file. */
    readonly bytes?: number;
    /** It is compressed by Brotli; how many bytes it has otherwise. */
    readonly uncompressedBytes?: number;
    /** It is a part of what the file decompresses to: where it begins, and the size of all. */
    readonly part?: { readonly offset: number; readonly total: number };
    /** Its entries wait for what is before them in their stream, and may be started before that has ended. */
    readonly startsEarly?: true;
  }
  & ({ readonly url: () => URL } | { readonly base64: string });

/** Everything that a wrapper says of its kernel. */
export interface KernelFacts<Name extends string = string> {
  /** The kernel's name in its source. */
  readonly name: string;
  /** In the kernel's order. */
  readonly params: readonly ParamFacts<Name>[];
  /** The kernel can be called with tensors alone; otherwise only with every parameter. */
  readonly tensorCall?: TensorCallFacts<Name>;
  /** Of all instances that bring none of their own. */
  readonly contract: ContractFacts<Name>;
  /** In the order in which they are tried. */
  readonly variants: readonly VariantFacts<Name>[];
  /** Of a variant's specialised ones the first whose conditions hold is taken, else its first general one. */
  readonly instances: readonly InstanceFacts<Name>[];
  /** In any order; the device decides which is loaded. */
  readonly images: readonly ImageFacts[];
  /** What it reads of constant memory. */
  readonly constantBuffers?: readonly ConstantFacts[];
  /** Where some instances were compiled in several configurations. */
  readonly tuning?: TuningFacts<Name>;
}

/** A buffer in constant memory. */
export interface ConstantFacts {
  /** As the kernel's source and the images spell it. */
  readonly name: string;
  /** The size: the largest that an instance declares. */
  readonly bytes: number;
}

/** Which instances differ in their configuration alone, and what decides between them. */
export interface TuningFacts<Name extends string = string> {
  /** Parameters whose values decide. */
  readonly key: readonly Name[];
  /** One for each set of such instances. */
  readonly choices: readonly ChoiceFacts<Name>[];
}

/** Instances that differ in their configuration alone. */
export interface ChoiceFacts<Name extends string = string> {
  /** Which of the variant's instances they are: `general`, or the end of a specialised entry's name, such as `a16`. */
  readonly specialization: string;
  /** A target's default is the first that it has. */
  readonly instances: readonly ConfigurationFacts<Name>[];
  /** By GPU; empty: not measured, and the model decides, else the default is taken. */
  readonly measured: readonly MeasuredFacts[];
}

/** One of several configurations. */
export interface ConfigurationFacts<Name extends string = string> {
  /** The instance's entry. */
  readonly symbol: string;
  /** As `#pragma tri config` would spell it. */
  readonly config: string;
  /** Targets whose images have it; absent: all. */
  readonly availableOn?: readonly string[];
  /** What a launch costs, by a model. It reads the key alone. */
  readonly cost?: CostFacts<Name>;
}

/** A model of a launch: multiprocessors take blocks in turns. */
export interface CostFacts<Name extends string = string> {
  /** Blocks of the grid. */
  readonly blocks: Expression<Name>;
  /** Clocks of a multiprocessor for one of them. */
  readonly clocks: Expression<Name>;
}

/** What was measured on one kind of GPU. */
export interface MeasuredFacts {
  /** Its product name. */
  readonly gpu: string;
  /** Such as "sm_90". */
  readonly arch: string;
  /** How fast the instances were, by key. */
  readonly points: readonly PointFacts[];
}

/** A key, and how fast the instances were there. */
export interface PointFacts {
  /** Values of the key's parameters, in order. */
  readonly at: readonly number[];
  /** One for each of the choice's instances; null: not measured. */
  readonly microseconds: readonly (number | null)[];
}

/** Which parameters the short form takes, and under what names. */
export interface TensorCallFacts<Name extends string = string> {
  /** Positional arguments, in order: argument name by parameter. */
  readonly inputs: readonly ArgumentFacts<Name>[];
  /** Results: allocated when not given. */
  readonly outputs: readonly ArgumentFacts<Name>[];
  /** Parameters that no tensor defines: given by name beside `out`. */
  readonly options: readonly ArgumentFacts<Name>[];
}

/** A parameter under the name that callers use. */
export interface ArgumentFacts<Name extends string = string> {
  /** The kernel's name for it. */
  readonly param: Name;
  /** The caller's name for it. */
  readonly name: string;
}
