/** The instances of a kernel as rows of its wrapper: what variants and targets share is written once. */
import type { InstanceInfo } from "../compiler/contract/types.ts";
import type { CompiledEntry, EntryForm, KernelOutline } from "../compiler/options.ts";
import { must } from "../compiler/support/bug.ts";
import { groupBy } from "../compiler/support/group_by.ts";
import { type ScalarName, SCALARS } from "../compiler/support/scalar.ts";
import type { ContractRowPrinter } from "./contract_rows.ts";
import { array, type Doc, flat, LINE_WIDTH, object, quote } from "./doc.ts";
import { groupRows } from "./instance_groups.ts";
import { macrosOf } from "./macros.ts";
import type { KernelPlan } from "./plan.ts";
import {
  onlyOnce,
  type Shareable,
  type SharedNames,
  type SharedValues,
  shareValues,
} from "./templates.ts";

/** What an entry's name ends in behind that of what it belongs to, or the whole name. */
export function symbolEnd(symbol: string, stem: string): Doc {
  const end = symbol.slice(stem.length);
  const follows = symbol.startsWith(stem) && (end === "" || end.startsWith("_"));
  return quote(follows ? end : `=${symbol}`);
}

/** What the names of a variant's entries begin with. */
export function stemOf({ kernel, variants }: KernelPlan, variant: string): string {
  return variants.length === 1 ? kernel.name : `${kernel.name}_${variant}`;
}

/** How contracts, conditions, forms and targets are referred to. */
export interface SharedRows {
  /** Of the contracts that say no others. */
  readonly tensors: Doc;
  readonly contracts: SharedValues;
  readonly conditions: SharedValues;
  readonly multiples: SharedValues;
  readonly forms: SharedValues;
  readonly targets: SharedValues;
}

/** The parts of a kernel's rows that say what was compiled. */
export interface InstanceSection {
  readonly constants: Doc | undefined;
  readonly conditions: Doc | undefined;
  readonly instances: Doc;
}

/** The code of an instance by target. */
interface Code {
  readonly target: string;
  readonly entry: CompiledEntry;
}

/** The forms of all instances, to be shared. */
function formsOf(plan: KernelPlan, printer: ContractRowPrinter): readonly Shareable[] {
  return plan.kernel.instances.flatMap((instance) =>
    codesOf(plan.kernel, instance).flatMap(({ entry }) =>
      entry.forms === undefined || entry.forms.length === 0
        ? []
        : [{ value: formsDoc(instance, entry.forms, printer), numbers: numbersOf(instance) }]
    )
  );
}

/** Numbers that the source was compiled with. */
function numbersOf({ variant, config }: InstanceInfo): Readonly<Record<string, number>> {
  const numbers = Object.entries({ ...variant.bindings, ...config.bindings })
    .map(([name, text]) => [name, Number(text)] as const);
  return Object.fromEntries(numbers.filter(([, number]) => Number.isSafeInteger(number)));
}

/** The tables of a kernel's instances. */
export function instanceSection(
  plan: KernelPlan,
  printer: ContractRowPrinter,
  shared: SharedRows,
): InstanceSection {
  const { kernel, variants } = plan;
  const constants = [
    ...new Set(kernel.instances.flatMap((instance) => Object.keys(macrosOf(kernel, instance)))),
  ];
  const conditions = nameConditions(plan, printer, shared);
  const contractOf = ({ contract }: InstanceInfo): Doc =>
    printer.contract(contract, shared.tensors);
  const common = flat(contractOf(must(kernel.instances[0], "instance")));
  const row = (instance: InstanceInfo): Doc => {
    const [first] = codesOf(kernel, instance);
    const { entry } = must(first, `entry ${instance.symbol}`);
    const [threads, sharedBytes, forms] = codeDocs(instance, entry, printer, shared.forms);
    const macros = macrosOf(kernel, instance);
    const contract = contractOf(instance);
    const targets = targetsDoc(plan, instance, printer, shared.forms);
    const more: Readonly<Record<string, Doc | undefined>> = {
      contract: flat(contract) === common ? undefined : shared.contracts.refer(contract),
      align: alignDoc(instance),
      forms,
      targets: targets === undefined ? undefined : shared.targets.refer(targets),
    };
    const hasMore = Object.values(more).some((value) => value !== undefined);
    const when = conditions.keyOf(instance);
    return array([
      symbolEnd(instance.symbol, stemOf(plan, instance.variant.name)),
      must(threads, "threads"),
      must(sharedBytes, "shared memory"),
      array(constants.map((name) => String(macros[name] ?? null))),
      ...when === undefined ? hasMore ? ["null"] : [] : [quote(when)],
      ...hasMore ? [object(more)] : [],
    ]);
  };
  const rowsByVariant = variants.map(({ name }) => ({
    name,
    rows: kernel.instances.filter(({ variant }) => variant.name === name).map(row),
  }));
  return {
    constants: constants.length === 0 ? undefined : array(constants.map(quote)),
    conditions: conditions.table,
    instances: groupRows(rowsByVariant),
  };
}

