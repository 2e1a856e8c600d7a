/** The function of a wrapper: how it is called, and its members. */
import { must } from "../compiler/support/bug.ts";
import { type Doc, flat, propertyKey } from "./doc.ts";
import type { KernelDoc } from "./kernel_doc.ts";
import { safeIdentifier } from "./names.ts";
import type { KernelPlan, ParamPlan } from "./plan.ts";
import { type Declaration, type MemberStructure, property } from "./structure.ts";
import { hasChoices } from "./tuning_section.ts";
import { scalarType, type TypeNames } from "./type_names.ts";

/** Its interface. */
export function functionInterface(plan: KernelPlan, names: TypeNames, doc: KernelDoc): Declaration {
  return new FunctionPrinter(plan, names, doc).print();
}

class FunctionPrinter {
  readonly #plan: KernelPlan;
  readonly #names: TypeNames;
  readonly #doc: KernelDoc;

  constructor(plan: KernelPlan, names: TypeNames, doc: KernelDoc) {
    this.#plan = plan;
    this.#names = names;
    this.#doc = doc;
  }

  print(): Declaration {
    const { tensorCall, isGridOpen, kernel, variants } = this.#plan;
    const choice = variants.length === 1 ? "" : " Types of tensors select its variant.";
    return {
      kind: "interface",
      name: this.#names.name("Kernel"),
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
          `readonly ${this.#names.name("Variant")}[]`,
          false,
          "Names of the variants.",
        ),
        property(
          "contract",
          this.#names.use("KernelDescription"),
          false,
          "What a launch has to fulfil, as data.",
        ),
        ...kernel.constants.length === 0 ? [] : [
          property("constants", this.#names.name("Constants"), false, "Constant memory by name."),
        ],
      ],
    };
  }

  #explicitCalls(): readonly MemberStructure[] {
    return [
      ...this.#launchMembers(""),
      this.#launchMember("prepare", `${this.#names.use("PreparedCall")}<void>`, PREPARE_DOC),
    ];
  }

  /** The call that also returns counters, and the plain one, which TypeScript blames where neither fits. */
  #launchMembers(name: string): readonly MemberStructure[] {
    return [
      this.#launchMember(name, this.#names.use("LaunchProfile"), PROFILE_DOC, true),
      this.#launchMember(name, "void", "Launches with every parameter given."),
    ];
  }

  #launchMember(name: string, returns: string, doc: string, isProfiled = false): MemberStructure {
    const { params, isGridOpen } = this.#plan;
    const groups = this.#names.groupsOf(params);
    const args = this.#names.applied("Arguments", groups);
    const options = flat(this.#names.callOptions());
    return {
      kind: "method",
      name,
      typeParams: this.#names.typeParams(groups, false),
      params: [
        `args: ${flat(args)}`,
        isProfiled ? this.#profiledOptions(options) : `options${isGridOpen ? "" : "?"}: ${options}`,
      ],
      returns,
      doc,
    };
  }

  #tuneMember(): MemberStructure {
    const groups = this.#names.groupsOf(this.#plan.params);
    return {
      kind: "method",
      name: "tune",
      typeParams: this.#names.typeParams(groups, false),
      params: [
        `args: ${flat(this.#names.applied("Arguments", groups))}`,
        // Each configuration has a grid of its own.
        `options?: Omit<${flat(this.#names.callOptions())}, "grid"> & ${
          this.#names.use("TuneOptions")
        }`,
      ],
      returns: `Promise<${this.#names.use("TuneResult")}>`,
      doc: TUNE_DOC,
    };
  }

  #profiledOptions(options: string): string {
    return `options: ${options} & ${this.#names.use("Profiling")}`;
  }

  #tensorCalls(): readonly MemberStructure[] {
    const call = must(this.#plan.tensorCall, "tensor call");
    const outputs = call.outputs.map(({ param }) => param);
    const groups = this.#names.groupsOf([...call.inputs, ...call.options, ...outputs]);
    const isRequired = this.#plan.isGridOpen ||
      call.options.some(({ isOptional }) => !isOptional) ||
      call.outputs.some(({ isDerivable }) => !isDerivable);
    const types = this.#names.argumentsInOrder(call.inputs, true);
    const options = this.#names.applied(
      "Options",
      this.#names.optionGroups(),
      this.#names.groupsOf(call.inputs),
    );
    const inputs = call.inputs.map(({ argumentName }, index) =>
      `${safeIdentifier(argumentName)}: ${flat(must(types[index], "type"))}`
    );
    const params = [...inputs, `options${isRequired ? "" : "?"}: ${flat(options)}`];
    const [only] = outputs;
    const result: Doc = outputs.length > 1
      ? this.#names.applied("Results", this.#names.groupsOf(outputs))
      : only === undefined
      ? "void"
      : this.#names.tensor(only, true);
    const typeParams = this.#names.typeParams(groups, false);
    const { name } = this.#plan.kernel;
    const prepared: Doc = {
      kind: "generic",
      name: this.#names.use("PreparedCall"),
      args: [result],
    };
    const profiled: Doc = outputs.length === 0
      ? this.#names.use("LaunchProfile")
      : { kind: "generic", name: this.#names.use("Profiled"), args: [result] };
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
      returns: this.#names.use("Grid"),
    } as const;
    const options = `options?: ${this.#names.use("VariantOptions")}<${
      this.#names.name("Variant")
    }>`;
    const forSizes: MemberStructure = {
      ...member,
      typeParams: [],
      params: [`sizes: {${sizes.length === 0 ? "" : ` ${sizes.join("; ")} `}}`, options],
      doc: `The grid for these sizes${
        variants.length === 1 ? "" : "; of the first variant if none is named"
      }.`,
    };
    if (kernel.instances.length === variants.length) return [forSizes];
    const groups = this.#names.groupsOf(params);
    return [forSizes, {
      ...member,
      typeParams: this.#names.typeParams(groups, false),
      params: [`args: ${flat(this.#names.applied("Arguments", groups))}`, options],
      doc: GRID_DOC,
    }];
  }
}

const PREPARE_DOC = "Checks once; each call of what it returns launches again.";

const PROFILE_DOC = "Launches on the emulator and also says what the kernel did.";

const GRID_DOC = "The grid for these arguments, where sizes alone do not decide it.";

const TUNE_DOC = "Times configurations; launches of these sizes then take the fastest.";
