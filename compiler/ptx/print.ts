/** PTX modules as text. Printing, nothing else. */
import { DebugLabels } from "./debug_labels.ts";
import type {
  Instruction,
  Item,
  Operand,
  PtxCode,
  PtxDirective,
  PtxFormal,
  PtxFunction,
  PtxKernel,
  PtxLocation,
  PtxModule,
  PtxParam,
  PtxReference,
  PtxSignature,
  PtxVariable,
  Register,
} from "./func.ts";
import { splitName } from "./register_names.ts";
import { perSpelling } from "./per_spelling.ts";

function printFloat(type: "f32" | "f64", bits: bigint): string {
  const digits = bits.toString(16).toUpperCase();
  return type === "f32" ? `0f${digits.padStart(8, "0")}` : `0d${digits.padStart(16, "0")}`;
}

/** `+4`, `+-4` (ptxas takes no bare minus), nothing for 0. */
const printOffset = (offset: bigint): string => offset === 0n ? "" : `+${offset}`;

function printAddress(operand: Extract<Operand, { kind: "address" }>): string {
  const { base, offset, sampler, coordinates, unified } = operand;
  const address = base === undefined ? `${offset}` : `${printOperand(base)}${printOffset(offset)}`;
  const more = [sampler, coordinates].filter((part) => part !== undefined);
  return `[${[address, ...more.map(printOperand)].join(", ")}]${unified ? ".unified" : ""}`;
}

/** An operand as PTX writes it. */
export function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case "register":
      return `%${operand.name}`;
    case "integer":
      return `${operand.value}`;
    case "float":
      return printFloat(operand.type, operand.bits);
    case "special":
      return `%${operand.name}`;
    case "symbol":
      return `${operand.name}${printOffset(operand.offset ?? 0n)}`;
    case "address":
      return printAddress(operand);
    case "list":
      return `(${operand.elements.map(printOperand).join(", ")})`;
    case "vector":
      return `{${operand.elements.map(printOperand).join(", ")}}`;
    case "pair":
      return `${printOperand(operand.first)}|${printOperand(operand.second)}`;
    case "part":
      return `${printOperand(operand.register)}.${operand.part}`;
    case "negative":
      return `-${printOperand(operand.operand)}`;
    case "negated":
      return `!${printOperand(operand.operand)}`;
    case "sink":
      return "_";
  }
}

const printSpelling = (opcode: string, modifiers: readonly string[]): string =>
  modifiers.length === 0 ? opcode : `${opcode}.${modifiers.join(".")}`;

/** An instruction with its guard and semicolon. */
export function printInstruction(
  instruction: Instruction,
  spelling = printSpelling(instruction.opcode, instruction.modifiers),
): string {
  const { guard, operands } = instruction;
  let text = guard === undefined
    ? spelling
    : `@${guard.negated ? "!" : ""}%${guard.register.name} ${spelling}`;
  let before = " ";
  for (const operand of operands) {
    text += before + printOperand(operand);
    before = ", ";
  }
  return `${text};`;
}

const printLocation = ({ file, line, column }: PtxLocation): string => `${file} ${line} ${column}`;

/** What printing the items of a body needs. */
interface BodyPrinter {
  readonly labels: DebugLabels;
  readonly spell: (instruction: Instruction) => string;
}

function printItem(item: Item, { labels, spell }: BodyPrinter): string {
  switch (item.kind) {
    case "instruction":
      return `  ${printInstruction(item, spell(item))}`;
    case "label":
      return `${item.name}:`;
    case "targets":
      return `${item.name}: .branchtargets ${item.labels.join(", ")};`;
    case "functions":
      return `${item.name}: .calltargets ${item.functions.join(", ")};`;
    case "prototype":
      return `${item.name}: .callprototype ${printSignature("_", item)};`;
    case "loc": {
      const { inlined } = item;
      const from = inlined === undefined
        ? ""
        : `, function_name ${labels.of(inlined.function)}, inlined_at ${printLocation(inlined)}`;
      return `  .loc ${printLocation(item)}${from}`;
    }
    case "pragma":
      return `  .pragma "${item.text}";`;
    case "comment":
      return `  // ${item.text}`;
  }
}

function printInitial(type: string, value: bigint | PtxReference): string {
  if (typeof value === "bigint") {
    return type === "f32" || type === "f64" ? printFloat(type, value) : `${value}`;
  }
  const variable = `${value.symbol}${printOffset(value.offset)}`;
  const address = value.generic ? `generic(${variable})` : variable;
  return value.mask === undefined ? address : `0x${value.mask.toString(16)}(${address})`;
}

function printLinkage(
  { extern, visible, weak, common }: Pick<PtxVariable, "extern" | "visible" | "weak" | "common">,
): string {
  if (extern) return ".extern ";
  if (weak) return ".weak ";
  if (common) return ".common ";
  return visible ? ".visible " : "";
}

const printAttributes = (attributes: readonly string[] = []): string =>
  attributes.length === 0 ? "" : `.attribute(${attributes.map((text) => `.${text}`).join(", ")}) `;

function printValue({ type, count, initial, properties }: PtxVariable): string {
  if (properties !== undefined) {
    return ` = { ${properties.map(({ name, value }) => `${name} = ${value}`).join(", ")} }`;
  }
  if (initial === undefined) return "";
  const values = initial.map((value) => printInitial(type, value)).join(", ");
  return count === undefined ? ` = ${values}` : ` = {${values}}`;
}

