/** Names of a wrapper's types, and the type parameters by which they mention element types. */
import { must } from "../compiler/support/bug.ts";
import type { ScalarName } from "../compiler/support/scalar.ts";
import { type Doc, quote } from "./doc.ts";
import type { KernelPlan, ParamPlan } from "./plan.ts";
import type { TypeParam } from "./structure.ts";

/** The names of one kernel's types. */
export class TypeNames {
  /** Types of the run time that are used. */
  readonly types = new Set<string>();
  readonly #plan: KernelPlan;

  constructor(plan: KernelPlan) {
    this.#plan = plan;
  }

  name(suffix: string): string {
    return `${this.#plan.typeName}${suffix}`;
  }

  use(type: string): string {
    this.types.add(type);
    return type;
  }

  boundName(group: number): string {
    return group === 0 ? "DType" : `DType${must(this.#plan.groups[group], "group").letter}`;
  }

  /** The type parameters of what depends on element types, with defaults where types are named alone. */
  typeParams(groups: ReadonlySet<number>, isOptional: boolean): readonly TypeParam[] {
    return this.#plan.groups.flatMap(({ letter }, group): TypeParam[] =>
      groups.has(group) ? [{ name: letter, bound: this.#boundOf(group), isOptional }] : []
    );
  }

  #boundOf(group: number): string {
    const { groups, combinations } = this.#plan;
    const name = this.name(this.boundName(group));
    return combinations === undefined || group === 0
      ? name
      : `${name}[${must(groups[0], "group").letter}]`;
  }

  /** The named type for the letters of these groups; what is `known` is not inferred from it. */
  applied(suffix: string, groups: ReadonlySet<number>, known: ReadonlySet<number> = NONE): Doc {
    const name = this.name(suffix);
    const args = this.#plan.groups.flatMap((_, group) =>
      groups.has(group) ? [this.#letter(group, known)] : []
    );
    return groups.size === 0 ? name : { kind: "generic", name, args };
  }

  /** Groups whose letters the types of these parameters mention, themselves or in the bound of another. */
  groupsOf(params: readonly ParamPlan[]): ReadonlySet<number> {
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
  tensor({ group, types, ranks }: ParamPlan, withRank: boolean, known = NONE): Doc {
    const dtype = group === undefined ? quote(must(types[0], "type")) : this.#letter(group, known);
    const rank = withRank && ranks.length > 0 ? [ranks.join(" | ")] : [];
    return { kind: "generic", name: this.use("Tensor"), args: [dtype, ...rank] };
  }

  argument(param: ParamPlan, withRank: boolean, known = NONE): Doc {
    if (param.kind === "scalar") return scalarType(param.types);
    const tensor = this.tensor(param, withRank, known);
    return param.isOptional ? { kind: "union", members: [tensor, "null"] } : tensor;
  }

  /** The parameters' types, where each type parameter follows from its first mention. */
  argumentsInOrder(params: readonly ParamPlan[], withRank: boolean): readonly Doc[] {
    return params.map((param, index) =>
      this.argument(param, withRank, this.groupsOf(params.slice(0, index)))
    );
  }

  callOptions(): Doc {
    const name = this.use(this.#plan.isGridOpen ? "GridCallOptions" : "CallOptions");
    return { kind: "generic", name, args: [this.name("Variant")] };
  }

  optionGroups(): ReadonlySet<number> {
    const call = this.#plan.tensorCall;
    return this.groupsOf([
      ...call?.options ?? [],
      ...call?.outputs.map(({ param }) => param) ?? [],
    ]);
  }
}

const NONE: ReadonlySet<number> = new Set();

/** What a caller passes for a scalar parameter of one of these types. */
export function scalarType(types: readonly ScalarName[]): Doc {
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
