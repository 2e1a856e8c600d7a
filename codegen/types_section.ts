/** The types of a wrapper: what callers pass, by name and position, and the function with its members. */
import { must } from "../compiler/support/bug.ts";
import type { ScalarName } from "../compiler/support/scalar.ts";
import { type Doc, flat, propertyKey, quote } from "./doc.ts";
import { expressionNames } from "./macros.ts";
import { type KernelDoc, readKernelDoc } from "./kernel_doc.ts";
import { safeIdentifier } from "./names.ts";
import { hasChoices } from "./tuning_section.ts";
import type { KernelPlan, OutputPlan, ParamPlan } from "./plan.ts";
import type { Declaration, InterfaceStructure, MemberStructure, TypeParam } from "./structure.ts";

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
  readonly #doc: KernelDoc;

  constructor(plan: KernelPlan) {
    this.#plan = plan;
    this.#doc = readKernelDoc(plan.kernel.doc);
  }

  print(): readonly Declaration[] {
    return [
      this.#alias("Name", "", expressionNames(this.#plan).map(quote), false),
      ...this.#typeAliases(),
      this.#alias(
        "Variant",
        `Variants of {@linkcode ${this.#plan.exportName}}.`,
        this.#variantNames(),
        true,
      ),
      this.#argumentsInterface(),
      ...this.#callInterfaces(),
      ...this.#constantsInterface(),
      this.#functionInterface(),
    ];
  }

  /** Where each variant is called like its type, the types. */
  #variantNames(): readonly Doc[] {
    const { groups, variants } = this.#plan;
    const names = variants.map(({ name }) => name);
    const [first] = groups;
    const isTypes = names.length > 1 && names.join() === first?.types.join();
    return isTypes ? [this.#name(this.#boundName(0))] : names.map(quote);
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
    const type: Doc = members.length === 0 ? "never" : { kind: "union", members, isPacked: true };
    return { kind: "type", name, isExported, doc, type };
  }

  /** A union per group of types; where not every combination exists, tables by what the first group is. */
  #typeAliases(): readonly Declaration[] {
    const { groups, combinations, exportName } = this.#plan;
    return groups.map(({ types }, group): Declaration => {
      const name = this.#boundName(group);
      const doc = `Element types of {@linkcode ${exportName}}`;
      if (combinations === undefined || group === 0) {
        return this.#alias(name, `${doc}.`, types.map(quote), true);
      }
      const beside = (first: ScalarName): readonly string[] =>
        combinations.flatMap((row) => row[0] === first ? [quote(must(row[group], "type"))] : []);
      return {
        kind: "interface",
        name: this.#name(name),
        isExported: true,
        doc: `${doc} that go with each of {@linkcode ${this.#name(this.#boundName(0))}}.`,
        typeParams: [],
        members: must(groups[0], "group").types.map((first) =>
          property(first, { kind: "union", members: [...new Set(beside(first))] }, false)
        ),
      };
    });
  }

  #boundName(group: number): string {
    return group === 0 ? "DType" : `DType${must(this.#plan.groups[group], "group").letter}`;
  }

  /** The type parameters of what depends on element types, with defaults where types are named alone. */
  #typeParams(groups: ReadonlySet<number>, isOptional: boolean): readonly TypeParam[] {
    return this.#plan.groups.flatMap(({ letter }, group): TypeParam[] =>
      groups.has(group) ? [{ name: letter, bound: this.#boundOf(group), isOptional }] : []
    );
  }

  #boundOf(group: number): string {
    const { groups, combinations } = this.#plan;
    const name = this.#name(this.#boundName(group));
    return combinations === undefined || group === 0
      ? name
      : `${name}[${must(groups[0], "group").letter}]`;
  }

  /** The named type for the letters of these groups; what is `known` is not inferred from it. */
  #applied(suffix: string, groups: ReadonlySet<number>, known: ReadonlySet<number> = NONE): Doc {
    const name = this.#name(suffix);
    const args = this.#plan.groups.flatMap((_, group) =>
      groups.has(group) ? [this.#letter(group, known)] : []
    );
    return groups.size === 0 ? name : { kind: "generic", name, args };
  }

  /** Groups whose letters the types of these parameters mention, themselves or in the bound of another. */
  #groupsOf(params: readonly ParamPlan[]): ReadonlySet<number> {
    const groups = new Set(
      params.flatMap(({ kind, group }) => kind === "pointer" && group !== undefined ? [group] : []),
    );
    return groups.size > 0 && this.#plan.combinations !== undefined ? groups.add(0) : groups;
  }

  /**
   * A group's type parameter. Its first use determines it; the others must agree, or
   * TypeScript would infer the union of what they have.
   */
  #letter(group: number, known: ReadonlySet<number>): string {
    const { letter } = must(this.#plan.groups[group], "group");
    return known.has(group) ? `NoInfer<${letter}>` : letter;
  }

  /** The tensor of a pointer; with its rank where the contract counts. */
  #tensor({ group, types, ranks }: ParamPlan, withRank: boolean, known = NONE): Doc {
    const dtype = group === undefined ? quote(must(types[0], "type")) : this.#letter(group, known);
    const rank = withRank && ranks.length > 0 ? [ranks.join(" | ")] : [];
    return { kind: "generic", name: this.#use("Tensor"), args: [dtype, ...rank] };
  }

  #argument(param: ParamPlan, withRank: boolean, known = NONE): Doc {
    if (param.kind === "scalar") return scalarType(param.types);
    const tensor = this.#tensor(param, withRank, known);
    return param.isOptional ? { kind: "union", members: [tensor, "null"] } : tensor;
  }

  /** The parameters' types, where each type parameter follows from its first mention. */
  #argumentsInOrder(params: readonly ParamPlan[], withRank: boolean): readonly Doc[] {
    return params.map((param, index) =>
      this.#argument(param, withRank, this.#groupsOf(params.slice(0, index)))
    );
  }

  #argumentsInterface(): Declaration {
    const { params, exportName } = this.#plan;
    const types = this.#argumentsInOrder(params, false);
    const name = this.#name("Arguments");
    const doc = `Every parameter of {@linkcode ${exportName}}, by the kernel's name for it.`;
    // An interface without members would accept anything.
    if (params.length === 0) {
      return { kind: "type", name, isExported: true, doc, type: "Record<string, never>" };
    }
    return {
      kind: "interface",
      name,
      isExported: true,
      doc,
      typeParams: this.#typeParams(this.#groupsOf(params), true),
      members: params.map((param, index) =>
        property(
          param.name,
          must(types[index], "type"),
          param.isOptional,
          this.#doc.params.get(param.name),
        )
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
          property(
            param.argumentName,
            this.#tensor(param, true),
            false,
            this.#doc.params.get(param.name),
          )
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
            this.#doc.params.get(param.name) ??
              (param.argumentName === param.name
                ? ""
                : `The kernel's parameter \`${param.name}\`.`),
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

  #constantsInterface(): readonly Declaration[] {
    const { kernel: { constants }, exportName } = this.#plan;
    if (constants.length === 0) return [];
    return [{
      kind: "interface",
      name: this.#name("Constants"),
      isExported: true,
      doc: `Constant memory of {@linkcode ${exportName}}: zeros until \`set\` fills it, on all ` +
        "devices and for all kernels of the file.",
      typeParams: [],
      members: constants.map(({ name, bytes }) =>
        property(
          name,
          this.#use("ConstantBuffer"),
          false,
          bytes === 1 ? "1 byte." : `${bytes} bytes.`,
        )
      ),
    }];
  }

  #functionInterface(): Declaration {
    const { tensorCall, isGridOpen, kernel, variants } = this.#plan;
    const choice = variants.length === 1 ? "" : " Types of tensors select its variant.";
    return {
      kind: "interface",
      name: this.#name("Kernel"),
      isExported: true,
      doc: `The kernel \`${kernel.name}\`, callable.${choice}`,
      typeParams: [],
      members: [
        ...tensorCall === undefined ? this.#explicitCalls() : this.#tensorCalls(),
        ...this.#launchMembers("launch"),
        ...isGridOpen ? [] : this.#gridMembers(),
        ...hasChoices(kernel) && !isGridOpen ? [this.#tuneMember()] : [],
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
        ...kernel.constants.length === 0 ? [] : [
          property("constants", this.#name("Constants"), false, "Constant memory by name."),
        ],
      ],
    };
  }

  #explicitCalls(): readonly MemberStructure[] {
    return [
      ...this.#launchMembers(""),
      this.#launchMember("prepare", `${this.#use("PreparedCall")}<void>`, PREPARE_DOC),
    ];
  }

  /** The call that also returns counters, and the plain one, which TypeScript blames where neither fits. */
  #launchMembers(name: string): readonly MemberStructure[] {
    return [
      this.#launchMember(name, this.#use("LaunchProfile"), PROFILE_DOC, true),
      this.#launchMember(name, "void", "Launches with every parameter given."),
    ];
  }

  #launchMember(name: string, returns: string, doc: string, isProfiled = false): MemberStructure {
    const { params, isGridOpen } = this.#plan;
    const groups = this.#groupsOf(params);
    const args = this.#applied("Arguments", groups);
    const options = flat(this.#callOptions());
    return {
      kind: "method",
      name,
      typeParams: this.#typeParams(groups, false),
      params: [
        `args: ${flat(args)}`,
        isProfiled ? this.#profiledOptions(options) : `options${isGridOpen ? "" : "?"}: ${options}`,
      ],
      returns,
      doc,
    };
  }

  #tuneMember(): MemberStructure {
    const groups = this.#groupsOf(this.#plan.params);
    return {
      kind: "method",
      name: "tune",
      typeParams: this.#typeParams(groups, false),
      params: [
        `args: ${flat(this.#applied("Arguments", groups))}`,
        // Each configuration has a grid of its own.
        `options?: Omit<${flat(this.#callOptions())}, "grid"> & ${this.#use("TuneOptions")}`,
      ],
      returns: `Promise<${this.#use("TuneResult")}>`,
      doc: TUNE_DOC,
    };
  }

  #profiledOptions(options: string): string {
    return `options: ${options} & ${this.#use("Profiling")}`;
  }

  #tensorCalls(): readonly MemberStructure[] {
    const call = must(this.#plan.tensorCall, "tensor call");
    const outputs = call.outputs.map(({ param }) => param);
    const groups = this.#groupsOf([...call.inputs, ...call.options, ...outputs]);
    const isRequired = this.#plan.isGridOpen ||
      call.options.some(({ isOptional }) => !isOptional) ||
      call.outputs.some(({ isDerivable }) => !isDerivable);
    const types = this.#argumentsInOrder(call.inputs, true);
    const options = this.#applied("Options", this.#optionGroups(), this.#groupsOf(call.inputs));
    const inputs = call.inputs.map(({ argumentName }, index) =>
      `${safeIdentifier(argumentName)}: ${flat(must(types[index], "type"))}`
    );
    const params = [...inputs, `options${isRequired ? "" : "?"}: ${flat(options)}`];
    const [only] = outputs;
    const result: Doc = outputs.length > 1
      ? this.#applied("Results", this.#groupsOf(outputs))
      : only === undefined
      ? "void"
      : this.#tensor(only, true);
    const typeParams = this.#typeParams(groups, false);
    const { name } = this.#plan.kernel;
    const prepared: Doc = { kind: "generic", name: this.#use("PreparedCall"), args: [result] };
    const profiled: Doc = outputs.length === 0
      ? this.#use("LaunchProfile")
      : { kind: "generic", name: this.#use("Profiled"), args: [result] };
    return [
      {
        kind: "method",
        name: "",
        typeParams,
        params: [...inputs, this.#profiledOptions(flat(options))],
        returns: profiled,
        doc: PROFILE_DOC,
      },
      {
        kind: "method",
        name: "",
        typeParams,
        params,
        returns: result,
        doc: this.#callDoc(call.inputs) || `Launches \`${name}\`.`,
      },
      { kind: "method", name: "prepare", typeParams, params, returns: prepared, doc: PREPARE_DOC },
    ];
  }

  /** What the kernel's comment says of it and of the arguments that have positions, by callers' names for these. */
  #callDoc(inputs: readonly ParamPlan[]): string {
    const { text, params } = this.#doc;
    const tags = inputs.flatMap(({ name, argumentName }) => {
      const said = params.get(name);
      return said === undefined ? [] : [`@param ${safeIdentifier(argumentName)} ${said}`];
    });
    return [...text === "" ? [] : [text], ...tags.length === 0 ? [] : [tags.join("\n")]].join(
      "\n\n",
    );
  }

  /** For sizes alone, and where the rest of the arguments may decide, for those of a launch. */
  #gridMembers(): readonly MemberStructure[] {
    const { gridParams, variants, params, kernel } = this.#plan;
    const sizes = gridParams.map((param) =>
      `readonly ${propertyKey(param.name)}: ${flat(scalarType(param.types))}`
    );
    const member = {
      kind: "method",
      name: "grid",
      returns: this.#use("Grid"),
    } as const;
    const options = `options?: ${this.#use("VariantOptions")}<${this.#name("Variant")}>`;
    const forSizes: MemberStructure = {
      ...member,
      typeParams: [],
      params: [`sizes: {${sizes.length === 0 ? "" : ` ${sizes.join("; ")} `}}`, options],
      doc: `The grid for these sizes${
        variants.length === 1 ? "" : "; of the first variant if none is named"
      }.`,
    };
    if (kernel.instances.length === variants.length) return [forSizes];
    const groups = this.#groupsOf(params);
    return [forSizes, {
      ...member,
      typeParams: this.#typeParams(groups, false),
      params: [`args: ${flat(this.#applied("Arguments", groups))}`, options],
      doc: GRID_DOC,
    }];
  }
}

const NONE: ReadonlySet<number> = new Set();

const PREPARE_DOC = "Checks once; each call of what it returns launches again.";

const PROFILE_DOC = "Launches on the emulator and also says what the kernel did.";

const GRID_DOC = "The grid for these arguments, where sizes alone do not decide it.";

const TUNE_DOC = "Times configurations; launches of these sizes then take the fastest.";

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
