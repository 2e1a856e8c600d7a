/** The facts of a kernel from the rows that its wrapper carries. Done once, before the kernel's first call. */
import type { DType } from "../../dtype.ts";
import type {
  ArgumentFacts,
  ChoiceFacts,
  CodeFacts,
  Condition,
  ContractFacts,
  Dimension,
  Expression,
  FormFacts,
  ImageFacts,
  InstanceFacts,
  KernelFacts,
  ParamFacts,
  TensorMapFacts,
  TuningFacts,
  VariantFacts,
} from "./facts.ts";
import type {
  ArgumentNames,
  ChoiceRow,
  ConditionRow,
  ContractRows,
  DimensionRow,
  ExpressionRow,
  FormRow,
  ImageRow,
  ImageSource,
  InstanceRow,
  KernelRows,
  MapRow,
  MultiplesRow,
  ParamRow,
  TargetRow,
  TypeLetter,
  VariantRow,
} from "./rows.ts";

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
/** What instances without a specialisation are called. */
const GENERAL = "general";
/** Bytes of rows that tensor maps swizzle. */
const SWIZZLES = [0, 32, 64, 128] as const;

/** The facts that the rows stand for. Contracts that rows share stay shared. */
export function expandKernel<Name extends string>(rows: KernelRows<Name>): KernelFacts<Name> {
  const { name, tensorCall, constantBuffers, tuning } = rows;
  const params = entriesOf<Name, ParamRow>(rows.params);
  const variants = rows.variants.map((row) => expandVariant(params, row));
  const conditions = new Map(
    Object.entries(rows.conditions ?? {}).map(([key, set]) => [
      key,
      expandConditions(isList(set) ? set : [set]),
    ]),
  );
  const contracts = new Map<ContractRows<Name>, ContractFacts<Name>>();
  const contractOf = (contract: ContractRows<Name>): ContractFacts<Name> => {
    const known = contracts.get(contract) ?? expandContract(contract, rows.tensors);
    contracts.set(contract, known);
    return known;
  };
  const expander: InstanceExpander<Name> = {
    constants: rows.constants ?? [],
    conditions,
    contractOf,
  };
  const stem = (variant: string): string => variants.length === 1 ? name : `${name}_${variant}`;
  return {
    name,
    params: params.map(([param, row]) => expandParam(param, row)),
    ...tensorCall === undefined ? {} : {
      tensorCall: {
        inputs: expandArguments(tensorCall.inputs),
        outputs: expandArguments(tensorCall.outputs),
        options: expandArguments(tensorCall.options),
      },
    },
    contract: contractOf(rows.contract),
    variants,
    instances: variants.flatMap((variant) =>
      rows.instances.flatMap(([names, ...list]) =>
        names.includes(variant.name)
          ? list.map((row) => expandInstance(expander, variant, stem(variant.name), row))
          : []
      )
    ),
    images: Object.entries(rows.images).map(([key, row], index) =>
      expandImage(key, row, rows.imageBytes?.[index], rows.startingEarly)
    ),
    ...constantBuffers === undefined ? {} : { constantBuffers },
    ...tuning === undefined ? {} : {
      tuning: {
        key: tuning.key,
        choices: tuning.choices.flatMap((row) =>
          row.of.slice(0, -1).map((variant) => expandChoice(stem(variant), row))
        ),
      } satisfies TuningFacts<Name>,
    },
  };
}

/** What the expansion of an instance needs of its kernel. */
interface InstanceExpander<Name extends string> {
  readonly constants: readonly Name[];
  readonly conditions: ReadonlyMap<string, readonly Condition<Name>[]>;
  readonly contractOf: (contract: ContractRows<Name>) => ContractFacts<Name>;
}

/** The present entries of a record, in order. */
function entriesOf<Name extends string, Value>(
  record: Readonly<Partial<Record<Name, Value>>> | undefined,
): [Name, Value][] {
  const entries: [Name, Value][] = [];
  for (const name in record) {
    const value = record[name];
    if (value !== undefined) entries.push([name, value]);
  }
  return entries;
}

/** The whole of a name that is said by its end. */
function symbolOf(stem: string, end: string): string {
  return end.startsWith("=") ? end.slice(1) : stem + end;
}

function isPointer(row: ParamRow): row is Extract<ParamRow, readonly unknown[]> {
  return Array.isArray(row);
}

function isLetter(type: DType | TypeLetter): type is TypeLetter {
  return type.length === 1;
}

