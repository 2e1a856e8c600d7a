/**
 * The facts of a kernel as wrappers carry them: rows of tables, with what several variants or instances share written
 * once. `expandKernel` makes the facts of them (facts.ts says what each means).
 */
import type { DType } from "../../dtype.ts";
import type { Access, ConstantFacts, Values } from "./facts.ts";

/** An integer computed from a launch's numbers: its text and what computes it. */
export type ExpressionRow<Name extends string = string> = readonly [
  text: string,
  value: (values: Values<Name>) => number,
];

/** Numbers that must be multiples, by name: `{ X: 16 }` is the condition `X % 16 == 0`. */
export type MultiplesRow<Name extends string = string> = Readonly<Partial<Record<Name, number>>>;

/** What must hold of a launch's numbers: multiples, any condition, or that an integer fits in 32 bits. */
export type ConditionRow<Name extends string = string> =
  | MultiplesRow<Name>
  | readonly [text: string, holds: (values: Values<Name>) => boolean]
  | readonly ["int32", ...ExpressionRow<Name>];

/** An extent or a stride: a parameter's name, a number, or computed. */
export type DimensionRow<Name extends string = string> = Name | number | ExpressionRow<Name>;

/** A pointer parameter as a tensor. */
export type TensorRow<Name extends string = string> = readonly [
  param: Name,
  extents: readonly DimensionRow<Name>[],
  strides: readonly DimensionRow<Name>[],
  optional?: "optional",
];

/** The elements that a launch touches from a pointer on. */
export type RangeRow<Name extends string = string> = readonly [
  param: Name,
  first: ExpressionRow<Name>,
  last: ExpressionRow<Name>,
];

/** What a launch has to fulfil. */
export interface ContractRows<Name extends string = string> {
  /** Null: the caller gives the grid. */
  readonly grid: readonly ExpressionRow<Name>[] | null;
  /** Where they are not those of the kernel. */
  readonly tensors?: readonly TensorRow<Name>[];
  /** None where absent, as are `requires`. */
  readonly ranges?: readonly RangeRow<Name>[];
  /** What must hold of every launch; nothing where absent. */
  readonly requires?: readonly ConditionRow<Name>[];
}

/** A type that varies between variants: the type parameter of the wrapper for it. */
export type TypeLetter =
  | ("D" | "E" | "F" | "G" | "H" | "I" | "J" | "K" | "L" | "M" | "N" | "O" | "P" | "Q" | "R")
  | ("S" | "T" | "U" | "V" | "W" | "X" | "Y" | "Z");

/** A parameter: a pointer with the type of what it points to, or a number. */
export type ParamRow =
  | readonly [
    access: Access,
    type: DType | TypeLetter,
    /** `noalias`, or the arguments whose memory the result may take. */
    overlap?: "noalias" | readonly string[],
  ]
  | DType
  | TypeLetter
  | ScalarRow;

/** A number with more to say of it than its type. */
export interface ScalarRow {
  /** The type, or the letter of one that varies. */
  readonly type: DType | TypeLetter;
  /** Every value must be a multiple of this. */
  readonly multipleof?: number;
  /** No expression reads it, so any 64-bit value will do. */
  readonly opaque?: boolean;
}

/** A choice of the parameters that a caller can see; types by letter. */
export type VariantRow = readonly [
  name: string,
  bindings: Readonly<Record<string, string>>,
  types?: Readonly<Partial<Record<TypeLetter, DType>>>,
];

/** Code of an instance for some targets. */
export type TargetRow<Name extends string = string> = readonly [
  targets: readonly string[],
  threads: number,
  sharedBytes: number,
  forms?: readonly FormRow<Name>[],
];

/**
 * A faster form of an entry; its name is said as an instance's is. Before the maps: `late`, where it does not wait for what is
 * before it in its stream, and how blocks do several programs.
 */
export type FormRow<Name extends string = string> = readonly [
  symbol: string,
  threads: number,
  sharedBytes: number,
  when: readonly ConditionRow<Name>[],
  ...maps: readonly (MapRow<Name> | PersistenceRow | "late")[],
];

/** How blocks do several programs in turn: along the first axis of the grid, or along all, for some launches or each. */
export type PersistenceRow = "persistent" | "several" | "xyz" | "all";

/** How a tensor map is made; its element type is the parameter's where it is absent, or null before windows. */
export type MapRow<Name extends string = string> = readonly [
  param: Name,
  extents: readonly DimensionRow<Name>[],
  strides: readonly DimensionRow<Name>[],
  box: readonly number[],
  swizzle: number,
  element?: DType | "tfloat32" | null,
  windows?: readonly WindowsRow<Name>[],
];

/** Windows along an axis: from where to where they begin, and how far apart. */
export type WindowsRow<Name extends string = string> = readonly [
  lower: DimensionRow<Name>,
  upper: DimensionRow<Name>,
  step: DimensionRow<Name>,
];