/** The declaration of a variable, with its semicolon. */
export function printVariable(variable: PtxVariable): string {
  const { space, type, align, count, attributes } = variable;
  const parts = [
    printLinkage(variable),
    `.${space} `,
    printAttributes(attributes),
    align === undefined ? "" : `.align ${align} `,
    `.${type} ${variable.name}`,
    count === undefined ? "" : count === 0 ? "[]" : `[${count}]`,
    printValue(variable),
  ];
  return `${parts.join("")};`;
}

/** Declares `r0 … r41` as `.reg .b32 %r<42>` where the names allow, singly otherwise. */
function printRegisters(registers: readonly Register[]): string[] {
  const groups: { readonly type: string; readonly prefix: string; readonly indices: number[] }[] =
    [];
  const byType = new Map<string, Map<string, number[]>>();
  for (const { name, type } of registers) {
    const { prefix, index } = splitName(name);
    const byPrefix = byType.get(type) ?? new Map<string, number[]>();
    byType.set(type, byPrefix);
    const known = byPrefix.get(prefix);
    if (known !== undefined) known.push(index);
    else {
      const indices = [index];
      byPrefix.set(prefix, indices);
      groups.push({ type, prefix, indices });
    }
  }
  return groups.flatMap(({ type, prefix, indices }) => {
    if (indices.every((index, i) => index === i)) {
      return [`  .reg .${type} %${prefix}<${indices.length}>;`];
    }
    return indices.map((index) => `  .reg .${type} %${prefix}${index < 0 ? "" : index};`);
  });
}

function printParam(param: PtxParam): string {
  const align = param.align === undefined ? "" : `.align ${param.align} `;
  const { space, align: target } = param.pointer ?? {};
  const pointer = param.pointer === undefined
    ? ""
    : ` .ptr${space === undefined ? "" : ` .${space}`}${
      target === undefined ? "" : ` .align ${target}`
    }`;
  const bytes = param.bytes === undefined ? "" : param.bytes === 0 ? "[]" : `[${param.bytes}]`;
  return `.param ${align}.${param.type}${pointer} ${param.name}${bytes}`;
}

const printDirective = ({ name, values }: PtxDirective): string =>
  `.${name} ${values.join(", ")}`.trimEnd();

function printFormals(formals: readonly PtxFormal[]): string {
  const texts = formals.map((formal) =>
    formal.kind === "param"
      ? printParam(formal)
      : `.reg .${formal.type} ${formal.name === "_" ? "_" : `%${formal.name}`}`
  );
  return `(${texts.join(", ")})`;
}

/** Results, name, parameters and directives of a function. */
function printSignature(name: string, { returns, params, directives }: PtxSignature): string {
  return [
    ...(returns.length === 0 ? [] : [printFormals(returns)]),
    `${name}${name === "_" ? " " : ""}${printFormals(params)}`,
    ...directives.map(printDirective),
  ].join(" ");
}

const spell = perSpelling(printSpelling);

/** Registers, variables and instructions in their braces. */
export function printCode(
  { registers, variables, body }: PtxCode,
  labels = new DebugLabels(),
): string {
  const printer = { labels, spell };
  return [
    "{",
    ...printRegisters(registers),
    ...variables.filter((v) => !v.extern).map((v) => `  ${printVariable(v)}`),
    ...body.map((item) => printItem(item, printer)),
    "}",
  ].join("\n");
}

/** One entry; its external variables are printed with the module. */
export function printKernel(kernel: PtxKernel, code = printCode(kernel)): string {
  return [
    `${kernel.weak ? ".weak" : ".visible"} .entry ${kernel.name}(`,
    kernel.params.map((param) => `  ${printParam(param)}`).join(",\n"),
    ")",
    ...kernel.directives.map(printDirective),
    code,
  ].filter((line) => line !== "").join("\n");
}

/** What a function takes and gives, without a semicolon. */
function printHead(fn: PtxFunction): string {
  const attributes = printAttributes(fn.attributes);
  return `${printLinkage(fn)}.func ${attributes}${printSignature(fn.name, fn)}`;
}

/** A whole module; `codeOf` may know some entries' code already. */
export function printModule(
  module: PtxModule,
  codeOf: (kernel: PtxKernel, labels: DebugLabels) => string = printCode,
): string {
  const externs = new Map<string, PtxVariable>();
  for (const kernel of module.kernels) {
    for (const variable of kernel.variables) {
      if (variable.extern) externs.set(variable.name, variable);
    }
  }
  const labels = new DebugLabels();
  const defined = module.functions.flatMap((fn) =>
    fn.code === undefined ? [] : [`\n${printHead(fn)}\n${printCode(fn.code, labels)}`]
  );
  const kernels = module.kernels.map((kernel) =>
    `\n${printKernel(kernel, codeOf(kernel, labels))}`
  );
  return [
    `.version ${Math.floor(module.version / 10)}.${module.version % 10}`,
    // DWARF sections are not kept, and ptxas wants some where a module says `debug`.
    `.target ${module.target.replace(/, debug\b/, "")}`,
    `.address_size ${module.addressSize ?? 64}`,
    "",
    ...module.files.map((file, i) => `.file ${i + 1} "${fileName(file)}"`),
    ...(module.pragmas ?? []).map((text) => `.pragma "${text}";`),
    // Functions may call each other and occur in initial values.
    ...module.functions.map((fn) => `${printHead(fn)};`),
    ...(module.aliases ?? []).map(({ name, target }) => `.alias ${name}, ${target};`),
    ...[...module.variables, ...externs.values()].map(printVariable),
    ...defined,
    ...kernels,
    ...labels.print(),
    "",
  ].join("\n");
}

/** Strings of PTX have no escape for a quote: ptxas ends a name at the first one, also after a backslash. */
function fileName(name: string): string {
  return name.replaceAll(/["\\\p{Cc}]/gu, "_");
}
