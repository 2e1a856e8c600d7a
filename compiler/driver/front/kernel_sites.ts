/**
 * The kernels of a file. Where a macro names one (`__global__ void NAME(…)`) and variants give the macro several values,
 * one definition is several kernels: each has the variants that give it its name.
 */
import { planVariants, variantDefines } from "../../instances/variants.ts";
import { readDefines } from "../../instances/command_line_defines.ts";
import type { KernelSite, OverrideItem } from "../../instances/items.ts";
import type { SourcedItem } from "../../pragma/pragma.ts";
import { readOptions } from "../../instances/kernel_options.ts";
import type { PragmaGroup, PragmaItem } from "../../pragma/pragma.ts";
import type { InstanceFront } from "./instance_front.ts";
import type { Define } from "../../options.ts";
import type { TargetFacts } from "../../preprocess/predefined.ts";

/** What a kernel of the file is called where it is preprocessed with these macros. */
export type NameWith = (site: KernelSite, defines: readonly Define[]) => string;

/**
 * Runs the front end. A definition that is missing there, or has the name of another one, keeps the name of the site: the
 * checker reports what is wrong with it.
 */
export function namesOfFront(front: InstanceFront, arch: TargetFacts): NameWith {
  return (site, defines) => {
    const { kernels } = front.parse({ defines, options: readOptions([]), arch });
    const name = kernels.find(({ offset }) => offset === site.offset)?.name ?? site.name;
    return kernels.filter((kernel) => kernel.name === name).length > 1 ? site.name : name;
  };
}

/**
 * The kernels by name; a definition that variants name differently is there under each name. Variants are looked at as
 * long as `allowsMore` says so.
 */
export function kernelsByName(
  sites: readonly KernelSite[],
  groups: readonly PragmaGroup[],
  overrides: readonly OverrideItem[],
  defines: readonly Define[],
  nameWith: NameWith,
  allowsMore: () => boolean,
): readonly KernelSite[] {
  const commandLine = readDefines(defines);
  const lists = [overrides.map(sourced), ...groups.flatMap(directedLists)].filter(hasVariants);
  const variants = lists.flatMap((items) => {
    if (!allowsMore()) return [];
    return planVariants(items, commandLine).map(({ bindings }) =>
      variantDefines(items, commandLine, bindings)
    );
  });
  const names = new Set(sites.map(({ name }) => name));
  return sites.flatMap((site) => {
    if (!site.isNamedByMacro) return [site];
    const own = [site];
    for (const bound of variants) {
      if (!allowsMore()) break;
      const name = nameWith(site, bound);
      if (names.has(name)) continue;
      names.add(name);
      own.push({ ...site, name });
    }
    return own;
  });
}

/** The items of a group that are for the same kernels: a `kernel` pragma directs those after it elsewhere. */
function directedLists({ items }: PragmaGroup): readonly (readonly SourcedItem[])[] {
  const lists: SourcedItem[][] = [[]];
  for (const item of items) {
    if (item.kind === "kernel") lists.push([]);
    else lists.at(-1)?.push(sourced({ item }));
  }
  return lists;
}

const hasVariants = (items: readonly SourcedItem[]): boolean =>
  items.some(({ item }) => item.kind === "variant" || item.kind === "variants");

const sourced = (
  { item, origin }: { readonly item: PragmaItem; readonly origin?: string },
): SourcedItem => ({ item, origin });
