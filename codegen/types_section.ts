/** The types of a wrapper: what callers pass, by name and place, and the function with its members. */
import { must } from "../compiler/support/bug.ts";
import type { ScalarName } from "../compiler/support/scalar.ts";
import { type Doc, flat, propertyKey, quote } from "./doc.ts";
import { expressionNames } from "./facts_section.ts";
import type { KernelPlan, OutputPlan, ParamPlan } from "./plan.ts";
import type { Declaration, InterfaceStructure, MemberStructure } from "./structure.ts";

/** The type declarations, and what they use of the run time. */
export interface TypesSection {
  readonly declarations: readonly Declaration[];
  readonly types: ReadonlySet<string>;
}

/** All types of one kernel's wrapper. */
export function typesSection(plan: KernelPlan): TypesSection {
  const printer = new TypesPrinter(plan);
  const declarations = printer.print();
  return { declarations, types: printer.types };
}

class TypesPrinter {
  readonly types = new Set<string>();
  readonly #plan: KernelPlan;

  constructor(plan: KernelPlan) {
    this.#plan = plan;
  }

  print(): readonly Declaration[] {
    return [
      this.#alias("Name", "", expressionNames(this.#plan).map(quote), false),
      ...this.#typeAliases(),
      this.#alias(
        "Variant",
        `Variants of {@linkcode ${this.#plan.exportName}}.`,
        this.#plan.variants.map(({ name }) => quote(name)),
        true,
      ),
      this.#argumentsInterface(),
      ...this.#callInterfaces(),
      this.#functionInterface(),
    ];
  }

  #name(suffix: string): string {
    return `${this.#plan.typeName}${suffix}`;
  }

  #use(type: string): string {
    this.types.add(type);
    return type;
  }

  #alias(suffix: string, doc: string, members: readonly Doc[], isExported: boolean): Declaration {
    const name = this.#name(suffix);
    return { kind: "type", name, isExported, doc, type: { kind: "union", members } };
  }

  /** A union per group of types; one of tuples where not every combination exists. */
  #typeAliases(): readonly Declaration[] {
    const { groups, combinations, exportName } = this.#plan;
    if (combinations !== undefined) {
      const rows = combinations.map((row) => `[${row.map(quote).join(", ")}]`);
      const letters = groups.map(({ letter }) => letter).join(", ");
      return [
        this.#alias(
          "DTypes",
          `Element types that {@linkcode ${exportName}} takes together: ${letters}.`,
          rows,
          true,
        ),
      ];
    }
    return groups.map(({ types, letter }, index) =>
      this.#alias(
        index === 0 ? "DType" : `DType${letter}`,
        `Element types of {@linkcode ${exportName}}.`,
        types.map(quote),
        true,
      )
    );
  }

  /** The type parameters of what depends on element types, with defaults where types are named alone. */
  #typeParams(groups: ReadonlySet<number>, withDefaults: boolean): readonly string[] {
    return this.#plan.groups.flatMap(({ letter }, group) => {
      if (!groups.has(group)) return [];
      const bound = this.#boundOf(group, groups);
      return [`${letter} extends ${bound}${withDefaults ? ` = ${bound}` : ""}`];
    });
  }

  #boundOf(group: number, among: ReadonlySet<number>): string {
    const { groups, combinations } = this.#plan;
    if (combinations === undefined) {
      return this.#name(group === 0 ? "DType" : `DType${groups[group]?.letter}`);
    }
    const all = this.#name("DTypes");
    const earlier = groups.map(({ letter }, index) =>
      index < group && among.has(index) ? letter : "unknown"
    );
    if (earlier.every((type) => type === "unknown")) return `${all}[${group}]`;
    return `Extract<${all}, readonly [${earlier.join(", ")}]>[${group}]`;
  }

  #typeArgs(groups: ReadonlySet<number>): readonly Doc[] {
    return this.#plan.groups.flatMap(({ letter }, group) => groups.has(group) ? [letter] : []);
  }

  #applied(suffix: string, groups: ReadonlySet<number>): Doc {
    const name = this.#name(suffix);
    return groups.size === 0 ? name : { kind: "generic", name, args: this.#typeArgs(groups) };
  }

  /** Groups whose letters the types of these parameters mention. */
  #groupsOf(params: readonly ParamPlan[]): ReadonlySet<number> {
    return new Set(
      params.flatMap(({ kind, group }) => kind === "pointer" && group !== undefined ? [group] : []),
    );
  }

  #dtype({ group, types }: ParamPlan): string {
    return group === undefined
      ? quote(must(types[0], "type"))
      : must(this.#plan.groups[group], "group").letter;
  }

  /** The tensor that stands for a pointer; with its rank where the contract counts. */
  #tensor(param: ParamPlan, withRank: boolean): Doc {
    const rank = withRank && param.ranks.length > 0 ? [param.ranks.join(" | ")] : [];
    return { kind: "generic", name: this.#use("Tensor"), args: [this.#dtype(param), ...rank] };
  }

  #argument(param: ParamPlan, withRank: boolean): Doc {
    if (param.kind === "scalar") return scalarType(param.types);
    const tensor = this.#tensor(param, withRank);
    return param.isOptional ? { kind: "union", members: [tensor, "null"] } : tensor;
  }

  #argumentsInterface(): Declaration {
    const { params, exportName } = this.#plan;
    return {
      kind: "interface",
      name: this.#name("Arguments"),
      isExported: true,
      doc: `Every parameter of {@linkcode ${exportName}}, by the kernel's name for it.`,
      typeParams: this.#typeParams(this.#groupsOf(params), true),
      members: params.map((param) =>
        property(param.name, this.#argument(param, false), param.isOptional)
      ),
    };
  }

  /** The options of the short form, and its results where there are several. */
  #callInterfaces(): readonly Declaration[] {
    const { tensorCall, exportName } = this.#plan;
    if (tensorCall === undefined) return [];
    const outputs = tensorCall.outputs.map(({ param }) => param);
    const several = outputs.length > 1;
    const declarations: InterfaceStructure[] = [];
    if (several) {
      const typeParams = this.#typeParams(this.#groupsOf(outputs), true);
      declarations.push({
        kind: "interface",
        name: this.#name("Results"),
        isExported: true,
        doc: `What {@linkcode ${exportName}} computes.`,
        typeParams,
        members: outputs.map((param) =>
          property(param.argumentName, this.#tensor(param, true), false)
        ),
      });
    }
    const out = this.#outMember(tensorCall.outputs);
    declarations.push({
      kind: "interface",
      name: this.#name("Options"),
      isExported: true,
      doc: `Options of {@linkcode ${exportName}}.`,
      typeParams: this.#typeParams(this.#optionGroups(), true),
      extends: this.#callOptions(),
      members: [
        ...tensorCall.options.map((param) =>
          property(
            param.argumentName,
            this.#argument(param, true),
            param.isOptional,
            param.argumentName === param.name ? "" : `The kernel's parameter ${param.name}.`,
          )
        ),
        ...out === undefined ? [] : [out],
      ],
    });
    return declarations;
  }

  #outMember(outputs: readonly OutputPlan[]): MemberStructure | undefined {
    const [first] = outputs;
    if (first === undefined) return undefined;
    const isOptional = outputs.every(({ isDerivable }) => isDerivable);
    if (outputs.length === 1) {
      const doc = isOptional
        ? "Where the result goes; allocated when absent."
        : "Where the result goes.";
      return property("out", this.#tensor(first.param, true), isOptional, doc);
    }
    const results = this.#applied("Results", this.#groupsOf(outputs.map(({ param }) => param)));
    const partial: Doc = isOptional
      ? { kind: "generic", name: "Partial", args: [results] }
      : results;
    return property(
      "out",
      partial,
      isOptional,
      isOptional ? "Where results go; allocated when absent." : "Where the results go.",
    );
  }

  #callOptions(): Doc {
    const name = this.#use(this.#plan.isGridOpen ? "GridCallOptions" : "CallOptions");
    return { kind: "generic", name, args: [this.#name("Variant")] };
  }

  #optionGroups(): ReadonlySet<number> {
    const call = this.#plan.tensorCall;
    return this.#groupsOf([
      ...call?.options ?? [],
      ...call?.outputs.map(({ param }) => param) ?? [],
    ]);
  }

  #functionInterface(): Declaration {
    const { tensorCall, isGridOpen, kernel, variants } = this.#plan;
    const choice = variants.length === 1 ? "" : " Its variant follows from the tensors' types.";
    return {
      kind: "interface",
      name: this.#name("Kernel"),
      isExported: true,
      doc: `The kernel \`${kernel.name}\`, callable.${choice}`,
      typeParams: [],
      members: [
        ...tensorCall === undefined ? this.#explicitCalls() : this.#tensorCalls(),
        this.#launchMember("launch", "void", "Launches with every parameter given."),
        ...isGridOpen ? [] : [this.#gridMember()],
        property(
          "variants",
          `readonly ${this.#name("Variant")}[]`,
          false,
          "Names of the variants.",
        ),
        property(
          "contract",
          this.#use("KernelDescription"),
          false,
          "What a launch has to fulfil, as data.",
        ),
      ],
    };
  }

  #explicitCalls(): readonly MemberStructure[] {
    return [
      this.#launchMember("", "void", "Launches with every parameter given."),
      this.#launchMember("prepare", `${this.#use("PreparedCall")}<void>`, PREPARE_DOC),
    ];
  }

  #launchMember(name: string, returns: string, doc: string): MemberStructure {
    const { params, isGridOpen } = this.#plan;
    const groups = this.#groupsOf(params);
    const args = this.#applied("Arguments", groups);
    return {
      kind: "method",
      name,
      typeParams: this.#typeParams(groups, false),
      params: [
        `args: ${flat(args)}`,
        `options${isGridOpen ? "" : "?"}: ${flat(this.#callOptions())}`,
      ],
      returns,
      doc,
    };
  }

  #tensorCalls(): readonly MemberStructure[] {
    const call = must(this.#plan.tensorCall, "tensor call");
    const outputs = call.outputs.map(({ param }) => param);
    const groups = this.#groupsOf([...call.inputs, ...call.options, ...outputs]);
    const isRequired = this.#plan.isGridOpen ||
      call.options.some(({ isOptional }) => !isOptional) ||
      call.outputs.some(({ isDerivable }) => !isDerivable);
    const params = [
      ...call.inputs.map((param) => `${param.argumentName}: ${flat(this.#tensor(param, true))}`),
      `options${isRequired ? "" : "?"}: ${flat(this.#applied("Options", this.#optionGroups()))}`,
    ];
    const [only] = outputs;
    const result: Doc = outputs.length > 1
      ? this.#applied("Results", this.#groupsOf(outputs))
      : only === undefined
      ? "void"
      : this.#tensor(only, true);
    const typeParams = this.#typeParams(groups, false);
    const { doc, name } = this.#plan.kernel;
    const prepared: Doc = { kind: "generic", name: this.#use("PreparedCall"), args: [result] };
    return [
      {
        kind: "method",
        name: "",
        typeParams,
        params,
        returns: result,
        doc: doc === "" ? `Launches \`${name}\`.` : doc,
      },
      { kind: "method", name: "prepare", typeParams, params, returns: prepared, doc: PREPARE_DOC },
    ];
  }

  #gridMember(): MemberStructure {
    const { gridParams, variants } = this.#plan;
    const sizes = gridParams.map((param) =>
      `readonly ${propertyKey(param.name)}: ${flat(scalarType(param.types))}`
    );
    const variant = `options?: ${this.#use("VariantOptions")}<${this.#name("Variant")}>`;
    return {
      kind: "method",
      name: "grid",
      typeParams: [],
      params: [`sizes: {${sizes.length === 0 ? "" : ` ${sizes.join("; ")} `}}`, variant],
      returns: this.#use("Grid"),
      doc: `The launch grid for these sizes${
        variants.length === 1 ? "" : "; of the first variant unless another is named"
      }.`,
    };
  }
}

const PREPARE_DOC =
  "Checks once; each call of what it returns launches, at little more than the driver's cost.";

function property(name: string, type: Doc, isOptional: boolean, doc = ""): MemberStructure {
  return { kind: "property", name: propertyKey(name), isOptional, type, doc };
}

/** What a caller passes for a scalar parameter of one of these types. */
function scalarType(types: readonly ScalarName[]): Doc {
  const kinds = new Set(
    types.flatMap((type) =>
      type === "bool" ? ["boolean"] : isWide(type) ? ["number", "bigint"] : ["number"]
    ),
  );
  return { kind: "union", members: [...kinds] };
}

function isWide(type: ScalarName): boolean {
  return type === "int64" || type === "uint64";
}
