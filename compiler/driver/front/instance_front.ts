/**
 * The front end for one instance, with the work shared: instances, specialisations and targets that the
 * text does not distinguish (language.md 1.3, macros it never uses) are preprocessed, parsed and
 * checked once; those whose macros give the same tokens (`#if __TRI_ARCH__ >= 800`) are parsed and checked once.
 */
import type { CompileOptions, Define } from "../../options.ts";
import type { Unit } from "../../parse/ast.ts";
import { type CheckedFile, checkFile } from "../../check/check.ts";
import type { Watch } from "../../check/check_context.ts";
import { collectFacts, type Facts } from "../../check/facts.ts";
import { parse } from "../../parse/parser.ts";
import { predefinedMacros, type TargetFacts } from "../../preprocess/predefined.ts";
import { preprocess, type PreprocessResult } from "../../preprocess/preprocess.ts";
import { sameTokens } from "../../preprocess/same_tokens.ts";
import type { TypedKernel } from "../../check/tree/typed.ts";
import type { KernelSite } from "../../instances/items.ts";
import { ASKED_WARPS, type KernelOptions } from "../../instances/kernel_options.ts";
import { type Diagnostic, Reporter } from "../../support/diagnostic.ts";
import {
  findDefinitions,
  type KernelDefinitions,
  kernelSites,
  sortDiagnostics,
  type SortedDiagnostics,
} from "./kernel_definitions.ts";
import { type Dependent, FrontCache } from "./front_cache.ts";
import type { SourceFile } from "../../support/source.ts";
import { VERSION } from "../../version.ts";
import { WorkBudget } from "../limits/work_budget.ts";

/** What an instance is preprocessed with. */
export interface FrontRequest {
  readonly defines: readonly Define[];
  readonly options: KernelOptions;
  readonly arch: TargetFacts;
}

/** A file preprocessed and parsed for some instances. */
export interface ParsedFile {
  readonly preprocessed: PreprocessResult;
  readonly unit: Unit;
  readonly kernels: readonly KernelSite[];
}

/** A kernel with what the checker found out about each piece of its text. */
export interface SurveyedText {
  readonly parsed: ParsedFile;
  readonly facts: Facts;
}

/** A kernel checked for some instances; undefined after an error. */
export interface CheckedKernel {
  readonly parsed: ParsedFile;
  readonly kernel: TypedKernel | undefined;
  /** Of the text outside of kernels; one list for all kernels of the text. */
  readonly general: readonly Diagnostic[];
  /** Of this kernel; one list for all texts with the same tokens. */
  readonly own: readonly Diagnostic[];
  /** What building it may use. */
  readonly work: WorkBudget;
}

interface CachedFile extends Dependent {
  readonly parsed: ParsedFile;
  /** The preprocessor reported nothing. */
  readonly isClean: boolean;
  readonly tree: Tree;
}

/** What follows from the tokens of a text: one for all files that have the same. */
interface Tree {
  readonly unit: Unit;
  readonly kernels: readonly KernelSite[];
  readonly definitions: KernelDefinitions;
  readonly syntax: SortedDiagnostics;
  /** By options that the checker acts on. */
  readonly checked: Map<string, CheckedText>;
  /** What is outside of kernels, checked with its facts. */
  readonly surveyed: Map<string, { readonly text: CheckedText; readonly facts: Facts }>;
}

/** The text checked with some options; its kernels as they are asked for. */
interface CheckedText {
  readonly file: CheckedFile;
  readonly general: readonly Diagnostic[];
  readonly isBroken: boolean;
  readonly kernels: Map<string, CheckedDefinition>;
}

/** A kernel checked for all files that have the same tokens. */
type CheckedDefinition = Pick<CheckedKernel, "kernel" | "general" | "own">;

/** The front end for all instances of one file. */
export class InstanceFront {
  readonly file: SourceFile;
  readonly #options: CompileOptions;
  readonly #cache = new FrontCache<CachedFile>();
  readonly #used = new Set<string>();
  /** Replaces every text once the budget is spent. */
  #refused: CachedFile | undefined;
  readonly work: WorkBudget;

  constructor(file: SourceFile, options: CompileOptions) {
    this.file = file;
    this.#options = options;
    this.work = new WorkBudget(file);
  }

  /** Macros from outside that any instance so far depended on. */
  usedMacros(): ReadonlySet<string> {
    return this.#used;
  }

  parse(request: FrontRequest): ParsedFile {
    return this.#find(request).parsed;
  }

  check(request: FrontRequest, site: KernelSite): CheckedKernel {
    const { parsed, tree } = this.#find(request);
    const key = checkKey(request.options);
    const text = tree.checked.get(key) ?? this.#check(tree, request.options);
    tree.checked.set(key, text);
    const name = nameAt(tree, site);
    const kernel = text.kernels.get(name) ?? checkKernel(tree, text, name);
    text.kernels.set(name, kernel);
    return { ...kernel, parsed, work: this.work };
  }