function expandParam<Name extends string>(name: Name, row: ParamRow): ParamFacts<Name> {
  if (isPointer(row)) {
    const [access, , overlap] = row;
    const more = overlap === undefined
      ? {}
      : overlap === "noalias"
      ? { noalias: true }
      : { inPlace: overlap };
    return { kind: "pointer", name, access, ...more };
  }
  const { type, ...more } = typeof row === "string" ? { type: row } : row;
  return { kind: "scalar", name, ...isLetter(type) ? {} : { type }, ...more };
}

function expandVariant<Name extends string>(
  params: readonly (readonly [Name, ParamRow])[],
  [name, bindings, types = {}]: VariantRow,
): VariantFacts<Name> {
  const dtypes: Partial<Record<Name, DType>> = {};
  for (const [param, row] of params) {
    const type = isPointer(row) ? row[1] : typeof row === "string" ? row : row.type;
    if (isLetter(type)) dtypes[param] = must(types[type], `type ${type} of variant ${name}`);
    else if (isPointer(row)) dtypes[param] = type;
  }
  return { name, bindings, dtypes };
}

function expandArguments<Name extends string>(
  names: ArgumentNames<Name> | undefined,
): readonly ArgumentFacts<Name>[] {
  return entriesOf<Name, string>(names).map(([param, name]) => ({ param, name }));
}

function expandContract<Name extends string>(
  { grid, tensors: own, ranges = [], requires = [] }: ContractRows<Name>,
  shared: KernelRows<Name>["tensors"] = [],
): ContractFacts<Name> {
  return {
    grid: grid === null ? null : grid.map(expandExpression),
    tensors: (own ?? shared).map(([param, extents, strides, optional]) => ({
      param,
      extents: extents.map(expandDimension),
      strides: strides.map(expandDimension),
      ...optional === undefined ? {} : { optional: true },
    })),
    ranges: ranges.map(([param, first, last]) => ({
      param,
      first: expandExpression(first),
      last: expandExpression(last),
    })),
    requires: expandConditions(requires),
  };
}

function expandExpression<Name extends string>(
  [text, value]: ExpressionRow<Name>,
): Expression<Name> {
  return { text, value };
}

function expandDimension<Name extends string>(row: DimensionRow<Name>): Dimension<Name> {
  return typeof row === "object" ? expandExpression(row) : row;
}

/** Conditions in order; one per multiple. */
export function expandConditions<Name extends string>(
  rows: readonly ConditionRow<Name>[],
): readonly Condition<Name>[] {
  return rows.flatMap((row): readonly Condition<Name>[] => {
    if (isMultiples(row)) {
      return entriesOf<Name, number>(row).map(([name, of]) => ({
        text: `${name} % ${of} == 0`,
        holds: (values) => values[name] % of === 0,
      }));
    }
    if (row.length === 2) return [{ text: row[0], holds: row[1] }];
    const [, text, value] = row;
    return [{
      text: `${INT32_MIN} <= ${text} && ${text} <= ${INT32_MAX}`,
      holds: (values) => {
        const number = value(values);
        return INT32_MIN <= number && number <= INT32_MAX;
      },
    }];
  });
}

function isList<Name extends string>(
  set: MultiplesRow<Name> | readonly ConditionRow<Name>[],
): set is readonly ConditionRow<Name>[] {
  return Array.isArray(set);
}

function isMultiples<Name extends string>(
  row: ConditionRow<Name>,
): row is MultiplesRow<Name> {
  return !Array.isArray(row);
}

function expandInstance<Name extends string>(
  { constants, conditions, contractOf }: InstanceExpander<Name>,
  variant: VariantFacts<Name>,
  stem: string,
  [end, threads, sharedBytes, numbers, when, more = {}]: InstanceRow<Name>,
): InstanceFacts<Name> {
  const symbol = symbolOf(stem, end);
  const { contract, align, forms, targets } = more;
  const values: Partial<Record<Name, number>> = {};
  constants.forEach((name, index) => {
    const value = numbers[index];
    if (value !== null && value !== undefined) values[name] = value;
  });
  const code = (row: Code<Name>): CodeFacts<Name> => expandCode(variant, symbol, row);
  return {
    symbol,
    variant: variant.name,
    ...code([threads, sharedBytes, forms]),
    constants: values,
    ...when === undefined || when === null
      ? {}
      : { when: must(conditions.get(when), `conditions ${when} of ${symbol}`) },
    ...align === undefined ? {} : { align },
    ...contract === undefined ? {} : { contract: contractOf(contract) },
    ...targets === undefined ? {} : {
      targets: Object.fromEntries(
        targets.flatMap(([names, ...row]: TargetRow<Name>) => {
          const facts = code(row);
          return names.map((name) => [name, facts]);
        }),
      ),
    },
  };
}

