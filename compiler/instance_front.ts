/**
 * The front end for one instance, with the work shared: instances, specialisations and targets that the
 * text does not tell apart (language.md 1.3, macros it never asks for) are preprocessed, parsed and
 * checked once.
 */
import type { CompileOptions, Define } from "./options.ts";
import type { Unit } from "./front/ast.ts";
import { type CheckedFile, checkFile } from "./front/check.ts";
import type { Watch } from "./front/check_context.ts";
import { parse } from "./front/parser.ts";
import { predefinedMacros } from "./front/predefined.ts";
import { preprocess, type PreprocessResult } from "./front/preprocess.ts";
import type { TypedKernel } from "./front/typed.ts";
import type { KernelSite } from "./contract/items.ts";
import type { KernelOptions } from "./contract/kernel_options.ts";
import { type Diagnostic, Reporter } from "./support/diagnostic.ts";
import {
  findDefinitions,
  type KernelDefinitions,
  kernelSites,
  sortDiagnostics,
  type SortedDiagnostics,
} from "./kernel_definitions.ts";
import type { SourceFile } from "./support/source.ts";
import { VERSION } from "./version.ts";

/** What an instance is preprocessed with. */
export interface FrontRequest {
  readonly defines: readonly Define[];
  readonly options: KernelOptions;
  /** 80 for `sm_80`. */
  readonly sm: number;
}

/** A file preprocessed and parsed for some instances. */
export interface ParsedFile {
  readonly preprocessed: PreprocessResult;
  readonly unit: Unit;
  readonly kernels: readonly KernelSite[];
}

/** A kernel checked for some instances; undefined after an error. */
export interface CheckedKernel {
  readonly parsed: ParsedFile;
  readonly kernel: TypedKernel | undefined;
  /** Of what stands outside of kernels; one list for all kernels of the text. */
  readonly general: readonly Diagnostic[];
  /** Of this kernel. */
  readonly own: readonly Diagnostic[];
}

interface CachedFile {
  /** Values of the macros that the text depends on. */
  readonly macros: ReadonlyMap<string, string | undefined>;
  readonly parsed: ParsedFile;
  readonly definitions: KernelDefinitions;
  readonly syntax: SortedDiagnostics;
  /** By options that the checker acts on. */
  readonly checked: Map<string, CheckedText>;
}

/** The text checked with some options; its kernels as they are asked for. */
interface CheckedText {
  readonly file: CheckedFile;
  readonly general: readonly Diagnostic[];
  readonly kernels: Map<string, CheckedKernel>;
}

/** The front end for all instances of one file. */
export class InstanceFront {
  readonly file: SourceFile;
  readonly #options: CompileOptions;
  readonly #cache: CachedFile[] = [];

  constructor(file: SourceFile, options: CompileOptions) {
    this.file = file;
    this.#options = options;
  }

  /** Macros from outside that any instance so far depended on. */
  usedMacros(): ReadonlySet<string> {
    return new Set(this.#cache.flatMap(({ macros }) => [...macros.keys()]));
  }

  parse(request: FrontRequest): ParsedFile {
    return this.#find(request).parsed;
  }

  check(request: FrontRequest, site: KernelSite): CheckedKernel {
    const { literals, dot } = request.options;
    const cached = this.#find(request);
    const key = `${literals} ${dot}`;
    const text = cached.checked.get(key) ?? this.#check(cached, request.options);
    cached.checked.set(key, text);
    const name = nameAt(cached.parsed.kernels, site);
    const kernel = text.kernels.get(name) ?? checkKernel(cached, text, name);
    text.kernels.set(name, kernel);
    return kernel;
  }

  /** The same once more, with the checker watched; nothing of it is kept. */
  watch(request: FrontRequest, site: KernelSite, watch: Watch): ParsedFile {
    const cached = this.#find(request);
    const { parsed } = cached;
    checkKernel(
      cached,
      this.#check(cached, request.options, watch),
      nameAt(parsed.kernels, site),
    );
    return parsed;
  }

  #find({ defines, options, sm }: FrontRequest): CachedFile {
    const { numWarps, numStages } = options;
    const predefined = predefinedMacros({
      version: VERSION,
      sm,
      numWarps,
      numStages: numStages ?? 1,
      debug: this.#options.debug === true,
    });
    const values = new Map<string, string | undefined>(Object.entries(predefined));
    for (const { name, value } of defines) values.set(name, value ?? undefined);
    const known = this.#cache.find(({ macros }) =>
      [...macros].every(([name, value]) => values.get(name) === value)
    );
    if (known !== undefined) return known;

    const reporter = new Reporter();
    const include = this.#options.include;
    const preprocessed = preprocess(this.file, {
      defines,
      predefined,
      ...(include ? { include } : {}),
    }, reporter);
    const unit = parse(preprocessed.tokens, preprocessed.comments, reporter);
    const { diagnostics } = reporter;
    const definitions = findDefinitions(unit);
    const parsed = { preprocessed, unit, kernels: kernelSites(definitions) };
    const macros = new Map([...preprocessed.usedMacros].map((name) => [name, values.get(name)]));
    const syntax = sortDiagnostics(diagnostics, definitions);
    const made: CachedFile = { macros, parsed, definitions, syntax, checked: new Map() };
    this.#cache.push(made);
    return made;
  }

  #check(
    { parsed: { unit }, definitions, syntax }: CachedFile,
    { literals, dot }: KernelOptions,
    watch?: Watch,
  ): CheckedText {
    const { maxTileElements } = this.#options;
    const file = checkFile(unit, definitions.all, {
      literals,
      dot,
      ...(maxTileElements === undefined ? {} : { maxTileElements }),
      ...(watch === undefined ? {} : { watch }),
    });
    return { file, general: [...syntax.outside, ...file.diagnostics], kernels: new Map() };
  }
}

/** Other kernels have parameters of their own, so what is wrong with them here does not count. */
function checkKernel(
  { parsed, definitions, syntax }: CachedFile,
  { file, general }: CheckedText,
  name: string,
): CheckedKernel {
  const checked = (definitions.named.get(name) ?? []).map((one) => file.check(one));
  const own = [
    ...syntax.inside.get(name) ?? [],
    ...checked.flatMap(({ diagnostics }) => diagnostics),
  ];
  const isBroken = [...general, ...own].some(({ severity }) => severity === "error");
  return { parsed, kernel: isBroken ? undefined : checked[0]?.kernel, general, own };
}

/** A macro may name the kernel; where a configuration chooses its value, only the offset is the same in all instances. */
function nameAt(kernels: readonly KernelSite[], { name, offset }: KernelSite): string {
  if (kernels.some((kernel) => kernel.name === name)) return name;
  return kernels.find((kernel) => kernel.offset === offset)?.name ?? name;
}
