/** The types of a wrapper: what callers pass, by name and position, and the function with its members. */
import { must } from "../compiler/support/bug.ts";
import type { ScalarName } from "../compiler/support/scalar.ts";
import { type Doc, quote } from "./doc.ts";
import { expressionNames } from "./macros.ts";
import { type KernelDoc, readKernelDoc } from "./kernel_doc.ts";
import type { KernelPlan, OutputPlan } from "./plan.ts";
import { functionInterface } from "./function_interface.ts";
import { TypeNames } from "./type_names.ts";
import {
  type Declaration,
  type InterfaceStructure,
  type MemberStructure,
  property,
} from "./structure.ts";

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
  readonly #plan: KernelPlan;
  readonly #names: TypeNames;
  readonly #doc: KernelDoc;

  constructor(plan: KernelPlan) {
    this.#plan = plan;
    this.#names = new TypeNames(plan);
    this.#doc = readKernelDoc(plan.kernel.doc);
  }

  /** What the declarations use of the run time. */
  get types(): ReadonlySet<string> {
    return this.#names.types;
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
      functionInterface(this.#plan, this.#names, this.#doc),
    ];
  }

  /** Where each variant is called like its type, the types. */
  #variantNames(): readonly Doc[] {
    const { groups, variants } = this.#plan;
    const names = variants.map(({ name }) => name);
    const [first] = groups;
    const isTypes = names.length > 1 && names.join() === first?.types.join();
    return isTypes ? [this.#names.name(this.#names.boundName(0))] : names.map(quote);
  }

  #alias(suffix: string, doc: string, members: readonly Doc[], isExported: boolean): Declaration {
    const name = this.#names.name(suffix);
    const type: Doc = members.length === 0 ? "never" : { kind: "union", members, isPacked: true };
    return { kind: "type", name, isExported, doc, type };
  }

  /** A union per group of types; where not every combination exists, tables by what the first group is. */
  #typeAliases(): readonly Declaration[] {
    const { groups, combinations, exportName } = this.#plan;
    return groups.map(({ types }, group): Declaration => {
      const name = this.#names.boundName(group);
      const doc = `Element types of {@linkcode ${exportName}}`;
      if (combinations === undefined || group === 0) {
        return this.#alias(name, `${doc}.`, types.map(quote), true);
      }
      const beside = (first: ScalarName): readonly string[] =>
        combinations.flatMap((row) => row[0] === first ? [quote(must(row[group], "type"))] : []);
      return {
        kind: "interface",
        name: this.#names.name(name),
        isExported: true,
        doc: `${doc} that go with each of {@linkcode ${
          this.#names.name(this.#names.boundName(0))
        }}.`,
        typeParams: [],
        members: must(groups[0], "group").types.map((first) =>
          property(first, { kind: "union", members: [...new Set(beside(first))] }, false)
        ),
      };
    });
  }

  #argumentsInterface(): Declaration {
    const { params, exportName } = this.#plan;
    const types = this.#names.argumentsInOrder(params, false);
    const name = this.#names.name("Arguments");
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
      typeParams: this.#names.typeParams(this.#names.groupsOf(params), true),
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
      const typeParams = this.#names.typeParams(this.#names.groupsOf(outputs), true);
      declarations.push({
        kind: "interface",
        name: this.#names.name("Results"),
        isExported: true,
        doc: `What {@linkcode ${exportName}} computes.`,
        typeParams,
        members: outputs.map((param) =>
          property(
            param.argumentName,
            this.#names.tensor(param, true),
            false,
            this.#doc.params.get(param.name),
          )
        ),
      });
    }
    const out = this.#outMember(tensorCall.outputs);
    declarations.push({
      kind: "interface",
      name: this.#names.name("Options"),
      isExported: true,
      doc: `Options of {@linkcode ${exportName}}.`,
      typeParams: this.#names.typeParams(this.#names.optionGroups(), true),
      extends: this.#names.callOptions(),
      members: [
        ...tensorCall.options.map((param) =>
          property(
            param.argumentName,
            this.#names.argument(param, true),
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
      return property("out", this.#names.tensor(first.param, true), isOptional, doc);
    }
    const results = this.#names.applied(
      "Results",
      this.#names.groupsOf(outputs.map(({ param }) => param)),
    );
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

  #constantsInterface(): readonly Declaration[] {
    const { kernel: { constants }, exportName } = this.#plan;
    if (constants.length === 0) return [];
    return [{
      kind: "interface",
      name: this.#names.name("Constants"),
      isExported: true,
      doc: `Constant memory of {@linkcode ${exportName}}: zeros until \`set\` fills it, on all ` +
        "devices and for all kernels of the file.",
      typeParams: [],
      members: constants.map(({ name, bytes }) =>
        property(
          name,
          this.#names.use("ConstantBuffer"),
          false,
          bytes === 1 ? "1 byte." : `${bytes} bytes.`,
        )
      ),
    }];
  }
}
