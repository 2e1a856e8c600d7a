/**
 * The front end for one instance, with the work shared: instances, specialisations and targets that the
 * text does not tell apart (language.md 1.3, macros it never asks for) are preprocessed, parsed and
 * checked once.
 */
import type { CompileOptions, Define } from "./options.ts";
import type { FunctionDefinition, TopItem, Unit } from "./front/ast.ts";
import { check } from "./front/check.ts";
import type { Watch } from "./front/check_context.ts";
import { parse } from "./front/parser.ts";
import { predefinedMacros } from "./front/predefined.ts";
import { preprocess, type PreprocessResult } from "./front/preprocess.ts";
import type { TypedKernel } from "./front/typed.ts";
import type { KernelSite } from "./contract/items.ts";
import type { KernelOptions } from "./contract/kernel_options.ts";
import { type Diagnostic, Reporter } from "./support/diagnostic.ts";
import { type SourceFile, useSite } from "./support/source.ts";
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
  readonly diagnostics: readonly Diagnostic[];
}

/** A kernel checked for some instances; undefined after an error. */
export interface CheckedKernel {
  readonly parsed: ParsedFile;
  readonly kernel: TypedKernel | undefined;
  /** Of the whole front end, without what lies in other kernels. */
  readonly diagnostics: readonly Diagnostic[];
}

interface CachedFile {
  /** Values of the macros that the text depends on. */
  readonly macros: ReadonlyMap<string, string | undefined>;
  readonly parsed: ParsedFile;
  readonly checked: Map<string, CheckedKernel>;
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
    const entry = this.#find(request);
    const name = nameAt(entry.parsed.kernels, site);
    const key = `${literals} ${dot} ${name}`;
    const known = entry.checked.get(key);
    if (known !== undefined) return known;
    const made = this.#check(entry.parsed, name, request.options);
    entry.checked.set(key, made);
    return made;
  }

  /** The same once more, with the checker watched; nothing of it is kept. */
  watch(request: FrontRequest, site: KernelSite, watch: Watch): ParsedFile {
    const { parsed } = this.#find(request);
    this.#check(parsed, nameAt(parsed.kernels, site), request.options, watch);
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
    const parsed = {
      preprocessed,
      unit,
      kernels: kernelSites(unit),
      diagnostics: reporter.diagnostics,
    };
    const macros = new Map([...preprocessed.usedMacros].map((name) => [name, values.get(name)]));
    const made: CachedFile = { macros, parsed, checked: new Map() };
    this.#cache.push(made);
    return made;
  }

  /** Other kernels have parameters of their own, so what is wrong with them here does not count. */
  #check(
    parsed: ParsedFile,
    name: string,
    { literals, dot }: KernelOptions,
    watch?: Watch,
  ): CheckedKernel {
    const others = kernelDefinitions(parsed.unit).filter((definition) =>
      nameOf(definition) !== name
    );
    const reporter = new Reporter();
    for (const diagnostic of parsed.diagnostics) {
      if (!others.some((other) => isInside(diagnostic, other))) keep(reporter, diagnostic);
    }
    const items = parsed.unit.items.map((item) =>
      others.some((other) => other === item) ? stub(item) : item
    );
    const { maxTileElements } = this.#options;
    const unit = check({ items }, {
      literals,
      dot,
      ...(maxTileElements === undefined ? {} : { maxTileElements }),
      ...(watch === undefined ? {} : { watch }),
    }, reporter);
    const kernel = reporter.errorCount > 0
      ? undefined
      : unit.kernels.find((candidate) => candidate.name === name);
    return { parsed, kernel, diagnostics: reporter.diagnostics };
  }
}

/** A kernel of which only the name counts: calling it is still an error. */
function stub(item: TopItem): TopItem {
  if (item.kind !== "function") return item;
  const { declarator, body } = item;
  const params = declarator.params === undefined
    ? {}
    : { params: { params: [], span: declarator.params.span } };
  return { ...item, declarator: { ...declarator, ...params }, body: { ...body, items: [] } };
}

/** A macro may name the kernel; where a configuration chooses its value, only the offset is the same in all instances. */
function nameAt(kernels: readonly KernelSite[], { name, offset }: KernelSite): string {
  if (kernels.some((kernel) => kernel.name === name)) return name;
  return kernels.find((kernel) => kernel.offset === offset)?.name ?? name;
}

function keep(reporter: Reporter, { code, severity, span, message, ...details }: Diagnostic): void {
  if (severity === "error") reporter.error(code, span, message, details);
  else reporter.warn(code, span, message, details);
}

function isInside({ span }: Diagnostic, definition: FunctionDefinition): boolean {
  const at = useSite(span);
  const whole = useSite(definition.span);
  return at.file === whole.file && at.start >= whole.start && at.end <= whole.end;
}

const nameOf = ({ declarator }: FunctionDefinition): string | undefined => declarator.name?.text;
const hasStorage = ({ specs }: FunctionDefinition, word: string): boolean =>
  specs.storage.some((storage) => storage.word === word);

/** `__global__` functions; without any, the `void` functions that are not static (language.md 4.4). */
function kernelDefinitions({ items }: Unit): readonly FunctionDefinition[] {
  const functions = items.filter((item) => item.kind === "function");
  const marked = functions.filter((definition) => hasStorage(definition, "__global__"));
  if (marked.length > 0) return marked;
  return functions.filter((definition) =>
    !hasStorage(definition, "static") && returnsVoid(definition)
  );
}

function returnsVoid({ specs, declarator }: FunctionDefinition): boolean {
  const { type } = specs;
  return type.kind === "words" && type.words.map((word) => word.text).join() === "void" &&
    declarator.pointers.length === 0;
}

function kernelSites(unit: Unit): readonly KernelSite[] {
  return kernelDefinitions(unit).flatMap(({ declarator: { name } }) =>
    name === undefined ? [] : [{
      name: name.text,
      offset: useSite(name.span).start,
      isNamedByMacro: name.span.expansion !== undefined,
    }]
  );
}
