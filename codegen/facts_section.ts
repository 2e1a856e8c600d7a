/** The constants of a wrapper: everything that the run time needs to know about the kernel, as rows of tables. */
import { WRAPPER_ABI } from "../compiler/support/abi.ts";
import type { ConstantBuffer } from "../compiler/options.ts";
import { must } from "../compiler/support/bug.ts";
import { startsEarly } from "./starting_early.ts";
import { ContractRowPrinter } from "./contract_rows.ts";
import { array, type Doc, flat, object, quote } from "./doc.ts";
import type { ArithmeticName } from "./expression.ts";
import type { WrapperImage, WrapperInput } from "./input.ts";
import { instanceSection, shareRows } from "./instance_rows.ts";
import { expressionNames, macroBounds } from "./macros.ts";
import { safeIdentifier } from "./names.ts";
import type { KernelPlan, ParamPlan } from "./plan.ts";
import type { Declaration } from "./structure.ts";
import { tuningSection } from "./tuning_section.ts";

/** The constants, and what they use of the run time. */
export interface FactsSection {
  readonly declarations: readonly Declaration[];
  readonly calls: ReadonlySet<ArithmeticName>;
  readonly types: ReadonlySet<string>;
}

/** The constants of one kernel, with its images; the last is the one for `wrapKernel`. */
export function factsSection(
  plan: KernelPlan,
  { generator, images, embed, measured = [] }: WrapperInput,
): FactsSection {
  const { kernel, params, constantName } = plan;
  const printer = new ContractRowPrinter(plan, macroBounds(kernel));
  const names = expressionNames(plan);
  const taken = new Set([...names, ...names.map(safeIdentifier)]);
  const shared = shareRows(plan, printer, taken);
  const { constants, conditions, instances } = instanceSection(plan, printer, shared);
  const tuning = tuningSection(plan, measured, printer, taken);
  const contract = printer.contract(
    must(kernel.instances[0], "instance").contract,
    shared.tensors,
  );
  const early = [...new Set(images.map(({ target }) => target))].filter(startsEarly);
  const rows = object({
    made: object({ by: quote(generator), abi: `${WRAPPER_ABI}` }),
    name: quote(kernel.name),
    params: object(Object.fromEntries(params.map((param) => [param.name, paramDoc(plan, param)]))),
    tensorCall: tensorCallDoc(plan),
    tensors: flat(shared.tensors) === "[]" ? undefined : shared.tensors,
    contract: shared.contracts.refer(contract),
    variants: array(plan.variants.map((variant) => variantDoc(plan, variant))),
    constants,
    conditions,
    instances,
    images: {
      kind: "object",
      entries: images.map((image) => ({
        key: quote(imageKey(image)),
        value: imageDoc(image, embed),
      })),
      isTable: true,
    },
    imageBytes: embed
      ? undefined
      : { kind: "packed", items: images.map(({ bytes }) => `${bytes}`) },
    startingEarly: early.length === 0 ? undefined : array(early.map(quote)),
    constantBuffers: kernel.constants.length === 0 ? undefined : constantsDoc(kernel.constants),
    tuning: tuning?.value,
  });
  const main: Declaration = {
    kind: "const",
    name: constantName,
    isExported: false,
    doc: "",
    value: {
      kind: "satisfies",
      value: rows,
      type: { kind: "generic", name: "KernelRows", args: [`${plan.typeName}Name`] },
    },
  };
  const sharedTypes: readonly (readonly [string, readonly Declaration[]])[] = [
    ["ContractRows", shared.contracts.declarations],
    ["ConditionRow", shared.conditions.declarations],
    ["MultiplesRow", shared.multiples.declarations],
    ["FormRow", shared.forms.declarations],
    ["TargetRow", shared.targets.declarations],
    ["CostRow", tuning?.costs ?? []],
    ["ConfigurationRow", tuning?.configs ?? []],
  ];
  return {
    declarations: [...sharedTypes.flatMap(([, declarations]) => declarations), main],
    calls: printer.calls,
    types: new Set([
      "KernelRows",
      ...sharedTypes.flatMap(([type, declarations]) => declarations.length === 0 ? [] : [type]),
    ]),
  };
}

/** The type of a parameter: where it varies, its letter. */
function typeDoc({ groups }: KernelPlan, { group, types }: ParamPlan): string {
  return quote(
    group === undefined ? must(types[0], "type") : must(groups[group], "group").letter,
  );
}

function paramDoc(plan: KernelPlan, param: ParamPlan): Doc {
  const type = typeDoc(plan, param);
  const { kind, access, noalias, inPlace, multipleof, isOpaque } = param;
  if (kind === "pointer") {
    const more = noalias
      ? [quote("noalias")]
      : inPlace.length > 0
      ? [array(inPlace.map(quote))]
      : [];
    return array([quote(access), type, ...more]);
  }
  if (multipleof === undefined && !isOpaque) return type;
  return object({
    type,
    multipleof: multipleof === undefined ? undefined : String(multipleof),
    opaque: isOpaque ? "true" : undefined,
  });
}

function variantDoc(
  { groups, params }: KernelPlan,
  { name, bindings, types }: KernelPlan["variants"][number],
): Doc {
  const letters = groups.map(({ letter }, group): [string, Doc] => {
    const param = must(params.find((param) => param.group === group), `parameter of ${letter}`);
    return [letter, quote(must(types[param.position], "type"))];
  });
  return array([
    quote(name),
    object(
      Object.fromEntries(Object.entries(bindings).map(([macro, value]) => [macro, quote(value)])),
    ),
    ...letters.length === 0 ? [] : [object(Object.fromEntries(letters))],
  ]);
}

function tensorCallDoc({ tensorCall }: KernelPlan): Doc | undefined {
  if (tensorCall === undefined) return undefined;
  const named = (params: readonly ParamPlan[]): Doc | undefined =>
    params.length === 0 ? undefined : object(
      Object.fromEntries(params.map(({ name, argumentName }) => [name, quote(argumentName)])),
    );
  return object({
    inputs: named(tensorCall.inputs),
    outputs: named(tensorCall.outputs.map(({ param }) => param)),
    options: named(tensorCall.options),
  });
}

/** Constant buffers as a list of facts. */
export function constantsDoc(constants: readonly ConstantBuffer[]): Doc {
  return array(
    constants.map(({ name, bytes }) => object({ name: quote(name), bytes: `${bytes}` })),
  );
}

function imageKey({ target, kind }: WrapperImage): string {
  return `${target}.${kind}`;
}

/** Where the image is, with its size before compression if it is compressed, and its part of the file if it has one. */
function imageDoc(image: WrapperImage, embed: boolean): Doc {
  const { path, uncompressedBytes, part, content } = image;
  const source = embed ? quote(base64Of(content())) : urlDoc(path);
  if (uncompressedBytes === undefined) return source;
  return array([
    source,
    `${uncompressedBytes}`,
    ...part === undefined ? [] : [`${part.offset}`, `${part.total}`],
  ]);
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

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