/** What few instances have. */
export interface InstanceExtras<Name extends string = string> {
  /** Where it is not that of the kernel. */
  readonly contract?: ContractRows<Name>;
  /** Bytes that addresses must be multiples of, where that is more than the element's size. */
  readonly align?: Readonly<Partial<Record<Name, number>>>;
  /** Taken where a launch meets their demands, the best first. */
  readonly forms?: readonly FormRow<Name>[];
  /** Targets whose code wants another block or has other forms. */
  readonly targets?: readonly TargetRow<Name>[];
}

/** An instance of each of some variants. */
export type InstanceRow<Name extends string = string> = readonly [
  /** What follows kernel and variant in the entry's name, or with `=` before it the whole name. */
  symbol: string,
  threads: number,
  sharedBytes: number,
  /** In the order of the kernel's `constants`; null: no expression of the instance reads it. */
  constants: readonly (number | null)[],
  /** A key of the kernel's `conditions`; the general instance has none. */
  when?: string | null,
  more?: InstanceExtras<Name>,
];

/** Rows that these variants have in common. A variant's rows are those of its groups, one group after the other. */
export type InstanceGroup<Name extends string = string> = readonly [
  variants: readonly string[],
  ...rows: readonly InstanceRow<Name>[],
];

/** A tensor or a number under the names of the kernel and of callers. */
export type ArgumentNames<Name extends string = string> = Readonly<Partial<Record<Name, string>>>;

/** What a launch costs by a model: blocks of the grid, and clocks of a multiprocessor for one. */
export type CostRow<Name extends string = string> = readonly [
  blocks: ExpressionRow<Name>,
  clocks: ExpressionRow<Name>,
];

/** One of several configurations: its text, its model, and the targets that have it where not all do. */
export type ConfigurationRow<Name extends string = string> = readonly [
  /** What follows variant and specialisation in its instance's name, or with `=` before it the whole name. */
  symbol: string,
  config: string,
  cost?: CostRow<Name> | null,
  availableOn?: readonly string[],
];

/** What was measured on one kind of GPU. */
export type MeasuredRow = readonly [
  arch: string,
  ...points: readonly (readonly [
    at: readonly number[],
    microseconds: readonly (number | null)[],
  ])[],
];

/** Instances of a variant that differ in their configuration alone. */
export interface ChoiceRow<Name extends string = string> {
  /** Whose instances they are: of each variant. */
  readonly of: readonly [variant: string, ...others: string[], specialization: string];
  /** A target's default is the first that it has. */
  readonly configs: readonly ConfigurationRow<Name>[];
  /** By the GPU's product name. */
  readonly measured?: Readonly<Record<string, MeasuredRow>>;
}

/**
 * The file of an image, or its bytes in base64; with its size before compression if it is compressed, and where it begins in
 * what the file decompresses to, and the size of that, if it is a part.
 */
export type ImageRow =
  | ImageSource
  | readonly [source: ImageSource, uncompressedBytes: number]
  | readonly [source: ImageSource, uncompressedBytes: number, offset: number, total: number];

/** Where an image is. */
export type ImageSource = (() => URL) | string;

/** Everything that a wrapper says of its kernel. */
export interface KernelRows<Name extends string = string> {
  /** The form of the rows, and the version of tri that wrote them. */
  readonly made: { readonly abi: number; readonly by: string };
  /** The kernel's name in its source. */
  readonly name: string;
  /** In the kernel's order. */
  readonly params: Readonly<Partial<Record<Name, ParamRow>>>;
  /** The kernel can be called with tensors alone; callers' names by parameter. */
  readonly tensorCall?: {
    /** Positional arguments. */
    readonly inputs?: ArgumentNames<Name>;
    /** Results. */
    readonly outputs?: ArgumentNames<Name>;
    /** What no tensor defines. */
    readonly options?: ArgumentNames<Name>;
  };
  /** Of all contracts that say no others; none where absent. */
  readonly tensors?: readonly TensorRow<Name>[];
  /** Of all instances that bring none of their own. */
  readonly contract: ContractRows<Name>;
  /** In the order in which they are tried. */
  readonly variants: readonly VariantRow[];
  /** Compile-time constants that expressions read: what the numbers in instances' rows are. */
  readonly constants?: readonly Name[];
  /** Under which instances are taken, by what instances call them; multiples alone need no list. */
  readonly conditions?: Readonly<
    Record<string, MultiplesRow<Name> | readonly ConditionRow<Name>[]>
  >;
  /** Of a variant, in the order in which they are tried. */
  readonly instances: readonly InstanceGroup<Name>[];
  /** By target and kind, such as "sm_90.ptx". */
  readonly images: Readonly<Record<string, ImageRow>>;
  /** Sizes of the files of images, in their order; absent where the wrapper holds them. */
  readonly imageBytes?: readonly number[];
  /** Targets whose code waits for what is before it in its stream, and may be started before that has ended. */
  readonly startingEarly?: readonly string[];
  /** What it reads of constant memory. */
  readonly constantBuffers?: readonly ConstantFacts[];
  /** Where some instances were compiled in several configurations. */
  readonly tuning?: {
    /** Parameters whose values decide. */
    readonly key: readonly Name[];
    /** One for each set of such instances. */
    readonly choices: readonly ChoiceRow<Name>[];
  };
}
