/** The constants of a wrapper: everything that the run time needs to know about the kernel, as a literal. */
import type { ContractExpr, InstanceInfo, KernelContract } from "../compiler/contract/types.ts";
import type {
  CompiledEntry,
  ConstantBuffer,
  EntryForm,
  KernelOutline,
} from "../compiler/options.ts";
import { must } from "../compiler/support/bug.ts";
import { type ScalarName, SCALARS } from "../compiler/support/scalar.ts";
import { array, type Doc, flat, LINE_WIDTH, object, quote } from "./doc.ts";
import {
  type ArithmeticName,
  boundOfBits,
  collectMacros,
  type ExpressionScope,
  GRID_NAMES,
  namesRead,
  printSource,
  printTypeScript,
} from "./expression.ts";
import { safeIdentifier } from "./names.ts";
import {
  formExpressions,
  instanceExpressions,
  kernelExpressions,
  type KernelPlan,
  type ParamPlan,
} from "./plan.ts";
import type { Declaration } from "./structure.ts";
import { tuningDoc } from "./tuning_section.ts";
import type { Measured, WrapperImage } from "./input.ts";

/** The constants, and what they use of the run time. */
export interface FactsSection {
  readonly declarations: readonly Declaration[];
  readonly calls: ReadonlySet<ArithmeticName>;
  readonly types: ReadonlySet<string>;
}

/** The constants of one kernel; the last is the one for `defineKernel`. */
export function factsSection(
  plan: KernelPlan,
  images: readonly WrapperImage[],
  embed: boolean,
  measured: readonly Measured[],
): FactsSection {
  return new FactsPrinter(plan).print(images.map((image) => imageDoc(image, embed)), measured);
}

/** A condition of an instance or a contract. */
interface ConditionInfo {
  readonly condition: ContractExpr;
  readonly text: string;
}

class FactsPrinter {
  readonly #plan: KernelPlan;
  readonly #calls = new Set<ArithmeticName>();
  readonly #types = new Set<string>(["KernelFacts"]);
  readonly #shared: Declaration[] = [];
  readonly #sharedByText = new Map<string, string>();
  /** Largest magnitude of each compile-time constant over the instances. */
  readonly #macroBounds = new Map<string, number>();

  constructor(plan: KernelPlan) {
    this.#plan = plan;
    const { kernel } = plan;
    for (
      const [name, value] of kernel.instances.flatMap((instance) =>
        Object.entries(macrosOf(kernel, instance))
      )
    ) {
      this.#macroBounds.set(name, Math.max(this.#macroBounds.get(name) ?? 0, Math.abs(value)));
    }
  }