function codesOf({ modules }: KernelOutline, { symbol }: InstanceInfo): readonly Code[] {
  return modules.flatMap(({ target, entries }) =>
    entries.filter((entry) => entry.symbol === symbol).map((entry) => ({ target, entry }))
  );
}

/** The code of the targets that differ from the first; undefined where none does. */
function targetsDoc(
  { kernel }: KernelPlan,
  instance: InstanceInfo,
  printer: ContractRowPrinter,
  forms: SharedValues,
): Doc | undefined {
  const codes = codesOf(kernel, instance).map(({ target, entry }) => ({
    target,
    docs: codeDocs(instance, entry, printer, forms),
  }));
  const common = codes[0] === undefined ? "" : flat(array(codes[0].docs));
  const differing = groupBy(
    codes.filter(({ docs }) => flat(array(docs)) !== common),
    ({ docs }) => flat(array(docs)),
  );
  if (differing.size === 0) return undefined;
  return array(
    [...differing.values()].map((alike) =>
      array([array(alike.map(({ target }) => quote(target))), ...alike[0]?.docs ?? []])
    ),
  );
}

/** What launching an entry takes: threads, shared memory, and forms if it has any. */
function codeDocs(
  instance: InstanceInfo,
  { threads, sharedBytes, forms = [] }: CompiledEntry,
  printer: ContractRowPrinter,
  shared: SharedValues,
): Doc[] {
  const block = [String(threads), String(sharedBytes)];
  return forms.length === 0 ? block : [...block, shared.refer(formsDoc(instance, forms, printer))];
}

function formsDoc(
  { symbol: entry, contract: { params } }: InstanceInfo,
  forms: readonly EntryForm[],
  printer: ContractRowPrinter,
): Doc {
  return array(
    forms.map(({ symbol, threads, sharedBytes, when, maps, persistent, startsLate }) =>
      array([
        symbolEnd(symbol, entry),
        String(threads),
        String(sharedBytes),
        printer.conditions(when),
        ...startsLate ? [quote("late")] : [],
        ...persistent === undefined ? [] : [quote(persistent === "x" ? "persistent" : persistent)],
        ...maps.map(({ param, element, axes, box, swizzle }) =>
          array([
            quote(param),
            array(axes.map(({ extent }) => printer.dimension(extent))),
            array(axes.map(({ stride }) => printer.dimension(stride))),
            array(box.map(String)),
            String(swizzle),
            ...elementAndWindows(
              quote(element),
              params.find(({ name }) => name === param)?.type !== element,
              axes.flatMap(({ windows }) => windows ?? []).map(({ lower, upper, step }) =>
                array([lower, upper, step].map((one) => printer.dimension(one)))
              ),
            ),
          ])
        ),
      ])
    ),
  );
}

/** The end of a map's row: its element type is there if it is not the parameter's, and windows if there are any. */
function elementAndWindows(element: Doc, isOther: boolean, windows: readonly Doc[]): Doc[] {
  if (windows.length > 0) return [isOther ? element : "null", array(windows)];
  return isOther ? [element] : [];
}