  /** The same with the facts that the checker finds, of the kernel and of what is outside of kernels. */
  survey(request: FrontRequest, site: KernelSite): SurveyedText {
    const { parsed, tree } = this.#find(request);
    const key = checkKey(request.options);
    let outside = tree.surveyed.get(key);
    if (outside === undefined) {
      const { facts, watch } = collectFacts();
      outside = { text: this.#check(tree, request.options, watch), facts };
      tree.surveyed.set(key, outside);
    }
    const { facts, watch } = collectFacts(outside.facts);
    checkKernel(tree, outside.text, nameAt(tree, site), watch);
    return { parsed, facts };
  }

  #find({ defines, options, arch: { sm, exact } }: FrontRequest): CachedFile {
    if (this.work.isSpent) return this.#refused ??= this.#refuse();
    const { numWarps, numStages } = options;
    const predefined = predefinedMacros({
      version: VERSION,
      sm,
      exact,
      numWarps: numWarps ?? ASKED_WARPS,
      numStages: numStages ?? 1,
      debug: this.#options.debug === true,
    });
    const values = new Map(Object.entries(predefined));
    for (const { name, value } of defines) {
      if (value === null) values.delete(name);
      else values.set(name, value);
    }
    const known = this.#cache.find(values);
    if (known !== undefined) return known;
    const include = this.#options.include;
    const reporter = new Reporter();
    const preprocessed = preprocess(this.file, {
      defines,
      predefined,
      ...(include ? { include } : {}),
    }, reporter);
    const made = cachedFile(preprocessed, values, this.#sameText(preprocessed, reporter), reporter);
    this.work.add("tokens", made.tokens);
    for (const name of made.used) this.#used.add(name);
    this.#cache.add(made);
    return made;
  }

  /** A file with the same tokens, where the preprocessor has nothing to say of either. */
  #sameText({ tokens }: PreprocessResult, { diagnostics }: Reporter): CachedFile | undefined {
    if (diagnostics.length > 0) return undefined;
    return this.#cache.findLast(({ isClean, parsed: { preprocessed } }) =>
      isClean && sameTokens(preprocessed.tokens, tokens)
    );
  }

  #refuse(): CachedFile {
    const reporter = new Reporter();
    this.work.allowsMore(reporter);
    const nothing = { name: this.file.name, text: "" };
    const preprocessed = preprocess(nothing, { defines: [], predefined: {} }, reporter);
    return cachedFile(preprocessed, new Map(), undefined, reporter);
  }

  #check(
    { unit, definitions, syntax }: Tree,
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
    const general = [...syntax.outside, ...file.diagnostics];
    return { file, general, isBroken: general.some(isError), kernels: new Map() };
  }
}

function cachedFile(
  preprocessed: PreprocessResult,
  values: ReadonlyMap<string, string>,
  same: CachedFile | undefined,
  reporter: Reporter,
): CachedFile {
  const { usedMacros: used } = preprocessed;
  const isClean = reporter.diagnostics.length === 0;
  const { tokens, comments } = same?.parsed.preprocessed ?? preprocessed;
  const tree = same?.tree ?? treeOf(tokens, comments, reporter);
  const { unit, kernels } = tree;
  return {
    used,
    values: new Map([...values].filter(([name]) => used.has(name))),
    tokens: tokens.length,
    isClean,
    parsed: { preprocessed: { ...preprocessed, tokens, comments }, unit, kernels },
    tree,
  };
}

/** @param reporter has what the preprocessor reported, too */
function treeOf(
  tokens: PreprocessResult["tokens"],
  comments: PreprocessResult["comments"],
  reporter: Reporter,
): Tree {
  const unit = parse(tokens, comments, reporter);
  const definitions = findDefinitions(unit);
  return {
    unit,
    kernels: kernelSites(definitions),
    definitions,
    syntax: sortDiagnostics(reporter.diagnostics, definitions),
    checked: new Map(),
    surveyed: new Map(),
  };
}

/** Other kernels have parameters of their own, so what is wrong with them here does not count. */
function checkKernel(
  { definitions, syntax }: Tree,
  { file, general, isBroken }: CheckedText,
  name: string,
  watch?: Watch,
): CheckedDefinition {
  const checked = (definitions.named.get(name) ?? []).map((one) => file.check(one, watch));
  const own = [
    ...syntax.inside.get(name) ?? [],
    ...checked.flatMap(({ diagnostics }) => diagnostics),
  ];
  const kernel = isBroken || own.some(isError) ? undefined : checked[0]?.kernel;
  return { kernel, general, own };
}

/** Options that the checker acts on. */
const checkKey = ({ literals, dot }: KernelOptions): string => `${literals} ${dot}`;

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

/** A macro may name the kernel; where a configuration chooses its value, only the offset is the same in all instances. */
function nameAt({ kernels, definitions }: Tree, { name, offset }: KernelSite): string {
  if (definitions.named.has(name)) return name;
  return kernels.find((kernel) => kernel.offset === offset)?.name ?? name;
}
