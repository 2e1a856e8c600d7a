/** What `manifest.json` says of a kernel, for tools in any language: plain data. */
import { constant, printExpr, substitute } from "../compiler/contract/expr.ts";
import type {
  ContractExpr,
  ContractParam,
  InstanceInfo,
  KernelContract,
} from "../compiler/contract/types.ts";
import type {
  CompiledEntry,
  ConstantBuffer,
  EntryForm,
  KernelOutline,
  MapElement,
  Persistence,
} from "../compiler/options.ts";
import { startsEarly } from "./starting_early.ts";
import { must } from "../compiler/support/bug.ts";
import type { WrapperImage } from "./input.ts";
import type { ChosenNames } from "./plan.ts";

/** One kernel. Its instances are the entries of its images. */
export interface KernelManifest {
  /** Rises when a reader of the old form would misunderstand the new one. */
  readonly schema: 1;
  readonly name: string;
  /** What the wrapper exports it as, where the user chose that. */
  readonly export?: string;
  readonly doc: string;
  /** What a launch has to fulfil. Most instances share theirs with others. */
  readonly contracts: readonly ContractManifest[];
  readonly instances: readonly InstanceManifest[];
  /** Constant memory: variables of the images that the host fills before launches; absent where there is none. */
  readonly constants?: readonly ConstantBuffer[];
  readonly images: readonly ImageManifest[];
}

/**
 * A contract with its expressions as text: C integer expressions over the scalar parameters, the configuration's
 * macros and `grid[axis]`.
 */
export interface ContractManifest {
  readonly params: readonly ContractParam[];
  readonly grid: readonly string[] | null;
  readonly gridOrigin: KernelContract["gridOrigin"];
  readonly tensors: readonly {
    readonly param: string;
    readonly extents: readonly string[];
    readonly strides: readonly string[];
    readonly origin: "pragma" | "inferred";
  }[];
  /** Elements that a launch touches, inclusive, as offsets from the pointer. */
  readonly ranges: readonly {
    readonly param: string;
    readonly first: string;
    readonly last: string;
  }[];
  readonly requires: readonly string[];
}

/** One instance: an entry of each image, or of those for some targets. */
export interface InstanceManifest {
  readonly symbol: string;
  readonly variant: InstanceInfo["variant"];
  readonly config: InstanceInfo["config"];
  /** Where instances differ in their configuration alone: its text, as a pragma would spell it. */
  readonly configuration?: string;
  /** Targets that have it; absent: all. */
  readonly availableOn?: readonly string[];
  /** Conditions under which it may be launched beside the contract's; a pointer means its address. */
  readonly specialization: readonly string[];
  /** Index into the kernel's contracts. */
  readonly contract: number;
}

/** Code for one target. */
export interface ImageManifest {
  readonly target: string;
  readonly kind: "cubin" | "ptx";
  /** Path from the wrapper's folder; absent when the wrapper holds the image. */
  readonly path?: string;
  /** Size of the file. */
  readonly bytes: number;
  /** SHA-256 of the file, 64 hexadecimal digits. */
  readonly sha256: string;
  /** It is compressed by Brotli; how many bytes it has otherwise. */
  readonly uncompressedBytes?: number;
  /** The file has all PTX of the kernel: where this begins in what it decompresses to, and the size of all. */
  readonly part?: { readonly offset: number; readonly total: number };
  /**
   * Its entries wait for what is before them in their stream, so launches may have
   * CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION; absent where they do not.
   */
  readonly startsEarly?: true;
  /** What launching each entry takes. */
  readonly entries: readonly EntryManifest[];
}

/** An entry of an image. It serves every launch that its instance's conditions allow. */
export interface EntryManifest {
  readonly symbol: string;
  /** In a block. */
  readonly threads: number;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  /** Faster code for some launches, the best first; absent where there is none. */
  readonly forms?: readonly FormManifest[];
}

/** A faster form of an entry. */
export interface FormManifest {
  readonly symbol: string;
  readonly threads: number;
  readonly sharedBytes: number;
  /** Conditions beside the instance's, and beside what encoding the maps demands. */
  readonly when: readonly string[];
  /** Tensor maps, which it takes by value after the kernel's parameters, 128 bytes each on a multiple of 64. */
  readonly maps: readonly {
    /** The pointer whose address is that of the map. */
    readonly param: string;
    readonly element: MapElement;
    /** By axis, the innermost first, as are strides and box. */
    readonly extents: readonly string[];
    /** In elements. */
    readonly strides: readonly string[];
    readonly box: readonly number[];
    /** Bytes. */
    readonly swizzle: number;
    /**
     * Of maps for copies of windows (cuTensorMapEncodeIm2col), for each axis but the innermost and the outermost. The box is
     * then channels and pixels.
     */
    readonly windows?: readonly {
      readonly lower: string;
      readonly upper: string;
      readonly step: string;
    }[];
  }[];
  /** How a block does several programs in turn; absent: it does one. */
  readonly persistent?: Persistence;
  /** It does not wait: its launches must not have what `startsEarly` of the image allows. */
  readonly startsLate?: true;
}