/** Sets of conditions by a name: what the names of their first instances end in. */
function nameConditions(
  plan: KernelPlan,
  printer: ContractRowPrinter,
  shared: SharedRows,
): {
  readonly table: Doc | undefined;
  readonly keyOf: (instance: InstanceInfo) => string | undefined;
} {
  const { instances } = plan.kernel;
  const keys = new Map<string, string>();
  const table = new Map<string, Doc>();
  for (const { symbol, variant, specialization, configuration } of instances) {
    if (specialization.length === 0) continue;
    const conditions = printer.conditionSet(specialization);
    if (keys.has(flat(conditions))) continue;
    const stem = stemOf(plan, variant.name);
    const label = configuration?.specialization ??
      (symbol.startsWith(`${stem}_`) ? symbol.slice(stem.length + 1) : symbol);
    let key = label;
    for (let count = 2; table.has(key); count++) key = `${label}_${count}`;
    keys.set(flat(conditions), key);
    table.set(key, shared.multiples.refer(shared.conditions.refer(conditions)));
  }
  return {
    table: table.size === 0 ? undefined : object(Object.fromEntries(table)),
    keyOf: ({ specialization }) =>
      specialization.length === 0
        ? undefined
        : keys.get(flat(printer.conditionSet(specialization))),
  };
}

function alignDoc({ contract }: InstanceInfo): Doc | undefined {
  const demands = contract.params.flatMap((param): [string, string][] =>
    param.kind === "pointer" && param.align > bytesOf(param.type)
      ? [[param.name, String(param.align)]]
      : []
  );
  return demands.length === 0 ? undefined : object(Object.fromEntries(demands));
}

function bytesOf(type: ScalarName): number {
  return Math.ceil(SCALARS[type].bits / 8);
}

/** Contracts, conditions, forms and targets of the kernel, to be declared before its rows. */
export function shareRows(
  plan: KernelPlan,
  printer: ContractRowPrinter,
  taken: ReadonlySet<string>,
): SharedRows {
  const { kernel: { instances }, constantName, exportName, typeName, fileNames } = plan;
  const tensors = printer.tensors(must(instances[0], "instance").contract);
  const contracts = instances.map((instance): Shareable => ({
    value: printer.contract(instance.contract, tensors),
    numbers: numbersOf(instance),
  }));
  const conditions = instances.map(({ specialization }): Shareable => ({
    value: printer.conditionSet(specialization),
  }));
  const isList = ({ value }: Shareable): boolean =>
    typeof value !== "string" && value.kind === "array";
  // Multiples that fit in a line are better read where they are.
  const multiples = conditions.filter((one) =>
    !isList(one) && flat(one.value).length > LINE_WIDTH - 16
  );
  const names = (what: string, type: string): SharedNames => ({
    constant: `${constantName}_${what.toUpperCase()}`,
    function: `${exportName}${what}`,
    type: type.replace("Row<>", `Row<${typeName}Name>`).replace("Rows<>", `Rows<${typeName}Name>`),
    reserved: fileNames,
    taken,
  });
  const valuesOf = (list: readonly Shareable[]): readonly Doc[] => list.map(({ value }) => value);
  const forms = shareValues(formsOf(plan, printer), names("Forms", "readonly FormRow<>[]"));
  const targets = instances.flatMap((instance): Shareable[] => {
    const value = targetsDoc(plan, instance, printer, forms);
    // Those that fit in a line are better read where they are.
    return value === undefined || flat(value).length <= LINE_WIDTH - 16 ? [] : [{ value }];
  });
  return {
    tensors,
    contracts: shareValues(
      contracts,
      names("Contract", "ContractRows<>"),
      valuesOf(contracts.slice(0, 1)),
    ),
    conditions: shareValues(
      conditions.filter(isList),
      names("When", "readonly ConditionRow<>[]"),
      valuesOf(conditions),
    ),
    multiples: shareValues(
      multiples,
      names("Multiples", "MultiplesRow<>"),
      valuesOf(multiples),
    ),
    forms,
    targets: shareValues(targets, names("Targets", "readonly TargetRow<>[]"), onlyOnce(targets)),
  };
}