type Code<Name extends string> = readonly [
  threads: number,
  sharedBytes: number,
  forms?: readonly FormRow<Name>[] | undefined,
];

function expandCode<Name extends string>(
  variant: VariantFacts<Name>,
  symbol: string,
  [threads, sharedBytes, forms]: Code<Name>,
): CodeFacts<Name> {
  if (forms === undefined) return { threads, sharedBytes };
  return { threads, sharedBytes, forms: forms.map((row) => expandForm(variant, symbol, row)) };
}

function expandForm<Name extends string>(
  { dtypes }: VariantFacts<Name>,
  entry: string,
  [end, threads, sharedBytes, when, ...rest]: FormRow<Name>,
): FormFacts<Name> {
  const maps = rest.flatMap((row) => typeof row === "string" ? [] : [row]);
  const words = rest.filter((row) => typeof row === "string");
  const persistent = words.find((word) => word !== "late");
  const symbol = symbolOf(entry, end);
  const expandMap = (
    [param, extents, strides, box, swizzle, element, windows]: MapRow<Name>,
  ): TensorMapFacts<Name> => ({
    param,
    element: element ??
      must<DType | undefined>(dtypes[param], `element type of ${param} in ${symbol}`),
    extents: extents.map(expandDimension),
    strides: strides.map(expandDimension),
    box,
    swizzle: must(SWIZZLES.find((one) => one === swizzle), `swizzle of ${param} in ${symbol}`),
    ...windows === undefined ? {} : {
      windows: windows.map(([lower, upper, step]) => ({
        lower: expandDimension(lower),
        upper: expandDimension(upper),
        step: expandDimension(step),
      })),
    },
  });
  return {
    symbol,
    threads,
    sharedBytes,
    when: expandConditions(when),
    maps: maps.map(expandMap),
    ...persistent === undefined
      ? {}
      : { persistent: persistent === "persistent" ? "x" : persistent },
    ...words.includes("late") ? { startsLate: true } : {},
  };
}

function expandImage(
  key: string,
  row: ImageRow,
  bytes: number | undefined,
  startingEarly: readonly string[] = [],
): ImageFacts {
  const [target = "", kind] = key.split(".");
  const [source, uncompressedBytes, offset, total] = isSource(row) ? [row] : row;
  const image = {
    target,
    kind: kind === "cubin" ? "cubin" : "ptx",
    ...bytes === undefined ? {} : { bytes },
    ...uncompressedBytes === undefined ? {} : { uncompressedBytes },
    ...offset === undefined || total === undefined ? {} : { part: { offset, total } },
    ...startingEarly.includes(target) ? { startsEarly: true as const } : {},
  } as const;
  return typeof source === "string" ? { ...image, base64: source } : { ...image, url: source };
}

function isSource(row: ImageRow): row is ImageSource {
  return !Array.isArray(row);
}

function expandChoice<Name extends string>(
  stem: string,
  { of, configs, measured = {} }: ChoiceRow<Name>,
): ChoiceFacts<Name> {
  const specialization = must(of.at(-1), "specialisation of a choice");
  const symbols = specialization === GENERAL ? stem : `${stem}_${specialization}`;
  return {
    specialization,
    instances: configs.map(([end, config, cost, availableOn]) => ({
      symbol: symbolOf(symbols, end),
      config,
      ...availableOn === undefined ? {} : { availableOn },
      ...cost === undefined || cost === null ? {} : {
        cost: { blocks: expandExpression(cost[0]), clocks: expandExpression(cost[1]) },
      },
    })),
    measured: Object.entries(measured).map(([gpu, [arch, ...points]]) => ({
      gpu,
      arch,
      points: points.map(([at, microseconds]) => ({ at, microseconds })),
    })),
  };
}

/** Rows come from the code generator; what they lack is its fault or that of a hand that changed them. */
function must<Value>(value: Value, what: string): NonNullable<Value> {
  if (value === undefined || value === null) {
    throw new TypeError(`The wrapper's rows lack the ${what}`);
  }
  return value;
}