const printAll = (list: readonly ContractExpr[]): string[] => list.map(printExpr);

/** The expression with names that are in the manifest: parameters of the instance, not macros of the file. */
function named({ variant, config }: InstanceInfo): (expr: ContractExpr) => ContractExpr {
  const known = { ...variant.bindings, ...config.bindings };
  return (expr) =>
    substitute(
      expr,
      (leaf) =>
        leaf.op === "const" && leaf.macro !== undefined && !Object.hasOwn(known, leaf.macro)
          ? constant(leaf.value)
          : undefined,
    );
}

function describeContract(instance: InstanceInfo): ContractManifest {
  const { contract } = instance;
  const known = named(instance);
  const print = (expr: ContractExpr): string => printExpr(known(expr));
  const { params, grid, gridOrigin, tensors, ranges, requires } = contract;
  return {
    params,
    grid: grid === null ? null : grid.map(print),
    gridOrigin,
    tensors: tensors.map(({ param, extents, strides, origin }) => ({
      param,
      extents: extents.map(print),
      strides: strides.map(print),
      origin,
    })),
    ranges: ranges.map(({ param, first, last }) => ({
      param,
      first: print(first),
      last: print(last),
    })),
    requires: requires.map(({ text }) => text),
  };
}

function describeEntry({ symbol, threads, sharedBytes, forms = [] }: CompiledEntry): EntryManifest {
  const block = { symbol, threads, sharedBytes };
  return forms.length === 0 ? block : { ...block, forms: forms.map(describeForm) };
}

function windowsOf(
  axes: EntryForm["maps"][number]["axes"],
): Pick<FormManifest["maps"][number], "windows"> {
  const windows = axes.flatMap((axis) => axis.windows ?? []).map(({ lower, upper, step }) => ({
    lower: printExpr(lower),
    upper: printExpr(upper),
    step: printExpr(step),
  }));
  return windows.length === 0 ? {} : { windows };
}

function describeForm(
  { symbol, threads, sharedBytes, when, maps, persistent, startsLate }: EntryForm,
): FormManifest {
  return {
    symbol,
    threads,
    sharedBytes,
    when: when.map(({ text }) => text),
    maps: maps.map(({ param, element, axes, box, swizzle }) => ({
      param,
      element,
      extents: printAll(axes.map(({ extent }) => extent)),
      strides: printAll(axes.map(({ stride }) => stride)),
      box,
      swizzle,
      ...windowsOf(axes),
    })),
    ...persistent === undefined ? {} : { persistent },
    ...startsLate === undefined ? {} : { startsLate },
  };
}

/** The manifest's facts of one kernel. */
export function buildManifest(
  { name, doc, instances, constants, modules }: KernelOutline,
  images: readonly WrapperImage[],
  embed: boolean,
  exports: ChosenNames = {},
): KernelManifest {
  const described = instances.map(describeContract);
  const contracts = new Map(described.map((contract) => [JSON.stringify(contract), contract]));
  const indices = new Map([...contracts.keys()].map((key, index) => [key, index]));
  return {
    schema: 1,
    name,
    ...Object.hasOwn(exports, name) ? { export: exports[name] } : {},
    doc,
    contracts: [...contracts.values()],
    instances: instances.map((instance, i) => {
      const { symbol, variant, config, configuration, availableOn, specialization } = instance;
      const known = named(instance);
      return {
        symbol,
        variant,
        config,
        ...(configuration === undefined ? {} : { configuration: configuration.label }),
        ...(availableOn === undefined ? {} : { availableOn }),
        specialization: specialization.map(({ condition }) => printExpr(known(condition))),
        contract: must(indices.get(JSON.stringify(described[i])), "contract of an instance"),
      };
    }),
    ...constants.length === 0 ? {} : { constants },
    images: images.filter(({ kernel }) => kernel === name).map((image) => ({
      target: image.target,
      kind: image.kind,
      ...embed ? {} : { path: image.path },
      bytes: image.bytes,
      sha256: image.sha256,
      ...image.uncompressedBytes === undefined
        ? {}
        : { uncompressedBytes: image.uncompressedBytes },
      ...image.part === undefined ? {} : { part: image.part },
      ...startsEarly(image.target) ? { startsEarly: true } : {},
      entries: (modules.find((module) => module.target === image.target)?.entries ?? []).map(
        describeEntry,
      ),
    })),
  };
}