  print(images: readonly Doc[], measured: readonly Measured[]): FactsSection {
    const { kernel, params, variants, constantName } = this.#plan;
    const [first, ...others] = kernel.instances;
    const contract = this.#contract(must(first, "instance").contract);
    const usage = countTexts(
      kernel.instances.map((instance) => flat(this.#conditions(instance.specialization))),
    );
    for (const { contract } of others) this.#contract(contract);
    const facts = object({
      name: quote(kernel.name),
      params: array(params.map((param) => this.#param(param))),
      tensorCall: this.#tensorCall(),
      contract,
      variants: array(variants.map(({ name, bindings, types }) =>
        object({
          name: quote(name),
          bindings: object(mapValues(bindings, quote)),
          dtypes: object(Object.fromEntries(
            params.filter(({ kind, group }) => kind === "pointer" || group !== undefined)
              .map((param) => [param.name, quote(must(types[param.position], "type"))]),
          )),
        })
      )),
      instances: array(
        kernel.instances.map((instance) => this.#instance(instance, contract, usage)),
      ),
      images: array(images),
      constantBuffers: kernel.constants.length === 0 ? undefined : constantsDoc(kernel.constants),
      tuning: tuningDoc(kernel, measured, (expr) => this.#expression(expr)),
    });
    const main: Declaration = {
      kind: "const",
      name: constantName,
      isExported: false,
      doc: "",
      value: { kind: "satisfies", value: facts, type: this.#generic("KernelFacts") },
    };
    return { declarations: [...this.#shared, main], calls: this.#calls, types: this.#types };
  }

  #generic(name: string): Doc {
    this.#types.add(name);
    return { kind: "generic", name, args: [`${this.#plan.typeName}Name`] };
  }

  #param(param: ParamPlan): Doc {
    const { name, kind, types, access, noalias, multipleof, isOpaque } = param;
    if (kind === "pointer") {
      return object({
        kind: quote(kind),
        name: quote(name),
        access: quote(access),
        noalias: noalias ? "true" : undefined,
      });
    }
    return object({
      kind: quote(kind),
      name: quote(name),
      type: param.group === undefined ? quote(must(types[0], "type")) : undefined,
      multipleof: multipleof === undefined ? undefined : String(multipleof),
      opaque: isOpaque ? "true" : undefined,
    });
  }

  #tensorCall(): Doc | undefined {
    const call = this.#plan.tensorCall;
    if (call === undefined) return undefined;
    const named = (params: readonly ParamPlan[]): Doc =>
      array(
        params.map(({ name, argumentName }) =>
          object({ param: quote(name), name: quote(argumentName) })
        ),
      );
    return object({
      inputs: named(call.inputs),
      outputs: named(call.outputs.map(({ param }) => param)),
      options: named(call.options),
    });
  }

  #contract(contract: KernelContract): Doc {
    return object({
      grid: contract.grid === null
        ? "null"
        : array(contract.grid.map((extent) => this.#expression(extent))),
      tensors: array(contract.tensors.map(({ param, extents, strides, optional }) =>
        object({
          param: quote(param),
          extents: array(extents.map((extent) => this.#dimension(extent))),
          strides: array(strides.map((stride) => this.#dimension(stride))),
          optional: optional === true ? "true" : undefined,
        })
      )),
      ranges: array(
        contract.ranges.map(({ param, first, last }) =>
          object({
            param: quote(param),
            first: this.#expression(first),
            last: this.#expression(last),
          })
        ),
      ),
      requires: this.#conditions([...contract.requires, ...this.#ownMultiples(contract)]),
    });
  }

  /** `__multipleof` demands that the instances do not share. */
  #ownMultiples({ params }: KernelContract): readonly ConditionInfo[] {
    return params.flatMap((param, position): ConditionInfo[] => {
      if (param.kind !== "scalar" || param.multipleof === undefined) return [];
      const { name, multipleof } = param;
      if (this.#plan.params[position]?.multipleof !== undefined) return [];
      const remainder: ContractExpr = {
        op: "%",
        args: [{ op: "param", name }, { op: "const", value: multipleof }],
      };
      const condition: ContractExpr = { op: "==", args: [remainder, { op: "const", value: 0 }] };
      return [{ condition, text: printSource(condition) }];
    });
  }

  #dimension(expr: ContractExpr): Doc {
    if (expr.op === "param") return quote(expr.name);
    if (expr.op === "const" && expr.macro === undefined) return String(expr.value);
    return this.#expression(expr);
  }

  #expression(expr: ContractExpr): Doc {
    return object({ text: quote(printSource(expr)), value: this.#function(expr, "int") });
  }

  #conditions(conditions: readonly ConditionInfo[]): Doc {
    return array(
      conditions.map(({ condition, text }) =>
        object({ text: quote(text), holds: this.#function(condition, "bool") })
      ),
    );
  }

  /** An arrow function that takes apart what it reads, or takes it whole where that would fill the line. */
  #function(expr: ContractExpr, want: "int" | "bool"): Doc {
    const names = namesRead(expr);
    const pattern = `({ ${names.map(bindingOf).join(", ")} })`;
    const head = names.length === 0 ? "()" : pattern.length > LINE_WIDTH / 2 ? "(of)" : pattern;
    const scope: ExpressionScope = {
      read: (name) => head === "(of)" ? `of.${name}` : safeIdentifier(name),
      bound: (name) => this.#macroBounds.get(name) ?? boundOfBits(this.#bitsOf(name)),
    };
    const { doc, calls } = printTypeScript(expr, want, scope);
    for (const call of calls) this.#calls.add(call);
    return { kind: "arrow", head, body: doc };
  }

  #bitsOf(name: string): number {
    const param = must(
      this.#plan.params.find((param) => param.name === name),
      `parameter ${name} of an expression`,
    );
    return param.kind === "pointer"
      ? 64
      : Math.max(...param.types.map((type) => SCALARS[type].bits));
  }

  #instance(instance: InstanceInfo, common: Doc, usage: ReadonlyMap<string, number>): Doc {
    const { kernel } = this.#plan;
    const codes = kernel.modules.flatMap(({ target, entries }) =>
      entries.filter(({ symbol }) => symbol === instance.symbol)
        .map((entry) => ({ target, code: this.#code(entry) }))
    );
    const { code } = must(codes[0], `entry ${instance.symbol}`);
    const differing = codes.filter((other) => flat(object(other.code)) !== flat(object(code)));
    const contract = this.#contract(instance.contract);
    return object({
      symbol: quote(instance.symbol),
      variant: quote(instance.variant.name),
      ...code,
      constants: object(
        mapValues(macrosOf(kernel, instance), String),
      ),
      when: instance.specialization.length === 0 ? undefined : this.#when(instance, usage),
      align: this.#align(instance),
      contract: flat(contract) === flat(common)
        ? undefined
        : this.#share("CONTRACT", "ContractFacts", contract),
      targets: differing.length === 0 ? undefined : object(
        Object.fromEntries(differing.map(({ target, code }) => [target, object(code)])),
      ),
    });
  }

  /** What launching an entry takes. Targets often have the same forms, which are then written once. */
  #code({ threads, sharedBytes, forms }: CompiledEntry): Readonly<Record<string, Doc>> {
    const block = { threads: String(threads), sharedBytes: String(sharedBytes) };
    if (forms === undefined || forms.length === 0) return block;
    const all = array(forms.map((form) => this.#form(form)));
    return { ...block, forms: this.#share("FORMS", "FormFacts", all) };
  }

  #form({ symbol, threads, sharedBytes, when, maps }: EntryForm): Doc {
    return object({
      symbol: quote(symbol),
      threads: String(threads),
      sharedBytes: String(sharedBytes),
      when: this.#conditions(when),
      maps: array(maps.map(({ param, element, axes, box, swizzle }) =>
        object({
          param: quote(param),
          element: quote(element),
          extents: array(axes.map(({ extent }) => this.#dimension(extent))),
          strides: array(axes.map(({ stride }) => this.#dimension(stride))),
          box: array(box.map(String)),
          swizzle: String(swizzle),
        })
      )),
    });
  }

  /** The instance's conditions; a constant of their own where several instances have the same. */
  #when({ specialization }: InstanceInfo, usage: ReadonlyMap<string, number>): Doc {
    const conditions = this.#conditions(specialization);
    if ((usage.get(flat(conditions)) ?? 0) < 2) return conditions;
    return this.#share("CONDITIONS", "Condition", conditions);
  }

  /** The name of a constant with this value. */
  #share(suffix: string, type: string, value: Doc): string {
    const known = this.#sharedByText.get(flat(value));
    if (known !== undefined) return known;
    const count = [...this.#sharedByText.values()].filter((name) => name.includes(suffix)).length;
    const name = `${this.#plan.constantName}_${suffix}${count === 0 ? "" : `_${count + 1}`}`;
    this.#sharedByText.set(flat(value), name);
    const generic = this.#generic(type);
    const isList = typeof value !== "string" && value.kind === "array";
    const shared: Doc = isList ? `readonly ${flat(generic)}[]` : generic;
    this.#shared.push({
      kind: "const",
      name,
      isExported: false,
      doc: "",
      value: { kind: "satisfies", value, type: shared },
    });
    return name;
  }

  #align({ contract }: InstanceInfo): Doc | undefined {
    const demands = contract.params.flatMap((param): [string, string][] =>
      param.kind === "pointer" && param.align > bytesOf(param.type)
        ? [[param.name, String(param.align)]]
        : []
    );
    return demands.length === 0 ? undefined : object(Object.fromEntries(demands));
  }
}

/** Constant buffers as a list of facts. */
export function constantsDoc(constants: readonly ConstantBuffer[]): Doc {
  return array(
    constants.map(({ name, bytes }) => object({ name: quote(name), bytes: `${bytes}` })),
  );
}

/** Everything that expressions of the kernel can read, as members of a union of strings. */
export function expressionNames(plan: KernelPlan): readonly string[] {
  const { kernel, params } = plan;
  const macros = kernel.instances.flatMap((instance) => Object.keys(macrosOf(kernel, instance)));
  const read = new Set(kernelExpressions(kernel).flatMap(namesRead));
  return [
    ...new Set([
      ...params.map(({ name }) => name),
      ...macros,
      ...GRID_NAMES.filter((name) => read.has(name)),
    ]),
  ];
}

/** Values of the compile-time parameters that the expressions of the instance and of its forms mention. */
export function macrosOf(
  kernel: KernelOutline,
  instance: InstanceInfo,
): Readonly<Record<string, number>> {
  const macros = new Map<string, number>();
  const forms = formExpressions(kernel, instance.symbol);
  for (const expr of [...instanceExpressions(instance), ...forms]) collectMacros(expr, macros);
  return Object.fromEntries(macros);
}

function bytesOf(type: ScalarName): number {
  return Math.ceil(SCALARS[type].bits / 8);
}

/** `M`, or `in: in_` for a name that cannot be a variable. */
function bindingOf(name: string): string {
  const local = safeIdentifier(name);
  return local === name ? name : `${name}: ${local}`;
}

function imageDoc(image: WrapperImage, embed: boolean): Doc {
  const { target, kind, path, uncompressedBytes, content } = image;
  const source = embed ? { base64: quote(base64Of(content())) } : { url: urlDoc(path) };
  const compression = uncompressedBytes === undefined
    ? {}
    : { uncompressedBytes: `${uncompressedBytes}` };
  return object({ target: quote(target), kind: quote(kind), ...compression, ...source });
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** A literal path, which bundlers understand. */
function urlDoc(path: string): Doc {
  const body: Doc = {
    kind: "call",
    callee: "new URL",
    args: [quote(`./${path}`), "import.meta.url"],
  };
  return { kind: "arrow", head: "()", body };
}

function mapValues<T>(
  record: Readonly<Record<string, T>>,
  map: (value: T) => Doc,
): Readonly<Record<string, Doc>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function countTexts(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
